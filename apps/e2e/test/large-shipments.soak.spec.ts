import { COMPOSE_MEMORY_SETTINGS, testLargeShipments } from './large-shipments.ts';
import { NO_ENGINES_REASON, startServices, startStandalone } from './subject.ts';

/** Creates 600 large events and fills more than ten pages of a list. */
const COUNT = 120;

describe('the largest legal shipments, standalone', () =>
  testLargeShipments(() => startStandalone(COMPOSE_MEMORY_SETTINGS), COUNT));

if (NO_ENGINES_REASON === undefined) {
  describe('the largest legal shipments, as services', () =>
    testLargeShipments(() => startServices(COMPOSE_MEMORY_SETTINGS), COUNT));
} else test.todo(`the largest legal shipments, as services [not tested: ${NO_ENGINES_REASON}]`);
