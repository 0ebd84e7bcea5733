import { scaleTimeout } from '@tracking/testing';
import type { Browser } from 'playwright-core';
import type { SystemUnderTest } from '../subject.ts';
import { startBrowser } from './browser.ts';

/** The environment in which a browser journey runs. */
export interface BrowserAndSystemUnderTest {
  readonly subject: SystemUnderTest;
  readonly browser: Browser;
}

/** A browser test that runs on a standalone server and on two replicas of each service. */
export interface BrowserJourneyTestDefinition {
  readonly name: string;
  readonly tests: (harness: () => BrowserAndSystemUnderTest) => void;
  /** True if the test needs the first start of a standalone server. */
  readonly isFirstStart?: boolean;
}

/** Runs the tests in their own browser, on a system that is running when the tests start. */
export function runTestsInBrowser(subject: () => SystemUnderTest, tests: BrowserJourneyTestDefinition['tests']): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, scaleTimeout(60_000));
  afterAll(() => browser?.close(), scaleTimeout(60_000));
  tests(() => ({ subject: subject(), browser }));
}
