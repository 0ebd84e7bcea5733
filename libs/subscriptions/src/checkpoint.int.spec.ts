import { jest } from '@jest/globals';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { type Collection, type DocumentStore, UnavailableError } from '@tracking/ports';
import { type TempFolder, eventually, createTempFolder } from '@tracking/testing';
import {
  Checkpoint,
  type CheckpointDocument,
  CHECKPOINTS_COLLECTION_SPEC,
  toHandledPosition,
  toLogPosition,
  CheckpointSupersededError,
} from './checkpoint.ts';
import { CheckpointWriter } from './checkpoint-writer.ts';

const OF = { subscriber: 'shipments', generation: 1, partition: 'shipment-' };

describe('a checkpoint', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let documents: Collection<CheckpointDocument>;
  let ending: AbortController;
  let failures: number;
  beforeEach(async () => {
    folder = await createTempFolder();
    engine = await openTestEngine(folder.path);
    documents = await engine.documentStore.collection(CHECKPOINTS_COLLECTION_SPEC);
    ending = new AbortController();
    failures = 0;
  });
  afterEach(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  const claim = (epoch: number, from = documents) =>
    Checkpoint.claimCheckpoint(
      from,
      { ...OF, epoch },
      { signal: ending.signal, onFailure: () => void (failures += 1) },
    );
  const position = async () => (await documents.get('shipments/1/shipment-'))?.position;

  it('starts before the first event and stores the last move', async () => {
    const checkpoint = await claim(1);
    expect([checkpoint.position, checkpoint.complete]).toEqual([undefined, false]);
    void checkpoint.moveCheckpointTo('0001', false);
    void checkpoint.moveCheckpointTo('0002', true);
    void checkpoint.moveCheckpointTo('0003', true);
    expect(checkpoint.position).toBe('0003');
    await checkpoint.waitForWrites();
    const next = await claim(2);
    expect([next.position, next.complete]).toEqual(['0003', true]);
  });

  it('composes no further signals for the pauses between its writes', async () => {
    const writing = { signal: ending.signal, onFailure: () => undefined, intervalMs: 1 };
    const checkpoint = await Checkpoint.claimCheckpoint(documents, { ...OF, epoch: 1 }, writing);
    const compose = jest.spyOn(AbortSignal, 'any');
    for (const to of ['0001', '0002', '0003']) await checkpoint.moveCheckpointTo(to, false);
    const composed = compose.mock.calls.length;
    compose.mockRestore();
    expect(composed).toBe(0);
    expect(await position()).toBe('0003');
  });

  it('is claimed by a newer holder; the older one is notified and moves it no longer', async () => {
    const older = await claim(1);
    await older.moveCheckpointTo('0005', false);
    const newer = await claim(2);
    await newer.moveCheckpointTo('0006', false);
    expect(older.superseded.aborted).toBe(false);
    await older.moveCheckpointTo('0009', true);
    expect(older.superseded.aborted).toBe(true);
    expect(await documents.find({ filter: {}, limit: 9 })).toMatchObject([
      { position: '0006', epoch: 2, complete: false },
    ]);
    await newer.moveCheckpointTo('0007', false);
    expect(newer.superseded.aborted).toBe(false);
  });

  it('is written when a move resolves, even shortly after the previous write', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const { promise: written, resolve } = Promise.withResolvers<void>();
      const watched = Object.assign(Object.create(documents) as typeof documents, {
        replace: async (...given: Parameters<typeof documents.replace>) => {
          const isWritten = await documents.replace(...given);
          resolve();
          return isWritten;
        },
      });
      const checkpoint = await claim(1, watched);
      void checkpoint.moveCheckpointTo(`${turns}-first`, false);
      await written;
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await checkpoint.moveCheckpointTo(`${turns}-second`, false);
      expect(await position()).toBe(`${turns}-second`);
    }
  });

  it('has its position after a process of the previous version moved it past the late positions', async () => {
    const checkpoint = await claim(1);
    await checkpoint.moveCheckpointTo('0001', true);
    const late = checkpoint.createPositionAfterHandledEvents();
    await checkpoint.moveCheckpointToRetriedEvent(late);
    expect((await claim(2)).handledPosition).toBe(late);

    const [stored] = await documents.find({ filter: {}, limit: 1 });
    const moved = { ...(stored as CheckpointDocument), position: '0002' };
    await documents.replace(moved);
    expect(toHandledPosition(moved)).toBe('0002');
    expect((await claim(3)).handledPosition).toBe('0002');
  });

  it('waits between writes, and writes the newest move when flushed', async () => {
    const writing = { signal: ending.signal, onFailure: () => undefined, intervalMs: 60_000 };
    const checkpoint = await Checkpoint.claimCheckpoint(documents, { ...OF, epoch: 1 }, writing);
    void checkpoint.moveCheckpointTo('0001', false);
    await eventually(async () => expect(await position()).toBe('0001'));
    void checkpoint.moveCheckpointTo('0002', false);
    void checkpoint.moveCheckpointTo('0003', false);
    expect([checkpoint.position, await position()]).toEqual(['0003', '0001']);
    await checkpoint.waitForWrites();
    expect(await position()).toBe('0003');
  });

  it('does not wait after the write that completes the partition', async () => {
    const writing = { signal: ending.signal, onFailure: () => undefined, intervalMs: 3_600_000 };
    const checkpoint = await Checkpoint.claimCheckpoint(documents, { ...OF, epoch: 1 }, writing);
    await checkpoint.moveCheckpointTo('0001', true);
    expect(await position()).toBe('0001');
  });

  it('is moved later by a common writer, or when flushed', async () => {
    const claimScheduled = (epoch: number, intervalMs: number) => {
      const writer = new CheckpointWriter(engine.documentStore, intervalMs);
      const writing = { signal: ending.signal, onFailure: () => undefined, writer };
      return Checkpoint.claimCheckpoint(documents, { ...OF, epoch }, writing);
    };
    const slow = await claimScheduled(1, 3_600_000);
    await slow.moveCheckpointTo('0001', true);
    await slow.moveCheckpointTo('0002', true);
    await slow.moveCheckpointTo('0003', true);
    expect([slow.position, await position()]).toEqual(['0003', '0001']);
    await slow.waitForWrites();
    expect(await position()).toBe('0003');
    const fast = await claimScheduled(2, 1);
    await fast.moveCheckpointTo('0004', true);
    await fast.moveCheckpointTo('0005', true);
    await eventually(async () => expect(await position()).toBe('0005'));
  });

  it('is written by a common writer directly after the previous write', async () => {
    const writer = new CheckpointWriter(engine.documentStore);
    const checkpoint = { id: 'shipments/1/shipment-', ...OF, position: '0001', complete: true, epoch: 1 };
    await documents.insert(checkpoint);
    const replaceCheckpoint = async (to: string) =>
      await writer.replaceStoredCheckpoint({ ...checkpoint, position: to });
    expect([await replaceCheckpoint('0002'), await replaceCheckpoint('0003')]).toEqual([true, true]);
    expect(await position()).toBe('0003');
  });

  it('is written together with those of other partitions, and learns that another holder has claimed it', async () => {
    const batches: number[] = [];
    const counted = Object.assign(Object.create(documents) as typeof documents, {
      replaceMany: (...given: Parameters<typeof documents.replaceMany>) => {
        batches.push(given[0].length);
        return documents.replaceMany(...given);
      },
    });
    const store = Object.assign(Object.create(engine.documentStore) as DocumentStore, {
      collection: () => Promise.resolve(counted),
    });
    const writing = { signal: ending.signal, onFailure: () => undefined };
    const claimPartition = (partition: string, epoch: number, writer: CheckpointWriter) =>
      Checkpoint.claimCheckpoint(documents, { ...OF, partition, epoch }, { ...writing, writer });
    const writer = new CheckpointWriter(store, 1);
    const all = await Promise.all(['a', 'b', 'c'].map((partition) => claimPartition(partition, 1, writer)));
    await Promise.all(all.map((each) => each.moveCheckpointTo('0001', true)));
    expect(batches).toEqual([3]);
    for (const each of all) void each.moveCheckpointTo('0002', true);
    const positions = async () => (await documents.find({ filter: {}, limit: 9 })).map(({ position }) => position);
    await eventually(async () => expect(await positions()).toEqual(['0002', '0002', '0002']));
    expect(batches).toEqual([3, 3]);

    const olderWriter = new CheckpointWriter(store, 1);
    const older = await claimPartition('a', 2, olderWriter);
    const neighbor = await claimPartition('b', 2, olderWriter);
    await neighbor.moveCheckpointTo('0003', true);
    const newer = await claimPartition('a', 3, new CheckpointWriter(store, 1));
    await newer.moveCheckpointTo('0003', true);
    await Promise.all([older.moveCheckpointTo('0009', true), neighbor.moveCheckpointTo('0004', true)]);
    await Promise.all([older, neighbor, newer].map((each) => each.waitForWrites()));
    expect([older, neighbor, newer].map((each) => each.superseded.aborted)).toEqual([true, false, false]);
    expect((await positions()).toSorted()).toEqual(['0002', '0003', '0004']);
  });

  it.each([true, false])('is not created again after it was deleted, with a common writer: %s', async (isCommon) => {
    const writer = isCommon ? new CheckpointWriter(engine.documentStore, 1) : undefined;
    const writing = { signal: ending.signal, onFailure: () => undefined, writer };
    const [id, partition] = ['shipments/1/v1.shipment-a-b', 'v1.shipment-a-b'];
    await documents.insert({ id, ...OF, partition, layout: 1, position: '0001', complete: true, epoch: 0 });
    const checkpoint = await Checkpoint.claimCheckpoint(documents, { ...OF, partition, epoch: 1 }, writing);
    await documents.delete(id);
    await checkpoint.moveCheckpointTo('0002', true);
    await checkpoint.waitForWrites();
    expect(checkpoint.superseded.aborted).toBe(true);
    expect(await documents.count({})).toBe(0);
  });

  it.each([true, false])(
    'is not moved by a holder of an earlier layout, with a common writer: %s',
    async (isCommon) => {
      const writer = isCommon ? new CheckpointWriter(engine.documentStore, 1) : undefined;
      const writing = { signal: ending.signal, onFailure: () => undefined, writer };
      const former = await Checkpoint.claimCheckpoint(documents, { ...OF, epoch: 5 }, writing);
      await former.moveCheckpointTo('0001', true);
      // The number of partitions changed to another one, and back to one. No process has claimed the new checkpoint yet.
      const next = { ...OF, layout: 2, position: '0007', complete: true, epoch: 0 };
      await documents.replace({ id: 'shipments/1/shipment-', ...next });
      await former.moveCheckpointTo('0002', true);
      await former.waitForWrites();
      expect(former.superseded.aborted).toBe(true);
      expect(await documents.get('shipments/1/shipment-')).toMatchObject(next);
    },
  );

  it('has late positions that differ between partitions, and increase with each layout', async () => {
    const insert = (partition: string, layout: number) => {
      const id = `shipments/1/${partition}`;
      return documents.insert({ id, ...OF, partition, layout, position: '0005', complete: true, epoch: 0 });
    };
    const writing = { signal: ending.signal, onFailure: () => undefined };
    const late = async (partition: string, epoch: number) =>
      (
        await Checkpoint.claimCheckpoint(documents, { ...OF, partition, epoch }, writing)
      ).createPositionAfterHandledEvents();
    for (const partition of ['v1.a', 'v1.b']) await insert(partition, 1);
    await insert('v2.a', 2);
    const [first, second, next] = [await late('v1.a', 7), await late('v1.b', 7), await late('v2.a', 1)];
    expect(first).not.toBe(second);
    expect([first, second].every((each) => each > '0005' && each < next)).toBe(true);
    expect(next < '0006').toBe(true);
    expect([first, next].map(toLogPosition)).toEqual(['0005', '0005']);
  });

  it('skips events that an earlier partition handled, until it has passed them', async () => {
    const ahead = [
      { prefix: 'shipment-a', position: '0005' },
      { prefix: 'shipment-b', position: '0009' },
    ];
    const { id, ...fields } = { id: 'shipments/1/shipment-', ...OF, position: '0003', complete: true, epoch: 0 };
    await documents.insert({ id, ...fields, ahead });
    const checkpoint = await claim(1);
    const hasHandled = (stream: string, at: string) =>
      checkpoint.wasEventHandledBeforePartitionCreation({ stream, position: at });
    expect([hasHandled('shipment-ab', '0005'), hasHandled('shipment-ab', '0006')]).toEqual([true, false]);
    expect([hasHandled('shipment-bb', '0009'), hasHandled('shipment-cb', '0004')]).toEqual([true, false]);
    await checkpoint.moveCheckpointTo('0005', true);
    expect((await documents.get(id))?.ahead).toEqual(ahead.slice(1));
    await checkpoint.moveCheckpointTo('0009', true);
    expect(await documents.get(id)).not.toHaveProperty('ahead');
  });

  it('cannot be claimed with an old epoch', async () => {
    await claim(2);
    await expect(claim(1)).rejects.toThrow(CheckpointSupersededError);
    await expect(claim(2)).resolves.toBeDefined();
  });

  it('is lost when its generation is dropped', async () => {
    const checkpoint = await claim(1);
    await documents.delete('shipments/1/shipment-');
    await checkpoint.moveCheckpointTo('0001', false);
    expect(checkpoint.superseded.aborted).toBe(true);
    expect(await documents.count({})).toBe(0);
  });

  it('waits for the engine, until the work ends', async () => {
    let answers: 'nothing' | 'late' | 'truly' = 'truly';
    const troubled: Collection<CheckpointDocument> = new Proxy(documents, {
      get: (of, name: keyof typeof documents) =>
        name !== 'replace'
          ? of[name].bind(of)
          : async (...args: Parameters<typeof documents.replace>) => {
              if (answers === 'nothing') throw new UnavailableError('document store', 'away');
              const replaced = await of.replace(...args);
              if (answers === 'late') throw new UnavailableError('document store', 'perhaps done');
              return replaced;
            },
    });
    const checkpoint = await claim(1, troubled);
    answers = 'nothing';
    void checkpoint.moveCheckpointTo('0001', false);
    await eventually(() => expect(failures).toBeGreaterThan(1));
    answers = 'truly';
    await checkpoint.waitForWrites();
    expect(await position()).toBe('0001');

    answers = 'late';
    const other = await claim(2, troubled);
    void other.moveCheckpointTo('0002', false);
    ending.abort();
    await other.waitForWrites();
    expect(other.superseded.aborted).toBe(false);
    expect(await position()).toBe('0002');
  });
});
