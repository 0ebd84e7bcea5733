import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  ANY,
  BACKWARDS,
  END,
  EventStoreDBClient,
  eventTypeFilter,
  jsonEvent,
  NO_STREAM,
  START,
  streamNameFilter,
  type AllStreamSubscription,
  type Position,
  type ResolvedEvent,
} from '@eventstore/db-client';
import { eventually } from '@tracking/testing';
import { EventStoreDbStandIn, type StandInOptions } from './index.ts';

const ONE_ID = randomUUID();
let node: EventStoreDbStandIn;
let client: EventStoreDBClient;

async function start(options: StandInOptions = {}): Promise<void> {
  node = await EventStoreDbStandIn.createEventStoreDbStandIn(options);
  await node.startNode();
  client = EventStoreDBClient.connectionString(node.url);
}

async function restart(): Promise<void> {
  await node.killNode();
  await node.startNode();
  // The client notices the lost connection with the first failing call.
  await eventually(() => client.readAll({ maxCount: 1 }).toArray());
}

async function remove(): Promise<void> {
  await client.dispose();
  await node.destroyTestNode();
}

function event(n: number, id: string = randomUUID()) {
  return jsonEvent({ id, type: 'counted.v1', data: { n } });
}

async function streamed(stream: string): Promise<{ n: unknown; revision: bigint | undefined }[]> {
  const found: ResolvedEvent[] = await client.readStream(stream).toArray();
  return found.map(({ event: stored }) => ({ n: (stored?.data as { n: number }).n, revision: stored?.revision }));
}

/** Collects events of a subscription as they arrive, until it fails or ends. */
function follow(prefix: string, fromPosition: Position | typeof START = START, every = 1) {
  const checkpoints: Position[] = [];
  const numbers: number[] = [];
  const positions: Position[] = [];
  const endings: unknown[] = [];
  const subscription: AllStreamSubscription = client.subscribeToAll({
    fromPosition,
    filter: streamNameFilter({
      prefixes: [prefix],
      maxSearchWindow: every,
      checkpointReached: (_subscription, position) => Promise.resolve(void checkpoints.push(position)),
    }),
  });
  subscription
    .on('data', ({ event: stored }) => {
      numbers.push((stored?.data as { n: number }).n);
      if (stored?.position !== undefined) positions.push(stored.position);
    })
    .on('error', (error) => endings.push(error))
    .on('end', () => endings.push('end'))
    .on('close', () => endings.push('close'));
  return { subscription, checkpoints, numbers, positions, endings };
}

