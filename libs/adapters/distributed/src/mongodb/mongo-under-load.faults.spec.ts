import { randomUUID } from 'node:crypto';
import {
  eventually,
  IS_SOAK_RUN,
  MongoProxy,
  type MongoWriteFault,
  noMetrics,
  waitForSimulatedDelay,
} from '@tracking/testing';
import { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';
import { MongoLeases } from './mongo-leases.ts';
import { KillableMongoServer } from '../../test/mongodb/mongo-engine.ts';
import { CompetingLeaseProcesses, MongoWriteWorkload } from '../../test/mongodb/mongo-load.ts';
import { describeWithKillableMongoEngine } from '../../test/mongodb/mongo-subject.ts';

/** Rounds with one fault each. The short form has each kind of fault once. */
const ROUNDS = IS_SOAK_RUN ? 200 : 12;
/** Deadline of an operation: that of production in the long form. */
const DEADLINE_MS = IS_SOAK_RUN ? 5_000 : 1_500;
/** Longest outage, longer than any election. */
const MAX_OUTAGE_MS = IS_SOAK_RUN ? 15_000 : 1_500;
const MAX_RESUMPTION_MS = 15_000;
const MAX_LEASE_GAP_MS = 2_000;
const LEASE_NAMES = ['projections', 'shard 1', 'shard 2'];

interface Fault {
  readonly name: string;
  /** Causes the fault, and resolves when the engine works again. */
  run(outageMs: number): Promise<void>;
}

describeWithKillableMongoEngine('MongoDB under load', (enginesDir) => {
  describe('MongoDB under load', () => {
    let engine: KillableMongoServer;
    let proxy: MongoProxy;
    let leases: CompetingLeaseProcesses;
    const connections: MongoConnection[] = [];
    beforeAll(async () => {
      engine = await KillableMongoServer.createMongoServerForTest(enginesDir);
      await engine.startEngine();
      proxy = await MongoProxy.startMongoProxy(engine.port, { members: 3 });
    });
    afterAll(async () => {
      proxy.endFaults();
      await Promise.all(connections.map((connection) => connection.closeConnection()));
      await proxy.closeProxy();
      await engine.killEngineAndDeleteFolder();
    });

    /** Each store has its own connection, like a separate process. */
    function openStore(url: string): MongoDocumentStore {
      const connection = new MongoConnection({ url, metrics: noMetrics, deadlineMs: DEADLINE_MS });
      connections.push(connection);
      return new MongoDocumentStore(connection);
    }

    const outage = async (begin: () => void, outageMs: number) => {
      begin();
      await waitForSimulatedDelay(outageMs);
      proxy.endFaults();
    };
    const failWrites = (fault: MongoWriteFault) => async () => {
      proxy.failNextWrites(...Array.from({ length: 20 }, () => fault));
      await waitForSimulatedDelay(300);
      proxy.endFaults();
    };
    const faults: readonly Fault[] = [
      { name: 'connections are reset', run: () => Promise.resolve(proxy.breakConnections('reset')) },
      { name: 'connections are closed', run: () => Promise.resolve(proxy.breakConnections('end')) },
      { name: 'operations hang', run: (ms) => outage(() => proxy.hangConnections('operations'), ms) },
      { name: 'everything hangs', run: (ms) => outage(() => proxy.hangConnections(), ms) },
      { name: 'nothing is reachable', run: (ms) => outage(() => proxy.breakCurrentAndNewConnections(), ms) },
      { name: 'answers are delayed', run: (ms) => outage(() => (proxy.delayMs = Math.min(400, ms / 4)), ms) },
      { name: 'an election', run: (ms) => proxy.simulatePrimaryElection(ms) },
      {
        name: 'another member replaces a hung primary',
        run: (ms) => {
          proxy.hangConnections('primary');
          return proxy.simulatePrimaryElection(ms);
        },
      },
      { name: 'writes are refused', run: failWrites('refused') },
      { name: 'writes are interrupted', run: failWrites('interrupted') },
      { name: 'answers are lost', run: failWrites('answer lost') },
      {
        name: 'the engine is killed',
        run: async () => {
          await engine.killEngine();
          await engine.startEngine();
        },
      },
    ];

    /** The outage ends when the first operation succeeds; a busy machine needs some time for this. */
    const expectLeasesToBeHeld = async (context: string, load: MongoWriteWorkload) => {
      const count = () => [...load.countAnswersByWorker().values()].reduce((sum, answers) => sum + answers, 0);
      const before = count();
      await eventually(() => expect(count()).toBeGreaterThan(before), { deadlineMs: MAX_RESUMPTION_MS });
      await eventually(
        () => expect({ context, held: leases.listHeldLeaseNames() }).toEqual({ context, held: LEASE_NAMES }),
        {
          deadlineMs: MAX_LEASE_GAP_MS,
        },
      );
    };

    it(
      'loses nothing, doubles nothing, and resumes all work after each fault',
      async () => {
        const database = `load-${randomUUID()}`;
        const stores = ['', 'retryWrites=false'].map((options) =>
          openStore(proxy.buildConnectionStringOfDatabase(database, options)),
        );
        const direct = openStore(engine.createDatabaseUrl(database));
        const processes = stores.map((store) => new MongoLeases(store, noMetrics));
        leases = new CompetingLeaseProcesses(processes, LEASE_NAMES);
        leases.startLeaseCompetition();
        await eventually(() => expect(leases.listHeldLeaseNames()).toEqual(LEASE_NAMES));
        for (let round = 0; round < ROUNDS; round += 1) {
          const fault = faults[round % faults.length];
          if (fault === undefined) throw new Error('there is no fault');
          const outageMs = Math.random() ** 2 * MAX_OUTAGE_MS;
          const context = `round ${round}: ${fault.name}, ${outageMs.toFixed()} ms`;
          const load = new MongoWriteWorkload(stores);
          const expectAllToWork = async (deadlineMs: number) => {
            const before = load.countAnswersByWorker();
            await eventually(
              () => {
                const stuck = [...load.countAnswersByWorker()].filter(
                  ([worker, count]) => count <= (before.get(worker) ?? 0) + 1,
                );
                expect({ context, stuck }).toEqual({ context, stuck: [] });
              },
              { deadlineMs },
            );
          };
          load.startWriteWorkload();
          await expectAllToWork(MAX_RESUMPTION_MS);
          await fault.run(outageMs);
          const resumed = expectAllToWork(MAX_RESUMPTION_MS);
          const held = expectLeasesToBeHeld(context, load);
          await Promise.all([resumed, held]);
          proxy.endFaults();
          await load.stopLoad();
          expect({ context, differences: await load.findDifferencesFromAcknowledged(direct) }).toEqual({
            context,
            differences: [],
          });
          expect({ context, conflicts: leases.conflicts }).toEqual({ context, conflicts: [] });
          await load.dropWorkloadCollection(direct);
        }
        await leases.stopCompetingForLeases();
        await Promise.all(processes.map((process) => process.close()));
      },
      ROUNDS * (MAX_OUTAGE_MS + 2 * MAX_RESUMPTION_MS),
    );
  });
});
