import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import type { Collection, Document, DocumentStore, LeaseSource } from '@tracking/ports';
import { type TempFolder, createTempFolder, eventually, silentLogger } from '@tracking/testing';
import { CatchUpSubscription } from './catch-up-subscription.ts';
import { PARKED_STREAMS_COLLECTION_SPEC, type ParkedStream } from './parked-streams.ts';
import { PartitionLayoutStore } from './partition-layout.ts';
import {
  createPartitionOfStreamPrefixes,
  type EventHandler,
  type HandledEvent,
  type StreamPartition,
} from './subscriber.ts';

const DEADLINE = { deadlineMs: 20_000 };
const STREAM = 'thing-b';

/** Leases of one process that always get the same epoch. */
const createLeasesWithEpoch = (epoch: number, lost: AbortSignal): LeaseSource => ({
  acquireLease: (name) =>
    Promise.resolve({
      ...{ name, epoch, lost, handOverRequested: new AbortController().signal },
      isLeaseHeld: () => !lost.aborted,
      releaseLease: () => Promise.resolve(),
    }),
});

describe('the parked streams of a partition whose lease moved to another process', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let parked: Collection<ParkedStream>;
  let started: CatchUpSubscription[];
  /** Events of {@link STREAM} that were handled, by process. */
  let handled: string[];
  beforeEach(async () => {
    folder = await createTempFolder();
    engine = await openTestEngine(folder.path);
    parked = await engine.documentStore.collection<ParkedStream>(PARKED_STREAMS_COLLECTION_SPEC);
    started = [];
    handled = [];
    await append(STREAM, 'no_stream');
  });
  afterEach(async () => {
    await Promise.all(started.map((each) => each.stop()));
    await engine.closeEngine();
    await folder.remove();
  });

  const append = (stream: string, expected: number | 'no_stream') =>
    engine.eventStore.append(stream, expected, [{ id: crypto.randomUUID(), type: 'happened', data: {}, metadata: {} }]);

  interface Process {
    readonly name: string;
    readonly epoch: number;
    /** True if the process cannot handle the events of {@link STREAM}. */
    readonly isFaulty: boolean;
    readonly partitions?: readonly StreamPartition[];
    readonly lost?: AbortSignal;
    readonly documentStore?: DocumentStore;
    readonly onHandled?: (events: readonly HandledEvent[]) => void;
  }
  function startProcess({ name, epoch, isFaulty, partitions, ...parts }: Process): CatchUpSubscription {
    const { lost, documentStore, onHandled } = parts;
    const handle: EventHandler['handleEventBatchOfPartition'] = (events) => {
      const own = events.filter(({ stream }) => stream === STREAM);
      if (!isFaulty) handled.push(...own.map(({ revision }) => `${name} ${revision}`));
      onHandled?.(events);
      const [failed] = isFaulty ? own : [];
      return Promise.resolve(failed === undefined ? [] : [{ event: failed, error: new Error('a fault') }]);
    };
    const subscription = new CatchUpSubscription({
      subscriber: { name: 'tester', generation: 1 },
      partitions: partitions ?? [createPartitionOfStreamPrefixes(['thing-'])],
      createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }),
      eventStore: engine.eventStore,
      documentStore: documentStore ?? engine.documentStore,
      leases: createLeasesWithEpoch(epoch, lost ?? new AbortController().signal),
      logger: silentLogger,
      clock: () => new Date(),
      metrics: { observeBatchDuration: () => undefined, recordFailure: () => undefined },
    });
    started.push(subscription);
    subscription.start();
    return subscription;
  }

  /** A document store whose changes of parked streams by the given method wait until `arrive` is called. */
  function delayParkedStreamWrites(method: 'delete' | 'upsert') {
    const sent = Promise.withResolvers<void>();
    const arriving = Promise.withResolvers<void>();
    const original = parked[method].bind(parked) as (...args: unknown[]) => Promise<boolean>;
    const delayed = async (...args: unknown[]) => {
      sent.resolve();
      await arriving.promise;
      return original(...args);
    };
    const documents = Object.assign(Object.create(parked) as Collection<ParkedStream>, { [method]: delayed });
    const documentStore = Object.assign(Object.create(engine.documentStore) as DocumentStore, {
      collection: <T extends Document>(spec: Parameters<DocumentStore['collection']>[0]) =>
        spec.name === PARKED_STREAMS_COLLECTION_SPEC.name
          ? Promise.resolve(documents as unknown as Collection<T>)
          : engine.documentStore.collection<T>(spec),
    });
    return { documentStore, sent: sent.promise, arrive: arriving.resolve };
  }

  it('are not released by a late write of the former owner', async () => {
    const first = startProcess({ name: 'first', epoch: 1, isFaulty: true });
    await eventually(() => expect(first.countParkedStreams()).toBe(1), DEADLINE);
    await first.stop();

    const lost = new AbortController();
    const late = delayParkedStreamWrites('delete');
    const former = startProcess({
      ...{ name: 'former', epoch: 2, isFaulty: false },
      ...{ lost: lost.signal, documentStore: late.documentStore },
    });
    await late.sent;
    lost.abort();
    const skipped = Promise.withResolvers<void>();
    const onHandled = (events: readonly HandledEvent[]) => {
      if (events.some(({ stream }) => stream === 'thing-c')) skipped.resolve();
    };
    const owner = startProcess({ name: 'owner', epoch: 3, isFaulty: true, onHandled });
    await eventually(async () => expect(await parked.getMany([`tester.1.${STREAM}`])).toMatchObject([{ attempts: 2 }]));
    await append(STREAM, 0);
    await append('thing-c', 'no_stream');
    await skipped.promise;
    late.arrive();
    await former.stop();
    await owner.stop();

    startProcess({ name: 'next', epoch: 4, isFaulty: false });
    await eventually(() => expect(handled).toEqual(['former 0', 'next 0', 'next 1']), DEADLINE);
  });

  it('are not changed by a late write of the former owner', async () => {
    const lost = new AbortController();
    const late = delayParkedStreamWrites('upsert');
    const former = startProcess({
      ...{ name: 'former', epoch: 1, isFaulty: true },
      ...{ lost: lost.signal, documentStore: late.documentStore },
    });
    await late.sent;
    lost.abort();
    for (const attempts of [1, 2]) {
      const owner = startProcess({ name: 'owner', epoch: 1 + attempts, isFaulty: true });
      await eventually(
        async () => expect(await parked.getMany([`tester.1.${STREAM}`])).toMatchObject([{ attempts }]),
        DEADLINE,
      );
      await owner.stop();
    }
    late.arrive();
    await former.stop();
    expect(await parked.get(`tester.1.${STREAM}`)).toMatchObject({ attempts: 2 });
  });

  it('are found if the former owner parked one after the partitions changed', async () => {
    const lost = new AbortController();
    const late = delayParkedStreamWrites('upsert');
    const former = startProcess({
      ...{ name: 'former', epoch: 1, isFaulty: true },
      ...{ lost: lost.signal, documentStore: late.documentStore },
    });
    await late.sent;
    lost.abort();
    const layouts = new PartitionLayoutStore(engine.documentStore, { name: 'tester', generation: 1 }, 'thing-', 1);
    await layouts.replacePartitionLayout((await layouts.readPartitionLayout()).layout, 4, () => undefined);
    const partitions = layouts.listStreamPartitionsOfLayout((await layouts.readPartitionLayout()).layout);
    const owner = startProcess({ name: 'owner', epoch: 1, isFaulty: false, partitions });
    await eventually(() => expect(handled).toEqual(['owner 0']), DEADLINE);
    await owner.stop();
    late.arrive();
    await former.stop();
    expect(await parked.count({})).toBe(1);

    startProcess({ name: 'next', epoch: 2, isFaulty: false, partitions });
    await eventually(async () => expect(await parked.count({})).toBe(0), DEADLINE);
    expect(handled).toEqual(['owner 0', 'next 0']);
  });
});
