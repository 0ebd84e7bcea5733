import { COMPOSE_MEMORY_SETTINGS, declareLargeShipmentTests } from './large-shipments.ts';
import { startStandaloneSystem } from './subject.ts';

/**
 * Fills more than two pages of a list. `large-shipments.soak.spec.ts` tests many more shipments, also with services.
 */
describe('the largest legal shipments, standalone', () =>
  declareLargeShipmentTests(() => startStandaloneSystem(COMPOSE_MEMORY_SETTINGS), 12));
