import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { jest } from '@jest/globals';
import { EventStoreDbStandIn } from '@tracking/eventstoredb-stand-in';
import {
  AppendTooLargeError,
  UnavailableError,
  VersionConflictError,
  type EventStore,
  type NewEvent,
} from '@tracking/ports';
import {
  createCatchUpEventCountCheck,
  eventually,
  collectCatchUpEventsUntilDone,
  listEventIds,
  testIfSupported,
  createNewEvent,
  createSampleNewEvents,
  createUniqueStreamPrefix,
  noMetrics,
  RecordedMetrics,
  silentLogger,
  type CatchUpResult,
} from '@tracking/testing';
import {
  IS_NODE_KILLABLE,
  createEventStoreDbSubject,
  IS_STAND_IN_NODE,
  TESTED_ENGINE_NAME,
  NOT_KILLABLE_REASON,
  STAND_IN_REQUIRED_REASON,
  openEventStoreDbEventStore,
  EventStoreDbFixture,
  retryUntilAnswered,
} from '../../test/eventstoredb/eventstoredb-subject.ts';

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Fills streams with events, 100 per append, and returns all of them in order. */
async function fill(store: EventStore, prefix: string, streams: readonly string[], hundreds: number) {
  const appended: string[] = [];
  for (let hundred = 0; hundred < hundreds; hundred += 1) {
    for (const stream of streams) {
      const events = createSampleNewEvents(100);
      await store.append(prefix + stream, hundred === 0 ? 'no_stream' : hundred * 100 - 1, events);
      appended.push(...listEventIds(events));
    }
  }
  return appended;
}

