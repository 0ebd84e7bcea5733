import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Position, UnavailableError } from '@tracking/ports';
import {
  createCatchUpEventCountCheck,
  eventually,
  collectCatchUpEventsUntilDone,
  listEventIds,
  testIfSupported,
  createSampleNewEvents,
  createUniqueStreamPrefix,
  scaleTimeout,
} from '@tracking/testing';
import {
  IS_NODE_KILLABLE,
  IS_STAND_IN_NODE,
  TESTED_ENGINE_NAME,
  NOT_KILLABLE_REASON,
  STAND_IN_REQUIRED_REASON,
  openEventStoreDbEventStore,
  EventStoreDbFixture,
  retryUntilAnswered,
} from '../../test/eventstoredb/eventstoredb-subject.ts';
import {
  appendMarkerEvent,
  followUntilMarkerEvent,
  startStreamWriters,
} from '../../test/eventstoredb/stream-writers.ts';

const KILLS = 3;

const title = `a node that fails, on ${TESTED_ENGINE_NAME}`;
if (IS_NODE_KILLABLE) describe(title, faults);
else it.skip(`${title} [not tested: ${NOT_KILLABLE_REASON}]`, () => undefined);

function faults(): void {
  let fixture: EventStoreDbFixture;
  let prefix: string;
  beforeAll(async () => void (fixture = await EventStoreDbFixture.startNodeFixture({ statsEvery: 200, linger: 300 })));
  afterAll(() => fixture.closeEventStore());
  beforeEach(() => void (prefix = createUniqueStreamPrefix()));
  afterEach(() => fixture.closeStores());

  type Fault = (writers: Pick<ReturnType<typeof startStreamWriters>, 'waitForFailure'>) => Promise<unknown>;
  const FAULTS: Readonly<Record<string, Fault>> = {
    'killed and started again': () => fixture.killAndRestart(),
    'hung until appends are given up': async (writers) => {
      fixture.node.suspendNode();
      await writers.waitForFailure();
      fixture.node.resumeNode();
    },
    'told to end and started again': async () => {
      await fixture.node.stopNode();
      await fixture.node.startNode();
    },
  };
  const SWITCHED: Readonly<Record<string, Fault>> = {
    'cutting connections in place of answers': () => fixture.standIn.setFaults({ loseAnswers: 20 }),
    'dropping who follows': () => fixture.standIn.setFaults({ dropSubscriptions: true }),
    'dead after an append that it did not answer': async () => {
      await fixture.standIn.setFaults({ dieAfterAppends: 5 });
      await fixture.standIn.waitForExit();
      await fixture.node.startNode();
    },
  };
  const holds = (fault: string) => `${fault} in the middle: nothing acknowledged is missing, and order holds`;
  for (const [name, fault] of Object.entries(FAULTS)) it(holds(name), () => survives(fault), scaleTimeout(60_000));
  for (const [name, fault] of Object.entries(SWITCHED)) {
    testIfSupported(IS_STAND_IN_NODE, STAND_IN_REQUIRED_REASON)(holds(name), () => survives(fault));
  }

  async function survives(fault: Fault): Promise<void> {
    const store = fixture.openEventStore({ limits: { operationTimeoutMs: 1_000, liveEvents: 100 } });
    const writers = startStreamWriters(store, prefix);
    const following = [
      followUntilMarkerEvent(store, prefix),
      followUntilMarkerEvent(fixture.openEventStore(), prefix, { maxBatch: 7 }),
      // A reader that re-reads its events and is therefore so slow that it falls out of the live buffer.
      followUntilMarkerEvent(store, prefix, {
        afterBatch: async ({ events }) => {
          const streams = new Set(events.map(({ stream }) => stream));
          for (const stream of streams) await store.read(stream).catch(() => undefined);
        },
      }),
    ];
    for (let round = 0; round < KILLS; round += 1) {
      await writers.waitForGrowth();
      await fault(writers);
    }
    await writers.waitForGrowth();
    await writers.stop();
    await appendMarkerEvent(store, prefix);
    await writers.expectStored(store);
    for (const events of await Promise.all(following)) writers.expectFollowed(events);
    await writers.expectStored(fixture.openEventStore());
  }

  it('down at the start: reports it without secrets, and works when the node is up', async () => {
    await fixture.node.killNode();
    const lines: string[] = [];
    const line = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
    const logger = { debug: line, info: line, warn: line, error: line };
    const url = fixture.node.url.replace('://', '://someone:s3cret@');
    const store = openEventStoreDbEventStore(url, { logger, limits: { operationTimeoutMs: 300 } });
    const following = collectCatchUpEventsUntilDone(store, { prefixes: [prefix] }, createCatchUpEventCountCheck(3));
    const error: unknown = await store
      .append(`${prefix}1`, 'no_stream', createSampleNewEvents(1))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    await eventually(() => expect(lines.length).toBeGreaterThan(1));
    const { message, stack, cause } = error as Error;
    expect(`${message} ${stack} ${JSON.stringify(error)} ${lines.join()}`).not.toMatch(/s3cret|someone|127\.0\.0\.1/);
    expect(cause).toBeUndefined();
    await fixture.node.startNode();
    const events = createSampleNewEvents(3);
    await retryUntilAnswered(() => store.append(`${prefix}2`, 'no_stream', events));
    expect(listEventIds((await following).events)).toEqual(listEventIds(events));
    await store.close();
  });

  it('down when a reader ends: the reader still ends', async () => {
    const store = fixture.openEventStore();
    const stop = new AbortController();
    const batches: unknown[] = [];
    const following = (async () => {
      const options = { streamPrefixes: [prefix], signal: stop.signal };
      for await (const batch of store.catchUp(options)) batches.push(batch);
    })();
    await eventually(() => expect(batches).not.toHaveLength(0));
    fixture.node.suspendNode();
    const late = collectCatchUpEventsUntilDone(store, { prefixes: [prefix] }, createCatchUpEventCountCheck(1));
    stop.abort();
    await following;
    await store.close();
    expect((await late).events).toEqual([]);
  });

  it('a reader that falls out of the buffer while it waits does not go back to earlier positions', async () => {
    const store = fixture.openEventStore({ limits: { liveEvents: 20 } });
    const stop = new AbortController();
    const positions: Position[] = [];
    const onSkipped = (position: Position) => void positions.push(position);
    const following = (async () => {
      const options = { streamPrefixes: [prefix], signal: stop.signal, onSkipped };
      for await (const { position } of store.catchUp(options)) positions.push(position);
    })();
    await eventually(() => expect(positions).not.toHaveLength(0));
    const appendOthers = (count: number) =>
      store.append(`other-${crypto.randomUUID()}`, 'no_stream', createSampleNewEvents(count));
    // Together, these events are more than one page of the log.
    for (let round = 0; round < 30; round += 1) {
      const { position } = await appendOthers(20);
      await eventually(() => expect(String(positions.at(-1)) >= position).toBe(true));
    }
    const { position } = await appendOthers(300);
    await eventually(() => expect(String(positions.at(-1)) >= position).toBe(true));
    stop.abort();
    await following;
    expect(positions).toEqual(positions.toSorted());
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
