import type { Collection, EventStore, StoredEvent } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import { ACME_LIVE_SCOPE, createSampleMilestone, createNthTestShipmentToken } from '../test/shipment-events.ts';
import { ReadModelsTestBed } from '../test/world.ts';
import { BatchProjector, WorkspaceScopeOfStreamCache } from './batch-projector.ts';
import { type MilestoneReadModelRow, milestonesReadModel } from './milestones.ts';
import { type ReadModel, type ReadModelRow, createRowsCollectionSpec } from './read-model.ts';
import { RowWriter } from './row-writer.ts';
import { shipmentsReadModel } from './shipments/shipment-rows.ts';

describe('projecting a batch of events of events', () => {
  let world: ReadModelsTestBed;
  let rows: Collection<ReadModelRow>;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    rows = await world.engine.documentStore.collection<ReadModelRow>(createRowsCollectionSpec(shipmentsReadModel, 1));
  });
  afterEach(() => world.close());

  /** Each process has its own scope cache. */
  async function projector(
    model: ReadModel = shipmentsReadModel,
    eventStore: EventStore = world.engine.eventStore,
  ): Promise<BatchProjector> {
    return new BatchProjector({
      model,
      rows: await world.engine.documentStore.collection<ReadModelRow>(createRowsCollectionSpec(model, 1)),
      cache: new LRUCache({ max: 100 }),
      scopes: new WorkspaceScopeOfStreamCache(eventStore),
    });
  }

  async function history(): Promise<readonly StoredEvent[]> {
    await world.writer.createShipment(1);
    await world.writer.writeShipmentChangedEvent(1, { house_bill: 'HB-1' });
    await world.writer.writeShipmentChangedEvent(1, { house_bill: 'HB-2' });
    return world.engine.eventStore.read(world.writer.getShipmentStreamName(1));
  }
  const stored = () => rows.get(`shp_${createNthTestShipmentToken(1)}`);

  it('writes each row once, in its state after the whole batch', async () => {
    await (await projector()).handleEventBatchOfPartition(await history());
    expect(await stored()).toMatchObject({ revision: 2, record: { house_bill: 'HB-2', version: 3 } });
  });

  it('keeps only a few large rows in memory', async () => {
    const COUNT = 70;
    const heavy: ReadModel = { ...shipmentsReadModel, weight: () => 500 } as unknown as ReadModel;
    for (let n = 1; n <= COUNT; n += 1) await world.writer.createShipment(n);
    const created = await Promise.all(
      Array.from({ length: COUNT }, (_, n) => world.engine.eventStore.read(world.writer.getShipmentStreamName(n + 1))),
    );
    await (await projector()).handleEventBatchOfPartition(created.flat());
    for (let n = 1; n <= COUNT; n += 1) await world.writer.writeShipmentChangedEvent(n, { house_bill: 'HB' });
    const changed = await Promise.all(
      Array.from({ length: COUNT }, (_, n) =>
        world.engine.eventStore.read(world.writer.getShipmentStreamName(n + 1), { from: 1 }),
      ),
    );
    const sizes = { read: 0, written: 0 };
    const watched: Pick<Collection<ReadModelRow>, 'getMany' | 'writeMany'> = {
      getMany: (ids) => {
        sizes.read = Math.max(sizes.read, ids.length);
        return rows.getMany(ids);
      },
      writeMany: (writes) => {
        sizes.written = Math.max(sizes.written, writes.length);
        return rows.writeMany(writes);
      },
    };
    await new BatchProjector({
      model: heavy,
      rows: watched as Collection<ReadModelRow>,
      cache: new LRUCache({ max: 1 }),
      scopes: new WorkspaceScopeOfStreamCache(world.engine.eventStore),
    }).handleEventBatchOfPartition(changed.flat());
    expect(sizes.read).toBeLessThanOrEqual(32);
    expect(sizes.written).toBeLessThanOrEqual(9);
    const after = await rows.getMany(
      Array.from({ length: COUNT }, (_, n) => `shp_${createNthTestShipmentToken(n + 1)}`),
    );
    expect(after.map((row) => row.revision)).toEqual(Array.from({ length: COUNT }, () => 1));
  });

  it('writes large new rows through the common writer in several writes', async () => {
    const COUNT = 20;
    const heavy: ReadModel = { ...shipmentsReadModel, weight: () => 500 } as unknown as ReadModel;
    for (let n = 1; n <= COUNT; n += 1) await world.writer.createShipment(n);
    const created = await Promise.all(
      Array.from({ length: COUNT }, (_, n) => world.engine.eventStore.read(world.writer.getShipmentStreamName(n + 1))),
    );
    await new BatchProjector({
      model: heavy,
      rows,
      writer: new RowWriter(() => Promise.resolve(rows)),
      cache: new LRUCache({ max: 1 }),
      scopes: new WorkspaceScopeOfStreamCache(world.engine.eventStore),
    }).handleEventBatchOfPartition(created.flat());
    expect(await rows.count({})).toBe(COUNT);
  });

  it('keeps the newer row when a former lease holder writes late', async () => {
    const events = await history();
    const [older, newer] = [await projector(), await projector()];
    await older.handleEventBatchOfPartition(events.slice(0, 1));
    await newer.handleEventBatchOfPartition(events);
    const after = await stored();
    await older.handleEventBatchOfPartition(events.slice(1, 2));
    expect(await stored()).toEqual(after);
    await older.handleEventBatchOfPartition(events.slice(2));
    expect(await stored()).toEqual(after);
  });

  it('continues if rows are ahead of the checkpoint', async () => {
    const events = await history();
    await (await projector()).handleEventBatchOfPartition(events);
    await world.writer.writeShipmentChangedEvent(1, { house_bill: 'HB-3' });
    const [last] = (await world.engine.eventStore.read(world.writer.getShipmentStreamName(1))).slice(-1);
    await (await projector()).handleEventBatchOfPartition([...events, ...(last ? [last] : [])]);
    expect(await stored()).toMatchObject({ revision: 3, record: { house_bill: 'HB-3' } });
  });

  it('projects events again after a later event dropped an estimate that they supersede', async () => {
    const [a, b] = ['a', 'b'].map((id) => createSampleMilestone(1, id).id) as [string, string];
    await world.writer.createShipment(1);
    await world.writer.writeMilestoneRecordedEvent(1, 'a', { classifier: 'estimated' });
    await world.writer.writeMilestoneRecordedEvent(1, 'b', { classifier: 'estimated' }, [a]);
    await world.writer.writeMilestoneRecordedEvent(1, 'c', { classifier: 'estimated' }, [b], [a]);
    const events = await world.engine.eventStore.read(world.writer.getShipmentStreamName(1));
    expect(await (await projector(milestonesReadModel)).handleEventBatchOfPartition(events)).toEqual([]);
    // Another process has no rows in memory. It repeats the events after the one that recorded the dropped estimate.
    expect(await (await projector(milestonesReadModel)).handleEventBatchOfPartition(events.slice(2))).toEqual([]);
  });

  it('reads the first event of a stream once to find its scope', async () => {
    await world.writer.createShipment(1);
    await world.writer.writeMilestoneRecordedEvent(1, 'a');
    await world.writer.writeMilestoneRecordedEvent(1, 'b');
    const [, ...events] = await world.engine.eventStore.read(world.writer.getShipmentStreamName(1));
    let reads = 0;
    const { eventStore } = world.engine;
    const counted: EventStore = {
      append: (...args) => eventStore.append(...args),
      read: (...args) => {
        reads += 1;
        return eventStore.read(...args);
      },
      readLastRevision: (stream) => eventStore.readLastRevision(stream),
      catchUp: (options) => eventStore.catchUp(options),
      head: () => eventStore.head(),
      close: () => eventStore.close(),
    };
    const milestones = await projector(milestonesReadModel, counted);
    for (const event of events) await milestones.handleEventBatchOfPartition([event]);
    expect(reads).toBe(1);
    // Several read models project the same events at the same time.
    const shared = new WorkspaceScopeOfStreamCache(counted);
    const scopes = await Promise.all([shared.readScopesOfStreams(events), shared.readScopesOfStreams(events)]);
    expect(scopes.map((found) => [...found.values()])).toEqual([[ACME_LIVE_SCOPE], [ACME_LIVE_SCOPE]]);
    expect(reads).toBe(2);
    const found = await world.engine.documentStore.collection<MilestoneReadModelRow>(
      createRowsCollectionSpec(milestonesReadModel, 1),
    );
    const stored = await found.find({ filter: {}, limit: 9 });
    expect(stored.map(({ workspace_id, environment }) => ({ workspace_id, environment }))).toEqual([
      ACME_LIVE_SCOPE,
      ACME_LIVE_SCOPE,
    ]);
  });
});
