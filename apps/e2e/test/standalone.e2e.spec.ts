import { SETTINGS, journeys } from './journeys/index.ts';
import { startStandalone } from './subject.ts';

describe('standalone', () => journeys(() => startStandalone(SETTINGS)));
