import { journeys } from './journeys/index.ts';
import { NO_ENGINES, sharedServices } from './subject.ts';

if (NO_ENGINES === undefined) describe('two replicas of each service', () => journeys(sharedServices));
else test.todo(`two replicas of each service [not tested: ${NO_ENGINES}]`);
