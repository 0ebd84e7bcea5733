import { COMPOSE_MEMORY_SETTINGS, STANDALONE_MEMORY_SETTINGS, declareLargeShipmentTests } from './large-shipments.ts';
import { NO_ENGINES_REASON, startServices, startStandaloneSystem } from './subject.ts';

/** Number of shipments that makes 600 large events and fills more than ten pages of a list. */
const STANDALONE_COUNT = 120;
/** Number of shipments that fills more than two pages. Ten processes on two cores need 0.5 s for each write. */
const SERVICES_COUNT = 12;

describe('the largest legal shipments, standalone', () =>
  declareLargeShipmentTests(() => startStandaloneSystem(STANDALONE_MEMORY_SETTINGS), STANDALONE_COUNT));

if (NO_ENGINES_REASON === undefined) {
  describe('the largest legal shipments, as services', () =>
    declareLargeShipmentTests(() => startServices(COMPOSE_MEMORY_SETTINGS), SERVICES_COUNT));
} else test.todo(`the largest legal shipments, as services [not tested: ${NO_ENGINES_REASON}]`);
