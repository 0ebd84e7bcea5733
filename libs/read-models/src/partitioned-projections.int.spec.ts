import {
  type Collection,
  type CollectionSpec,
  type CollectionWrite,
  type Document,
  type DocumentStore,
  UnavailableError,
} from '@tracking/ports';
import { PartitionCountManager } from '@tracking/subscriptions';
import { createRecordingLogger, eventually, type LogLine } from '@tracking/testing';
import { createWriteFaults, createFaultyDocumentStore } from '../test/faulty-store.ts';
import { ACME_LIVE_SCOPE } from '../test/shipment-events.ts';
import { expectEqualToRebuild, ReadModelsTestBed, rebuildReadModelAndWait, waitUntilCaughtUp } from '../test/world.ts';
import type { ProjectionPartitionSettings } from './lifecycle.ts';
import type { ReadModels } from './read-models.ts';
import { READ_MODEL_NAMES } from './registry.ts';

const WAIT_MS = 30_000;
const DEADLINE = { deadlineMs: 30_000 };
const FOUR: ProjectionPartitionSettings = { count: 4, pollMs: 20 };
/** Writes at which processes die. A change of the partitions of all read models has about 250. */
const FAULTS = [5, 28, 61, 94, 127, 160, 193, 226];

describe('projections in partitions', () => {
  let world: ReadModelsTestBed;
  let counts: PartitionCountManager;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    counts = new PartitionCountManager(world.engine.documentStore, READ_MODEL_NAMES);
  });
  afterEach(() => world.close());

  const expectPartitions = (partitions: number) =>
    eventually(async () => {
      expect((await counts.listPartitionCountPerSubscriber()).map((each) => each.partitions)).toEqual(
        READ_MODEL_NAMES.map(() => partitions),
      );
    }, DEADLINE);

  async function changeTo(partitions: number): Promise<void> {
    await Promise.all(READ_MODEL_NAMES.map((name) => counts.requestPartitionCountChange(name, partitions)));
    await expectPartitions(partitions);
  }

  /** Returns a store that calls the function before rows of the collection are written. */
  function observeRowWrites(
    collection: string,
    observe: (writes: readonly CollectionWrite<Document>[]) => void,
  ): DocumentStore {
    const store = world.engine.documentStore;
    const openCollection: DocumentStore['collection'] = async <T extends Document>(spec: CollectionSpec) => {
      const rows = await store.collection<T>(spec);
      const writeMany: Collection<T>['writeMany'] = async (writes) => {
        if (spec.name === collection) observe(writes);
        return rows.writeMany(writes);
      };
      return Object.assign(Object.create(rows) as Collection<T>, { writeMany });
    };
    return Object.assign(Object.create(store) as DocumentStore, { collection: openCollection });
  }

  /** Returns a store that records the ids of the rows of shipments that are written. */
  function recordRowWrites(): { readonly documentStore: DocumentStore; readonly ids: readonly string[] } {
    const ids: string[] = [];
    const documentStore = observeRowWrites('shipments.g1', (writes) => ids.push(...writes.map(getWrittenId)));
    return { documentStore, ids };
  }

  async function listEventIds(models: ReadModels): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let after: readonly (string | number | null)[] | undefined; ;) {
      const query = { filter: {}, limit: 3, ...(after && { after }) };
      const page = await models.queries.published_events.listEvents(ACME_LIVE_SCOPE, query);
      ids.push(...page.items.map(({ id }) => id));
      if (page.next === undefined) return ids;
      after = page.next;
    }
  }

  it('continue where a single partition ended, and project nothing again', async () => {
    const former = await world.startReadModels();
    for (let n = 0; n < 20; n += 1) await world.writer.createShipment(n);
    await waitUntilCaughtUp(former);
    await former.stop();
    const { documentStore, ids } = recordRowWrites();
    const models = await world.startReadModels({ documentStore, partitions: FOUR });
    await expectPartitions(4);
    await waitUntilCaughtUp(models);
    expect(ids).toEqual([]);
    const position = await world.writer.createShipment(20);
    expect(await models.waitForAllReadModels(position, WAIT_MS)).toBe(true);
    await expectEqualToRebuild(models);
  });

  it('keep the single partition while processes of earlier releases query it', async () => {
    let canLeaveSinglePartition = false;
    const partitions = { ...FOUR, canLeaveSinglePartition: () => canLeaveSinglePartition };
    const models = await world.startReadModels({ partitions });
    const position = await world.writer.createShipment(1);
    expect(await models.waitForAllReadModels(position, WAIT_MS)).toBe(true);
    expect((await counts.listPartitionCountPerSubscriber()).every((each) => each.partitions === 1)).toBe(true);
    canLeaveSinglePartition = true;
    await expectPartitions(4);
    const next = await world.writer.createShipment(2);
    expect(await models.waitForAllReadModels(next, WAIT_MS)).toBe(true);
  });

  it('contain each write that was waited for, list events without gaps, and project no event twice, while their number changes', async () => {
    const { documentStore, ids: projected } = recordRowWrites();
    const models = await world.startReadModels({ documentStore, partitions: FOUR });
    const other = await world.startReadModels({ project: false });
    let written = 0;
    let isDone = false;
    const writing = (async () => {
      for (; !isDone; written += 1) {
        const position = await world.writer.createShipment(written);
        for (const each of [models, other]) expect(await each.waitForAllReadModels(position, WAIT_MS)).toBe(true);
        expect(await listEventIds(other)).toHaveLength(written + 1);
      }
    })();
    const listing = (async () => {
      const seen: string[] = [];
      while (!isDone) {
        const query = { filter: seen.length > 0 ? { after: seen.at(-1) } : {}, limit: 2 };
        const { items } = await other.queries.published_events.listEvents(ACME_LIVE_SCOPE, query);
        seen.push(...items.map(({ id }) => id));
      }
      return seen;
    })();
    try {
      for (const partitions of [16, 1, 2, 8]) {
        // The generations of a rebuild have different partitions while the number changes.
        const rebuilding = partitions === 1 ? rebuildReadModelAndWait(models, 'published_events') : undefined;
        await Promise.all([changeTo(partitions), rebuilding]);
      }
    } finally {
      isDone = true;
      await writing;
    }
    expect(projected).toHaveLength(written);
    expect(new Set(projected).size).toBe(written);
    const ids = await listEventIds(other);
    const seen = await listing;
    expect(seen).toEqual(ids.slice(0, seen.length));
    const digest = (name: string) => models.digestRows(name);
    for (const name of READ_MODEL_NAMES.filter((each) => each !== 'published_events')) {
      const { rows, sha256 } = await digest(name);
      await rebuildReadModelAndWait(models, name);
      expect(await digest(name)).toMatchObject({ rows, sha256 });
    }
  }, 120_000);

  it('list no event before those of slower partitions', async () => {
    const slow = world.writer.getShipmentStreamName(1);
    let isAway = true;
    const documentStore = observeRowWrites('published_events.g1', (writes) => {
      const isSlow = (write: CollectionWrite<Document>) =>
        write.kind === 'upsert' && Object.values(write.document).includes(slow);
      if (isAway && writes.some(isSlow)) throw new UnavailableError('document store', 'in trouble');
    });
    const models = await world.startReadModels({ documentStore, partitions: { count: 32, pollMs: 20 } });
    await expectPartitions(32);
    await world.writer.createShipment(1);
    const position = await world.writer.createShipment(2);
    const [stream, type] = [world.writer.getShipmentStreamName(2), 'shipment.created' as const];
    expect(await models.waitForReadModelsOfEvents([{ stream, position, type }], WAIT_MS)).toBe(true);
    expect(await listEventIds(models)).toEqual([]);
    isAway = false;
    expect(await models.waitForAllReadModels(position, WAIT_MS)).toBe(true);
    const stored = await Promise.all(
      [1, 2].map((n) => world.engine.eventStore.read(world.writer.getShipmentStreamName(n))),
    );
    expect(await listEventIds(models)).toEqual(stored.flat().map(({ id }) => `evt_${id}`));
  });

  it('are not projected by a release with a single partition, before their number is one again', async () => {
    const models = await world.startReadModels({ partitions: FOUR });
    await expectPartitions(4);
    for (let n = 0; n < 20; n += 1) await world.writer.createShipment(n);
    await waitUntilCaughtUp(models);
    await models.stop();
    const lines: LogLine[] = [];
    const { documentStore, ids } = recordRowWrites();
    const refused = await world.startReadModels({ documentStore, logger: createRecordingLogger(lines) });
    await eventually(() => {
      const errors = lines.filter(({ fields }) => String(fields['error']).includes('a newer lease holder'));
      expect(new Set(errors.map(({ fields }) => fields['subscriber'])).size).toBe(READ_MODEL_NAMES.length);
    }, DEADLINE);
    await refused.stop();
    const returning = await world.startReadModels({ documentStore, partitions: FOUR });
    await changeTo(1);
    await returning.stop();
    const former = await world.startReadModels({ documentStore });
    await waitUntilCaughtUp(former);
    expect(ids).toEqual([]);
    const position = await world.writer.createShipment(20);
    expect(await former.waitForAllReadModels(position, WAIT_MS)).toBe(true);
    await expectEqualToRebuild(former);
  });

  it('share the cache of rows, so that a large row is not read again for each event', async () => {
    let reads = 0;
    const documentStore = createFaultyDocumentStore(world.engine.documentStore, (operation, collection) => {
      if (operation === 'read' && collection === 'shipments.g1') reads += 1;
      return 'works';
    });
    const cachedRows = 32;
    const models = await world.startReadModels({ documentStore, cachedRows, partitions: { count: 16, pollMs: 20 } });
    await expectPartitions(16);
    const change = async (n: number, text: string) => {
      const position = await world.writer.writeShipmentChangedEvent(n, { metadata: { text } });
      expect(await models.waitForAllReadModels(position, WAIT_MS)).toBe(true);
    };
    // The row weighs more than a sixteenth of the cache.
    const text = 'x'.repeat(8_000);
    await world.writer.createShipment(1);
    await change(1, text);
    const before = reads;
    for (let n = 0; n < 5; n += 1) await change(1, `${text}${n}`);
    expect(reads).toBe(before);
  });

  it('let an event wait only for the partition that contains its shipment', async () => {
    const models = await world.startReadModels({ partitions: { count: 32, pollMs: 20 } });
    await expectPartitions(32);
    const position = await world.writer.createShipment(1);
    expect(await models.waitForAllReadModels(position, WAIT_MS)).toBe(true);
    const [stream, type] = [world.writer.getShipmentStreamName(1), 'shipment.created' as const];
    expect(await models.waitForReadModelsOfEvents([{ stream, position, type }], 0)).toBe(true);
    const future = `${position}9`;
    expect(await models.waitForReadModelsOfEvents([{ stream, position: future, type }], 0)).toBe(false);
    expect(await models.waitForReadModelsOfEvents([], 0)).toBe(true);
  });

  it('lose nothing when processes die at any write of a change', async () => {
    let created = 0;
    for (const [round, fault] of FAULTS.entries()) {
      await Promise.all(
        READ_MODEL_NAMES.map((name) => counts.requestPartitionCountChange(name, round % 2 === 0 ? 2 : 4)),
      );
      const { trouble, isDead } = createWriteFaults(fault);
      const documentStore = createFaultyDocumentStore(world.engine.documentStore, trouble);
      const leases = world.createLeasesOfNextProcess();
      const dying = await world.startReadModels({ documentStore, leases, partitions: FOUR });
      while (!isDead()) await world.writer.createShipment((created += 1));
      await dying.stop();
    }
    const models = await world.startReadModels({ leases: world.createLeasesOfNextProcess(), partitions: FOUR });
    await waitUntilCaughtUp(models);
    expect(await listEventIds(models)).toHaveLength(created);
    await expectEqualToRebuild(models);
  }, 120_000);
});

function getWrittenId(write: CollectionWrite<Document>): string {
  return write.kind === 'delete' ? write.id : write.document.id;
}
