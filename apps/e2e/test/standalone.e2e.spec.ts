import { journeys } from './journeys/index.ts';
import { sharedStandalone } from './subject.ts';

describe('standalone', () => journeys(sharedStandalone));
