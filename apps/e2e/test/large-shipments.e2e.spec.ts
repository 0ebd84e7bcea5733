import { COMPOSE_HEAP, largeShipments } from './large-shipments.ts';
import { startStandalone } from './subject.ts';

/** More than two pages of a list; `large-shipments.soak.spec.ts` has many more, and the services. */
describe('the largest legal shipments, standalone', () => largeShipments(() => startStandalone(COMPOSE_HEAP), 12));
