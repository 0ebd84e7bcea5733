import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@tracking/testing';
import { runCommandLineForTest } from '../test/run.ts';
import { type CliConfig, loadConfig } from './config.ts';

const NONE = 'no items in workspace default\n';

describe('finding and starting the service', () => {
  let dataDir: string;
  let marks: string;
  let server: Server | undefined;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'cli-'));
    marks = join(dataDir, 'marks');
  });
  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined)));
    server = undefined;
    await rm(dataDir, { recursive: true });
  });

  const folder = () => `data folder: ${dataDir}\n`;
  function config(stub: string): CliConfig {
    const found = loadConfig({ DATA_DIR: dataDir });
    return {
      ...found,
      serviceMain: fileURLToPath(new URL('../test/stub-service.mjs', import.meta.url)),
      serviceEnvironment: { ...found.serviceEnvironment, STUB: stub, STUB_SOCKET: found.socketPath, STUB_MARKS: marks },
    };
  }
  async function listen(answer: RequestListener): Promise<void> {
    server = createServer(answer);
    await new Promise<void>((resolve) => server?.listen(join(dataDir, 'administration.sock'), resolve));
  }
  async function happened(): Promise<readonly string[]> {
    const text = await readFile(marks, 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '' && line !== 'input ended');
  }
  async function isRunning(): Promise<boolean> {
    const pid = Number(await readFile(`${marks}.pid`, 'utf8'));
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }

  it('uses the running service and starts none', async () => {
    await listen((_, response) => response.setHeader('content-type', 'application/json').end('{"data":[]}'));
    expect(await runCommandLineForTest(config('refuses'), ['keys', 'list'])).toEqual({
      code: 0,
      out: NONE,
      err: folder(),
    });
  });

  it('starts one if none runs, and stops it afterwards', async () => {
    expect(await runCommandLineForTest(config('serves'), ['keys', 'list', '--json'])).toEqual({
      code: 0,
      out: '{\n  "data": []\n}\n',
      err: '',
    });
    expect(await happened()).toEqual(['started --administration', 'stopped']);
    expect(await isRunning()).toBe(false);
  });

  it('starts one if a crash left a socket behind', async () => {
    const { serviceMain, serviceEnvironment, socketPath } = config('serves');
    const crashed = spawn(process.execPath, [serviceMain], {
      env: serviceEnvironment,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await eventually(() => stat(socketPath));
    crashed.kill('SIGKILL');
    await once(crashed, 'close');
    expect((await stat(socketPath)).isSocket()).toBe(true);
    expect(await runCommandLineForTest(config('serves'), ['keys', 'list'])).toEqual({
      code: 0,
      out: NONE,
      err: folder(),
    });
    expect(await happened()).toEqual(['started ', 'started --administration', 'stopped']);
  });

  it('reports in one line why the service did not start within 60 s', async () => {
    const message = 'RATE_LIMIT_PER_MINUTE: expected a whole number\n';
    expect(await runCommandLineForTest(config('refuses'), ['keys', 'list'])).toEqual({
      code: 1,
      out: '',
      err: `${folder()}error: ${message}`,
    });
    expect(await runCommandLineForTest(config('crashes'), ['keys', 'list'])).toEqual({
      code: 1,
      out: '',
      err: `${folder()}error: TypeError: nothing works\n`,
    });
    const missing = { ...config('serves'), serviceMain: join(dataDir, 'none.js') };
    expect((await runCommandLineForTest(missing, ['keys', 'list'])).err).toBe(
      `${folder()}error: the service cannot start because it is not built: run npm run build first\n`,
    );
  });

  it('waits for a service that is starting on the same data folder', async () => {
    const asked = runCommandLineForTest(config('in use'), ['keys', 'list']);
    await listen((_, response) => response.setHeader('content-type', 'application/json').end('{"data":[]}'));
    expect(await asked).toEqual({ code: 0, out: NONE, err: folder() });
  });

  it('stops the service that it started when the command fails', async () => {
    const failed = await runCommandLineForTest(config('serves'), ['keys', 'list', '--workspace', 'nowhere']);
    expect(failed).toEqual({ code: 1, out: '', err: `${folder()}error: There is no workspace nowhere.\n` });
    expect(await happened()).toEqual(['started --administration', 'stopped']);
    expect(await isRunning()).toBe(false);
  });

  it('fails when the service that it started crashes', async () => {
    const { code, out, err } = await runCommandLineForTest(config('breaks'), ['keys', 'list']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.replace(folder(), '')).toMatch(/^error: [^\n]+\n$/);
  });

  it('sends a write again with its idempotency key when the service that it started crashes', async () => {
    const line = ['workspaces', 'create', '--name', 'Acme'];
    expect(await runCommandLineForTest(config('breaks once'), line)).toEqual({
      code: 0,
      out: 'wsp_a\n',
      err: folder(),
    });
    const [started, key, ...rest] = await happened();
    expect([started, key]).toEqual(['started --administration', expect.stringMatching(/^key [0-9a-f]{64}$/)]);
    expect(rest).toEqual([started, key, 'stopped']);
  });

  it('stops the service that it started when the user interrupts', async () => {
    const interrupt = new AbortController();
    const asked = runCommandLineForTest(config('hangs'), ['keys', 'list'], interrupt.signal);
    await eventually(async () => expect(await happened()).toContain('asked'));
    interrupt.abort();
    expect(await asked).toEqual({ code: 130, out: '', err: folder() });
    expect(await happened()).toEqual(['started --administration', 'asked', 'stopped']);
    expect(await isRunning()).toBe(false);
  });

  it('exits immediately when the user interrupts, also during the start', async () => {
    expect(await runCommandLineForTest(config('serves'), ['keys', 'list'], AbortSignal.abort())).toMatchObject({
      code: 130,
      out: '',
    });
  });

  it.each([
    [404, '{"error":{"message":"There is no workspace x.","details":[]}}', 'There is no workspace x.'],
    [
      400,
      '{"error":{"message":"m","details":[{"param":"name","message":"Must not be blank."}]}}',
      'name: Must not be blank.',
    ],
    [500, 'plain', 'the service responded with status 500'],
    [302, '', 'the service responded with status 302'],
    [400, '{"error":{"message":"two\\nlines\\u001b[2J","details":[]}}', 'two lines [2J'],
  ])('reports in one line that the service responded %i %s', async (status, body, message) => {
    await listen((request, response) => {
      response.setHeader('content-type', 'application/json').setHeader('location', 'http://127.0.0.1:1/');
      if (request.url === '/administration') response.end('{}');
      else response.writeHead(status).end(body);
    });
    const { code, out, err } = await runCommandLineForTest(config('refuses'), ['keys', 'list']);
    // A request that the service rejects as invalid is a usage error.
    expect({ code, out }).toEqual({ code: status === 400 ? 2 : 1, out: '' });
    expect(err).toBe(`${folder()}error: ${message}\n`);
  });
});
