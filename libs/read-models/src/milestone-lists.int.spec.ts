import { defineMilestoneListTests } from '../test/milestone-lists-suite.ts';
import { ReadModelsTestBed } from '../test/world.ts';

describe('lists of milestones', () => {
  let world: ReadModelsTestBed;
  beforeAll(async () => void (world = await ReadModelsTestBed.open()));
  afterAll(() => world.close());

  defineMilestoneListTests(() => world.engine.documentStore);
});
