import { shipmentListsSuite } from '../../test/shipment-lists-suite.ts';
import { World } from '../../test/world.ts';

describe('lists', () => {
  let world: World;
  beforeAll(async () => void (world = await World.open()));
  afterAll(() => world.close());

  shipmentListsSuite(() => world.engine.documentStore);
});