function numbersFrom(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describe.each([
  ['BatchAppend', true],
  ['Append', false],
])('appends by the call %s', (_call, batchAppend) => {
  beforeAll(() => start({ batchAppend }));
  afterAll(remove);

  it('answers revisions and positions as bigint, the time as a date, absent metadata as undefined', async () => {
    const began = Date.now();
    const { nextExpectedRevision, position } = await client.appendToStream(
      'kinds',
      [event(1), jsonEvent({ id: randomUUID(), type: 'noted.v1', data: { n: 2 }, metadata: { by: 'Zoë' } })],
      { expectedRevision: NO_STREAM },
    );
    expect(nextExpectedRevision).toBe(1n);
    const [first, second] = (await client.readStream('kinds').toArray()).map(({ event: stored }) => stored);
    expect(first).toMatchObject({ streamId: 'kinds', revision: 0n, type: 'counted.v1', data: { n: 1 }, isJson: true });
    expect(first?.created).toBeInstanceOf(Date);
    expect(Number(first?.created)).toBeGreaterThanOrEqual(began);
    expect(Number(first?.created)).toBeLessThanOrEqual(Date.now());
    expect(first?.metadata).toBeUndefined();
    expect(second).toMatchObject({ revision: 1n, type: 'noted.v1', metadata: { by: 'Zoë' }, position });
  });

  it('refuses another revision than the stream has', async () => {
    await client.appendToStream('conflict', [event(1), event(2)], { expectedRevision: NO_STREAM });
    await expect(client.appendToStream('conflict', event(3), { expectedRevision: 0n })).rejects.toMatchObject({
      type: 'wrong-expected-version',
      expectedVersion: 0n,
      actualVersion: 1n,
      message: '',
      code: undefined,
    });
    await expect(client.appendToStream('conflict', event(3), { expectedRevision: NO_STREAM })).rejects.toMatchObject({
      expectedVersion: 'no_stream',
      actualVersion: 1n,
    });
    await expect(client.appendToStream('conflict-2', event(3), { expectedRevision: 4n })).rejects.toMatchObject({
      expectedVersion: 4n,
      actualVersion: 'no_stream',
    });
    expect(await streamed('conflict')).toHaveLength(2);
  });

  it('accepts the same ids again at the same revision, also after it was killed', async () => {
    const [first, second, third] = [event(1), event(2), event(3)];
    const appends = [
      () => client.appendToStream('again', [first], { expectedRevision: NO_STREAM }),
      () => client.appendToStream('again', [second, third], { expectedRevision: 0n }),
    ];
    const answers = [];
    for (const append of appends) answers.push(await append());
    const repeated = [];
    for (const append of appends) repeated.push(await append());
    await restart();
    for (const append of appends) repeated.push(await append());
    expect(repeated).toEqual([...answers, ...answers]);
    expect(await streamed('again')).toEqual([
      { n: 1, revision: 0n },
      { n: 2, revision: 1n },
      { n: 3, revision: 2n },
    ]);
  });

  it('refuses more than 1 MiB in one append, whole', async () => {
    const large = jsonEvent({ id: randomUUID(), type: 'counted.v1', data: { text: 'x'.repeat(600_000) } });
    const another = { ...large, id: randomUUID() };
    await expect(
      client.appendToStream('large', [large, another], { expectedRevision: NO_STREAM }),
    ).rejects.toMatchObject({ type: 'maximum-append-size-exceeded', maxAppendSize: 1_048_576 });
    await client.appendToStream('large', [large], { expectedRevision: NO_STREAM });
  });

  it('counts the data alone against that limit', async () => {
    const typed = jsonEvent({ id: randomUUID(), type: 't'.repeat(600_000), data: { n: 1 } });
    const another = { ...typed, id: randomUUID() };
    await client.appendToStream('long-types', [typed, another], { expectedRevision: NO_STREAM });
    expect(await streamed('long-types')).toHaveLength(2);
  });

  it('has nothing in its log but what was written', async () => {
    await client.appendToStream('alone', [event(1)], { expectedRevision: NO_STREAM });
    const entries = await client.readAll().toArray();
    expect(entries.filter(({ event: stored }) => stored?.streamId.startsWith('$stats-'))).toEqual([]);
  });

  it('refuses what is appended to a stream with a tombstone', async () => {
    await client.appendToStream('buried', [event(1)], { expectedRevision: NO_STREAM });
    await client.tombstoneStream('buried');
    await expect(client.appendToStream('buried', [event(2)], { expectedRevision: 0n })).rejects.toMatchObject({
      type: 'stream-deleted',
      streamName: 'buried',
    });
  });
});

describe('what a node remembers of ids', () => {
  beforeAll(() => start());
  afterAll(remove);

  it('knows those of appends at any revision until it restarts, and stores them again afterwards', async () => {
    const same = event(1);
    await client.appendToStream('any', same, { expectedRevision: ANY });
    await client.appendToStream('any', same, { expectedRevision: ANY });
    expect(await streamed('any')).toHaveLength(1);
    await restart();
    await client.appendToStream('any', same, { expectedRevision: ANY });
    expect(await streamed('any')).toHaveLength(2);
  });

  it('writes an id again at another correct revision', async () => {
    const same = event(1);
    await client.appendToStream('moved', same, { expectedRevision: NO_STREAM });
    await client.appendToStream('moved', same, { expectedRevision: 0n });
    expect(await streamed('moved')).toHaveLength(2);
  });

  it('accepts an id with another payload, and keeps the old one', async () => {
    const id = randomUUID();
    await client.appendToStream('kept', event(1, id), { expectedRevision: NO_STREAM });
    const { nextExpectedRevision } = await client.appendToStream('kept', event(2, id), { expectedRevision: NO_STREAM });
    expect(nextExpectedRevision).toBe(0n);
    expect(await streamed('kept')).toEqual([{ n: 1, revision: 0n }]);
  });

  it('answers an id that is no UUID twice, which ends the process of the client', () => {
    const script = `
      import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
      const client = EventStoreDBClient.connectionString(${JSON.stringify(node.url)});
      process.on('uncaughtException', (error) => { console.log(error.name); process.exit(); });
      client.appendToStream('ids', jsonEvent({ id: 'one', type: 'a', data: {} }))
        .catch((error) => console.log(error.type));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect(stdout.trim().split('\n').toSorted()).toEqual(['TypeError', 'unknown']);
  });
});

describe('streams that are not there', () => {
  beforeAll(() => start());
  afterAll(remove);

  it('says of one that never was, or was deleted, that it is not found', async () => {
    await expect(client.readStream('missing').toArray()).rejects.toMatchObject({ type: 'stream-not-found' });
    await client.appendToStream('deleted', event(1), { expectedRevision: NO_STREAM });
    await client.deleteStream('deleted');
    await expect(client.readStream('deleted').toArray()).rejects.toMatchObject({ type: 'stream-not-found' });
    await expect(
      client.readStream('deleted', { direction: BACKWARDS, fromRevision: END }).toArray(),
    ).rejects.toMatchObject({ type: 'stream-not-found' });
  });

  it('says of one with a tombstone that it is deleted', async () => {
    await client.appendToStream('buried', event(1), { expectedRevision: NO_STREAM });
    await client.tombstoneStream('buried', { expectedRevision: 0n });
    await restart();
    await expect(client.readStream('buried').toArray()).rejects.toMatchObject({ type: 'stream-deleted' });
  });

  it('lets a deleted stream begin again, and numbers on', async () => {
    await client.appendToStream('phoenix', [event(1), event(2)], { expectedRevision: NO_STREAM });
    await client.deleteStream('phoenix', { expectedRevision: 1n });
    await restart();
    const { nextExpectedRevision } = await client.appendToStream('phoenix', event(3), { expectedRevision: NO_STREAM });
    expect(nextExpectedRevision).toBe(2n);
    expect(await streamed('phoenix')).toEqual([{ n: 3, revision: 2n }]);
  });

  it('does not delete at another revision', async () => {
    await client.appendToStream('alive', event(1), { expectedRevision: NO_STREAM });
    await expect(client.deleteStream('alive', { expectedRevision: 7n })).rejects.toMatchObject({
      type: 'wrong-expected-version',
      actualVersion: 0n,
    });
    expect(await streamed('alive')).toHaveLength(1);
  });
});

describe('reading', () => {
  beforeAll(() => start({ statsEvery: 20 }));
  afterAll(remove);

  it('reads a stream from a revision on, both ways', async () => {
    await client.appendToStream(
      'read',
      numbersFrom(0, 9).map((n) => event(n)),
      { expectedRevision: NO_STREAM },
    );
    const read = async (options: object) =>
      (await client.readStream('read', options).toArray()).map(({ event: stored }) => Number(stored?.revision));
    expect(await read({ fromRevision: 7n })).toEqual([7, 8, 9]);
    expect(await read({ fromRevision: 10n })).toEqual([]);
    expect(await read({ fromRevision: 3n, maxCount: 2 })).toEqual([3, 4]);
    expect(await read({ direction: BACKWARDS, fromRevision: END, maxCount: 2 })).toEqual([9, 8]);
    expect(await read({ direction: BACKWARDS, fromRevision: 2n })).toEqual([2, 1, 0]);
  });

  it('has events of its own in $all, which no client wrote', async () => {
    await eventually(async () => {
      const [last] = await client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }).toArray();
      expect(last?.event?.streamId).toMatch(/^\$stats-/);
    });
  });

  it('reads $all from a position on, forwards with it and backwards without', async () => {
    const positions: Position[] = [];
    for (const n of [1, 2, 3]) {
      const { position } = await client.appendToStream(`all-${n}`, event(n), { expectedRevision: NO_STREAM });
      if (position !== undefined) positions.push(position);
    }
    const own = (events: ResolvedEvent[]) =>
      events.map(({ event: stored }) => stored?.streamId).filter((name) => name?.startsWith('all-'));
    const [first, second] = positions;
    expect(own(await client.readAll({ fromPosition: second ?? START }).toArray())).toEqual(['all-2', 'all-3']);
    const before = client.readAll({ direction: BACKWARDS, fromPosition: second ?? END });
    expect(own(await before.toArray())).toEqual(['all-1']);
    const beforeAll = await client.readAll({ direction: BACKWARDS, fromPosition: first ?? END, maxCount: 1 }).toArray();
    expect(own(beforeAll)).toEqual([]);
    expect(beforeAll).toHaveLength(1);
  });

  it('is found by a client that is given several nodes', async () => {
    const hosts = node.url.replace(/^esdb:\/\/([^?]+)/, 'esdb://$1,$1');
    const discovering = EventStoreDBClient.connectionString(hosts);
    expect(await discovering.readAll({ maxCount: 1 }).toArray()).toHaveLength(1);
    await discovering.dispose();
  });
});

describe('subscriptions', () => {
  beforeAll(() => start({ liveBuffer: 100 }));
  afterAll(remove);

  it('hand out what is stored, then what comes, of the streams that they name', async () => {
    await client.appendToStream('stored-a-1', [event(1), event(2)], { expectedRevision: NO_STREAM });
    await client.appendToStream('stored-b-1', event(7), { expectedRevision: NO_STREAM });
    const { numbers } = follow('stored-a-');
    const types: string[] = [];
    const ofType = client.subscribeToAll({ filter: eventTypeFilter({ regex: '^special' }) });
    ofType.on('data', ({ event: stored }) => types.push(stored?.type ?? ''));
    await eventually(() => expect(numbers).toEqual([1, 2]));
    await client.appendToStream('stored-b-1', event(8), { expectedRevision: 0n });
    const special = jsonEvent({ id: randomUUID(), type: 'special.v1', data: { n: 3 } });
    await client.appendToStream('stored-a-2', special, { expectedRevision: NO_STREAM });
    await eventually(() => expect(numbers).toEqual([1, 2, 3]));
    await eventually(() => expect(types).toEqual(['special.v1']));
    await ofType.unsubscribe();
  });

  it('go on after the position that they are given, which is an event’s or a checkpoint’s', async () => {
    const [last] = await client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }).toArray();
    const before = last?.event?.position;
    for (const n of numbersFrom(0, 39)) {
      await client.appendToStream(n % 4 === 0 ? `resumed-a-${n}` : `resumed-b-${n}`, event(n), {
        expectedRevision: NO_STREAM,
      });
    }
    const all = numbersFrom(0, 9).map((n) => 4 * n);
    const first = follow('resumed-a-', before, 3);
    await eventually(() => expect(first.numbers).toEqual(all));
    const third = follow('resumed-a-', first.positions[2]);
    await eventually(() => expect(third.numbers).toEqual(all.slice(3)));
    expect(first.checkpoints.length).toBeGreaterThan(5);
    const halves = new Set(first.checkpoints.map(({ prepare }) => prepare === 0n));
    expect(halves).toEqual(new Set([true, false]));
    for (const checkpoint of first.checkpoints) {
      const seen = first.positions.filter(({ commit }) => commit <= checkpoint.commit).length;
      const next = follow('resumed-a-', checkpoint);
      await eventually(() => expect(next.numbers).toEqual(all.slice(seen)));
      await next.subscription.unsubscribe();
    }
  });

  it('tell how far they looked where nothing matches, as often as they are told to', async () => {
    await node.setFaults({ checkpointInterval: 2 });
    const { checkpoints, numbers } = follow('looked-a-', START, 1_000);
    const { position } = await client.appendToStream('looked-b-1', [event(1), event(2), event(3)], {
      expectedRevision: NO_STREAM,
    });
    await eventually(() => expect(checkpoints.at(-1)?.commit).toBeGreaterThanOrEqual((position?.commit ?? 0n) - 64n));
    expect(numbers).toEqual([]);
  });

  it('fail once when the node goes and never come back, while new calls of the same client do', async () => {
    const { endings } = follow('gone-a-');
    const thrown = client
      .subscribeToAll()
      .toArray()
      .catch((error: unknown) => error);
    await eventually(() => client.appendToStream('gone-a-1', event(1), { expectedRevision: NO_STREAM }));
    await node.killNode();
    await eventually(() => expect(endings).toHaveLength(1));
    expect(endings).toMatchObject([{ type: 'unavailable', code: 14 }]);
    expect(await thrown).toMatchObject({ type: 'unavailable' });
    await node.startNode();
    await eventually(async () => expect(await streamed('gone-a-1')).toHaveLength(1));
    expect(endings).toHaveLength(1);
  });

  it('are dropped when live and their consumer is too slow', async () => {
    const pause = new AbortController();
    const open = await node.countSubscriptions();
    const consumed = (async () => {
      const events = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['slow-a-'] }) });
      for await (const { event: stored } of events)
        if (stored?.type === 'counted.v1') await once(pause.signal, 'abort');
    })().catch((error: unknown) => error);
    await client.appendToStream('slow-a-1', event(0), { expectedRevision: NO_STREAM });
    const text = 'x'.repeat(10_000);
    for (let n = 0; n < 400; n += 50) {
      const events = Array.from({ length: 50 }, () => jsonEvent({ id: randomUUID(), type: 'long.v1', data: { text } }));
      await client.appendToStream('slow-a-2', events, { expectedRevision: n === 0 ? NO_STREAM : BigInt(n - 1) });
    }
    await eventually(async () => expect(await node.countSubscriptions()).toBe(open));
    pause.abort();
    expect(await consumed).toMatchObject({ type: 'timeout', code: 10 });
  });

  it('are dropped on demand', async () => {
    const { endings, numbers } = follow('demand-a-');
    await client.appendToStream('demand-a-1', event(1), { expectedRevision: NO_STREAM });
    await eventually(() => expect(numbers).toEqual([1]));
    await node.setFaults({ dropSubscriptions: true });
    await eventually(() => expect(endings).toMatchObject([{ type: 'timeout', code: 10 }]));
  });

  it('end normally when the client is done with them', async () => {
    const { subscription, endings, numbers } = follow('done-a-');
    await client.appendToStream('done-a-1', event(1), { expectedRevision: NO_STREAM });
    await eventually(() => expect(numbers).toEqual([1]));
    await subscription.unsubscribe();
    await eventually(() => expect(endings).toEqual(['end', 'close']));
  });
});

describe('a node that is lost', () => {
  beforeEach(() => start({ linger: 1_000 }));
  afterEach(remove);

  /** Expects that a call with a deadline gets no response. */
  const expectNoAnswer = () =>
    expect(client.deleteStream('other', { deadline: 200 })).rejects.toMatchObject({ type: 'deadline-exceeded' });

  it('leaves appends without a type of error, reads with one', async () => {
    await node.killNode();
    const refused = await client.appendToStream('a', event(1)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 14 });
    expect(refused).not.toHaveProperty('type');
    await expect(client.readStream('a').toArray()).rejects.toMatchObject({ type: 'unavailable' });
  });

  it('has stored appends that it did not answer', async () => {
    await client.appendToStream('a', event(0), { expectedRevision: NO_STREAM });
    await node.setFaults({ loseAnswers: 1 });
    const lost = event(1);
    await expect(client.appendToStream('a', lost, { expectedRevision: 0n })).rejects.toMatchObject({
      type: 'unavailable',
    });
    const repeat = () => client.appendToStream('a', lost, { expectedRevision: 0n });
    await eventually(async () => expect((await repeat()).nextExpectedRevision).toBe(1n));
    expect(await streamed('a')).toHaveLength(2);
  });

  it('keeps everything that it acknowledged when it dies in the middle of appends', async () => {
    await node.setFaults({ dieAfterAppends: 40 });
    const acknowledged: number[] = [];
    const results = await Promise.allSettled(
      numbersFrom(0, 63).map(async (n) => {
        await client.appendToStream(`a-${n}`, event(n), { expectedRevision: NO_STREAM });
        acknowledged.push(n);
      }),
    );
    expect(results.some(({ status }) => status === 'rejected')).toBe(true);
    await node.waitForExit();
    await node.startNode();
    await eventually(() => client.readAll({ maxCount: 1 }).toArray());
    for (const n of acknowledged) expect(await streamed(`a-${n}`)).toEqual([{ n, revision: 0n }]);
  });

  it('hung, takes appends in and answers none before it goes on', async () => {
    await client.appendToStream('a', event(0), { expectedRevision: NO_STREAM });
    node.suspendNode();
    let answered = false;
    const pending = client.appendToStream('a', event(1), { expectedRevision: 0n }).finally(() => (answered = true));
    await expectNoAnswer();
    expect(answered).toBe(false);
    node.resumeNode();
    expect((await pending).nextExpectedRevision).toBe(1n);
  });

  it('can be told to answer nothing', async () => {
    await client.appendToStream('a', event(0), { expectedRevision: NO_STREAM });
    await node.setFaults({ hang: true });
    let answered = 0;
    const append = client.appendToStream('a', event(1), { expectedRevision: 0n }).finally(() => (answered += 1));
    const read = client
      .readStream('a')
      .toArray()
      .finally(() => (answered += 1));
    await expectNoAnswer();
    expect(answered).toBe(0);
    await node.setFaults({ hang: false });
    expect((await append).nextExpectedRevision).toBe(1n);
    expect((await read).length).toBeGreaterThan(0);
  });

  it('serves on for a while when it is stopped, then drops its connections', async () => {
    const { endings } = follow('a-');
    await client.appendToStream('a-1', event(1), { expectedRevision: NO_STREAM });
    const stopped = node.stopNode();
    await client.appendToStream('a-1', event(2), { expectedRevision: 0n });
    expect(endings).toEqual([]);
    await stopped;
    await eventually(() => expect(endings).toMatchObject([{ type: 'unknown' }]));
  });
});

describe('a cluster', () => {
  const [FIRST, SECOND] = [0, 1] as const;
  beforeAll(() => start({ nodes: 2 }));
  afterAll(remove);
  beforeEach(() => node.setFaults({ lead: true }, FIRST));

  const connectTo = (index: number) => EventStoreDBClient.connectionString(node.createNodeConnectionString(index));
  const isLeader = { requiresLeader: true };

  it('names the leader to a client that asks a follower, and the client goes there', async () => {
    const follower = connectTo(SECOND);
    await expect(follower.readAll({ maxCount: 1, ...isLeader }).toArray()).rejects.toMatchObject({
      type: 'not-leader',
      leader: { address: '127.0.0.1', port: Number(/:(\d+)\?/.exec(node.createNodeConnectionString(FIRST))?.[1]) },
    });
    const request = { expectedRevision: NO_STREAM, ...isLeader } as const;
    await eventually(() => follower.appendToStream('led', event(1, ONE_ID), request));
    expect(await streamed('led')).toEqual([{ n: 1, revision: 0n }]);
    await follower.dispose();
  });

  it('refuses requests during an election, and elects a node that is up', async () => {
    const follower = connectTo(SECOND);
    await node.setFaults({ down: true }, FIRST);
    const refusals: unknown[] = [];
    await eventually(async () => {
      await follower
        .readAll({ maxCount: 1, ...isLeader })
        .toArray()
        .catch((error: { type: string }) => {
          refusals.push(error.type);
          throw error;
        });
    });
    expect(new Set(refusals)).toContain('unavailable');
    await node.setFaults({ down: false }, FIRST);
    await follower.dispose();
  });

  it('reads and follows from a copy of the log that can lag', async () => {
    const follower = connectTo(SECOND);
    await client.appendToStream('copied', event(1), { expectedRevision: NO_STREAM });
    await node.setFaults({ lag: true }, SECOND);
    const seen: unknown[] = [];
    follower
      .subscribeToAll({ filter: streamNameFilter({ prefixes: ['copied'] }) })
      .on('data', ({ event: stored }) => seen.push(stored?.revision))
      .on('error', () => undefined);
    await client.appendToStream('copied', event(2), { expectedRevision: 0n });
    await eventually(() => expect(seen).toEqual([0n]));
    expect(await follower.readStream('copied').toArray()).toHaveLength(1);
    expect(await client.readStream('copied').toArray()).toHaveLength(2);
    await node.setFaults({ lag: false }, SECOND);
    await eventually(() => expect(seen).toEqual([0n, 1n]));
    await follower.dispose();
  });

  it('elects another leader if the leader reads no requests', async () => {
    await node.setFaults({ freeze: true }, FIRST);
    // Each attempt uses a new client, because a client that was sent to the frozen node stays there.
    await eventually(async () => {
      const follower = connectTo(SECOND);
      await follower
        .readAll({ maxCount: 1, ...isLeader })
        .toArray()
        .finally(() => follower.dispose());
    });
    await node.setFaults({ freeze: false }, FIRST);
    await expect(client.readAll({ maxCount: 1, ...isLeader }).toArray()).rejects.toMatchObject({ type: 'not-leader' });
  });
});

it('is not started in production', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('../dist/main.js', import.meta.url)), '--folder=/nowhere'],
    { encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  );
  expect(status).not.toBe(0);
  expect(stderr).toContain('must not run in production');
});
