import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EventStoreDbStandIn, type InjectedFaults } from '@tracking/eventstoredb-stand-in';
import { EngineAccessRefusedError, type EventStore, type Position, UnavailableError } from '@tracking/ports';
import {
  createCertificateAuthority,
  createSampleNewEvents,
  createPropertyTestOptions,
  createUniqueStreamPrefix,
  createTempFolder,
  eventually,
  listEventIds,
  itInSoak,
  scaleTimeout,
  type TempFolder,
} from '@tracking/testing';
import fc from 'fast-check';
import {
  addUserToConnectionString,
  createTlsClusterStandInOptions,
  EventStoreDbFixture,
  IS_STAND_IN_NODE,
  STAND_IN_REQUIRED_REASON,
  openEventStoreDbEventStore,
  SECURE_CLUSTER_USER_AND_PASSWORD,
} from '../../test/eventstoredb/eventstoredb-subject.ts';
import {
  appendMarkerEvent,
  followUntilMarkerEvent,
  startStreamWriters,
} from '../../test/eventstoredb/stream-writers.ts';

/** Maximum milliseconds from the loss of a leader until appends are acknowledged again. */
const MAX_OUTAGE_MS = 15_000;
/** Maximum milliseconds of the longest test. */
const MAX_TEST_MS = scaleTimeout(1_800_000);
const [FIRST, SECOND, THIRD, FOURTH] = [0, 1, 2, 3] as const;

if (IS_STAND_IN_NODE) {
  describe('a cluster whose leader changes', testLeaderChanges);
  describe('a cluster with a follower that lags', testLaggingFollower);
  describe('a cluster that refuses a client', testRefusals);
} else it.skip(`clusters [not tested: ${STAND_IN_REQUIRED_REASON}]`, () => undefined);

/** Follows streams until `stop` aborts. Collects ids of events, and positions at which a batch claims to be caught up. */
function follow(store: EventStore, prefix: string, stop: AbortController) {
  const seen: string[] = [];
  const claims: Position[] = [];
  const done = (async () => {
    for await (const batch of store.catchUp({ streamPrefixes: [prefix], signal: stop.signal })) {
      seen.push(...listEventIds(batch.events));
      if (batch.caughtUp) claims.push(batch.position);
    }
  })();
  return { seen, claims, done };
}

