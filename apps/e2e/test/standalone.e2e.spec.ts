import { patient } from '@tracking/testing';
import { journeys } from './journeys/index.ts';
import { sharedStandalone, type Subject } from './subject.ts';

describe('standalone', () => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await sharedStandalone();
  }, patient(60_000));
  journeys(() => subject);
});
