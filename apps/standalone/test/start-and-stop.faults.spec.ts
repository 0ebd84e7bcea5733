import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import {
  runCli,
  createClient,
  createKey,
  runRefused,
  runToEnd,
  startStandalone,
  throwOnSignal,
  withTemporaryFolder,
} from './standalone-process.ts';

// Each of them starts processes, on machines that may have other work.
jest.setTimeout(60_000);

describe('standalone that cannot start', () => {
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
    await withTemporaryFolder(async (folder) => {
      const ended = await runToEnd(folder, { [name]: value });
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toHaveLength(1);
      expect(ended.output).toContain(name);
    });
  });

  it.each(['PORT', 'MANAGEMENT_PORT'])('refuses a %s in use with one line that names it', async (name) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = String((other.address() as AddressInfo).port);
    await withTemporaryFolder(async (folder) => {
      const ended = await runToEnd(folder, { [name]: taken });
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toEqual([expect.stringMatching(new RegExp(`\\b${name}:.*${taken}`))]);
    });
    other.close();
  });

  it('refuses a data folder that holds something else with one line that names it', async () => {
    await withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'storage.db'), 'no database of ours '.repeat(1000));
      const ended = await runToEnd(folder);
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toEqual([expect.stringContaining(`DATA_DIR ${folder}: `)]);
    });
  });

  it('refuses another key for its secrets, or none, with one line that says what to do', async () => {
    await withTemporaryFolder(async (dataDir) => {
      await createKey(dataDir);
      const file = join(dataDir, 'secrets.key');
      const key = await readFile(file, 'utf8');
      await rm(file);
      for (const [env, fault] of [
        [{}, `SECRETS_KEY is not set and ${file} is missing`],
        [{ SECRETS_KEY: Buffer.alloc(32).toString('base64') }, 'SECRETS_KEY holds another key'],
      ] as const) {
        const refused = await runRefused(dataDir, env);
        expect(refused).toContain(fault);
        expect(refused).toMatch(/put that one back.* SECRETS_KEY_LOST=[0-9a-f]{8},/);
      }
      await expect(runCli(dataDir, 'keys', 'list')).rejects.toThrow(`SECRETS_KEY is not set and ${file} is missing`);
      const server = await startStandalone(dataDir, { SECRETS_KEY: key.trim() });
      await server.stop();
    });
  });
});

describe('standalone with a setting that it does not know', () => {
  it('warns of what looks like a setting of its own, once, and of nothing else', async () => {
    await withTemporaryFolder(async (dataDir) => {
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
});

describe('standalone with an error that nobody catches', () => {
  it('logs it once, stops in order and ends with 1; the next start has everything', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const first = await startStandalone(dataDir, { NODE_OPTIONS: throwOnSignal('SIGUSR2', 'lost sk_live_abcdef') });
      const key = await createKey(dataDir);
      const created = await createClient(first.url, key).post('/v1/shipments', { external_id: 'PO-1' });
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
      expect((await createClient(second.url, key).get(`/v1/shipments/${created.data.id}`)).status).toBe(200);
      await second.stop();
    });
  });
});

describe('standalone that is told to stop', () => {
  it('finishes what is in flight on SIGTERM', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const first = await startStandalone(dataDir);
      const key = await createKey(dataDir);
      const api = createClient(first.url, key);
      await api.post('/v1/shipments', { external_id: 'warm' });
      const posts = Array.from({ length: 50 }, (_, n) => api.post('/v1/shipments', { external_id: `PO-${n}` }));
      await Promise.race(posts);
      await first.stop('SIGTERM');
      expect(first.child.exitCode).toBe(0);
      const outcomes = await Promise.allSettled(posts);
      const answered = outcomes.flatMap((post) => (post.status === 'fulfilled' ? [post.value] : []));
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([201]));
      const second = await startStandalone(dataDir);
      const listed = await createClient(second.url, key).get('/v1/shipments', { params: { limit: 200 } });
      await second.stop();
      // Whoever was not answered was not served either.
      const stored = listed.data.data.map(({ external_id }: { external_id: string }) => external_id);
      expect(stored.sort()).toEqual(['warm', ...answered.map(({ data }) => data.external_id)].sort());
    });
  });
});
