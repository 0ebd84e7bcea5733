import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Unavailable, type EventBatch, type EventStore, type StoredEvent } from '@tracking/ports';
import {
  hasEventCount,
  eventually,
  collectCatchUp,
  ids,
  itIfSupported,
  createNewEvents,
  createStreamPrefix,
  scaleTimeout,
} from '@tracking/testing';
import {
  IS_KILLABLE,
  IS_STAND_IN,
  NODE_NAME,
  NOT_KILLABLE_REASON,
  NO_STAND_IN_REASON,
  openStore,
  EventStoreDbFixture,
  retryUntilAnswered,
} from '../../test/eventstoredb/eventstoredb-subject.ts';

const KILLS = 3;
const WRITERS = 8;
/** The stream of the last event of a test. */
const MARKER = 'marker';

/** Ids of acknowledged events by stream. */
type AcknowledgedIds = ReadonlyMap<string, readonly string[]>;

const title = `a node that fails, on ${NODE_NAME}`;
if (IS_KILLABLE) describe(title, faults);
else it.skip(`${title} [not tested: ${NOT_KILLABLE_REASON}]`, () => undefined);

function faults(): void {
  let fixture: EventStoreDbFixture;
  let prefix: string;
  beforeAll(async () => void (fixture = await EventStoreDbFixture.start({ statsEvery: 200, linger: 300 })));
  afterAll(() => fixture.close());
  beforeEach(() => void (prefix = createStreamPrefix()));
  afterEach(() => fixture.closeStores());

  /** Starts writers that append events to their own streams until `ended` aborts. */
  function startWriters(store: EventStore, ended: AbortSignal) {
    const acknowledged = new Map<string, string[]>();
    let unanswered = 0;
    async function write(stream: string): Promise<void> {
      const own: string[] = [];
      acknowledged.set(stream, own);
      while (!ended.aborted) {
        const events = createNewEvents(1 + (own.length % 3));
        const expected = own.length === 0 ? 'no_stream' : own.length - 1;
        await retryUntilAnswered(
          () => store.append(stream, expected, events),
          () => (unanswered += 1),
        );
        own.push(...ids(events));
      }
    }
    const done = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(`${prefix}${writer}`)));
    const total = () => [...acknowledged.values()].reduce((sum, own) => sum + own.length, 0);
    const grow = async (by: number) => {
      const least = total() + by;
      await eventually(() => expect(total()).toBeGreaterThan(least), { deadlineMs: 30_000 });
    };
    const fail = async () => {
      const before = unanswered;
      await eventually(() => expect(unanswered).toBeGreaterThan(before), { deadlineMs: 30_000 });
    };
    return { acknowledged, done, total, grow, fail };
  }

  async function expectStored(store: EventStore, acknowledged: AcknowledgedIds): Promise<void> {
    for (const [stream, own] of acknowledged) expect(ids(await store.read(stream))).toEqual(own);
  }

  /** Expects each event once, in the order of its stream and of the log. */
  function expectFollowed(events: readonly StoredEvent[], acknowledged: AcknowledgedIds): void {
    for (const [stream, own] of acknowledged) {
      expect(ids(events.filter((event) => event.stream === stream))).toEqual(own);
    }
    const positions = events.map(({ position }) => position);
    expect(positions).toEqual([...new Set(positions)].sort());
  }

  type Fault = (writers: { fail(): Promise<void> }) => Promise<unknown>;
  const FAULTS: Readonly<Record<string, Fault>> = {
    'killed and started again': () => fixture.killAndRestart(),
    'hung until appends are given up': async (writers) => {
      fixture.node.pause();
      await writers.fail();
      fixture.node.resume();
    },
    'told to end and started again': async () => {
      await fixture.node.stop();
      await fixture.node.start();
    },
  };
  const SWITCHED: Readonly<Record<string, Fault>> = {
    'cutting connections in place of answers': () => fixture.standIn.setFaults({ loseAnswers: 20 }),
    'dropping who follows': () => fixture.standIn.setFaults({ dropSubscriptions: true }),
    'dead after an append that it did not answer': async () => {
      await fixture.standIn.setFaults({ dieAfterAppends: 5 });
      await fixture.standIn.waitForExit();
      await fixture.node.start();
    },
  };
  const holds = (fault: string) => `${fault} in the middle: nothing acknowledged is missing, and order holds`;
  for (const [name, fault] of Object.entries(FAULTS)) it(holds(name), () => survives(fault), scaleTimeout(60_000));
  for (const [name, fault] of Object.entries(SWITCHED)) {
    itIfSupported(IS_STAND_IN, NO_STAND_IN_REASON)(holds(name), () => survives(fault));
  }

  async function survives(fault: Fault): Promise<void> {
    const store = fixture.open({ limits: { operationTimeoutMs: 1_000, liveEvents: 100 } });
    const ended = new AbortController();
    const writers = startWriters(store, ended.signal);
    const following = [
      followUntilMarked(store, prefix, 500),
      followUntilMarked(fixture.open(), prefix, 7),
      // A reader that re-reads its events and is therefore so slow that it falls out of the live buffer.
      followUntilMarked(store, prefix, 500, async (batch) => {
        const streams = new Set(batch.events.map(({ stream }) => stream));
        for (const stream of streams) await store.read(stream).catch(() => undefined);
      }),
    ];
    for (let round = 0; round < KILLS; round += 1) {
      await writers.grow(60);
      await fault(writers);
    }
    await writers.grow(60);
    ended.abort();
    await writers.done;
    await retryUntilAnswered(() => store.append(`${prefix}${MARKER}`, 'no_stream', createNewEvents(1)));
    await expectStored(store, writers.acknowledged);
    for (const events of await Promise.all(following)) expectFollowed(events, writers.acknowledged);
    await expectStored(fixture.open(), writers.acknowledged);
  }

  it('down at the start: reports it without secrets, and works when the node is up', async () => {
    await fixture.node.kill();
    const lines: string[] = [];
    const line = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
    const logger = { debug: line, info: line, warn: line, error: line };
    const url = fixture.node.url.replace('://', '://someone:s3cret@');
    const store = openStore(url, { logger, limits: { operationTimeoutMs: 300 } });
    const following = collectCatchUp(store, { prefixes: [prefix] }, hasEventCount(3));
    const error: unknown = await store
      .append(`${prefix}1`, 'no_stream', createNewEvents(1))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Unavailable);
    await eventually(() => expect(lines.length).toBeGreaterThan(1));
    const { message, stack, cause } = error as Error;
    expect(`${message} ${stack} ${JSON.stringify(error)} ${lines.join()}`).not.toMatch(/s3cret|someone|127\.0\.0\.1/);
    expect(cause).toBeUndefined();
    await fixture.node.start();
    const events = createNewEvents(3);
    await retryUntilAnswered(() => store.append(`${prefix}2`, 'no_stream', events));
    expect(ids((await following).events)).toEqual(ids(events));
    await store.close();
  });

  it('down when a reader ends: the reader still ends', async () => {
    const store = fixture.open();
    const stop = new AbortController();
    const batches: unknown[] = [];
    const following = (async () => {
      const options = { streamPrefixes: [prefix], signal: stop.signal };
      for await (const batch of store.catchUp(options)) batches.push(batch);
    })();
    await eventually(() => expect(batches).not.toHaveLength(0));
    fixture.node.pause();
    const late = collectCatchUp(store, { prefixes: [prefix] }, hasEventCount(1));
    stop.abort();
    await following;
    await store.close();
    expect((await late).events).toEqual([]);
  });

  it('does not end the process, however many running operations fail', async () => {
    const script = fileURLToPath(new URL('../../test/eventstoredb/busy-process.ts', import.meta.url));
    const flags = ['--experimental-transform-types', '--conditions=@tracking/source', '--no-warnings'];
    const child = spawn(process.execPath, [...flags, script, fixture.node.url, prefix], { stdio: 'pipe' });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()));
    const exited = once(child, 'exit');
    const acknowledged = () => Number(said.trim().split('\n').at(-1));
    for (let kill = 0; kill <= KILLS; kill += 1) {
      const least = acknowledged() + 100;
      await eventually(() => expect(acknowledged()).toBeGreaterThan(least), { deadlineMs: 30_000 });
      if (kill < KILLS) await fixture.killAndRestart();
    }
    child.stdin.end();
    const [code] = (await exited) as [number];
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(JSON.parse(said.trim().split('\n').at(-1) ?? '')).toEqual({ wrong: [] });
  });
}

/** Follows until the marker event, which is appended last, or for 60 seconds. Returns the events before it. */
async function followUntilMarked(
  store: EventStore,
  prefix: string,
  maxBatch: number,
  each: (batch: EventBatch) => Promise<void> = () => Promise.resolve(),
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  const signal = AbortSignal.timeout(scaleTimeout(60_000));
  for await (const batch of store.catchUp({ streamPrefixes: [prefix], maxBatch, signal })) {
    events.push(...batch.events);
    if (events.at(-1)?.stream === `${prefix}${MARKER}`) return events.slice(0, -1);
    await each(batch);
  }
  return events;
}
