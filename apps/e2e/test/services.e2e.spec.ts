import { SETTINGS, journeys } from './journeys/index.ts';
import { NO_ENGINES, startServices } from './subject.ts';

if (NO_ENGINES === undefined) describe('two replicas of each service', () => journeys(() => startServices(SETTINGS)));
else test.todo(`two replicas of each service [not tested: ${NO_ENGINES}]`);