function testLeaderChanges(): void {
  let cluster: EventStoreDbFixture;
  let standIn: EventStoreDbStandIn;
  beforeAll(async () => {
    cluster = await EventStoreDbFixture.startNodeFixture({ nodes: 4 });
    ({ standIn } = cluster);
  });
  afterAll(() => cluster.closeEventStore());
  afterEach(() => cluster.closeStores());

  const CHANGES: readonly (() => Promise<void>)[] = [
    // The leader is deposed, and follows with its connections open.
    () => standIn.setFaults({ lead: true }, SECOND),
    // The leader is killed.
    () => standIn.setFaults({ down: true }, SECOND),
    () => standIn.setFaults({ down: false }, SECOND),
    // The leader hangs, and returns as a follower.
    () => standIn.setFaults({ freeze: true }, FIRST),
    () => standIn.setFaults({ freeze: false }, FIRST),
    () => standIn.setFaults({ lead: true }, THIRD),
    // The leader loses its connections after it stored appends, and dies.
    () => standIn.setFaults({ loseAnswers: 20 }, THIRD),
    () => standIn.setFaults({ down: true }, THIRD),
    () => standIn.setFaults({ down: false }, THIRD),
  ];

  /** Changes the cluster under load. Expects appends to continue after each change, and nothing lost or doubled. */
  async function survive(url: string, changes: readonly (() => Promise<void>)[]): Promise<void> {
    await standIn.setFaults({ lead: true }, FIRST);
    const store = cluster.openEventStoreWithConnectionString(url);
    const prefix = createUniqueStreamPrefix();
    const followed = [
      store,
      cluster.openEventStoreWithConnectionString(url),
      cluster.openEventStoreWithConnectionString(`${url}&nodePreference=follower`),
    ].map((reader) => followUntilMarkerEvent(reader, prefix, { timeoutMs: MAX_TEST_MS }));
    const writers = startStreamWriters(store, prefix, MAX_OUTAGE_MS);
    for (const change of changes) {
      await writers.waitForGrowth();
      await change();
    }
    await writers.waitForGrowth();
    await writers.stop();
    await appendMarkerEvent(store, prefix);
    await writers.expectStored(store);
    for (const events of await Promise.all(followed)) writers.expectFollowed(events);
  }

  it.each(['several hosts', 'esdb+discover'])(
    'loses and doubles nothing under load, and works on within 15 s (%s)',
    async (kind) => {
      // The name of a cluster resolves to nodes that respond. Here it is a node that never fails.
      const url =
        kind === 'several hosts'
          ? standIn.url
          : standIn.createNodeConnectionString(FOURTH).replace('esdb:', 'esdb+discover:');
      await survive(url, CHANGES);
    },
    scaleTimeout(120_000),
  );

  it('a process whose subscription still delivers events gives up a leader that hangs', async () => {
    await standIn.setFaults({ lead: true }, FIRST);
    const store = cluster.openEventStore();
    const prefix = createUniqueStreamPrefix();
    const stop = new AbortController();
    const { seen, done } = follow(store, prefix, stop);
    await store.append(`${prefix}own`, 'no_stream', createSampleNewEvents(1));
    await eventually(() => expect(seen).toHaveLength(1));
    // The subscription stays at the first node, and appends go to the second.
    await standIn.setFaults({ lead: true }, SECOND);
    await store.append(`${prefix}own`, 0, createSampleNewEvents(1));
    await standIn.setFaults({ freeze: true }, SECOND);
    const writers = startStreamWriters(cluster.openEventStore(), prefix, MAX_OUTAGE_MS);
    await writers.waitForGrowth();
    const late = createSampleNewEvents(1);
    await eventually(() => store.append(`${prefix}own`, 1, late), { deadlineMs: MAX_OUTAGE_MS });
    await standIn.setFaults({ freeze: false }, SECOND);
    await writers.stop();
    await eventually(() => expect(seen).toHaveLength(3 + writers.count()));
    stop.abort();
    await done;
  });

  itInSoak(
    'loses and doubles nothing during 200 random faults of one node at a time',
    async () => {
      const faults = fc.constantFrom<InjectedFaults>(
        { lead: true },
        { down: true },
        { freeze: true },
        { lag: true },
        { loseAnswers: 20 },
        { dropSubscriptions: true },
      );
      const rounds = fc.sample(fc.tuple(faults, fc.constantFrom(FIRST, SECOND, THIRD, FOURTH)), {
        ...createPropertyTestOptions(200),
        numRuns: 200,
      });
      const changes = rounds.flatMap(([fault, node]) => [
        () => standIn.setFaults(fault, node),
        () => standIn.setFaults({ down: false, freeze: false, lag: false, loseAnswers: 0 }, node),
      ]);
      await survive(standIn.url, changes);
    },
    MAX_TEST_MS,
  );
}

