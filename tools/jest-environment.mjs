import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const { exit } = process;
const { stackTraceLimit } = Error;

/** Runs suites with the globals of their process. */
export default class Environment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  setup() {
    Error.stackTraceLimit = stackTraceLimit;
  }

  teardown() {
    this.fakeTimersModern.dispose();
    process.exit = exit;
  }

  getVmContext() {
    return null;
  }
}
