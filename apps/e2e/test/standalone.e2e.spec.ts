import { scaleTimeout } from '@tracking/testing';
import { LARGE_REPLAY_SUITE_NAME, declareReplayCrashTestsInOneProcess } from './distributed/replay-crashes.ts';
import { declareJourneyTests } from './journeys/index.ts';
import { findSharedStandaloneServer, type SystemUnderTest } from './subject.ts';

describe('standalone', () => {
  let subject: SystemUnderTest;
  beforeAll(async () => {
    subject = await findSharedStandaloneServer();
  }, scaleTimeout(60_000));
  declareJourneyTests(() => subject);
});

describe(LARGE_REPLAY_SUITE_NAME, declareReplayCrashTestsInOneProcess);
