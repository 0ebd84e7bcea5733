import type { Collection, EventStore, StoredEvent } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import { ACME, token } from '../test/shipment-events.ts';
import { World } from '../test/world.ts';
import { BatchProjector, StreamScopes } from './batch-projector.ts';
import { type MilestoneRow, milestonesModel } from './milestones.ts';
import { type ReadModel, type ReadModelRow, rowsOf } from './read-model.ts';
import { shipmentsModel } from './shipments/shipment-rows.ts';

describe('projecting a batch', () => {
  let world: World;
  let rows: Collection<ReadModelRow>;
  beforeEach(async () => {
    world = await World.open();
    rows = await world.engine.documentStore.collection<ReadModelRow>(rowsOf(shipmentsModel, 1));
  });
  afterEach(() => world.close());

  /** As every process has its own. */
  async function projector(
    model: ReadModel = shipmentsModel,
    eventStore: EventStore = world.engine.eventStore,
  ): Promise<BatchProjector> {
    return new BatchProjector({
      model,
      rows: await world.engine.documentStore.collection<ReadModelRow>(rowsOf(model, 1)),
      cache: new LRUCache({ max: 100 }),
      scopes: new StreamScopes(eventStore),
    });
  }

  async function history(): Promise<readonly StoredEvent[]> {
    await world.writer.create(1);
    await world.writer.change(1, { house_bill: 'HB-1' });
    await world.writer.change(1, { house_bill: 'HB-2' });
    return world.engine.eventStore.read(world.writer.stream(1));
  }
  const stored = () => rows.get(`shp_${token(1)}`);

  it('writes each row once, as it is after all its events', async () => {
    await (await projector()).handle(await history());
    expect(await stored()).toMatchObject({ revision: 2, record: { house_bill: 'HB-2', version: 3 } });
  });

  it('never takes a row back, however late an older holder writes', async () => {
    const events = await history();
    const [older, newer] = [await projector(), await projector()];
    await older.handle(events.slice(0, 1));
    await newer.handle(events);
    const after = await stored();
    await older.handle(events.slice(1, 2));
    expect(await stored()).toEqual(after);
    await older.handle(events.slice(2));
    expect(await stored()).toEqual(after);
  });

  it('goes on from rows that are ahead of the checkpoint', async () => {
    const events = await history();
    await (await projector()).handle(events);
    await world.writer.change(1, { house_bill: 'HB-3' });
    const [last] = (await world.engine.eventStore.read(world.writer.stream(1))).slice(-1);
    await (await projector()).handle([...events, ...(last ? [last] : [])]);
    expect(await stored()).toMatchObject({ revision: 3, record: { house_bill: 'HB-3' } });
  });

  it('reads the first event of a stream once to learn its scope', async () => {
    await world.writer.create(1);
    await world.writer.record(1, 'a');
    await world.writer.record(1, 'b');
    const [, ...events] = await world.engine.eventStore.read(world.writer.stream(1));
    let reads = 0;
    const { eventStore } = world.engine;
    const counted: EventStore = {
      append: (...args) => eventStore.append(...args),
      read: (...args) => {
        reads += 1;
        return eventStore.read(...args);
      },
      lastRevision: (stream) => eventStore.lastRevision(stream),
      catchUp: (options) => eventStore.catchUp(options),
      head: () => eventStore.head(),
      close: () => eventStore.close(),
    };
    const milestones = await projector(milestonesModel, counted);
    for (const event of events) await milestones.handle([event]);
    expect(reads).toBe(1);
    const found = await world.engine.documentStore.collection<MilestoneRow>(rowsOf(milestonesModel, 1));
    const stored = await found.find({ filter: {}, limit: 9 });
    expect(stored.map(({ workspace_id, environment }) => ({ workspace_id, environment }))).toEqual([ACME, ACME]);
  });
});
