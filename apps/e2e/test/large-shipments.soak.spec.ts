import { COMPOSE_HEAP, largeShipments } from './large-shipments.ts';
import { NO_ENGINES, startServices, startStandalone } from './subject.ts';

/** Creates 600 large events and fills more than ten pages of a list. */
const COUNT = 120;

describe('the largest legal shipments, standalone', () => largeShipments(() => startStandalone(COMPOSE_HEAP), COUNT));

if (NO_ENGINES === undefined) {
  describe('the largest legal shipments, as services', () => largeShipments(() => startServices(COMPOSE_HEAP), COUNT));
} else test.todo(`the largest legal shipments, as services [not tested: ${NO_ENGINES}]`);
