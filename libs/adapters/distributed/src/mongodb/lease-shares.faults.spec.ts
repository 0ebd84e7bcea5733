import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { ManagedProcess, type TempFolder, createTempFolder, eventually, noMetrics } from '@tracking/testing';
import { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';
import { MongoLeases } from './mongo-leases.ts';
import { KillableMongoServer } from '../../test/mongodb/mongo-engine.ts';
import { describeWithKillableMongoEngine } from '../../test/mongodb/mongo-subject.ts';

const SCRIPT = fileURLToPath(new URL('../../test/mongodb/sharing-process.ts', import.meta.url));
const NODE = ['--experimental-transform-types', '--conditions=@tracking/source', '--no-warnings'];
const LEASES = 14;
const KILLS = 4;
/** Maximum milliseconds until all shares are even after the last change of the processes. */
const EVEN_MS = 15_000;

describeWithKillableMongoEngine('processes that share leases', (enginesDir) => {
  jest.setTimeout(240_000);
  let engine: KillableMongoServer;
  let folder: TempFolder;
  let url: string;
  let connection: MongoConnection;
  let leases: MongoLeases;
  let processes: Map<string, ManagedProcess>;
  let started: number;

  beforeEach(async () => {
    folder = await createTempFolder();
    engine = await KillableMongoServer.createMongoServerForTest(enginesDir);
    await engine.startEngine();
    url = engine.createDatabaseUrl(`test-${randomUUID()}`);
    connection = new MongoConnection({ url, metrics: noMetrics });
    leases = new MongoLeases(new MongoDocumentStore(connection), noMetrics);
    processes = new Map();
    started = 0;
  });
  afterEach(async () => {
    await Promise.all([...processes.values()].map((process) => process.killProcess()));
    await leases.close();
    await connection.closeConnection();
    await engine.killEngineAndDeleteFolder();
    await folder.remove();
  });

  const logFileOf = (name: string) => join(folder.path, `${name}.log`);

  async function startProcess(): Promise<void> {
    const name = `process-${(started += 1)}`;
    const args = [...NODE, SCRIPT, url, name, String(LEASES)];
    const process = new ManagedProcess({
      ...{ name, command: globalThis.process.execPath, args, ready: /^ready$/m, logFile: logFileOf(name) },
    });
    processes.set(name, process);
    await process.startProcess();
  }

  function chooseProcess(): ManagedProcess {
    const all = [...processes.entries()];
    const [name, chosen] = all[Math.floor(Math.random() * all.length)] ?? [];
    if (name === undefined || chosen === undefined) throw new Error('no process runs');
    processes.delete(name);
    return chosen;
  }

  /** Resolves when the running processes hold all leases and their shares differ by at most one. */
  async function waitForEvenShares(): Promise<void> {
    await eventually(
      async () => {
        const held = await leases.listHeldLeases();
        const shares = [...processes.keys()].map((name) => held.filter(({ holder }) => holder?.name === name).length);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(LEASES);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      },
      { deadlineMs: EVEN_MS },
    );
  }

  /** Returns the lines that all processes have printed. */
  async function readLines(): Promise<readonly string[]> {
    const names = Array.from({ length: started }, (_, at) => `process-${at + 1}`);
    const logs = await Promise.all(names.map((name) => readFile(logFileOf(name), 'utf8')));
    return logs.flatMap((log) => log.split('\n'));
  }

  it('1, 4 and 2 processes, killed at random: even shares, one owner at a time, and no count is lost', async () => {
    await startProcess();
    await waitForEvenShares();
    await Promise.all([startProcess(), startProcess(), startProcess()]);
    await waitForEvenShares();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await chooseProcess().killProcess();
      await startProcess();
      await waitForEvenShares();
    }
    await chooseProcess().killProcess();
    await chooseProcess().stopProcess();
    await waitForEvenShares();
    for (const process of processes.values()) await process.stopProcess();

    const lines = await readLines();
    expect(lines.filter((line) => line.startsWith('conflict'))).toEqual([]);
    const counted = lines.filter((line) => line.startsWith('counted'));
    // Each count was stored by exactly one process.
    expect(new Set(counted).size).toBe(counted.length);
    const stored = await new MongoDocumentStore(connection).collection<{ readonly id: string; readonly count: number }>(
      {
        ...{ name: 'counts', indexes: [] },
      },
    );
    const total = (await stored.find({ filter: {}, limit: LEASES })).reduce((sum, { count }) => sum + count, 0);
    // A killed process may have stored one count of each lease without printing it.
    expect(total).toBeGreaterThanOrEqual(counted.length);
    expect(total).toBeLessThanOrEqual(counted.length + (KILLS + 1) * LEASES);
    expect(await leases.listHeldLeases()).toEqual([]);
  });

  it('a hung process loses its leases to the others, and gets its share back', async () => {
    await Promise.all([startProcess(), startProcess()]);
    await waitForEvenShares();
    const [name = '', hung] = [...processes.entries()][0] ?? [];
    hung?.suspendProcess();
    processes.delete(name);
    await waitForEvenShares();
    hung?.resumeProcess();
    if (hung !== undefined) processes.set(name, hung);
    await waitForEvenShares();
    expect((await readLines()).filter((line) => line.startsWith('conflict'))).toEqual([]);
  });
});
