import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { type EventStore, type Lease, type StoredEvent, UnavailableError } from '@tracking/ports';
import {
  type TempFolder,
  eventually,
  expectAssertionStaysTrue,
  silentLogger,
  createTempFolder,
} from '@tracking/testing';
import { CatchUpSubscription, type CatchUpSubscriptionOptions } from './catch-up-subscription.ts';
import {
  type CheckpointDocument,
  CHECKPOINTS_COLLECTION_SPEC,
  toHandledPosition,
  toLogPosition,
} from './checkpoint.ts';
import { ParkedStreams } from './parked-streams.ts';
import { type EventHandler, type HandledEvent, createPartitionOfStreamPrefixes } from './subscriber.ts';

const DEADLINE = { deadlineMs: 20_000 };
const POLL_MS = 100;

describe('a subscriber', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let started: CatchUpSubscription[];
  beforeEach(async () => {
    folder = await createTempFolder();
    engine = await openTestEngine(folder.path);
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((each) => each.stop()));
    await engine.closeEngine();
    await folder.remove();
  });

  const append = (stream = `thing-${randomUUID()}`, recordedAt = Date.now()) =>
    engine.eventStore.append(stream, 'no_stream', [
      { id: randomUUID(), type: 'happened', data: {}, metadata: { recorded_at: new Date(recordedAt).toISOString() } },
    ]);
  function start(parts: Partial<CatchUpSubscriptionOptions> = {}): CatchUpSubscription {
    const subscription = new CatchUpSubscription({
      subscriber: { name: 'tester', generation: 1 },
      partitions: [createPartitionOfStreamPrefixes(['thing-'])],
      createHandler: () => Promise.resolve({ handleEventBatchOfPartition: () => Promise.resolve([]) }),
      eventStore: engine.eventStore,
      documentStore: engine.documentStore,
      leases: engine.leases,
      logger: silentLogger,
      clock: () => new Date(),
      metrics: { observeBatchDuration: () => undefined, recordFailure: () => undefined },
      pollMs: POLL_MS,
      ...parts,
    });
    started.push(subscription);
    subscription.start();
    return subscription;
  }
  const grows = async (one: CatchUpSubscription) => {
    await eventually(() => expect(one.computeLagMs()).toBeGreaterThan(0), DEADLINE);
    const before = one.computeLagMs();
    await eventually(() => expect(one.computeLagMs()).toBeGreaterThan(before + POLL_MS), DEADLINE);
  };
  const ends = (one: CatchUpSubscription) => eventually(() => expect(one.computeLagMs()).toBe(0), DEADLINE);
  const storeThat = (part: Partial<EventStore>) => Object.assign(Object.create(engine.eventStore) as EventStore, part);

  it('reports no failure if a hand-over interrupts a batch, which the next owner handles', async () => {
    const handOver = new AbortController();
    const never = new AbortController();
    let failures = 0;
    const batches: string[][] = [];
    const handle: EventHandler['handleEventBatchOfPartition'] = (events, ending) => {
      batches.push(events.map(({ id }) => id));
      if (handOver.signal.aborted) return Promise.resolve([]);
      handOver.abort();
      return Promise.reject(ending.reason as Error);
    };
    const acquireLease = async (name: string, signal: AbortSignal): Promise<Lease> => {
      const lease = await engine.leases.acquireLease(name, signal);
      const { epoch, lost } = lease;
      const handOverRequested = handOver.signal.aborted ? never.signal : handOver.signal;
      return {
        name,
        epoch,
        lost,
        handOverRequested,
        isLeaseHeld: () => lease.isLeaseHeld(),
        releaseLease: () => lease.releaseLease(),
      };
    };
    await append();
    start({
      leases: { acquireLease },
      createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }),
      metrics: { observeBatchDuration: () => undefined, recordFailure: () => (failures += 1) },
    });
    await eventually(() => expect(batches).toHaveLength(2), DEADLINE);
    expect(batches[1]).toEqual(batches[0]);
    expect(failures).toBe(0);
  });

  it.each([
    { events: 8, caughtUp: true, goesOn: false },
    { events: 7, caughtUp: true, goesOn: true },
    { events: 8, caughtUp: false, goesOn: true },
  ])('waits for more events after a batch of $events, caught up: $caughtUp', async ({ events, caughtUp, goesOn }) => {
    const handled: number[] = [];
    const handle = (batch: readonly StoredEvent[]) => Promise.resolve(handled.push(batch.length)).then(() => []);
    const catchUp: EventStore['catchUp'] = async function* ({ signal }) {
      for (let position = 1; !signal.aborted; position += 1) {
        const event = {
          id: randomUUID(),
          type: 'happened',
          data: {},
          metadata: {},
          stream: 'thing-1',
          revision: position,
        };
        const batch = Array.from({ length: events }, () => ({ ...event, position: String(position) }));
        yield { events: batch, position: String(position), caughtUp };
        await new Promise(setImmediate);
      }
    };
    const batchingDelayMs = 3_600_000;
    const subscription = start({
      createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }),
      eventStore: storeThat({ catchUp }),
      batchingDelayMs,
    });
    await eventually(() => expect(handled.length).toBeGreaterThanOrEqual(goesOn ? 3 : 1), DEADLINE);
    await subscription.stop();
    if (!goesOn) expect(handled).toEqual([events]);
  });

  it('reports the position of a batch before its events are handled', async () => {
    const happened: string[] = [];
    const handle = (events: readonly HandledEvent[]) => {
      if (events.length > 0) happened.push(`handle ${events.at(-1)?.position}`);
      return Promise.resolve([]);
    };
    const listener = {
      onAcquired: () => undefined,
      onHandling: (_: string, position: string) => void happened.push(`handling ${position}`),
      onAdvanced: (_: string, position: string) => void happened.push(`advanced ${position}`),
      onCompleted: () => undefined,
      onReleased: () => undefined,
    };
    await append();
    const position = await engine.eventStore.head();
    start({ createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }), listener });
    const expected = ['handling', 'handle', 'advanced'].map((what) => `${what} ${position}`);
    await eventually(() => expect(happened.slice(0, 3)).toEqual(expected), DEADLINE);
  });

  it('handles a parked stream after everything stored at its start, at a late position', async () => {
    const handled: HandledEvent[] = [];
    let faulty: string | undefined;
    const handle = (events: readonly HandledEvent[]) => {
      const [failed] = events.filter(({ stream }) => stream === faulty);
      handled.push(...events.filter(({ stream }) => stream !== faulty));
      return Promise.resolve(failed === undefined ? [] : [{ event: failed, error: new Error('a fault') }]);
    };
    const begin = () => Promise.resolve({ handleEventBatchOfPartition: handle });
    const stored = async () => {
      const [checkpoint] = await (
        await engine.documentStore.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC)
      ).find({ filter: {}, limit: 1 });
      return checkpoint && toHandledPosition(checkpoint);
    };
    faulty = 'thing-1';
    await append('thing-1');
    const first = start({ createHandler: begin });
    await eventually(() => expect(first.countParkedStreams()).toBe(1), DEADLINE);
    await first.stop();

    faulty = undefined;
    const { position } = await append('thing-2');
    const second = start({ createHandler: begin });
    await eventually(() => expect(handled.map(({ stream }) => stream)).toEqual(['thing-2', 'thing-1']), DEADLINE);
    const [, late] = handled;
    expect([toLogPosition(late?.handledPosition ?? ''), (late?.handledPosition ?? '') > position]).toEqual([
      position,
      true,
    ]);
    await second.stop();
    expect(await stored()).toBe(late?.handledPosition);

    const next = await append('thing-3');
    expect((late?.handledPosition ?? '') < next.position).toBe(true);
    const third = start({ createHandler: begin });
    await eventually(() => expect(handled).toHaveLength(3), DEADLINE);
    await third.stop();
    expect(await stored()).toBe(next.position);
  });

  it('keeps the late position of a parked stream if it starts again before the next event', async () => {
    const checkpoints = await engine.documentStore.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC);
    const readStored = async () => toHandledPosition((await checkpoints.get('tester/1/thing-')) ?? { position: null });
    const places: string[] = [];
    const listener = {
      onAcquired: (_: string, place: string | undefined) => void places.push(String(place)),
      onHandling: () => undefined,
      onAdvanced: (_: string, place: string) => void places.push(place),
      onCompleted: () => undefined,
      onReleased: () => undefined,
    };
    const fail = (events: readonly StoredEvent[]) =>
      Promise.resolve(events.map((event) => ({ event, error: new Error('faulty') })));
    await append('thing-1');
    const faulty = start({ createHandler: () => Promise.resolve({ handleEventBatchOfPartition: fail }) });
    await eventually(() => expect(faulty.countParkedStreams()).toBe(1), DEADLINE);
    await faulty.stop();
    const head = String(await engine.eventStore.head());
    const retrying = start();
    await eventually(async () => expect(String(await readStored()) > head).toBe(true), DEADLINE);
    await retrying.stop();

    const late = await readStored();
    const caughtUp = Promise.withResolvers<void>();
    const catchUp: EventStore['catchUp'] = async function* (options) {
      for await (const batch of engine.eventStore.catchUp(options)) {
        yield batch;
        caughtUp.resolve();
      }
    };
    const idle = start({ eventStore: storeThat({ catchUp }), listener });
    await caughtUp.promise;
    await idle.stop();
    expect(await readStored()).toBe(late);
    expect(places).toEqual([late]);
  });

  it('keeps its lease until a requested retry has ended', async () => {
    const steps: string[] = [];
    const retrying = Promise.withResolvers<void>();
    const continued = Promise.withResolvers<void>();
    let isFaulty = true;
    const handle = async ([event]: readonly HandledEvent[]) => {
      if (event === undefined) return [];
      if (isFaulty) return [{ event, error: new Error('a fault') }];
      retrying.resolve();
      await continued.promise;
      steps.push('retried');
      return [];
    };
    const acquireLease = async (name: string, signal: AbortSignal) => {
      const lease = await engine.leases.acquireLease(name, signal);
      lease.lost.addEventListener('abort', () => steps.push('released'), { once: true });
      return lease;
    };
    const subscription = start({
      createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }),
      leases: { acquireLease },
    });
    await append('thing-1');
    await eventually(() => expect(subscription.countParkedStreams()).toBe(1), DEADLINE);
    isFaulty = false;
    const outcome = new ParkedStreams(engine.documentStore, () => subscription.retryRequestedParkedStreams()).retry(
      'tester.1.thing-1',
    );
    await retrying.promise;
    const stopped = subscription.stop();
    try {
      await expectAssertionStaysTrue(() => expect(steps).toEqual([]));
    } finally {
      continued.resolve();
    }
    await stopped;
    expect(steps).toEqual(['retried', 'released']);
    expect(await outcome).toBe('applied');
  });

  it('handles a long parked stream in parts, and parks it again at the failing event', async () => {
    const COUNT = 70;
    const events = Array.from({ length: COUNT }, () => ({
      id: randomUUID(),
      type: 'happened',
      data: {},
      metadata: {},
    }));
    let faultyFrom = 0;
    const handled: number[] = [];
    let most = 0;
    const handle = (batch: readonly HandledEvent[]) => {
      const failed = batch.find(({ revision }) => revision >= faultyFrom);
      const done = batch.filter(({ revision }) => revision < faultyFrom);
      handled.push(...done.map(({ revision }) => revision));
      most = Math.max(most, done.length);
      return Promise.resolve(failed === undefined ? [] : [{ event: failed, error: new Error('a fault') }]);
    };
    const begin = () => Promise.resolve({ handleEventBatchOfPartition: handle });
    await engine.eventStore.append('thing-1', 'no_stream', events);
    for (const next of [0, 40, COUNT]) {
      faultyFrom = next;
      const subscription = start({ createHandler: begin });
      await eventually(() => expect(handled).toHaveLength(next), DEADLINE);
      await eventually(() => expect(subscription.countParkedStreams()).toBe(next < COUNT ? 1 : 0), DEADLINE);
      await subscription.stop();
    }
    expect(handled).toEqual(events.map((_, revision) => revision));
    expect(most).toBeLessThanOrEqual(32);
  });

  it('counts a catch-up that ends unexpectedly as a failure, and begins again', async () => {
    let failures = 0;
    let begun = 0;
    const catchUp: EventStore['catchUp'] = async function* (options) {
      begun += 1;
      if (begun > 2) yield* engine.eventStore.catchUp(options);
    };
    const metrics = { observeBatchDuration: () => undefined, recordFailure: () => void (failures += 1) };
    start({ eventStore: storeThat({ catchUp }), metrics });
    await eventually(() => expect([begun, failures]).toEqual([3, 2]), DEADLINE);
  });

  it('does not count the loss of a lease and a stop as failures', async () => {
    let failures = 0;
    const happened: string[] = [];
    const loss = new AbortController();
    const leases = {
      acquireLease: async (name: string, signal: AbortSignal) => {
        const lease = await engine.leases.acquireLease(name, signal);
        return happened.length > 0 ? lease : Object.assign(Object.create(lease) as Lease, { lost: loss.signal });
      },
      close: () => Promise.resolve(),
    };
    const listener = {
      onAcquired: () => void happened.push('acquired'),
      onReleased: () => void happened.push('released'),
      onHandling: () => undefined,
      onAdvanced: () => undefined,
      onCompleted: () => undefined,
    };
    const metrics = { observeBatchDuration: () => undefined, recordFailure: () => void (failures += 1) };
    const subscription = start({ leases, metrics, listener });
    await eventually(() => expect(happened).toEqual(['acquired']), DEADLINE);
    loss.abort();
    await eventually(() => expect(happened).toEqual(['acquired', 'released', 'acquired']), DEADLINE);
    await subscription.stop();
    expect([happened.length, failures]).toEqual([4, 0]);
  });

  it('has a growing lag if no process has the work', async () => {
    const lease = await engine.leases.acquireLease('tester.g1.thing-', new AbortController().signal);
    await append();
    const idle = start();
    await grows(idle);
    await lease.releaseLease();
    await ends(idle);
  });

  it('has a growing lag if the first batch does not arrive', async () => {
    await append();
    const catchUp: EventStore['catchUp'] = async function* ({ signal }) {
      // The subscriber may have been stopped before this point.
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    await grows(start({ eventStore: storeThat({ catchUp }) }));
  });

  it('has no lag since the time of an imported event, which can be long before it was stored', async () => {
    const imported = new Date(0).toISOString();
    const gate = Promise.withResolvers<void>();
    const isHandling = Promise.withResolvers<void>();
    const handle = async (_: readonly StoredEvent[], ending: AbortSignal) => {
      isHandling.resolve();
      await Promise.race([gate.promise, once(ending, 'abort')]);
      return [];
    };
    await engine.eventStore.append('thing-1', 'no_stream', [
      { id: randomUUID(), type: 'happened', data: {}, metadata: { recorded_at: imported, imported: true } },
    ]);
    const working = start({ createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }) });
    await isHandling.promise;
    await grows(working);
    expect(working.computeLagMs()).toBeLessThan(3_600_000);
    gate.resolve();
    await ends(working);
  });

  it('has a lag since the current event was recorded while handling it', async () => {
    const now = Date.now();
    const gate = Promise.withResolvers<void>();
    const handle = (_: readonly StoredEvent[], ending: AbortSignal) =>
      Promise.race([gate.promise, once(ending, 'abort')]).then(() => []);
    await append(undefined, now - 3_600_000);
    const working = start({
      createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }),
      clock: () => new Date(now),
    });
    await eventually(() => expect(working.computeLagMs()).toBe(3_600_000), DEADLINE);
    gate.resolve();
    await ends(working);
  });

  it.each(['a batch without events', 'a skipped position'])(
    'has no lag after the last event of its streams, if %s reaches the end of the log',
    async (end) => {
      const now = Date.now();
      await append('thing-1', now - 3_600_000);
      const events = await engine.eventStore.read('thing-1');
      const head = (await engine.eventStore.head()) ?? '';
      const handled: string[] = [];
      const catchUp: EventStore['catchUp'] = async function* ({ signal, onSkipped }) {
        // Events of other streams follow, so that the batch does not reach the end of the log.
        yield { events, position: head, caughtUp: false };
        if (end === 'a skipped position') onSkipped?.(`${head}1`);
        else yield { events: [], position: `${head}1`, caughtUp: true };
        handled.push('all');
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      };
      const subscription = start({ eventStore: storeThat({ catchUp }) });
      await eventually(() => expect(handled).toEqual(['all']), DEADLINE);
      await ends(subscription);
    },
  );

  it('is complete after handling all events stored at the start, even if more arrive constantly', async () => {
    await append();
    const head = await engine.eventStore.head();
    const catchUp: EventStore['catchUp'] = async function* ({ signal }) {
      yield { events: [], position: String(head), caughtUp: false };
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const completed: string[] = [];
    const listener = {
      onAcquired: () => undefined,
      onHandling: () => undefined,
      onAdvanced: () => undefined,
      onCompleted: (key: string) => void completed.push(key),
      onReleased: () => undefined,
    };
    start({ eventStore: storeThat({ catchUp }), listener });
    await eventually(() => expect(completed).toEqual(['thing-']), DEADLINE);
  });

  it('reports the lag of the working process in other processes', async () => {
    const working = start();
    await append();
    const idle = start();
    await ends(working);
    await ends(idle);
    let isAway = true;
    const handle = () => (isAway ? Promise.reject(new UnavailableError('engine', 'away')) : Promise.resolve([]));
    await working.stop();
    start({ createHandler: () => Promise.resolve({ handleEventBatchOfPartition: handle }) });
    await idle.stop();
    const watching = start();
    await append();
    await grows(watching);
    isAway = false;
    await ends(watching);
  });
});
