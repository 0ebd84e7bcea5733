import { scaleTimeout } from '@tracking/testing';
import { REPLAY_OF_MANY, replayCrashesStandalone } from './distributed/replay-crashes.ts';
import { journeys } from './journeys/index.ts';
import { sharedStandalone, type Subject } from './subject.ts';

describe('standalone', () => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await sharedStandalone();
  }, scaleTimeout(60_000));
  journeys(() => subject);
});

describe(REPLAY_OF_MANY, replayCrashesStandalone);
