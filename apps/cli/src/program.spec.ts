import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../test/run.ts';
import { loadConfig } from './config.ts';
import type { CliConfig } from './config.ts';

describe('the command line', () => {
  let folder: string;
  let config: CliConfig;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cli-'));
    config = loadConfig({ DATA_DIR: join(folder, 'data') });
  });
  afterAll(async () => {
    // a mistake on the command line starts nothing
    await expect(stat(config.dataDir)).rejects.toThrow('ENOENT');
    await rm(folder, { recursive: true });
  });

  it.each([
    [[], 'no command given'],
    [['keys'], 'no command given'],
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
    [['keys', 'create', '--name', 'x', '--environment', 'live'], "required option '--role <role>' not specified"],
    [['keys', 'create', '--name', 'x', '--environment', 'prod', '--role', 'viewer'], 'Allowed choices are live, test'],
    [
      ['keys', 'create', '--name', 'x', '--environment', 'live', '--role', 'root'],
      'Allowed choices are viewer, operator, feed, developer, admin',
    ],
    [['workspaces', 'create'], "required option '--name <name>' not specified"],
    [['deliveries'], 'no command given'],
    [['deliveries', 'show'], "missing required argument 'id'"],
    [['deliveries', 'show', 'dlv_a', 'dlv_b'], 'too many arguments'],
    [['deliveries', 'list', '--limit', 'many'], 'Expected a whole number from 1 on.'],
    [['deliveries', 'list', '--limit', '0'], 'Expected a whole number from 1 on.'],
    [['deliveries', 'list', '--environment', 'prod'], 'Allowed choices are live, test'],
    [['deliveries', 'list', '--event-type', 'shipment.exploded'], 'Allowed choices are shipment.created'],
    [['dead-letters', 'list', '--status', 'pending'], "unknown option '--status'"],
    [['dead-letters', 'replay', '--all'], "unknown option '--all'"],
    [['listen', '--port', '65536'], 'Expected a port.'],
    [['listen', 'here'], 'too many arguments'],
  ])('%j is answered in one line, with exit code 2', async (line, message) => {
    const { code, out, err } = await run(config, line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
    expect(err).toMatch(/^error: [^\n]+\n$/);
  });

  it.each([
    [['--help']],
    [['keys', '--help']],
    [['keys', 'create', '--help']],
    [['dead-letters', 'replay', '--help']],
    [['listen', '--help']],
  ])('%j explains', async (line) => {
    const { code, out, err } = await run(config, line);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('Usage:');
  });
});
