import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { type TempFolder, eventually, waitForSimulatedDelay, createTempFolder } from '@tracking/testing';
import {
  type StandaloneProcess,
  createTestApiClient,
  createKey,
  INHERITED_ENVIRONMENT,
  spawnStandaloneProcess,
  runCliProcessForOutput,
  runServerUntilExit,
  startStandaloneProcess,
  withTemporaryFolder,
} from './standalone-process.ts';

jest.setTimeout(240_000);

const CLI = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url));
/** Number of shipments whose read models take longer to rebuild than a server takes to ask for the data folder. */
const SHIPMENTS = 2_000;
const PER_REQUEST = 100;
/** Time after the start of a server at which a process is killed: about when the server asks for the data folder. */
const KILL_AFTER_MS = 700 + 600 * Math.random();

/** A command in its own process. */
class CliProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  private printed = '';

  constructor(dataDir: string, ...args: readonly string[]) {
    this.child = spawn(process.execPath, [CLI, ...args], {
      env: { ...INHERITED_ENVIRONMENT, DATA_DIR: dataDir },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk) => (this.printed += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.printed += String(chunk)));
    this.ended = once(this.child, 'close');
  }

  /** Returns everything printed so far. */
  readonly output = (): string => this.printed;
}

const whenUsed = (dataDir: string) => eventually(() => stat(join(dataDir, 'administration.sock')));

let filled: TempFolder;
let key: string;
beforeAll(async () => {
  filled = await createTempFolder();
  key = await createKey(filled.path);
  const server = await startStandaloneProcess(filled.path);
  const client = createTestApiClient(server.url, key);
  for (let n = 0; n < SHIPMENTS; n += PER_REQUEST) {
    const shipments = Array.from({ length: PER_REQUEST }, (_, index) => ({ external_id: `PO-${n + index}` }));
    expect((await client.post('/v1/shipments/bulk', { shipments })).status).toBe(200);
  }
  await server.stop();
});
afterAll(() => filled.remove());

/** Runs the work on a copy of the filled data folder, in which a command has begun to rebuild all read models. */
async function withRebuild(work: (dataDir: string, rebuild: CliProcess) => Promise<void>): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const dataDir = join(folder, 'data');
    await cp(filled.path, dataDir, { recursive: true });
    const rebuild = new CliProcess(dataDir, 'read-models', 'rebuild', '--json');
    await whenUsed(dataDir);
    await work(dataDir, rebuild);
  });
}

/** Waits until the command has printed that each read model has its second generation. */
async function expectOneRebuild({ ended, child, output }: CliProcess): Promise<void> {
  await ended;
  expect([child.exitCode, output()]).toEqual([0, expect.stringContaining('"generation": 2')]);
  expect(output()).not.toContain('"generation": 3');
}

async function stopInOrder(server: StandaloneProcess): Promise<void> {
  const list = await createTestApiClient(server.url, key).get('/v1/shipments?limit=1');
  expect(list.data).toMatchObject({ data: [{ external_id: expect.stringMatching(/^PO-/) }] });
  await server.stop();
  expect(server.child.exitCode).toBe(0);
}

describe('a server that starts while a command uses the data folder', () => {
  it('takes the folder over and finishes the rebuild, whose result the command prints', () =>
    withRebuild(async (dataDir, rebuild) => {
      const server = await startStandaloneProcess(dataDir);
      await expectOneRebuild(rebuild);
      await stopInOrder(server);
    }));

  it('starts after a kill -9 of an earlier server that took the folder over', () =>
    withRebuild(async (dataDir, rebuild) => {
      const killed = spawnStandaloneProcess(dataDir);
      await waitForSimulatedDelay(KILL_AFTER_MS);
      killed.kill('SIGKILL');
      await once(killed, 'close');
      const server = await startStandaloneProcess(dataDir);
      await expectOneRebuild(rebuild);
      await stopInOrder(server);
    }));

  it('starts after a kill -9 of the command', () =>
    withRebuild(async (dataDir, rebuild) => {
      const starting = startStandaloneProcess(dataDir);
      await waitForSimulatedDelay(KILL_AFTER_MS);
      rebuild.child.kill('SIGKILL');
      await stopInOrder(await starting);
    }));

  it('takes the folder over from a command that waits for input, which then uses the server', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const exported = await runCliProcessForOutput(filled.path, 'events', 'export', '-');
      const reading = new CliProcess(dataDir, 'events', 'import', '-');
      await whenUsed(dataDir);
      const server = await startStandaloneProcess(dataDir);
      reading.child.stdin?.end(`${exported}\n`);
      await reading.ended;
      expect([reading.child.exitCode, reading.output()]).toEqual([0, expect.stringContaining(`${SHIPMENTS} events`)]);
      await server.stop();
      expect(server.child.exitCode).toBe(0);
    });
  });

  it('exits with 75 if another server uses the folder', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const server = await startStandaloneProcess(dataDir);
      const second = await runServerUntilExit(dataDir);
      expect(second).toEqual({ code: 75, output: expect.stringContaining('is in use by another process') });
      await server.stop();
    });
  });
});
