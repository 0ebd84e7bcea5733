import { scaleTimeout } from '@tracking/testing';
import { LARGE_REPLAY_SUITE_NAME, testReplayCrashesInOneProcess } from './distributed/replay-crashes.ts';
import { testJourneys } from './journeys/index.ts';
import { findSharedStandalone, type SystemUnderTest } from './subject.ts';

describe('standalone', () => {
  let subject: SystemUnderTest;
  beforeAll(async () => {
    subject = await findSharedStandalone();
  }, scaleTimeout(60_000));
  testJourneys(() => subject);
});

describe(LARGE_REPLAY_SUITE_NAME, testReplayCrashesInOneProcess);
