import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { DATA_FOLDER_IN_USE_EXIT_CODE } from '@tracking/contracts';
import { formatFirstKeyCommand, formatWelcome } from '../src/first-start.ts';
import {
  runCliProcessForOutput,
  createTestApiClient,
  createKey,
  runServerUntilExit,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';

// Timeout for tests that start processes on busy machines.
jest.setTimeout(60_000);

describe('running standalone', () => {
  let dataDir: string;
  let server: StandaloneProcess;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'operation-'));
    server = await startStandaloneProcess(dataDir);
  });
  afterAll(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('rejects a second process on the same data folder with one clear line', async () => {
    const second = await runServerUntilExit(dataDir);
    expect(second.code).toBe(DATA_FOLDER_IN_USE_EXIT_CODE);
    expect(second.output.trim().split('\n')).toHaveLength(1);
    expect(second.output).toContain(dataDir);
    expect(second.output).toMatch(/in use|another process/i);
  });

  it('serves its health, documentation and metrics', async () => {
    const anyone = createTestApiClient(server.url, 'none');
    expect((await anyone.get('/health/live')).status).toBe(200);
    expect((await anyone.get('/health/ready')).data).toMatchObject({ status: 'ready' });
    expect((await anyone.get('/openapi.json')).data.openapi).toMatch(/^3\.1\./);
    expect((await anyone.get('/docs')).headers['content-type']).toContain('text/html');
    const management = createTestApiClient(server.managementUrl, 'none');
    expect((await management.get('/metrics')).data).toContain('http_requests_total');
    expect((await management.get('/health/live')).data).toEqual({ status: 'live' });
    expect((await management.get('/health/ready')).data).toMatchObject({ status: 'ready', engines: { storage: 'ok' } });
    expect((await management.get('/elsewhere')).status).toBe(404);
  });

  it('prints first commands that work when pasted', async () => {
    const { url, managementUrl } = server;
    const shown = { url, managementUrl, dataDir, isDefaultDataDir: false, allowsLocalReceivers: false };
    const commands = formatWelcome(shown)
      .split('\n')
      .filter((line) => line.startsWith('    '));
    const answer = execFileSync('bash', ['-euo', 'pipefail', '-c', `${commands.join('\n')} -sS`], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(JSON.parse(answer)).toMatchObject({ external_id: 'PO-1001', mode: 'ocean', status: 'pending' });
    // Without a terminal, the same text is in the fields of a log line.
    const line = server
      .output()
      .split('\n')
      .find((each) => each.includes('"msg":"listening"'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      url,
      docs: `${url}/docs`,
      management_url: managementUrl,
      data_dir: dataDir,
      make_a_key_with: formatFirstKeyCommand(shown),
    });
  });

  it('creates, lists and revokes keys while it runs', async () => {
    const key = await createKey(dataDir, 'test', 'viewer');
    expect(key).toMatch(/^sk_test_\S+$/);
    const api = createTestApiClient(server.url, key);
    expect((await api.get('/v1/shipments')).status).toBe(200);
    expect((await api.post('/v1/shipments', { external_id: 'A' })).data.error.code).toBe('permission_denied');
    const listed = await runCliProcessForOutput(dataDir, 'keys', 'list', '--json');
    expect(listed).not.toContain(key);
    const row = JSON.parse(listed).data.find((one: { last_four: string }) => key.endsWith(one.last_four));
    await runCliProcessForOutput(dataDir, 'keys', 'revoke', row.id);
    const refused = await api.get('/v1/shipments');
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Bearer')]);
  });

  it('separates workspaces and environments', async () => {
    await runCliProcessForOutput(dataDir, 'workspaces', 'create', '--name', 'other');
    const [live, test, other] = await Promise.all([
      createKey(dataDir, 'live'),
      createKey(dataDir, 'test'),
      createKey(dataDir, 'live', 'operator', 'other'),
    ]);
    const created = await createTestApiClient(server.url, live).post('/v1/shipments', {
      external_id: 'MINE',
      house_bill: 'HB-1',
    });
    expect(created.status).toBe(201);
    for (const key of [test, other]) {
      const api = createTestApiClient(server.url, key);
      const path = `/v1/shipments/${created.data.id}`;
      expect((await api.get(path)).status).toBe(404);
      expect((await api.get(`${path}/milestones`)).status).toBe(404);
      expect(
        (await api.post(`${path}/milestones`, { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' })).status,
      ).toBe(404);
      expect((await api.get('/v1/shipments', { params: { external_id: 'MINE' } })).data.data).toEqual([]);
      const own = await api.post('/v1/shipments', { external_id: 'MINE', house_bill: 'HB-1' });
      expect([own.status, own.data.warnings]).toEqual([201, []]);
      expect(own.data.id).not.toBe(created.data.id);
    }
  });

  it('protects its data folder, and keeps every key out of its log', async () => {
    const key = await createKey(dataDir, 'live');
    await createTestApiClient(server.url, key).get('/v1/shipments?limit=1');
    expect(server.output()).not.toMatch(/sk_(live|test)_/);
    expect((await stat(dataDir)).mode & 0o077).toBe(0);
    for (const name of await readdir(dataDir)) expect((await stat(join(dataDir, name))).mode & 0o077).toBe(0);
  });
});

describe('standalone without a server', () => {
  it('serves the command line on a new folder, and the server accepts the key created there', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir);
      const server = await startStandaloneProcess(dataDir);
      const created = await createTestApiClient(server.url, key).post('/v1/shipments', { external_id: 'PO-1' });
      expect(created.status).toBe(201);
      await server.stop();
      expect(server.child.exitCode).toBe(0);
      const last = server.output().split('\n').at(-1) ?? '';
      expect(JSON.parse(last)).toMatchObject({ level: 'info', msg: 'stopped' });
      const models = JSON.parse(await runCliProcessForOutput(dataDir, 'read-models', 'list', '--json')).data;
      expect(models.map((model: { name: string }) => model.name)).toEqual(
        expect.arrayContaining(['shipments', 'milestones']),
      );
    });
  });
});
