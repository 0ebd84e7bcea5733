import { spawnSync } from 'node:child_process';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { eventually, testIfSupported } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import {
  listAllItems,
  createTestApiClient,
  createKey,
  runServerUntilStartFails,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';

// Timeout for tests that start processes on busy machines.
jest.setTimeout(120_000);

const canLimit = spawnSync('prlimit', ['--version']).status === 0;
/** Returns a command that limits the size of files that the process may write, in bytes. */
const limitFiles = ({ child }: StandaloneProcess, bytes: number | 'unlimited') =>
  expect(spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]).status).toBe(0);

const post = (api: AxiosInstance, external_id: string) => api.post('/v1/shipments', { external_id });
const health = async ({ url, managementUrl }: StandaloneProcess) => {
  const answers = [url, managementUrl].map((base) => createTestApiClient(base, 'none').get('/health/ready'));
  const [api, management] = await Promise.all(answers);
  expect(api?.data).toEqual(management?.data);
  return [api?.status, api?.data.status, api?.data.engines.storage];
};

describe('standalone with a failing disk', () => {
  testIfSupported(canLimit, 'prlimit is not installed')(
    'says that it is full and acknowledges nothing, and goes on by itself',
    async () => {
      await withTemporaryFolder(async (dataDir) => {
        const key = await createKey(dataDir);
        const server = await startStandaloneProcess(dataDir);
        const api = createTestApiClient(server.url, key);
        expect((await post(api, 'before')).status).toBe(201);
        limitFiles(server, (await stat(join(dataDir, 'storage.db-wal'))).size);
        const refused = await eventually(async () => {
          const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post(api, `full-${n}`)));
          expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
          return answers;
        });
        for (const { headers, data } of refused) {
          expect([Number(headers['retry-after']) > 0, data.error.code]).toEqual([true, 'unavailable']);
        }
        expect(await health(server)).toEqual([200, 'degraded', expect.stringContaining('the disk is full')]);
        expect((await api.get('/v1/shipments', { params: { external_id: 'before' } })).data.data).toHaveLength(1);

        limitFiles(server, 'unlimited');
        await eventually(async () => expect((await post(api, 'after')).status).toBe(201));
        expect(await health(server)).toEqual([200, 'ready', 'ok']);
        await server.stop('SIGKILL');

        const again = await startStandaloneProcess(dataDir);
        const stored = (
          await listAllItems<{ external_id: string }>(createTestApiClient(again.url, key), '/v1/shipments')
        ).map(({ external_id }) => external_id);
        expect(stored).toEqual(expect.arrayContaining(['before', 'after']));
        await again.stop();
      });
    },
  );

  testIfSupported(canLimit, 'prlimit is not installed')(
    'ends at once, with one line, where it is full at the start',
    async () => {
      await withTemporaryFolder(async (dataDir) => {
        expect(await runServerUntilStartFails(dataDir, {}, ['prlimit', '--fsize=0'])).toMatch(/the disk is full/);
      });
    },
  );

  it('reports that its data folder is missing, and acknowledges no writes', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir);
      const server = await startStandaloneProcess(dataDir);
      const api = createTestApiClient(server.url, key);
      expect((await post(api, 'before')).status).toBe(201);
      expect(await health(server)).toEqual([200, 'ready', 'ok']);
      await rm(dataDir, { recursive: true });
      const refused = await post(api, 'after');
      expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([503, true]);
      expect(await health(server)).toEqual([200, 'degraded', expect.stringContaining('was removed or replaced')]);
      const again = await post(api, 'again');
      expect([again.status, again.data.error.message]).toEqual([
        503,
        'The storage accepts no writes at present. Nothing was changed; try again.',
      ]);
      await server.stop();
    });
  });

  it('is not ready while the folder of documents is missing, and stores shipments', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir);
      const server = await startStandaloneProcess(dataDir);
      const api = createTestApiClient(server.url, key);
      const folder = join(dataDir, 'objects');
      await rename(folder, `${folder}.away`);
      expect(await health(server)).toEqual([200, 'degraded', 'ok']);
      const { data } = await api.get('/health/ready');
      expect(data.engines.objects).toBe('the folder of objects is missing; restore it');
      expect((await post(api, 'meanwhile')).status).toBe(201);
      await rename(`${folder}.away`, folder);
      expect(await health(server)).toEqual([200, 'ready', 'ok']);
      await server.stop();
    });
  });

  it('rejects a log that is damaged in the middle at the start, with one line', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir);
      const server = await startStandaloneProcess(dataDir);
      const api = createTestApiClient(server.url, key);
      for (let n = 0; n < 50; n += 1) expect((await post(api, `PO-${n}`)).status).toBe(201);
      await server.stop('SIGKILL');
      const path = join(dataDir, 'storage.db-wal');
      const log = await readFile(path);
      log.fill(0x5a, Math.floor(log.length / 2), Math.floor(log.length / 2) + 64);
      await writeFile(path, log);
      expect(await runServerUntilStartFails(dataDir)).toMatch(
        /is damaged: .* acknowledged commits\. Restore a backup; or, .* delete /,
      );
      await rm(join(dataDir, 'commits'));
      const accepted = await startStandaloneProcess(dataDir);
      await accepted.stop();
    });
  });
});
