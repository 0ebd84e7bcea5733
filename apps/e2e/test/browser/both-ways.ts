import { patient } from '@tracking/testing';
import type { Browser } from 'playwright-core';
import { SETTINGS } from '../journeys/index.ts';
import { NO_ENGINES, startServices, startStandalone, type Subject } from '../subject.ts';
import { NO_BROWSER, startBrowser } from './browser.ts';

/** What a journey in a browser goes through. */
export interface Stage {
  readonly subject: Subject;
  readonly browser: Browser;
}

/** The same tests in both ways to run, each with a product of its own; skipped where this machine lacks what it takes. */
export function inBothWays(name: string, tests: (stage: () => Stage) => void): void {
  const isAble = NO_BROWSER === undefined;
  (isAble ? describe : describe.skip)(`${name}, standalone`, () => staged(() => startStandalone(SETTINGS), tests));
  (isAble && NO_ENGINES === undefined ? describe : describe.skip)(`${name}, two replicas of each service`, () =>
    staged(() => startServices(SETTINGS), tests),
  );
}

function staged(start: () => Promise<Subject>, tests: (stage: () => Stage) => void): void {
  let subject: Subject;
  let browser: Browser;
  beforeAll(async () => {
    subject = await start();
    browser = await startBrowser();
  }, patient(180_000));
  afterAll(async () => {
    await browser?.close();
    await subject?.stop();
  }, patient(60_000));
  tests(() => ({ subject, browser }));
}