function testLaggingFollower(): void {
  let cluster: EventStoreDbFixture;
  let standIn: EventStoreDbStandIn;
  let stream: string;
  beforeAll(async () => {
    cluster = await EventStoreDbFixture.startNodeFixture({ nodes: 2 });
    ({ standIn } = cluster);
  });
  afterAll(() => cluster.closeEventStore());
  beforeEach(async () => {
    stream = createUniqueStreamPrefix();
    await standIn.setFaults({ lead: true }, FIRST);
    await standIn.setFaults({ lag: false }, SECOND);
  });
  afterEach(() => cluster.closeStores());

  const openAtFollower = () => cluster.openEventStoreWithConnectionString(`${standIn.url}&nodePreference=follower`);

  it('readers use the follower that the connection string prefers, and writes the leader', async () => {
    const store = openAtFollower();
    const stop = new AbortController();
    const { seen, done } = follow(store, stream, stop);
    const events = createSampleNewEvents(3);
    await store.append(stream, 'no_stream', events);
    await eventually(() => expect(seen).toEqual(listEventIds(events)));
    expect(await standIn.countSubscriptions(SECOND)).toBe(1);
    expect(await standIn.countSubscriptions(FIRST)).toBe(0);
    stop.abort();
    await done;
  });

  it('a process reads what it wrote, and live readers change to the leader', async () => {
    const store = openAtFollower();
    const stop = new AbortController();
    const { seen, done } = follow(store, stream, stop);
    const first = createSampleNewEvents(2);
    await store.append(stream, 'no_stream', first);
    await eventually(() => expect(seen).toEqual(listEventIds(first)));
    await standIn.setFaults({ lag: true }, SECOND);
    const second = createSampleNewEvents(2);
    const { position } = await store.append(stream, 1, second);
    expect(listEventIds(await store.read(stream))).toEqual(listEventIds([...first, ...second]));
    expect(await store.readLastRevision(stream)).toBe(3);
    expect((await store.head()) ?? '').toBe(position);
    await eventually(() => expect(seen).toEqual(listEventIds([...first, ...second])));
    expect(await standIn.countSubscriptions(FIRST)).toBe(1);
    await standIn.setFaults({ lag: false }, SECOND);
    const third = createSampleNewEvents(1);
    await store.append(stream, 3, third);
    await eventually(() => expect(seen).toEqual(listEventIds([...first, ...second, ...third])));
    stop.abort();
    await done;
  });

  it('a follower answers reads of events that are stored, and the leader does if the follower is behind', async () => {
    const store = openAtFollower();
    const stop = new AbortController();
    const { seen, done } = follow(store, stream, stop);
    const events = createSampleNewEvents(4);
    await store.append(stream, 'no_stream', events.slice(0, 2));
    await eventually(() => expect(seen).toHaveLength(2));
    await standIn.setFaults({ freeze: true }, FIRST);
    try {
      expect(listEventIds(await store.read(stream, { to: 1, isStored: true }))).toEqual(
        listEventIds(events.slice(0, 2)),
      );
    } finally {
      await standIn.setFaults({ freeze: false }, FIRST);
    }
    await standIn.setFaults({ lead: true }, FIRST);
    await standIn.setFaults({ lag: true }, SECOND);
    await eventually(() => store.append(stream, 1, events.slice(2)), { deadlineMs: MAX_OUTAGE_MS });
    expect(listEventIds(await store.read(stream, { to: 3, isStored: true }))).toEqual(listEventIds(events));
    expect(listEventIds(await store.read(stream, { from: 3, to: 3, isStored: true }))).toEqual(
      listEventIds(events.slice(3)),
    );
    stop.abort();
    await done;
  });

  it('a new reader of many stored events reaches the last acknowledged one, and claims nothing earlier', async () => {
    const writer = cluster.openEventStore();
    const appended: string[] = [];
    let position = '';
    for (let hundred = 0; hundred < 16; hundred += 1) {
      if (hundred === 4) await standIn.setFaults({ lag: true }, SECOND);
      const events = createSampleNewEvents(100);
      ({ position } = await writer.append(stream, hundred === 0 ? 'no_stream' : hundred * 100 - 1, events));
      appended.push(...listEventIds(events));
    }
    const stop = new AbortController();
    const { seen, claims, done } = follow(openAtFollower(), stream, stop);
    await eventually(() => expect(seen).toHaveLength(appended.length));
    expect(seen).toEqual(appended);
    await eventually(() => expect(claims).not.toHaveLength(0));
    expect(claims.every((claim) => claim >= position)).toBe(true);
    stop.abort();
    await done;
  });

  it('a subscription at a deposed leader that lags changes to the new leader', async () => {
    const store = cluster.openEventStore();
    const stop = new AbortController();
    const { seen, done } = follow(store, stream, stop);
    const events = createSampleNewEvents(3);
    await store.append(stream, 'no_stream', events.slice(0, 1));
    await eventually(() => expect(seen).toHaveLength(1));
    await standIn.setFaults({ lead: true }, SECOND);
    await standIn.setFaults({ lag: true }, FIRST);
    await store.append(stream, 0, events.slice(1));
    await eventually(() => expect(seen).toEqual(listEventIds(events)));
    stop.abort();
    await done;
  });
}

