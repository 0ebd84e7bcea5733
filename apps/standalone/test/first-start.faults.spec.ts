import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import type { User } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import axios from 'axios';
import {
  runCliProcessForOutput,
  runServerUntilStartFails,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';

// Timeout for tests that start processes on busy machines.
jest.setTimeout(60_000);

const ANN = { email: 'ann@example.com', password: 'a quiet harbour' };

const users = async (dataDir: string) =>
  (JSON.parse(await runCliProcessForOutput(dataDir, 'users', 'list', '--json')) as { data: User[] }).data;
const fileOf = (dataDir: string) => join(dataDir, 'first-admin-link');
const listening = (server: StandaloneProcess) =>
  JSON.parse(
    server
      .output()
      .split('\n')
      .find((line) => line.includes('"msg":"listening"')) ?? '{}',
  ) as object;
const post = (server: StandaloneProcess, path: string, body: object) =>
  axios.post(`${server.url}${path}`, body, {
    headers: { 'X-Requested-With': 'test' },
    validateStatus: () => true,
    proxy: false,
  });

/** Runs a server during the work. Returns its output. */
async function whileRunning(
  dataDir: string,
  env: Record<string, string>,
  work: (server: StandaloneProcess) => Promise<void>,
): Promise<string> {
  const server = await startStandaloneProcess(dataDir, env);
  try {
    await work(server);
  } finally {
    await server.stop();
  }
  return server.output();
}

describe('the first start', () => {
  it('stores a one-time link in a file, not in the log, and deletes it once there is an admin', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const file = fileOf(dataDir);
      let token = '';
      const printed = await whileRunning(dataDir, { APP_URL: 'https://app.example' }, async (server) => {
        expect(listening(server)).toMatchObject({ first_admin_link_file: file });
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        const link = (await readFile(file, 'utf8')).trim();
        expect(link).toMatch(/^https:\/\/app\.example\/invitation#[0-9A-Za-z]{43}$/);
        token = link.slice(link.indexOf('#') + 1);

        const incomplete = await post(server, `/v1/invitations/${token}`, { password: ANN.password });
        expect(incomplete.status).toBe(400);
        const accepted = await post(server, `/v1/invitations/${token}`, { ...ANN, name: 'Ann' });
        expect(accepted.status).toBe(200);
        expect((await post(server, `/v1/invitations/${token}`, { ...ANN, name: 'Ann' })).status).toBe(404);
        expect(await users(dataDir)).toMatchObject([
          { email: ANN.email, name: 'Ann', role: 'admin', status: 'active' },
        ]);
        await eventually(() => expect(stat(file)).rejects.toThrow('ENOENT'));
      });
      expect(printed).not.toContain(token);
      expect(printed).not.toContain(ANN.password);
      await whileRunning(dataDir, {}, async (again) => {
        expect(listening(again)).not.toHaveProperty('first_admin_link_file');
        expect((await post(again, '/v1/session', ANN)).status).toBe(200);
      });
    });
  });

  it('creates the admin of the settings once, and never prints the password', async () => {
    await withTemporaryFolder(async (folder) => {
      const dataDir = join(folder, 'data');
      const ADMIN_PASSWORD_FILE = join(folder, 'password');
      await writeFile(ADMIN_PASSWORD_FILE, `${ANN.password}\n`);
      let made: readonly User[] = [];
      const printed = await whileRunning(dataDir, { ADMIN_EMAIL: ANN.email, ADMIN_PASSWORD_FILE }, async (server) => {
        expect(listening(server)).not.toHaveProperty('first_admin_link_file');
        await expect(stat(fileOf(dataDir))).rejects.toThrow('ENOENT');
        made = await users(dataDir);
        expect(made).toMatchObject([{ email: ANN.email, role: 'admin', status: 'active' }]);
        expect((await post(server, '/v1/session', ANN)).status).toBe(200);
      });
      const later = { ADMIN_EMAIL: 'bob@example.com', ADMIN_PASSWORD: 'another harbour' };
      const again = await whileRunning(dataDir, later, async (server) => {
        expect((await users(dataDir)).map(({ id }) => id)).toEqual(made.map(({ id }) => id));
        expect((await post(server, '/v1/session', ANN)).status).toBe(200);
      });
      expect(printed + again).not.toMatch(/harbour/);
    });
  });

  it.each([
    [{ ADMIN_EMAIL: ANN.email }, /^ADMIN_EMAIL is set but ADMIN_PASSWORD is not/],
    [{ ADMIN_PASSWORD: ANN.password }, /^ADMIN_PASSWORD is set but ADMIN_EMAIL is not/],
    [{ ADMIN_EMAIL: ANN.email, ADMIN_PASSWORD: 'short' }, /^ADMIN_PASSWORD: .*10 characters/],
    [{ ADMIN_EMAIL: ANN.email, ADMIN_PASSWORD: 'password123' }, /^ADMIN_PASSWORD: .*common/],
    [{ ADMIN_EMAIL: ANN.email, ADMIN_PASSWORD: ANN.email }, /^ADMIN_PASSWORD: .*e-mail/],
  ])('is rejected with one line for the settings %j', async (env, line) => {
    await withTemporaryFolder(async (dataDir) => {
      expect(await runServerUntilStartFails(dataDir, env)).toMatch(line);
    });
  });
});
