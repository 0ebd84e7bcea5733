import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { LeaseMemberObserver, MongoConnection, MongoDocumentStore } from '@tracking/distributed';
import { describeWithKillableMongoEngine, KillableMongoServer } from '@tracking/distributed/testing';
import {
  createAbsentEngineSettings,
  createTempFolder,
  eventually,
  findFreePort,
  ManagedProcess,
  noMetrics,
  type TempFolder,
} from '@tracking/testing';
import { recordCompletedSetUp } from './update-order.ts';

const APPS = fileURLToPath(new URL('../..', import.meta.url));
const WAITS = /"msg":"shipments waits for its turn in the update"/;
const MAY_START = /"msg":"shipments may start/;

describeWithKillableMongoEngine('the built programs in an update', (enginesDir) => {
  jest.setTimeout(240_000);
  let folder: TempFolder;
  let engine: KillableMongoServer;
  let connection: MongoConnection;
  let url: string;
  let processes: ManagedProcess[];
  /** Exit codes of processes that ended without being stopped, by name. */
  let exitCodes: Map<string, number | null>;

  beforeAll(async () => {
    folder = await createTempFolder();
    engine = await KillableMongoServer.createMongoServerForTest(enginesDir);
    await engine.startEngine();
  });
  beforeEach(async () => {
    url = engine.createDatabaseUrl(`test-${randomUUID()}`);
    connection = new MongoConnection({ url, metrics: noMetrics });
    const store = new MongoDocumentStore(connection);
    for (const release of ['first', 'second']) await recordCompletedSetUp(store, release);
    processes = [];
    exitCodes = new Map();
  });
  afterEach(async () => {
    await Promise.all(processes.map((one) => one.killProcess()));
    await connection.closeConnection();
  });
  afterAll(async () => {
    await engine.killEngineAndDeleteFolder();
    await folder.remove();
  });

  async function start(name: string, args: readonly string[], ready: RegExp, env: Readonly<Record<string, string>>) {
    const [port, management, nobody] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const ports = { PORT: String(port), MANAGEMENT_PORT: String(management) };
    const spec = {
      ...{ name, command: process.execPath, args, ready, logFile: join(folder.path, `${name}.log`) },
      env: { ...createAbsentEngineSettings(nobody), ...ports, MONGODB_URL: url, ...env },
    };
    const started = new ManagedProcess(spec, (_, code) => exitCodes.set(name, code));
    processes.push(started);
    await started.startProcess();
    return started;
  }

  /** Starts the wait of shipments for its turn. It has printed the line when this resolves. */
  const startWait = (name: string, ready: RegExp, release = 'second') =>
    start(name, [join(APPS, 'setup/dist/main.js'), 'wait', 'shipments'], ready, { RELEASE: release });

  /** Starts the projections service, which is a member even while EventStoreDB is unavailable. */
  async function startProjections(release: string): Promise<ManagedProcess> {
    const args = [join(APPS, 'projections/dist/main.js')];
    const started = await start(`projections-${release}`, args, /waiting for an engine|retry/, { RELEASE: release });
    await eventually(async () => expect(await listReleases()).toContain(release), { deadlineMs: 60_000 });
    return started;
  }
  const listReleases = async () => {
    const members = await new LeaseMemberObserver(new MongoDocumentStore(connection)).listLiveMembers();
    return members.filter(({ name }) => name.startsWith('projections@')).map(({ release }) => release);
  };
  const expectExit = (name: string, code: number) =>
    eventually(() => expect(exitCodes.get(name)).toBe(code), { deadlineMs: 60_000 });

  it('keep waiting for a process of the old release, also after MongoDB was killed, until it is killed', async () => {
    const old = await startProjections('first');
    await startProjections('second');
    await startWait('wait', WAITS);
    await engine.killEngine();
    await engine.startEngine();
    // A wait that starts later has the same answer.
    await startWait('second-wait', WAITS);
    expect(exitCodes).toEqual(new Map());
    await old.killProcess();
    await expectExit('wait', 0);
    await expectExit('second-wait', 0);
    await startWait('restart', MAY_START);
    await expectExit('restart', 0);
  });

  it('do not start a service whose wait is stopped', async () => {
    await startProjections('first');
    const wait = await startWait('stopped-wait', WAITS);
    process.kill(wait.pid ?? 0, 'SIGTERM');
    await expectExit('stopped-wait', 1);
  });

  it('do not wait without a release, whatever is unavailable', async () => {
    await start('no-release', [join(APPS, 'setup/dist/main.js'), 'wait', 'shipments'], MAY_START, {
      MONGODB_URL: 'mongodb://127.0.0.1:1/',
    });
    await expectExit('no-release', 0);
  });

  it('refuse other commands in one line', async () => {
    const args = [join(APPS, 'setup/dist/main.js'), 'weight', 'shipments'];
    await start('misspelled', args, /^unknown command weight: expected none, or wait\n$/, {});
    await expectExit('misspelled', 1);
  });
});
