import { patient } from '@tracking/testing';
import type { Browser } from 'playwright-core';
import type { Subject } from '../subject.ts';
import { startBrowser } from './browser.ts';

/** What a journey in a browser goes through. */
export interface Stage {
  readonly subject: Subject;
  readonly browser: Browser;
}

/** Tests in a browser that run on a standalone server and on two replicas of each service. */
export interface BrowserJourney {
  readonly name: string;
  readonly tests: (stage: () => Stage) => void;
  /** Whether the tests begin with the first start of a standalone server. */
  readonly isFirstStart?: boolean;
}

/** Runs the tests in a browser of their own on a subject that runs when they begin. */
export function staged(subject: () => Subject, tests: BrowserJourney['tests']): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, patient(60_000));
  afterAll(() => browser?.close(), patient(60_000));
  tests(() => ({ subject: subject(), browser }));
}
