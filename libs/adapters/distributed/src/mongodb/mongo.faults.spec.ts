import { randomUUID } from 'node:crypto';
import { UnavailableError, type Collection } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { rejectAfterDeadline, eventually, noMetrics, RecordedMetrics } from '@tracking/testing';
import type { LeaseRecord } from './held-lease.ts';
import { MongoLeases } from './mongo-leases.ts';
import { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';
import { MongoQuota } from './mongo-quota.ts';
import { KillableMongoServer } from '../../test/mongodb/mongo-engine.ts';
import { describeWithKillableMongoEngine } from '../../test/mongodb/mongo-subject.ts';

interface TestDocument {
  readonly id: string;
  readonly version?: number;
  readonly state?: string;
  /** Writers that changed the document, in order. */
  readonly by?: readonly string[];
}

const KILLS = 3;
const DEADLINE_MS = 1_500;

describeWithKillableMongoEngine('a failing MongoDB', (enginesDir) => {
  describe('a failing MongoDB', () => {
    let engine: KillableMongoServer;
    let database: string;
    const connections: MongoConnection[] = [];
    beforeAll(async () => void (engine = await KillableMongoServer.createMongoServerForTest(enginesDir)));
    beforeEach(async () => {
      if (!engine.isRunning) await engine.startEngine();
      database = `faults-${randomUUID()}`;
    });
    afterEach(async () => {
      engine.resumeEngine();
      await Promise.all(connections.splice(0).map((connection) => connection.closeConnection()));
    });
    afterAll(() => engine.killEngineAndDeleteFolder());

    function connect(credentials?: string): MongoDocumentStore {
      const url = engine.createDatabaseUrl(database, credentials);
      const connection = new MongoConnection({ url, metrics: noMetrics, deadlineMs: DEADLINE_MS });
      connections.push(connection);
      return new MongoDocumentStore(connection);
    }

    /** Kills and restarts the engine several times during the work, which continues in between. */
    async function kills(done: () => number, ended: AbortController): Promise<void> {
      for (let kill = 0; kill <= KILLS; kill += 1) {
        const before = done();
        await eventually(() => expect(done()).toBeGreaterThan(before + 30), { deadlineMs: 20_000 });
        if (kill === KILLS) break;
        await engine.killEngine();
        await engine.startEngine();
      }
      ended.abort();
    }

    /**
     * Repeats the operation until the engine responds. Returns true if it was repeated, because earlier outcomes are
     * then unknown.
     */
    function untilAnswered<R>(
      operation: () => Promise<R>,
    ): Promise<{ readonly answer: R; readonly repeated: boolean }> {
      return retry(async (failures) => ({ answer: await operation(), repeated: failures > 0 }), {
        maxPauseMs: 50,
        isTransient: (error) => error instanceof UnavailableError,
      });
    }

    it('keeps everything acknowledged across kills during writes, and nothing twice', async () => {
      const things = await connect().collection<TestDocument>({ name: 'things', indexes: [] });
      const acknowledged: string[] = [];
      const changes = new Map<string, string[]>();
      const ended = new AbortController();

      async function insert(writer: number): Promise<void> {
        for (let at = 0; !ended.signal.aborted; at += 1) {
          const id = `${writer}-${at}`;
          if (at % 2 === 0) await untilAnswered(() => things.insert({ id }));
          else await untilAnswered(() => things.writeMany([{ kind: 'upsert', document: { id } }]));
          acknowledged.push(id);
        }
      }
      /** Adds entries one by one to a document, each guarded by the previous version. */
      async function change(id: string): Promise<void> {
        const own: string[] = [];
        changes.set(id, own);
        await untilAnswered(() => things.insert({ id, version: 0, by: [] }));
        for (let version = 1; !ended.signal.aborted; version += 1) {
          const entry = `${id}-${version}`;
          const next: TestDocument = { id, version, by: [...own, entry] };
          const { answer, repeated } = await untilAnswered(() => things.replace(next, { version: version - 1 }));
          expect(answer || repeated).toBe(true);
          own.push(entry);
        }
      }
      const work = [0, 1, 2, 3].map(insert).concat(['x', 'y', 'z'].map(change));
      const least = () => Math.min(acknowledged.length, ...[...changes.values()].map(({ length }) => 10 * length));
      await Promise.all([...work, kills(least, ended)]);

      expect(acknowledged.length).toBeGreaterThan(KILLS);
      const there = new Set((await things.getMany(acknowledged)).map(({ id }) => id));
      expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
      for (const [id, own] of changes) {
        expect(own.length).toBeGreaterThan(KILLS);
        expect(await things.get(id)).toEqual({ id, version: own.length, by: own });
      }
    });

    it('gives each document to one claimant across kills during claims', async () => {
      const indexes = [{ name: 'by_state', fields: ['state', 'id'] }];
      const jobs = await connect().collection<TestDocument>({ name: 'jobs', indexes });
      const others = await connect().collection<TestDocument>({ name: 'jobs', indexes });
      const ids = Array.from({ length: 3_000 }, (_, at) => `job-${String(at).padStart(4, '0')}`);
      const free = ids.map((id) => ({ kind: 'insert', document: { id, state: 'free' } }) as const);
      await untilAnswered(() => jobs.writeMany(free));
      const won: { readonly id: string; readonly state: string }[] = [];
      const ended = new AbortController();

      async function claim(from: Collection<TestDocument>, worker: number): Promise<void> {
        let attempt = 0;
        while (!ended.signal.aborted) {
          const query = { filter: { state: 'free' }, sort: { fields: ['state', 'id'] } };
          // A new token each time, because the result of a claim without a response belongs to no worker.
          const { answer } = await untilAnswered(() => from.claim(query, { state: `${worker}-${(attempt += 1)}` }));
          if (answer === undefined) return;
          won.push({ id: answer.id, state: answer.state ?? '' });
        }
      }
      const workers = Array.from({ length: 10 }, (_, worker) => claim(worker % 2 === 0 ? jobs : others, worker));
      await Promise.all([...workers, kills(() => won.length, ended)]);

      expect(won.length).toBeGreaterThan(KILLS);
      expect(new Set(won.map(({ id }) => id)).size).toBe(won.length);
      const stored = new Map((await jobs.getMany(ids)).map(({ id, state }) => [id, state]));
      expect(won.filter(({ id, state }) => stored.get(id) !== state)).toEqual([]);
    });

    it('down at the start: reports it without secrets, and works when the engine is up', async () => {
      await engine.killEngine();
      const store = connect('someone:s3cret');
      const error: unknown = await store.collection({ name: 'things', indexes: [] }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error).toMatchObject({ engine: 'document store' });
      const { message, stack, cause } = error as Error;
      expect(`${message} ${stack} ${JSON.stringify(error)}`).not.toMatch(/s3cret|someone|127\.0\.0\.1|\d{5}/);
      expect(cause).toBeUndefined();

      const plain = connect();
      await expect(plain.listCollectionNames('')).rejects.toBeInstanceOf(UnavailableError);
      await engine.startEngine();
      const things = await plain.collection<TestDocument>({ name: 'things', indexes: [] });
      expect(await things.insert({ id: 'a' })).toBe(true);
    });

    it('hung: abandons every operation in time, and works when the engine continues', async () => {
      const things = await connect().collection<TestDocument>({ name: 'things', indexes: [] });
      await things.insert({ id: 'a', version: 1 });
      engine.suspendEngine();
      const operations = [
        things.get('a'),
        things.find({ filter: {}, limit: 10 }),
        things.insert({ id: 'b' }),
        things.replace({ id: 'a', version: 2 }, { version: 1 }),
        things.writeMany([{ kind: 'upsert', document: { id: 'c' } }]),
        things.claim({ filter: { version: 1 } }, { state: 'mine' }),
      ];
      for (const outcome of await rejectAfterDeadline(Promise.allSettled(operations), 3 * DEADLINE_MS)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable' } });
      }
      engine.resumeEngine();
      await untilAnswered(() => things.upsert({ id: 'd' }));
      expect(await things.get('d')).toEqual({ id: 'd' });
    });

    it('hung: with `failsFast`, operations fail before their deadline, later ones at once, until it answers', async () => {
      const url = engine.createDatabaseUrl(database);
      const connection = new MongoConnection({ url, metrics: noMetrics, failsFast: true, deadlineMs: 30_000 });
      connections.push(connection);
      const things = await new MongoDocumentStore(connection).collection<TestDocument>({ name: 'things', indexes: [] });
      await things.insert({ id: 'a' });
      engine.suspendEngine();
      const reads = (async () => {
        for (let n = 0; n < 20; n += 1) await expect(things.get('a')).rejects.toBeInstanceOf(UnavailableError);
      })();
      await rejectAfterDeadline(reads, 10_000);
      engine.resumeEngine();
      expect((await untilAnswered(() => things.get('a'))).answer).toEqual({ id: 'a' });
    });

    /** Resolves when the lease's record was written again. */
    async function renewed(name: string): Promise<void> {
      const records = await connect().collection<LeaseRecord>({ name: 'leases', indexes: [] });
      const before = await records.get(name);
      const again = async () => expect((await records.get(name))?.beat).toBeGreaterThan(before?.beat ?? Infinity);
      await eventually(again, { deadlineMs: 15_000 });
    }

    it('hung: no lease has two holders, and leases can be acquired again', async () => {
      const ttlMs = 1_500;
      const leases = new MongoLeases(connect(), noMetrics, { ttlMs });
      const metrics = new RecordedMetrics();
      const others = new MongoLeases(connect(), metrics, { ttlMs });
      const lease = await leases.acquireLease('l', new AbortController().signal);
      const next = others.acquireLease('l', new AbortController().signal);
      let holders = 1;
      let most = 1;
      lease.lost.addEventListener('abort', () => (holders -= 1));
      void next.then(() => (most = Math.max(most, (holders += 1))));
      await renewed('l');
      expect(lease.lost.aborted).toBe(false);
      engine.suspendEngine();
      await eventually(() => expect(lease.lost.aborted).toBe(true), { deadlineMs: 2 * ttlMs });
      const tries = () => metrics.getMetricValue('retries_total{what="acquiring a lease"}');
      await eventually(() => expect(tries()).toBeGreaterThan(0), { deadlineMs: 10_000 });
      engine.resumeEngine();
      expect((await next).epoch).toBeGreaterThan(lease.epoch);
      expect(most).toBe(1);
      await leases.close();
      await others.close();
    });

    it('renews many leases of one process together; leases are lost one by one', async () => {
      const ttlMs = 3_000;
      const leases = new MongoLeases(connect(), noMetrics, { ttlMs });
      const names = Array.from({ length: 20 }, (_, at) => `l${at}`);
      const held = await Promise.all(names.map((name) => leases.acquireLease(name, new AbortController().signal)));
      await Promise.all(names.map(renewed));
      const records = await connect().collection<LeaseRecord>({ name: 'leases', indexes: [] });
      await records.claim({ filter: { id: 'l7' } }, { epoch: 9, holder: 'another' });
      await eventually(() => expect(held[7]?.lost.aborted).toBe(true), { deadlineMs: ttlMs });
      await Promise.all(names.filter((name) => name !== 'l7').map(renewed));
      expect(held.filter(({ lost }) => lost.aborted)).toHaveLength(1);
      expect(await records.get('l7')).toMatchObject({ epoch: 9, holder: 'another' });
      await leases.close();
      expect(await records.count({ holder: null })).toBe(names.length - 1);
    });

    it('killed: a lease survives a restart shorter than its time to live', async () => {
      const leases = new MongoLeases(connect(), noMetrics, { ttlMs: 12_000 });
      const lease = await leases.acquireLease('l', new AbortController().signal);
      await engine.killEngine();
      await engine.startEngine();
      await renewed('l');
      expect(lease.lost.aborted).toBe(false);
      await leases.close();
      expect(lease.lost.aborted).toBe(true);
    });

    it('hung: quotas are counted locally, and shared again afterwards', async () => {
      const quota = new MongoQuota(connect());
      const other = new MongoQuota(connect());
      expect((await quota.takeQuotaForRequest('k', 10)).admitted).toBe(true);
      expect((await other.takeQuotaForRequest('k', 10)).admitted).toBe(true);
      engine.suspendEngine();
      const local = await Promise.all(Array.from({ length: 20 }, () => quota.takeQuotaForRequest('k', 10)));
      const admitted = local.filter((decision) => decision.admitted).length;
      expect(admitted).toBeGreaterThanOrEqual(8);
      expect(admitted).toBeLessThanOrEqual(9);
      engine.resumeEngine();
      await eventually(async () => expect((await other.takeQuotaForRequest('k', 10)).admitted).toBe(false), {
        deadlineMs: 10_000,
      });
      await quota.close();
      await other.close();
    });
  });
});
