import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { DATA_FOLDER_IN_USE_EXIT_CODE } from '@tracking/contracts';
import { firstKeyCommand, welcome } from '../src/welcome.ts';
import {
  cli,
  client,
  newKey,
  refusalOf,
  startRefused,
  startStandalone,
  withFolder,
  throwing,
  type StandaloneProcess,
} from './standalone-process.ts';

// Each of them starts processes, on machines that may have other work.
jest.setTimeout(60_000);

describe('running standalone', () => {
  let dataDir: string;
  let server: StandaloneProcess;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'operation-'));
    server = await startStandalone(dataDir);
  });
  afterAll(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('refuses a second process on the same data folder with one clear line', async () => {
    const second = await startRefused(dataDir);
    expect(second.code).toBe(DATA_FOLDER_IN_USE_EXIT_CODE);
    expect(second.output.trim().split('\n')).toHaveLength(1);
    expect(second.output).toContain(dataDir);
    expect(second.output).toMatch(/in use|another process/i);
  });

  it.each([
    ['PORT', '99999'],
    ['SECRETS_KEY', 'too-short'],
    ['TRUSTED_PROXIES', 'everyone'],
    ['LOG_LEVEL', 'loud'],
    ['PLACES_FILE', '/does/not/exist.csv'],
    ['DATA_DIR', fileURLToPath(import.meta.url)],
    ['DATA_DIR', join(fileURLToPath(import.meta.url), 'below-a-file')],
    ['DATA_DIR', '/dev/null/data'],
    // A file system that takes no folders.
    ['DATA_DIR', '/proc/some/data'],
    ['HOST', '203.0.113.1'],
    ['MANAGEMENT_HOST', '203.0.113.1'],
  ])('refuses a wrong %s with one line that names it', async (name, value) => {
    await withFolder(async (folder) => {
      const ended = await startRefused(folder, { [name]: value });
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toHaveLength(1);
      expect(ended.output).toContain(name);
    });
  });

  it.each(['PORT', 'MANAGEMENT_PORT'])('refuses a %s in use with one line that names it', async (name) => {
    await withFolder(async (folder) => {
      const taken = new URL(server.url).port;
      const ended = await startRefused(folder, { [name]: taken });
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toEqual([expect.stringMatching(new RegExp(`\\b${name}:.*${taken}`))]);
    });
  });

  it('refuses a data folder that holds something else with one line that names it', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'storage.db'), 'no database of ours '.repeat(1000));
      const ended = await startRefused(folder);
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toEqual([expect.stringContaining(`DATA_DIR ${folder}: `)]);
    });
  });

  it('answers its health, its documentation and its metrics', async () => {
    const anyone = client(server.url, 'none');
    expect((await anyone.get('/health/live')).status).toBe(200);
    expect((await anyone.get('/health/ready')).data).toMatchObject({ status: 'ready' });
    expect((await anyone.get('/openapi.json')).data.openapi).toMatch(/^3\.1\./);
    expect((await anyone.get('/docs')).headers['content-type']).toContain('text/html');
    const management = client(server.managementUrl, 'none');
    expect((await management.get('/metrics')).data).toContain('http_requests_total');
    expect((await management.get('/health/live')).data).toEqual({ status: 'live' });
    expect((await management.get('/health/ready')).data).toMatchObject({ status: 'ready', engines: { storage: 'ok' } });
    expect((await management.get('/elsewhere')).status).toBe(404);
  });

  it('tells first commands that work when they are pasted', async () => {
    const { url, managementUrl } = server;
    const shown = { url, managementUrl, dataDir, isDefaultDataDir: false, allowsLocalReceivers: false };
    const commands = welcome(shown)
      .split('\n')
      .filter((line) => line.startsWith('    '));
    const answer = execFileSync('bash', ['-euo', 'pipefail', '-c', `${commands.join('\n')} -sS`], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(JSON.parse(answer)).toMatchObject({ external_id: 'PO-1001', mode: 'ocean', status: 'pending' });
    // Who is no terminal is told the same as fields of a line.
    const line = server
      .output()
      .split('\n')
      .find((each) => each.includes('"msg":"listening"'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      url,
      docs: `${url}/docs`,
      management_url: managementUrl,
      data_dir: dataDir,
      make_a_key_with: firstKeyCommand(shown),
    });
  });

  it('makes, lists and revokes keys while it runs', async () => {
    const key = await newKey(dataDir, 'test', 'viewer');
    expect(key).toMatch(/^sk_test_\S+$/);
    const api = client(server.url, key);
    expect((await api.get('/v1/shipments')).status).toBe(200);
    expect((await api.post('/v1/shipments', { external_id: 'A' })).data.error.code).toBe('permission_denied');
    const listed = await cli(dataDir, 'keys', 'list', '--json');
    expect(listed).not.toContain(key);
    const row = JSON.parse(listed).data.find((one: { last_four: string }) => key.endsWith(one.last_four));
    await cli(dataDir, 'keys', 'revoke', row.id);
    const refused = await api.get('/v1/shipments');
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Bearer')]);
  });

  it('keeps workspaces and environments apart', async () => {
    await cli(dataDir, 'workspaces', 'create', '--name', 'other');
    const [live, test, other] = await Promise.all([
      newKey(dataDir, 'live'),
      newKey(dataDir, 'test'),
      newKey(dataDir, 'live', 'operator', 'other'),
    ]);
    const created = await client(server.url, live).post('/v1/shipments', { external_id: 'MINE', house_bill: 'HB-1' });
    expect(created.status).toBe(201);
    for (const key of [test, other]) {
      const api = client(server.url, key);
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

  it('keeps its folder to itself and every key out of its log', async () => {
    const key = await newKey(dataDir, 'live');
    await client(server.url, key).get('/v1/shipments?limit=1');
    expect(server.output()).not.toMatch(/sk_(live|test)_/);
    expect((await stat(dataDir)).mode & 0o077).toBe(0);
    for (const name of await readdir(dataDir)) expect((await stat(join(dataDir, name))).mode & 0o077).toBe(0);
  });
});

describe('standalone with an error that nobody catches', () => {
  it('logs it once, stops in order and ends with 1; the next start has everything', async () => {
    await withFolder(async (dataDir) => {
      const first = await startStandalone(dataDir, { NODE_OPTIONS: throwing('SIGUSR2', 'lost sk_live_abcdef') });
      const key = await newKey(dataDir);
      const created = await client(first.url, key).post('/v1/shipments', { external_id: 'PO-1' });
      await first.stop('SIGUSR2');
      expect(first.child.exitCode).toBe(1);
      const lines = first
        .output()
        .split('\n')
        .filter((line) => line.includes('nobody caught'));
      expect(lines.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({
          level: 'error',
          error: expect.stringMatching(/^Error: lost sk_live_\[redacted\]\n/),
        }),
      ]);
      const second = await startStandalone(dataDir);
      expect((await client(second.url, key).get(`/v1/shipments/${created.data.id}`)).status).toBe(200);
      await second.stop();
    });
  });
});

describe('standalone without a server', () => {
  it('answers the command line on a fresh folder, and the server accepts the key made there', async () => {
    await withFolder(async (dataDir) => {
      const key = await newKey(dataDir);
      const server = await startStandalone(dataDir);
      const created = await client(server.url, key).post('/v1/shipments', { external_id: 'PO-1' });
      expect(created.status).toBe(201);
      await server.stop();
      expect(server.child.exitCode).toBe(0);
      const last = server.output().split('\n').at(-1) ?? '';
      expect(JSON.parse(last)).toMatchObject({ level: 'info', msg: 'stopped' });
      const models = JSON.parse(await cli(dataDir, 'read-models', 'list', '--json')).data;
      expect(models.map((model: { name: string }) => model.name)).toEqual(
        expect.arrayContaining(['shipments', 'milestones']),
      );
    });
  });

  it('warns of what looks like a setting of its own, once, and of nothing else', async () => {
    await withFolder(async (dataDir) => {
      const others = { MONGODB_URL: 'mongodb://127.0.0.1', KAFKA_BROKER: '127.0.0.1:9092', DATABASE_URL: 'x' };
      const server = await startStandalone(dataDir, { ...others, WEBHOOKS_TIMOUT: '5s' });
      await server.stop();
      const lines = server
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":"warn"'));
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
        'WEBHOOKS_TIMOUT is no setting, did you mean WEBHOOKS_TIMEOUT?',
      ]);
    });
  });

  it('refuses another key for its secrets, or none, with one line that says what to do', async () => {
    await withFolder(async (dataDir) => {
      await newKey(dataDir);
      const file = join(dataDir, 'secrets.key');
      const key = await readFile(file, 'utf8');
      await rm(file);
      for (const [env, fault] of [
        [{}, `SECRETS_KEY is not set and ${file} is missing`],
        [{ SECRETS_KEY: Buffer.alloc(32).toString('base64') }, 'SECRETS_KEY holds another key'],
      ] as const) {
        const refused = await refusalOf(dataDir, env);
        expect(refused).toContain(fault);
        expect(refused).toMatch(/put that one back.* SECRETS_KEY_LOST=[0-9a-f]{8},/);
      }
      await expect(cli(dataDir, 'keys', 'list')).rejects.toThrow(`SECRETS_KEY is not set and ${file} is missing`);
      const server = await startStandalone(dataDir, { SECRETS_KEY: key.trim() });
      await server.stop();
    });
  });

  it('finishes what is in flight on SIGTERM', async () => {
    await withFolder(async (dataDir) => {
      const first = await startStandalone(dataDir);
      const key = await newKey(dataDir);
      const api = client(first.url, key);
      await api.post('/v1/shipments', { external_id: 'warm' });
      const posts = Array.from({ length: 50 }, (_, n) => api.post('/v1/shipments', { external_id: `PO-${n}` }));
      await Promise.race(posts);
      await first.stop('SIGTERM');
      expect(first.child.exitCode).toBe(0);
      const outcomes = await Promise.allSettled(posts);
      const answered = outcomes.flatMap((post) => (post.status === 'fulfilled' ? [post.value] : []));
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([201]));
      const second = await startStandalone(dataDir);
      const listed = await client(second.url, key).get('/v1/shipments', { params: { limit: 200 } });
      await second.stop();
      // Whoever was not answered was not served either.
      const stored = listed.data.data.map(({ external_id }: { external_id: string }) => external_id);
      expect(stored.sort()).toEqual(['warm', ...answered.map(({ data }) => data.external_id)].sort());
    });
  });
});
