import { patient } from '@tracking/testing';
import type { Browser } from 'playwright-core';
import { NO_ENGINES, sharedServices, sharedStandalone, type SharedSubject, type Subject } from '../subject.ts';
import { describeInBrowser, startBrowser } from './browser.ts';

/** What a journey in a browser goes through. */
export interface Stage {
  readonly subject: Subject;
  readonly browser: Browser;
}

/** The same tests on the shared standalone server and on the shared services; reports what this machine cannot run. */
export function inBothWays(name: string, tests: (stage: () => Stage) => void): void {
  describeInBrowser(`${name}, standalone`, () => staged(sharedStandalone, tests));
  const distributed = `${name}, two replicas of each service`;
  if (NO_ENGINES === undefined) describeInBrowser(distributed, () => staged(sharedServices, tests));
  else test.todo(`${distributed} [not tested: ${NO_ENGINES}]`);
}

function staged(shared: () => Promise<SharedSubject>, tests: (stage: () => Stage) => void): void {
  let subject: SharedSubject;
  let browser: Browser;
  beforeAll(async () => {
    subject = await shared();
    browser = await startBrowser();
  }, patient(180_000));
  afterAll(async () => {
    await browser?.close();
    await subject?.release();
  }, patient(60_000));
  tests(() => ({ subject, browser }));
}
