import { defineShipmentListTests } from '../../test/shipment-lists-suite.ts';
import { ReadModelsTestBed } from '../../test/world.ts';

describe('lists', () => {
  let world: ReadModelsTestBed;
  beforeAll(async () => void (world = await ReadModelsTestBed.open()));
  afterAll(() => world.close());

  defineShipmentListTests(() => world.engine.documentStore);
});
