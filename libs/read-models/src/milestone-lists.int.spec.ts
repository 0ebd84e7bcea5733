import { milestoneListsSuite } from '../test/milestone-lists-suite.ts';
import { World } from '../test/world.ts';

describe('lists of milestones', () => {
  let world: World;
  beforeAll(async () => void (world = await World.open()));
  afterAll(() => world.close());

  milestoneListsSuite(() => world.engine.documentStore);
});