/** Tests each fact about EventStoreDB and its client, and how the adapter handles it. */
describe(`facts about EventStoreDB, on ${TESTED_ENGINE_NAME}`, () => {
  const subject = createEventStoreDbSubject();
  let store: EventStore;
  let stream: string;
  beforeAll(async () => void (store = await subject.openTestedAdapter()));
  afterAll(() => subject.close());
  beforeEach(() => void (stream = `${createUniqueStreamPrefix()}s`));

  describe('positions are exclusive on resume, and checkpoint positions may have a prepare position of 0', () => {
    it('resuming after any position neither loses nor repeats events', async () => {
      const prefix = createUniqueStreamPrefix();
      const other = createUniqueStreamPrefix();
      const mine: string[] = [];
      for (const part of ['a', 'b', 'c']) {
        mine.push(...(await fill(store, prefix, [part], 4)));
        await fill(store, other, [part], 8);
      }
      const before = (await store.append(`${other}x`, 'no_stream', createSampleNewEvents(1))).position;
      // A new store has no events in its buffer.
      store = await subject.closeAndReopenAdapter();
      const whole = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], maxBatch: 100 },
        ({ position = '' }) => position >= before,
      );
      expect(listEventIds(whole.events)).toEqual(mine);
      for (const [index, { position }] of whole.batches.entries()) {
        if (index % 4 !== 0) continue;
        const handed = whole.batches.slice(0, index + 1).flatMap(({ events }) => listEventIds(events)).length;
        store = await subject.closeAndReopenAdapter();
        const rest = await collectCatchUpEventsUntilDone(
          store,
          { prefixes: [prefix], after: position },
          ({ position: at = '' }) => at >= before,
        );
        expect(listEventIds(rest.events)).toEqual(mine.slice(handed));
      }
    });
  });

  describe('appends with the same ids', () => {
    it('at the same revision are one append, even if the stream has moved on', async () => {
      const [first, second] = [createSampleNewEvents(2), createSampleNewEvents(1)];
      await store.append(stream, 'no_stream', first);
      await store.append(stream, 1, second);
      expect(await store.append(stream, 'no_stream', first)).toMatchObject({ revision: 1 });
      expect(await store.append(stream, 1, second)).toMatchObject({ revision: 2 });
      expect(await errorOf(store.append(stream, 0, second))).toBeInstanceOf(VersionConflictError);
      expect(listEventIds(await store.read(stream))).toEqual(listEventIds([...first, ...second]));
    });

    it('at another correct revision are a new append', async () => {
      const events = createSampleNewEvents(1);
      await store.append(stream, 'no_stream', events);
      expect(await store.append(stream, 0, events)).toMatchObject({ revision: 1 });
      expect(await store.read(stream)).toHaveLength(2);
    });

    it('with other content keep the first content', async () => {
      const event = createNewEvent({ said: 'first' });
      const first = await store.append(stream, 'no_stream', [event]);
      expect(await store.append(stream, 'no_stream', [{ ...event, data: { said: 'second' } }])).toEqual(first);
      expect((await store.read(stream)).map(({ data }) => data)).toEqual([{ said: 'first' }]);
    });
  });

  it('a version conflict is identified by its type and versions, because its message is empty', async () => {
    await store.append(stream, 'no_stream', createSampleNewEvents(3));
    const conflict = { name: 'VersionConflict', stream, actual: 2 };
    const late = createSampleNewEvents(1);
    expect(await errorOf(store.append(stream, 'no_stream', late))).toMatchObject({
      ...conflict,
      expected: 'no_stream',
    });
    expect(await errorOf(store.append(stream, 7, late))).toMatchObject({ ...conflict, expected: 7 });
    const none = `${stream}-none`;
    expect(await errorOf(store.append(none, 0, late))).toMatchObject({
      stream: none,
      expected: 0,
      actual: 'no_stream',
    });
  });

  it('an id that is not a UUID is refused before it reaches the client', async () => {
    for (const id of ['', 'not-a-uuid', randomUUID().toUpperCase(), `${randomUUID()}0`]) {
      const events = [createNewEvent(), { ...createNewEvent(), id }];
      expect(await errorOf(store.append(stream, 'no_stream', events))).toBeInstanceOf(TypeError);
    }
    expect(await store.append(stream, 'no_stream', createSampleNewEvents(1))).toMatchObject({ revision: 0 });
  });

  it('data that is not JSON is refused before it reaches the client', async () => {
    const circle: Record<string, unknown> = {};
    circle['circle'] = circle;
    const event = { ...createNewEvent(), data: circle } as NewEvent;
    expect(await errorOf(store.append(stream, 'no_stream', [event]))).toBeInstanceOf(TypeError);
    expect(await store.read(stream)).toEqual([]);
  });

  it('an append above 1 MiB is refused with a clear error', async () => {
    const text = (length: number) => createNewEvent({ text: 'x'.repeat(length) });
    for (const events of [[text(1_048_576)], [text(700_000), text(700_000)], [text(20_000_000)]]) {
      const error = await errorOf(store.append(stream, 'no_stream', events));
      expect(error).toBeInstanceOf(AppendTooLargeError);
      expect(error).not.toBeInstanceOf(UnavailableError);
    }
    expect(await store.read(stream)).toEqual([]);
    await store.append(stream, 'no_stream', [text(900_000)]);
    // The node limits the size of the data only.
    await store.append(stream, 0, [{ ...text(1_000), type: 'x'.repeat(600_000) }]);
    expect(await store.read(stream)).toHaveLength(2);
  });

  it('text is returned unchanged: NUL, lone surrogates, keys of objects', async () => {
    const event = {
      ...createNewEvent(),
      data: JSON.parse('{"__proto__":{"a":"\\u0000"},"half":"\\ud83d","港":"🚢"}') as never,
    };
    await store.append(stream, 'no_stream', [event]);
    const [stored] = await store.read(stream);
    expect(JSON.stringify(stored?.data)).toBe(JSON.stringify(event.data));
  });

  describe('the behavior of the client alone', () => {
    let client: EventStoreDBClient;
    beforeAll(() => void (client = EventStoreDBClient.connectionString(subject.url())));

    it('a missing or soft-deleted stream is empty; a permanently deleted one is an error', async () => {
      expect(await store.read(stream)).toEqual([]);
      await store.append(stream, 'no_stream', createSampleNewEvents(2));
      await client.deleteStream(stream);
      expect(await store.read(stream)).toEqual([]);
      expect(await store.append(stream, 'no_stream', createSampleNewEvents(1))).toMatchObject({ revision: 2 });
      expect((await store.read(stream)).map(({ revision }) => revision)).toEqual([2]);
      await client.tombstoneStream(stream);
      const works = [store.read(stream), store.append(stream, 2, createSampleNewEvents(1))];
      for (const error of await Promise.all(works.map(errorOf))) {
        expect(error).toMatchObject({ message: 'event store: the stream was permanently deleted' });
        expect(error).not.toBeInstanceOf(UnavailableError);
      }
    });

    it('revisions and positions of the client are bigint and metadata can be absent; the adapter returns numbers, strings and empty metadata', async () => {
      const event = jsonEvent({ type: 'plain', data: { a: 1 } });
      await client.appendToStream(stream, event, { expectedRevision: NO_STREAM });
      const position = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
      const stored = [{ id: event.id, type: 'plain', data: { a: 1 }, metadata: {}, stream, revision: 0, position }];
      expect(await store.read(stream)).toEqual(stored);
      expect(
        (await collectCatchUpEventsUntilDone(store, { prefixes: [stream] }, createCatchUpEventCountCheck(1))).events,
      ).toEqual(await store.read(stream));
    });
  });

  it('a reader reaches the head immediately, whatever it filters', async () => {
    await fill(store, stream, ['x'], 6);
    store = await subject.closeAndReopenAdapter();
    const head = (await store.head()) ?? '';
    const reached = ({ position = '' }: CatchUpResult) => position >= head;
    const { events, position = '' } = await collectCatchUpEventsUntilDone(
      store,
      { prefixes: [createUniqueStreamPrefix()] },
      reached,
    );
    expect(events).toEqual([]);
    expect(position >= head).toBe(true);
    // A live reader also advances by events of others, without waiting for a checkpoint.
    const seen: string[] = [];
    const stop = new AbortController();
    const following = (async () => {
      const options = { streamPrefixes: [createUniqueStreamPrefix()], after: head, signal: stop.signal };
      for await (const batch of store.catchUp(options)) seen.push(batch.position);
    })();
    await eventually(() => expect(seen).toHaveLength(1));
    for (let revision = 600; revision < 605; revision += 1) {
      const { position: written } = await store.append(`${stream}x`, revision - 1, createSampleNewEvents(1));
      await eventually(() => expect((seen.at(-1) ?? '') >= written).toBe(true), { deadlineMs: 5_000 });
    }
    stop.abort();
    await following;
  });
});

