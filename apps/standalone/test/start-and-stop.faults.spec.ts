import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { waitForSimulatedDelay } from '@tracking/testing';
import {
  runCliProcessForOutput,
  createTestApiClient,
  createKey,
  runServerUntilStartFails,
  runServerUntilExit,
  startStandaloneProcess,
  createNodeOptionsToThrowOnSignal,
  withTemporaryFolder,
} from './standalone-process.ts';

// Timeout for tests that start processes on busy machines.
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
    // A file system without folders.
    ['DATA_DIR', '/proc/some/data'],
    ['HOST', '203.0.113.1'],
    ['MANAGEMENT_HOST', '203.0.113.1'],
  ])('rejects an invalid %s with one line that names it', async (name, value) => {
    await withTemporaryFolder(async (folder) => {
      const ended = await runServerUntilExit(folder, { [name]: value });
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toHaveLength(1);
      expect(ended.output).toContain(name);
    });
  });

  it.each(['PORT', 'MANAGEMENT_PORT'])('rejects a %s in use with one line that names it', async (name) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = String((other.address() as AddressInfo).port);
    await withTemporaryFolder(async (folder) => {
      const ended = await runServerUntilExit(folder, { [name]: taken });
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toEqual([expect.stringMatching(new RegExp(`\\b${name}:.*${taken}`))]);
    });
    other.close();
  });

  it('rejects a data folder with other content with one line that names it', async () => {
    await withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'storage.db'), 'no database of ours '.repeat(1000));
      const ended = await runServerUntilExit(folder);
      expect(ended.code).toBe(1);
      expect(ended.output.trim().split('\n')).toEqual([expect.stringContaining(`DATA_DIR ${folder}: `)]);
    });
  });

  it('rejects a different secrets key, or none, with one line of instructions', async () => {
    await withTemporaryFolder(async (dataDir) => {
      await createKey(dataDir);
      const file = join(dataDir, 'secrets.key');
      const key = await readFile(file, 'utf8');
      await rm(file);
      for (const [env, fault] of [
        [{}, `SECRETS_KEY is not set and ${file} is missing`],
        [{ SECRETS_KEY: Buffer.alloc(32).toString('base64') }, 'SECRETS_KEY holds a different key'],
      ] as const) {
        const refused = await runServerUntilStartFails(dataDir, env);
        expect(refused).toContain(fault);
        expect(refused).toMatch(/restore that key.* SECRETS_KEY_LOST=[0-9a-f]{8},/);
      }
      await expect(runCliProcessForOutput(dataDir, 'keys', 'list')).rejects.toThrow(
        `SECRETS_KEY is not set and ${file} is missing`,
      );
      const server = await startStandaloneProcess(dataDir, { SECRETS_KEY: key.trim() });
      await server.stop();
    });
  });
});

describe('standalone with an unknown setting', () => {
  it('warns once about a variable that looks like its own setting, and about no other', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const others = { MONGODB_URL: 'mongodb://127.0.0.1', KAFKA_BROKER: '127.0.0.1:9092', DATABASE_URL: 'x' };
      const server = await startStandaloneProcess(dataDir, { ...others, WEBHOOKS_TIMOUT: '5s' });
      await server.stop();
      const lines = server
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":"warn"'));
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
        'WEBHOOKS_TIMOUT is not a setting; did you mean WEBHOOKS_TIMEOUT?',
      ]);
    });
  });
});

describe('standalone with an uncaught error', () => {
  it('logs the error once, stops in order and exits with 1; the next start has all data', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const first = await startStandaloneProcess(dataDir, {
        NODE_OPTIONS: createNodeOptionsToThrowOnSignal('SIGUSR2', 'lost sk_live_abcdef'),
      });
      const key = await createKey(dataDir);
      const created = await createTestApiClient(first.url, key).post('/v1/shipments', { external_id: 'PO-1' });
      await first.stop('SIGUSR2');
      expect(first.child.exitCode).toBe(1);
      const lines = first
        .output()
        .split('\n')
        .filter((line) => line.includes('uncaught error'));
      expect(lines.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({
          level: 'error',
          error: expect.stringMatching(/^Error: lost sk_live_\[redacted\]\n/),
        }),
      ]);
      const second = await startStandaloneProcess(dataDir);
      expect((await createTestApiClient(second.url, key).get(`/v1/shipments/${created.data.id}`)).status).toBe(200);
      await second.stop();
    });
  });
});

describe('standalone that receives SIGTERM', () => {
  it('finishes work in progress', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const first = await startStandaloneProcess(dataDir);
      const key = await createKey(dataDir);
      const api = createTestApiClient(first.url, key);
      await api.post('/v1/shipments', { external_id: 'warm' });
      const posts = Array.from({ length: 50 }, (_, n) => api.post('/v1/shipments', { external_id: `PO-${n}` }));
      await Promise.race(posts);
      await first.stop('SIGTERM');
      expect(first.child.exitCode).toBe(0);
      const outcomes = await Promise.allSettled(posts);
      const answered = outcomes.flatMap((post) => (post.status === 'fulfilled' ? [post.value] : []));
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([201]));
      const second = await startStandaloneProcess(dataDir);
      const listed = await createTestApiClient(second.url, key).get('/v1/shipments', { params: { limit: 200 } });
      await second.stop();
      // Requests without a response were not carried out.
      const stored = listed.data.data.map(({ external_id }: { external_id: string }) => external_id);
      expect(stored.sort()).toEqual(['warm', ...answered.map(({ data }) => data.external_id)].sort());
    });
  });

  it('resets no request on a busy kept-alive connection', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const server = await startStandaloneProcess(dataDir, { SHUTDOWN_DRAIN: '3s' });
      const clients = Array.from({ length: 160 }, () => requestUntilEnd(`${server.url}/health/live`));
      await Promise.all(clients.map(({ started }) => started));
      await server.stop('SIGTERM');
      const outcomes = await Promise.all(clients.map(({ ended }) => ended));
      expect(outcomes.filter((outcome) => outcome !== 'announced')).toEqual([]);
      expect(server.child.exitCode).toBe(0);
    });
  });
});

/**
 * Sends requests on one connection, with pauses of up to 100 ms, until a response announces its end.
 * @returns `started` after the first response; `ended` with `announced`, or the error of a request
 */
function requestUntilEnd(url: string): { readonly started: Promise<void>; readonly ended: Promise<string> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const started = Promise.withResolvers<void>();
  const requestRepeatedly = async () => {
    for (;;) {
      const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
      started.resolve();
      if (response.headers.connection === 'close') return 'announced';
      await waitForSimulatedDelay(Math.random() * 100);
    }
  };
  return { started: started.promise, ended: requestRepeatedly().catch(String) };
}