function testRefusals(): void {
  let secure: EventStoreDbStandIn;
  let plain: EventStoreDbStandIn;
  let folder: TempFolder;
  beforeAll(async () => {
    folder = await createTempFolder();
    secure = await EventStoreDbStandIn.createEventStoreDbStandIn(createTlsClusterStandInOptions());
    plain = await EventStoreDbStandIn.createEventStoreDbStandIn();
    await Promise.all([secure.startNode(), plain.startNode()]);
  });
  afterAll(() => Promise.all([secure.destroyTestNode(), plain.destroyTestNode(), folder.remove()]));

  async function findRefusal(url: string): Promise<unknown> {
    const store = openEventStoreDbEventStore(url, { limits: { operationTimeoutMs: 2_000 } });
    const error: unknown = await store.checkEventStoreAccess().catch((reason: unknown) => reason);
    await store.close();
    return error;
  }

  /** Returns the connection string with the certificate of an authority that did not sign the nodes' certificates. */
  async function trustAnotherAuthority(url: string): Promise<string> {
    const path = join(folder.path, 'other.crt');
    await writeFile(path, createCertificateAuthority('Other authority').cert);
    return addUserToConnectionString(url).replace(/tlsCaFile=.*$/, `tlsCaFile=${encodeURIComponent(path)}`);
  }

  it('accepts the right user and authority', async () => {
    expect(await findRefusal(addUserToConnectionString(secure.url))).toBeUndefined();
    expect(await findRefusal(addUserToConnectionString(secure.createNodeConnectionString(SECOND)))).toBeUndefined();
    expect(await findRefusal(addUserToConnectionString(secure.url.replace('esdb:', 'esdb+discover:')))).toBeUndefined();
    expect(await findRefusal(plain.url)).toBeUndefined();
  });

  const refusals: readonly (readonly [name: string, url: () => string | Promise<string>, reason: RegExp])[] = [
    [
      'a wrong password',
      () => addUserToConnectionString(secure.url, { ...SECURE_CLUSTER_USER_AND_PASSWORD, password: 's3cret' }),
      /refuses the user name or the password/,
    ],
    [
      'an unknown user',
      () => addUserToConnectionString(secure.url, { ...SECURE_CLUSTER_USER_AND_PASSWORD, username: 'nobody' }),
      /refuses the user name or the password/,
    ],
    ['no user', () => secure.url, /names no user/],
    ['another authority', () => trustAnotherAuthority(secure.url), /not trusted .* tlsCaFile must name/],
    [
      'another authority of a name',
      () => trustAnotherAuthority(secure.url.replace('esdb:', 'esdb+discover:')),
      /not trusted/,
    ],
    ['no authority', () => addUserToConnectionString(secure.url.replace(/&tlsCaFile=.*$/, '')), /not trusted/],
    [
      'no TLS for a node that needs it',
      () => addUserToConnectionString(secure.url.replace(/\?.*$/, '?tls=false')),
      /requires TLS/,
    ],
    ['TLS for a node without it', () => plain.url.replace('tls=false', 'tls=true'), /does not use TLS/],
  ];

  it.each(refusals)('names %s', async (_name, url, reason) => {
    const error = await findRefusal(await url());
    expect(error).toBeInstanceOf(EngineAccessRefusedError);
    const { message, cause } = error as EngineAccessRefusedError;
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/s3cret|sesame|127\.0\.0\.1|localhost/);
    expect(cause).toBeUndefined();
  });

  it('reports a node that is down as unavailable', async () => {
    const error = await findRefusal('esdb://someone:s3cret@localhost:9?tls=true');
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).not.toBeInstanceOf(EngineAccessRefusedError);
  });

  it('refuses operations of a running process as unavailable, so that callers may repeat them', async () => {
    const store = openEventStoreDbEventStore(
      addUserToConnectionString(secure.url, { ...SECURE_CLUSTER_USER_AND_PASSWORD, password: 'changed' }),
    );
    await expect(store.append('a', 'no_stream', createSampleNewEvents(1))).rejects.toBeInstanceOf(UnavailableError);
    await store.close();
  });
}