const failing = `facts of a node that fails, on ${TESTED_ENGINE_NAME}`;
if (IS_NODE_KILLABLE) describe(failing, factsOfFaults);
else it.skip(`${failing} [not tested: ${NOT_KILLABLE_REASON}]`, () => undefined);

function factsOfFaults(): void {
  let fixture: EventStoreDbFixture;
  let a: string;
  beforeAll(
    async () =>
      void (fixture = await EventStoreDbFixture.startNodeFixture({ statsEvery: 50, linger: 500, liveBuffer: 200 })),
  );
  afterAll(() => fixture.closeEventStore());
  beforeEach(() => void (a = createUniqueStreamPrefix()));
  afterEach(() => fixture.closeStores());

  it('a subscription that the node ends is renewed while the process lives', async () => {
    const store = fixture.openEventStore();
    const appended = await fill(store, a, ['x'], 8);
    // Each fault occurs while the reader is in the middle of stored events.
    const faults = [0, 1, 2].map(() => Promise.withResolvers<void>());
    let batches = 0;
    const untilFault = async () => faults[Math.floor((batches += 1) / 6) - 1]?.promise;
    const following = collectCatchUpEventsUntilDone(
      store,
      { prefixes: [a], maxBatch: 50 },
      createCatchUpEventCountCheck(2_000),
      untilFault,
    );
    for (const [round, fault] of faults.entries()) {
      appended.push(...(await fill(store, `${a}${round}`, ['y'], 4)));
      if (round === 1 || !IS_STAND_IN_NODE) await fixture.killAndRestart();
      else await fixture.standIn.setFaults({ dropSubscriptions: true });
      fault.resolve();
    }
    expect(listEventIds((await following).events)).toEqual(appended);
  });

  it('a consumer that is too slow for the node neither loses nor repeats events', async () => {
    const store = fixture.openEventStore({ limits: { liveEvents: 50 } });
    const proceed = Promise.withResolvers<void>();
    const slow = collectCatchUpEventsUntilDone(
      store,
      { prefixes: [a], maxBatch: 20 },
      createCatchUpEventCountCheck(3_000),
      () => proceed.promise,
    );
    const appended = await fill(store, a, ['x', 'y', 'z'], 10);
    proceed.resolve();
    const { events, batches } = await slow;
    expect(listEventIds(events)).toEqual(appended);
    expect(Math.max(...batches.map((batch) => batch.events.length))).toBe(20);
  });

  it('a reader reads only a few events ahead of a slow consumer, because an event can have 1 MiB', async () => {
    const store = fixture.openEventStore();
    await fill(store, a, ['x', 'y'], 10);
    const subscribe = jest.spyOn(EventStoreDBClient.prototype, 'subscribeToAll');
    const reader = fixture.openEventStore({ limits: { liveEvents: 50 } });
    const options = { streamPrefixes: [a], maxBatch: 100, signal: new AbortController().signal };
    let readAhead: number | undefined;
    for await (const { events } of reader.catchUp(options)) {
      // The client's subscription is a transform stream, which its call is piped into.
      const subscription = subscribe.mock.results
        .map(({ value }) => value as unknown as Duplex)
        .find(({ readableLength }) => readableLength > 0);
      if (events.length === 0 || subscription === undefined) continue;
      await eventually(() => expect(subscription.writableNeedDrain).toBe(true));
      readAhead = subscription.readableLength + subscription.writableLength;
      break;
    }
    expect(readAhead).toBeLessThanOrEqual(2 * 4 + 1);
    subscribe.mockRestore();
  });

  const rare = 'checkpoints that are rare, and entries of the node’s own, keep no reader from the head';
  testIfSupported(IS_STAND_IN_NODE, STAND_IN_REQUIRED_REASON)(rare, async () => {
    const writer = fixture.openEventStore();
    await fill(writer, createUniqueStreamPrefix(), ['x'], 12);
    await fixture.standIn.setFaults({ checkpointInterval: 1_000_000 });
    const store = fixture.openEventStore();
    for (let round = 0; round < 2; round += 1) {
      const head = (await store.head()) ?? '';
      const { position = '' } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [a] },
        ({ position: at = '' }) => at >= head,
      );
      expect(position >= head).toBe(true);
    }
    await fixture.standIn.setFaults({ checkpointInterval: null });
  });

  it('a stopping node still serves for a while, and nothing is lost', async () => {
    const store = fixture.openEventStore();
    const end = createNewEvent();
    const following = collectCatchUpEventsUntilDone(
      store,
      { prefixes: [a] },
      ({ events }) => events.at(-1)?.id === end.id,
    );
    let isBack = false;
    const appended: string[] = [];
    const append = async (event: NewEvent) => {
      const expected = appended.length === 0 ? 'no_stream' : appended.length - 1;
      await retryUntilAnswered(() => store.append(a, expected, [event]));
      appended.push(event.id);
    };
    const appending = (async () => {
      while (!isBack) await append(createNewEvent());
      await append(end);
    })();
    await fixture.node.stopNode();
    await fixture.node.startNode();
    isBack = true;
    await appending;
    expect(listEventIds((await following).events)).toEqual(appended);
    expect(listEventIds(await store.read(a))).toEqual(appended);
  });

  it('ended subscriptions end without an error', async () => {
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    const store = fixture.openEventStore({ logger });
    await fill(store, a, ['x'], 8);
    for (let round = 0; round < 5; round += 1) {
      await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [a], maxBatch: 50 },
        createCatchUpEventCountCheck(100 * (round + 1)),
      );
    }
    const signal = new AbortController();
    const live = collectCatchUpEventsUntilDone(
      store,
      { prefixes: [createUniqueStreamPrefix()] },
      createCatchUpEventCountCheck(1),
    );
    const ended = (async () => {
      for await (const batch of store.catchUp({ streamPrefixes: [a], signal: signal.signal })) {
        if (batch.caughtUp) signal.abort();
      }
    })();
    await ended;
    await store.close();
    await live;
    expect(warnings).toEqual([]);
  });

  it('while the node is down, everything is unavailable, and errors contain no address', async () => {
    const store = fixture.openEventStore({ limits: { operationTimeoutMs: 300 } });
    const first = createSampleNewEvents(1);
    await retryUntilAnswered(() => store.append(a, 'no_stream', first));
    await fixture.node.killNode();
    const works = [store.append(a, 0, createSampleNewEvents(1)), store.read(a), store.head()];
    for (const error of await Promise.all(works.map(errorOf))) {
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error).toMatchObject({ name: 'Unavailable', engine: 'event store' });
      const { message, stack, cause } = error as Error;
      expect(`${message} ${stack?.split('\n', 1)[0]}`).not.toMatch(/127\.0\.0\.1|\d{5}/);
      expect(cause).toBeUndefined();
    }
    await fixture.node.startNode();
  });

  it('while the node hangs, operations are abandoned; they are repeated when it continues', async () => {
    const store = fixture.openEventStore({ limits: { operationTimeoutMs: 500 } });
    const first = createSampleNewEvents(1);
    await retryUntilAnswered(() => store.append(a, 'no_stream', first));
    fixture.node.suspendNode();
    const events = createSampleNewEvents(1);
    const works = [store.append(a, 0, events), store.read(a), store.head()];
    for (const error of await Promise.all(works.map(errorOf))) expect(error).toBeInstanceOf(UnavailableError);
    fixture.node.resumeNode();
    expect(await retryUntilAnswered(() => store.append(a, 0, events))).toMatchObject({ revision: 1 });
    expect(await retryUntilAnswered(() => store.read(a))).toHaveLength(2);
  });

  it('closing or losing one store rejects no append of another store in the process', async () => {
    // The second node is always a stand-in.
    const other = await EventStoreDbFixture.startFixtureOnNode(await EventStoreDbStandIn.createEventStoreDbStandIn());
    try {
      const steady = fixture.openEventStore();
      let ended = false;
      const appending = Array.from({ length: 20 }, async (_, writer) => {
        for (let revision = -1; !ended; revision += 1) {
          await steady.append(`${a}${writer}`, revision < 0 ? 'no_stream' : revision, createSampleNewEvents(1));
        }
      });
      for (let round = 0; round < 3; round += 1) {
        const losing = other.openEventStore({ limits: { operationTimeoutMs: 200 } });
        const lost = Array.from({ length: 20 }, (_, n) =>
          losing.append(`r${round}-${n}`, 'no_stream', createSampleNewEvents(1)),
        );
        if (round === 1) await other.node.killNode();
        await Promise.allSettled(lost);
        await losing.close();
        if (round === 1) await other.node.startNode();
      }
      ended = true;
      await Promise.all(appending);
    } finally {
      await other.closeEventStore();
    }
  });

  const lost = '64 appends whose node was lost before it answered are stored once, and answered';
  testIfSupported(IS_STAND_IN_NODE, STAND_IN_REQUIRED_REASON)(lost, async () => {
    const store = fixture.openEventStore();
    await fixture.standIn.setFaults({ loseAnswers: 64 });
    const requests = Array.from({ length: 64 }, () => createSampleNewEvents(2));
    const answers = await Promise.all(requests.map((events, n) => store.append(`${a}${n}`, 'no_stream', events)));
    expect(answers.every(({ revision }) => revision === 1)).toBe(true);
    for (const [n, events] of requests.entries())
      expect(listEventIds(await store.read(`${a}${n}`))).toEqual(listEventIds(events));
  });

  const stuck = 'a call for appends that no longer answers is replaced, although the node answers other calls';
  testIfSupported(IS_STAND_IN_NODE, STAND_IN_REQUIRED_REASON)(stuck, async () => {
    const store = fixture.openEventStore({ limits: { operationTimeoutMs: 1_000 } });
    await store.append(a, 'no_stream', createSampleNewEvents(1));
    await fixture.standIn.setFaults({ muteBatchCalls: true });
    let isOver = false;
    const reading = (async () => {
      while (!isOver) await store.head();
    })();
    const events = createSampleNewEvents(1);
    expect(await errorOf(store.append(a, 0, events))).toBeInstanceOf(UnavailableError);
    expect(await store.append(a, 0, events)).toMatchObject({ revision: 1 });
    isOver = true;
    await reading;
  });

  it('the same ids are accepted again after kill -9, and never stored twice', async () => {
    const store = fixture.openEventStore();
    const [first, second] = [createSampleNewEvents(2), createSampleNewEvents(2)];
    const answers = [await store.append(a, 'no_stream', first), await store.append(a, 1, second)];
    await fixture.killAndRestart();
    expect([await store.append(a, 'no_stream', first), await store.append(a, 1, second)]).toEqual(answers);
    expect(await store.read(a)).toHaveLength(4);
  });

  it('a refused append is refused even if the URL asks for results instead of errors', async () => {
    const store = openEventStoreDbEventStore(`${fixture.node.url}&throwOnAppendFailure=false`);
    await store.append(a, 'no_stream', createSampleNewEvents(2));
    expect(await errorOf(store.append(a, 'no_stream', createSampleNewEvents(1)))).toMatchObject({
      expected: 'no_stream',
      actual: 1,
    });
    await store.close();
  });

  it('appends beyond the maximum are refused immediately', async () => {
    const metrics = new RecordedMetrics();
    const store = fixture.openEventStore({ metrics, limits: { maxAppends: 10, operationTimeoutMs: 20_000 } });
    await store.head();
    fixture.node.suspendNode();
    const waiting = Array.from({ length: 10 }, (_, n) =>
      store.append(`${a}${n}`, 'no_stream', createSampleNewEvents(1)),
    );
    expect(metrics.getMetricValue('event_store_appends')).toBe(10);
    expect(await errorOf(store.append(`${a}one`, 'no_stream', createSampleNewEvents(1)))).toMatchObject({
      name: 'Busy',
    });
    fixture.node.resumeNode();
    await Promise.all(waiting);
    expect(metrics.getMetricValue('event_store_appends')).toBe(0);
    expect(await store.read(`${a}one`)).toEqual([]);
  });

  it('appends of more bytes than the maximum are refused immediately, except for a single one', async () => {
    const store = fixture.openEventStore({ limits: { maxAppendingBytes: 10, operationTimeoutMs: 20_000 } });
    await store.head();
    fixture.node.suspendNode();
    const waiting = store.append(`${a}first`, 'no_stream', createSampleNewEvents(1));
    expect(await errorOf(store.append(`${a}second`, 'no_stream', createSampleNewEvents(1)))).toMatchObject({
      name: 'Busy',
    });
    fixture.node.resumeNode();
    await waiting;
    await store.append(`${a}third`, 'no_stream', createSampleNewEvents(1));
    expect(await store.read(`${a}second`)).toEqual([]);
  });

  it('closing waits for running appends and refuses later ones', async () => {
    const store = fixture.openEventStore();
    const under = Array.from({ length: 50 }, (_, n) => store.append(`${a}${n}`, 'no_stream', createSampleNewEvents(1)));
    const closed = store.close();
    expect(await errorOf(store.append(`${a}late`, 'no_stream', createSampleNewEvents(1)))).toMatchObject({
      name: 'Unavailable',
    });
    await closed;
    expect(await Promise.all(under)).toHaveLength(50);
    expect(await fixture.openEventStore().read(`${a}49`)).toHaveLength(1);
  });
}

describe('the connection string', () => {
  const options = { logger: silentLogger, metrics: noMetrics };

  it.each([
    '',
    'http://someone:s3cret@host:1',
    'esdb://someone:s3cret@',
    'esdb://someone:s3%zzcret@host:1',
    'esdb://host:x',
  ])('an invalid connection string is refused without quoting it: %j', (url) => {
    let error: unknown;
    try {
      openEventStoreDbEventStore(url, options);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(TypeError);
    expect(`${(error as Error).message} ${JSON.stringify(error)}`).not.toMatch(/s3|someone/);
  });
});
