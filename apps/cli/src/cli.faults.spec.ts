import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiKey, CreatedApiKeyWithSecret, ReadModelStatus, Workspace } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import { runCommandLineForTest } from '../test/run.ts';
import type { CliRunResult } from '../test/run.ts';
import { type CliConfig, loadConfig } from './config.ts';

/** The built command line tool and server, as installed for an operator. */
describe('the command line tool', () => {
  let folder: string;
  let config: CliConfig;
  const printed: CliRunResult[] = [];
  let secret: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cli-'));
    config = loadConfig({ PATH: process.env['PATH'], DATA_DIR: join(folder, 'data') });
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  async function cli(...line: readonly string[]): Promise<CliRunResult> {
    const outcome = await runCommandLineForTest(config, line);
    printed.push(outcome);
    return outcome;
  }
  async function json<T>(...line: readonly string[]): Promise<T> {
    const { code, out, err } = await cli(...line, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out) as T;
  }

  describe('without a running service', () => {
    it('creates the data folder and the first key, and leaves no process running', async () => {
      const child = spawn(
        process.execPath,
        [
          fileURLToPath(new URL('../dist/main.js', import.meta.url)),
          ...'keys create --name TMS --environment live --role feed'.split(' '),
        ],
        { env: config.serviceEnvironment, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      let out = '';
      let err = '';
      child.stdout.on('data', (text: Buffer) => (out += text.toString()));
      child.stderr.on('data', (text: Buffer) => (err += text.toString()));
      await once(child, 'close');
      expect({ err, code: child.exitCode }).toEqual({ err: `data folder: ${config.dataDir} (created)\n`, code: 0 });
      expect(out).toMatch(/^sk_live_[0-9A-Za-z]{43}\n$/);
      secret = out.trim().slice('sk_live_'.length + 4, -4);
      await expect(stat(config.socketPath)).rejects.toThrow('ENOENT');
    }, 60_000);

    it('rebuilds one read model before it stops the service that it started', async () => {
      const elsewhere = loadConfig({ PATH: process.env['PATH'], DATA_DIR: join(folder, 'elsewhere') });
      const { code, out } = await runCommandLineForTest(elsewhere, ['read-models', 'rebuild', 'milestones', '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual({ data: [expect.objectContaining({ name: 'milestones', generation: 2 })] });
    }, 60_000);
  });

  describe('with a running service', () => {
    let stop: () => Promise<void>;
    beforeAll(async () => {
      const service = spawn(process.execPath, [config.serviceMain, '--administration'], {
        env: config.serviceEnvironment,
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      const closed = once(service, 'close');
      stop = async () => {
        service.kill('SIGTERM');
        await closed;
      };
      await eventually(() => stat(config.socketPath));
      expect((await cli('workspaces', 'list')).code).toBe(0);
    }, 60_000);
    afterAll(async () => {
      await stop();
    }, 60_000);

    it('lists a key without its secret', async () => {
      const { data } = await json<{ data: ApiKey[] }>('keys', 'list');
      expect(data).toEqual([
        {
          id: expect.stringMatching(/^key_/),
          workspace_id: expect.stringMatching(/^wsp_/),
          name: 'TMS',
          environment: 'live',
          role: 'feed',
          max_role: null,
          owner: { type: 'service_account', id: expect.stringMatching(/^sva_/) },
          prefix: expect.stringMatching(/^sk_live_.{4}$/),
          last_four: expect.stringMatching(/^.{4}$/),
          created_by: { type: 'system', id: 'administration' },
          created_at: expect.any(String),
          expires_at: null,
          last_used_at: null,
          revoked_at: null,
          rotated_to: null,
          version: 1,
        },
      ]);
      const { out } = await cli('keys', 'list');
      expect(out.split('\n')[0]).toMatch(
        /^ID +NAME +ENVIRONMENT +ROLE +KEY +OWNER +CREATED BY +CREATED +EXPIRES +LAST USED +REVOKED$/,
      );
      expect(out.split('\n')[1]).toMatch(
        /^key_\w+ +TMS +live +feed +sk_live_\w{4}…\w{4} +sva_\w+ +administration +\S+Z +- +- +-$/,
      );
    });

    it('prints created keys as objects with --json, and revokes keys', async () => {
      const line = ['keys', 'create', '--name', 'trial', '--environment', 'test', '--role', 'developer'];
      const { code, out } = await runCommandLineForTest(config, [...line, '--json']);
      expect(code).toBe(0);
      const created = JSON.parse(out) as CreatedApiKeyWithSecret;
      expect(created).toMatchObject({ name: 'trial', environment: 'test', role: 'developer' });
      expect(created.key).toMatch(/^sk_test_[0-9A-Za-z]{43}$/);
      expect(await cli('keys', 'revoke', created.id)).toEqual({
        code: 0,
        out: expect.stringMatching(new RegExp(`^${created.id} revoked at \\S+Z\n$`)),
        err: `data folder: ${config.dataDir}\n`,
      });
      const again = await json<ApiKey>('keys', 'revoke', created.id);
      expect(again).toMatchObject({ id: created.id, revoked_at: expect.any(String) });
    });

    it('makes one key if the response to its creation is lost', async () => {
      const forwarded: string[] = [];
      // Forwards to the service, and breaks the connection instead of the first response to a write.
      const proxy = createServer((incoming, response) => {
        const { method, url, headers } = incoming;
        const outgoing = request({ socketPath: config.socketPath, method, path: url, headers }, (received) => {
          if (method === 'POST') forwarded.push(`${received.statusCode} ${received.headers['idempotency-replayed']}`);
          if (method === 'POST' && forwarded.length === 1) return void response.destroy();
          response.writeHead(received.statusCode ?? 500, received.headers);
          received.pipe(response);
        });
        incoming.pipe(outgoing);
      });
      const socketFolder = await mkdtemp(join(tmpdir(), 'cli-proxy-'));
      const socketPath = join(socketFolder, 'administration.sock');
      await new Promise<void>((resolve) => proxy.listen(socketPath, resolve));
      const line = 'keys create --name lost --environment live --role admin --json'.split(' ');
      const { code, out, err } = await runCommandLineForTest({ ...config, socketPath }, line);
      await new Promise((resolve) => proxy.close(resolve));
      await rm(socketFolder, { recursive: true });
      expect([code, err, forwarded]).toEqual([0, '', ['201 undefined', '201 true']]);
      const { data } = await json<{ data: ApiKey[] }>('keys', 'list');
      const { id } = JSON.parse(out) as CreatedApiKeyWithSecret;
      expect(data.filter(({ name }) => name === 'lost').map((each) => each.id)).toEqual([id]);
    });

    it('creates and lists workspaces, each with its own keys', async () => {
      const { out } = await cli('workspaces', 'create', '--name', 'Acme Logistics');
      expect(out).toMatch(/^wsp_\w+\n$/);
      const { data } = await json<{ data: Workspace[] }>('workspaces', 'list');
      expect(data.map(({ name }) => name)).toEqual(['default', 'Acme Logistics']);
      expect(await json('keys', 'list', '--workspace', 'acme logistics')).toEqual({ data: [] });
      expect((await cli('keys', 'list', '--workspace', 'Acme Logistics')).out).toBe(
        'no items in workspace Acme Logistics\n',
      );
    });

    it.each([
      [
        1,
        'conflict',
        ['workspaces', 'create', '--name', 'ACME LOGISTICS'],
        'A workspace with the name ACME LOGISTICS exists already.',
      ],
      [2, 'invalid_request', ['workspaces', 'create', '--name', ' '], 'name: Must not be blank.'],
      [1, 'not_found', ['keys', 'list', '--workspace', 'nowhere'], 'There is no workspace nowhere.'],
      [1, 'not_found', ['events', 'list', '--workspace', 'nowhere'], 'There is no workspace nowhere.'],
      [1, 'not_found', ['keys', 'revoke', 'key_none'], 'No such key in this workspace.'],
      [1, 'not_found', ['keys', 'revoke', '../workspaces'], 'No such key in this workspace.'],
      [1, 'not_found', ['parked', 'retry', 'none'], 'No such parked shipment or message.'],
      [2, 'invalid_request', ['deliveries', 'list', '--endpoint', 'x'], 'endpoint_id: '],
    ])('exits with %i, error %s: %j', async (code, type, line, message) => {
      const { err, ...others } = await cli(...line);
      expect(others).toEqual({ code, out: '' });
      expect(err.startsWith(`data folder: ${config.dataDir}\nerror: ${message}`)).toBe(true);
      expect(err.trim().split('\n')).toHaveLength(2);

      const json = await cli(...line, '--json');
      expect([json.code, json.out]).toEqual([code, '']);
      expect(JSON.parse(json.err)).toEqual({
        error: {
          type,
          code: expect.any(String),
          message: expect.any(String),
          param: code === 2 ? expect.any(String) : null,
          details: expect.any(Array),
          request_id: expect.stringMatching(/^req_/),
        },
      });
    });

    it('exits with 2 if no read model has the name', async () => {
      const message =
        'unknown read model nothing; use one of shipments, milestones, exceptions, documents, published_events';
      const { code, err } = await cli('read-models', 'rebuild', 'nothing');
      expect([code, err]).toEqual([2, expect.stringContaining(`error: ${message}`)]);
      const asJson = await cli('read-models', 'rebuild', 'nothing', '--json');
      expect(JSON.parse(asJson.err)).toMatchObject({ error: { code: 'validation_failed' } });
    });

    it('lists the events of a workspace that has none', async () => {
      expect(await json('events', 'list')).toEqual({ data: [] });
      const { out } = await cli('events', 'list', '--workspace', 'Acme Logistics', '--since', '2026-01-01T00:00:00Z');
      expect(out).toBe('no items in workspace Acme Logistics\n');
    });

    it('rebuilds all read models, and waits until queries use them', async () => {
      const before = await json<{ data: ReadModelStatus[] }>('read-models', 'list');
      expect(before.data).toEqual([
        expect.objectContaining({ name: 'shipments', generation: 1, caught_up: true, building: null, parked: 0 }),
        expect.objectContaining({ name: 'milestones', generation: 1, caught_up: true, building: null, parked: 0 }),
        expect.objectContaining({ name: 'exceptions', generation: 1, caught_up: true, building: null, parked: 0 }),
        expect.objectContaining({ name: 'documents', generation: 1, caught_up: true, building: null, parked: 0 }),
        expect.objectContaining({
          name: 'published_events',
          generation: 1,
          caught_up: true,
          building: null,
          parked: 0,
        }),
        expect.objectContaining({ name: 'deadlines', generation: 1, caught_up: true, building: null, parked: 0 }),
      ]);
      const { data } = await json<{ data: ReadModelStatus[] }>('read-models', 'rebuild');
      expect(data.map(({ name, generation }) => `${name} ${generation}`)).toEqual([
        'shipments 2',
        'milestones 2',
        'exceptions 2',
        'documents 2',
        'published_events 2',
        'deadlines 2',
      ]);
      const { out } = await cli('read-models', 'list');
      expect(out).toMatch(/^NAME +GENERATION +BUILDING +CAUGHT UP +PARKED\nshipments +2 +- +yes +0\nmilestones +2 /);
    });

    it('lists parked items', async () => {
      expect(await json('parked', 'list')).toEqual({ data: [] });
      expect((await cli('parked', 'list')).out).toBe('none\n');
    });
  });

  it('prints no key except those that it created', () => {
    expect(printed.length).toBeGreaterThan(10);
    expect(printed.map(({ out, err }) => out + err).join('\n')).not.toContain(secret);
  });
});
