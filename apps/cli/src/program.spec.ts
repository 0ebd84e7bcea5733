import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommandLineForTest } from '../test/run.ts';
import { type CliConfig, loadConfig } from './config.ts';

describe('the command line', () => {
  let folder: string;
  let config: CliConfig;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cli-'));
    config = loadConfig({ DATA_DIR: join(folder, 'data') });
  });
  afterAll(async () => {
    // A usage error starts no service.
    await expect(stat(config.dataDir)).rejects.toThrow('ENOENT');
    await rm(folder, { recursive: true });
  });

  it.each([
    [[], 'no command was specified'],
    [['keys'], 'no command was specified'],
    [['nonsense'], "unknown command 'nonsense'"],
    [['keys', 'destroy'], "unknown command 'destroy'"],
    [['keys', 'revoke'], "missing required argument 'id'"],
    [['keys', 'list', 'extra'], 'too many arguments'],
    [['keys', 'list', '--workspace'], "option '--workspace <name>' argument missing"],
    [['keys', 'list', '--jsno'], "unknown option '--jsno'"],
    [['keys', 'create', '--environment', 'live', '--role', 'viewer'], "required option '--name <name>' not specified"],
    [
      ['keys', 'create', '--name', 'x', '--role', 'viewer'],
      "required option '--environment <environment>' not specified",
    ],
    [['keys', 'create', '--name', 'x', '--environment', 'live'], 'specify a role with --role or a user with --user'],
    [
      ['keys', 'create', '--name', 'x', '--environment', 'live', '--role', 'viewer', '--user', 'ann@example.com'],
      "option '--role <role>' cannot be used with option '--user <email>'",
    ],
    [['keys', 'create', '--name', 'x', '--environment', 'prod', '--role', 'viewer'], 'Allowed choices are live, test'],
    [
      ['keys', 'create', '--name', 'x', '--environment', 'live', '--role', 'root'],
      'Allowed choices are viewer, operator, feed, developer, admin',
    ],
    [['users', 'create', '--role', 'viewer'], "required option '--email <email>' not specified"],
    [['users', 'create', '--email', 'ann@example.com'], "required option '--role <role>' not specified"],
    [['users', 'create', '--email', 'a@b.c', '--role', 'root'], 'Allowed choices are viewer, operator, feed'],
    [['users', 'create', '--email', 'a@b.c', '--role', 'admin', '--password', 'x'], "unknown option '--password'"],
    [
      ['users', 'create', '--email', 'a@b.c', '--role', 'admin', '--password-stdin'],
      'standard input contains no password',
    ],
    [['users', 'set-role', 'ann@example.com'], "missing required argument 'role'"],
    [['users', 'set-role', 'ann@example.com', 'root'], 'Allowed choices are viewer, operator, feed, developer, admin'],
    [['users', 'deactivate'], "missing required argument 'email'"],
    [['users', 'reset-password'], "missing required argument 'email'"],
    [['workspaces', 'create'], "required option '--name <name>' not specified"],
    [['deliveries'], 'no command was specified'],
    [['deliveries', 'show'], "missing required argument 'id'"],
    [['deliveries', 'show', 'dlv_a', 'dlv_b'], 'too many arguments'],
    [['deliveries', 'list', '--limit', 'many'], 'Expected a positive whole number.'],
    [['deliveries', 'list', '--limit', '0'], 'Expected a positive whole number.'],
    [['deliveries', 'list', '--environment', 'prod'], 'Allowed choices are live, test'],
    [['deliveries', 'list', '--event-type', 'shipment.exploded'], 'Allowed choices are shipment.created'],
    [['deliveries', 'list', '--status', 'pending,lost'], 'Allowed: pending, retrying, succeeded'],
    [['deliveries', 'list', '--since', 'yesterday'], 'Expected a time with an offset'],
    [['deliveries', 'list', '--until', '2026-11-21T09:30:00'], 'Expected a time with an offset'],
    [['deliveries', 'list', '--until', '2026-13-21T09:30:00Z'], 'Expected a time with an offset'],
    [['events', 'list', '--since', '2026-11-21'], 'Expected a time with an offset'],
    [['events', 'list', '--event-type', 'shipment.exploded'], 'Allowed choices are shipment.created'],
    [['events', 'list', '--status', 'pending'], "unknown option '--status'"],
    [['events', 'list', '--all-workspaces'], "unknown option '--all-workspaces'"],
    [['events', 'export'], "missing required argument 'file'"],
    [['dead-letters', 'list', '--status', 'pending'], "unknown option '--status'"],
    [['dead-letters', 'discard'], 'specify the IDs of dead letters, a filter, or --all'],
    [['dead-letters', 'discard', 'dlv_a', '--endpoint', 'whe_a'], 'specify either dead letters or filters, not both'],
    [['dead-letters', 'replay', 'dlv_a', '--endpoint', 'whe_a'], 'specify either dead letters or filters, not both'],
    [['listen'], 'specify an API key with --key or API_KEY'],
    [['dead-letters', 'replay', '--all'], "unknown option '--all'"],
    [['dead-letters', 'replay', ...Array(201).fill('dlv_a')], 'specify at most 200 dead letters'],
    [['listen', '--port', '65536'], 'Expected a port number from 0 to 65535.'],
    [['listen', 'here'], 'too many arguments'],
  ])('%j is reported in one line, with exit code 2', async (line, message) => {
    const { code, out, err } = await runCommandLineForTest(config, line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
    expect(err).toMatch(/^error: [^\n]+\n$/);

    // The text after an option is its value, even if it looks like an option.
    if (line.at(-1) === '--workspace') return;
    const json = await runCommandLineForTest(config, [...line, '--json']);
    expect([json.code, json.out]).toEqual([2, '']);
    const { error } = JSON.parse(json.err) as { error: { message: string } };
    expect(error).toEqual({
      type: 'invalid_request',
      code: 'validation_failed',
      // The option belongs to commands, not to the program.
      message: expect.stringContaining(line.length < 2 && line[0] !== 'listen' ? '' : message),
      param: null,
      details: [],
      request_id: null,
    });
  });

  it.each([
    [{ ADMINISTRATION_URL: 'ftp://x' }, 'ADMINISTRATION_URL: expected an http or https address'],
    [{ ADMINISTRATION_URL: 'http://127.0.0.1:1' }, 'ADMINISTRATION_URL needs ADMINISTRATION_TOKEN'],
  ])('%j is reported like any other usage error', async (env, message) => {
    const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
    const ended = (...line: readonly string[]) =>
      spawnSync(process.execPath, [main, 'keys', 'list', ...line], { env, encoding: 'utf8' });
    const { status, stdout, stderr } = ended();
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^error: ${message}[^\n]*\n$`));
    expect(JSON.parse(ended('--json').stderr)).toMatchObject({ error: { type: 'invalid_request' } });
  });

  it.each([
    [['--help']],
    [['keys', '--help']],
    [['keys', 'create', '--help']],
    [['users', 'create', '--help']],
    [['dead-letters', 'replay', '--help']],
    [['listen', '--help']],
  ])('%j explains', async (line) => {
    const { code, out, err } = await runCommandLineForTest(config, line);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('Usage:');
  });
});
