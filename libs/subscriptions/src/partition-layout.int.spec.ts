import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import type { Collection, CollectionSpec, DocumentStore } from '@tracking/ports';
import { createPropertyTestOptions, createTempFolder, type TempFolder } from '@tracking/testing';
import fc from 'fast-check';
import {
  Checkpoint,
  type CheckpointDocument,
  CHECKPOINTS_COLLECTION_SPEC,
  CheckpointSupersededError,
  computeLeaseTerm,
  RETIRED_CHECKPOINT_EPOCH,
} from './checkpoint.ts';
import {
  PARKED_STREAMS_COLLECTION_SPEC,
  type ParkedStream,
  ParkedStreams,
  ParkedStreamsOfPartition,
} from './parked-streams.ts';
import { mayPartitionBeReplaced, type PartitionLayout, PartitionLayoutStore } from './partition-layout.ts';
import { ALLOWED_PARTITION_COUNTS, splitStreamsIntoPartitions } from './stream-slots.ts';
import { createPartitionOfStreamPrefixes } from './subscriber.ts';

const PREFIX = 'thing-';
const CHARACTERS = [...'abcdefghijklmnopqrstuvwxyz234567'];
const toPosition = (number: number) => String(number).padStart(4, '0');

describe('the partitions of a subscriber', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let subscribers = 0;
  beforeAll(async () => {
    folder = await createTempFolder();
    engine = await openTestEngine(folder.path);
  });
  afterAll(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  const openCheckpoints = () => engine.documentStore.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC);

  function createSubscriber() {
    const subscriber = { name: `tester_${(subscribers += 1)}`, generation: 1 };
    return { subscriber, stored: new PartitionLayoutStore(engine.documentStore, subscriber, PREFIX, 16) };
  }

  /** Moves the checkpoint of each partition as its process does: ahead of it, only streams of the future are left. */
  async function advance(
    checkpoints: Collection<CheckpointDocument>,
    documents: readonly CheckpointDocument[],
    steps: readonly number[],
  ): Promise<void> {
    for (const [at, document] of documents.entries()) {
      const position = toPosition(Number(document.position) + (steps[at % steps.length] ?? 0));
      const ahead = (document.ahead ?? []).filter((each) => each.position > position);
      const { ahead: _, ...rest } = document;
      await checkpoints.replace({ ...rest, position, epoch: document.epoch + 1, ...(ahead.length > 0 && { ahead }) });
    }
  }

  /** Returns the position that the streams of each character have reached. */
  function readReached(layout: PartitionLayout, documents: readonly CheckpointDocument[]): readonly string[] {
    const partitions = splitStreamsIntoPartitions(PREFIX, layout);
    return CHARACTERS.map((character) => {
      const stream = `${PREFIX}${character}`;
      const owners = partitions.filter(({ streamPrefixes }) => streamPrefixes.some((each) => stream.startsWith(each)));
      const own = documents.filter(({ partition }) => owners.some(({ key }) => key === partition));
      expect([owners.length, own.length]).toEqual([1, 1]);
      return own[0]?.ahead?.find(({ prefix }) => prefix === stream)?.position ?? own[0]?.position ?? '';
    });
  }

  it.each(ALLOWED_PARTITION_COUNTS)('%d of them contain each stream once', (partitions) => {
    const all = splitStreamsIntoPartitions(PREFIX, { partitions, version: 1 });
    expect(all).toHaveLength(partitions);
    expect(new Set(all.map(({ key }) => key)).size).toBe(partitions);
    for (const character of CHARACTERS) {
      const stream = `${PREFIX}${character}bc`;
      expect(all.filter(({ streamPrefixes }) => streamPrefixes.some((each) => stream.startsWith(each)))).toHaveLength(
        1,
      );
    }
  });

  it('no change of their number changes the position of a stream', async () => {
    const checkpoints = await openCheckpoints();
    const change = fc.record({
      partitions: fc.constantFrom(...ALLOWED_PARTITION_COUNTS),
      steps: fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 32 }),
      /** Number to which a process tries to change before, and calls after which it ends. */
      interrupted: fc.option(
        fc.record({ partitions: fc.constantFrom(...ALLOWED_PARTITION_COUNTS), calls: fc.nat({ max: 33 }) }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
        const { subscriber, stored } = createSubscriber();
        const read = async (layout: PartitionLayout) => {
          const ids = stored.listStreamPartitionsOfLayout(layout).map(({ key }) => `${subscriber.name}/1/${key}`);
          return checkpoints.getMany(ids);
        };
        let { layout } = await stored.readPartitionLayout();
        const { key } = createPartitionOfStreamPrefixes([PREFIX]);
        const id = `${subscriber.name}/1/${key}`;
        const first = { subscriber: subscriber.name, generation: 1, partition: key, complete: true, epoch: 7 };
        await checkpoints.insert({ id, ...first, position: toPosition(3) });
        for (const { partitions, steps, interrupted } of changes) {
          if (partitions === layout.partitions) continue;
          await advance(checkpoints, await read(layout), steps);
          const before = readReached(layout, await read(layout));
          if (interrupted !== null && interrupted.partitions !== layout.partitions) {
            let left = Math.min(interrupted.calls, interrupted.partitions);
            const throwAtLast = () => {
              if ((left -= 1) < 0) throw new Error('interrupted');
            };
            const interruption = stored.replacePartitionLayout(layout, interrupted.partitions, throwAtLast);
            await expect(interruption).rejects.toThrow('interrupted');
            // Another process completes the change, whatever was requested meanwhile.
            const { layout: begun, requested } = await stored.readPartitionLayout();
            expect(requested).toBe(interrupted.partitions);
            await stored.replacePartitionLayout(begun, requested, () => undefined);
            ({ layout } = await stored.readPartitionLayout());
            expect(readReached(layout, await read(layout))).toEqual(before);
            if (partitions === layout.partitions) continue;
          }
          await stored.replacePartitionLayout(layout, partitions, () => undefined);
          ({ layout } = await stored.readPartitionLayout());
          expect(layout.partitions).toBe(partitions);
          const now = await read(layout);
          expect(readReached(layout, now)).toEqual(before);
          expect(now.every(({ epoch, complete }) => epoch === 0 && complete)).toBe(true);

          // Only the checkpoint of the single partition outlives its layout. It cannot be claimed.
          const all = await checkpoints.find({ filter: { subscriber: subscriber.name }, limit: 99 });
          const others = all.filter((document) => !now.some((each) => each.id === document.id));
          expect(others.every(({ partition, epoch }) => partition === key && epoch === RETIRED_CHECKPOINT_EPOCH)).toBe(
            true,
          );
        }
      }),
      createPropertyTestOptions(20),
    );
  });

  it('a stream whose retry is requested during a change of their number moves too', async () => {
    const { subscriber, stored } = createSubscriber();
    const parked = await engine.documentStore.collection<ParkedStream>(PARKED_STREAMS_COLLECTION_SPEC);
    const id = `${subscriber.name}.1.${PREFIX}a`;
    await parked.insert({
      id,
      subscriber: subscriber.name,
      generation: 1,
      partition: PREFIX,
      stream: `${PREFIX}a`,
      revision: 0,
      event_type: 'happened',
      error: 'Error: faulty',
      parked_at: '2026-01-01T00:00:00Z',
      attempts: 1,
      retry: false,
    });
    const { layout } = await stored.readPartitionLayout();
    let isChanged = false;
    const get: Collection<ParkedStream>['get'] = async (read) => {
      if (isChanged) return undefined;
      isChanged = true;
      const before = await parked.get(read);
      await stored.replacePartitionLayout(layout, 4, () => undefined);
      return before;
    };
    const documents = Object.assign(Object.create(parked) as Collection<ParkedStream>, { get });
    const documentStore = Object.assign(Object.create(engine.documentStore) as DocumentStore, {
      collection: () => Promise.resolve(documents),
    });
    await new ParkedStreams(documentStore, () => undefined).retry(id);
    expect(await parked.get(id)).toMatchObject({ partition: `v1.${PREFIX}a-h`, retry: true });
  });

  it('a process that was late with a change does not take a parked stream from its new owner', async () => {
    const { subscriber, stored } = createSubscriber();
    const { name } = subscriber;
    const parked = await engine.documentStore.collection<ParkedStream>(PARKED_STREAMS_COLLECTION_SPEC);
    const id = `${name}.1.${PREFIX}a`;
    await parked.insert({
      ...{ id, subscriber: name, generation: 1, partition: PREFIX, stream: `${PREFIX}a`, revision: 0 },
      ...{
        event_type: 'happened',
        error: 'Error: faulty',
        parked_at: '2026-01-01T00:00:00Z',
        attempts: 1,
        retry: false,
      },
    });
    const claiming = Promise.withResolvers<void>();
    const continued = Promise.withResolvers<void>();
    const claim: Collection<ParkedStream>['claim'] = async (...claimed) => {
      claiming.resolve();
      await continued.promise;
      return parked.claim(...claimed);
    };
    const documents = Object.assign(Object.create(parked) as Collection<ParkedStream>, { claim });
    const documentStore = Object.assign(Object.create(engine.documentStore) as DocumentStore, {
      collection: (spec: CollectionSpec) =>
        spec === PARKED_STREAMS_COLLECTION_SPEC ? Promise.resolve(documents) : engine.documentStore.collection(spec),
    });
    const { layout } = await stored.readPartitionLayout();
    const late = new PartitionLayoutStore(documentStore, subscriber, PREFIX, 16);
    const change = late.replacePartitionLayout(layout, 4, () => undefined);
    await claiming.promise;
    const { layout: begun } = await stored.readPartitionLayout();
    await stored.replacePartitionLayout(begun, 4, () => undefined);

    const { layout: present } = await stored.readPartitionLayout();
    const [{ key, streamPrefixes } = { key: '', streamPrefixes: [] }] = stored.listStreamPartitionsOfLayout(present);
    const owner = await ParkedStreamsOfPartition.loadParkedStreamsOfPartition(
      parked,
      { subscriber: name, generation: 1, partition: key, streamPrefixes, leaseTerm: computeLeaseTerm(1, 1) },
      () => new Date(),
    );
    continued.resolve();
    await change;
    for (const document of owner.listParkedStreams()) await owner.releaseParkedStream(document);
    expect(await parked.get(id)).toBeUndefined();
  });

  it('a process with an earlier layout cannot handle their streams', async () => {
    const { subscriber, stored } = createSubscriber();
    const checkpoints = await openCheckpoints();
    const writing = { signal: new AbortController().signal, onFailure: () => undefined };
    const claim = (partition: string) =>
      Checkpoint.claimCheckpoint(
        checkpoints,
        { subscriber: subscriber.name, generation: 1, partition, epoch: 1_000 },
        writing,
      );
    const former: string[] = [];
    for (const partitions of [4, 8, 1, 2]) {
      const { layout } = await stored.readPartitionLayout();
      if (layout.version > 0) former.push(...stored.listStreamPartitionsOfLayout(layout).map(({ key }) => key));
      await stored.replacePartitionLayout(layout, partitions, () => undefined);
    }
    expect(former).toHaveLength(4 + 8 + 1);
    for (const key of former) await expect(claim(key)).rejects.toThrow(CheckpointSupersededError);
    const [first] = former;
    const refusal: unknown = await claim(first!).catch((error: unknown) => error);
    const partition = { key: first!, streamPrefixes: [] };
    // The process logs a warning only for errors that the change of partitions does not explain.
    expect([refusal, new Error('other')].map((error) => mayPartitionBeReplaced(partition, error))).toEqual([
      true,
      false,
    ]);
    const { layout } = await stored.readPartitionLayout();
    for (const { key } of stored.listStreamPartitionsOfLayout(layout)) expect((await claim(key)).complete).toBe(false);
  });

  it('a process with an earlier layout cannot change them', async () => {
    const { stored } = createSubscriber();
    const { layout } = await stored.readPartitionLayout();
    await stored.replacePartitionLayout(layout, 4, () => undefined);
    const { layout: second } = await stored.readPartitionLayout();
    await stored.replacePartitionLayout(second, 1, () => undefined);
    await expect(stored.replacePartitionLayout(layout, 8, () => undefined)).rejects.toThrow(
      'another process has changed',
    );
    expect((await stored.readPartitionLayout()).layout).toMatchObject({ partitions: 1, version: 2 });
  });
});
