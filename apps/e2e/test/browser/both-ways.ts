import { patient } from '@tracking/testing';
import type { Browser } from 'playwright-core';
import { SETTINGS } from '../shared-systems.ts';
import {
  NO_ENGINES,
  sharedServices,
  sharedStandalone,
  startStandalone,
  type SharedSubject,
  type Subject,
} from '../subject.ts';
import { describeInBrowser, startBrowser } from './browser.ts';

/** What a journey in a browser goes through. */
export interface Stage {
  readonly subject: Subject;
  readonly browser: Browser;
}

/**
 * The same tests on a standalone server and on the shared services; reports what this machine cannot run.
 * @param standalone the shared server by default; {@link newStandalone} for tests of the first start
 */
export function inBothWays(name: string, tests: (stage: () => Stage) => void, standalone = sharedStandalone): void {
  describeInBrowser(`${name}, standalone`, () => staged(standalone, tests));
  const distributed = `${name}, two replicas of each service`;
  if (NO_ENGINES === undefined) describeInBrowser(distributed, () => staged(sharedServices, tests));
  else test.todo(`${distributed} [not tested: ${NO_ENGINES}]`);
}

/** A standalone server of one suite, which stops when that releases it. */
export async function newStandalone(): Promise<SharedSubject> {
  const subject = await startStandalone(SETTINGS);
  return { ...subject, release: () => subject.stop() };
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
