import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Shutdown } from '@tracking/runtime';
import { eventually, silentLogger, createTempFolder, type TempFolder } from '@tracking/testing';
import { formatFirstKeyCommand, keepFirstAdminLinkFileCurrent, formatWelcome } from './first-start.ts';

const where = {
  url: 'http://127.0.0.1:3000',
  managementUrl: 'http://127.0.0.1:9464',
  dataDir: '/srv/data',
  isDefaultDataDir: true,
  allowsLocalReceivers: false,
};

describe('the welcome at a terminal', () => {
  it('shows all addresses, the first calls, and how to stop', () => {
    const text = formatWelcome(where);
    for (const part of ['http://127.0.0.1:3000\n', '/docs', ':9464/metrics', '/srv/data', '--role developer', 'Ctrl-C'])
      expect(text).toContain(part);
  });

  it('shows how to become the first admin while there is none', () => {
    const link = {
      address: 'https://app.example/invitation#secret',
      token: 'secret',
      expires_at: '2026-11-29T09:30:00Z',
    };
    const text = formatWelcome({ ...where, firstAdminLink: link });
    for (const part of [
      `\n      ${link.address}\n`,
      'until 2026-11-29:',
      '3000/v1/invitations/secret ',
      'X-Requested-With',
    ])
      expect(text).toContain(part);
    expect(formatWelcome(where)).not.toMatch(/admin|invitation/);
  });

  it('shows how to allow webhooks to this machine, or that they are allowed', () => {
    expect(formatWelcome(where)).toContain('npm run dev');
    const allowing = formatWelcome({ ...where, allowsLocalReceivers: true });
    expect(allowing).toContain('npm run listen -- --key "$KEY"');
    expect(allowing).not.toContain('npm run dev');
  });

  it('shows the data folder in commands that would otherwise use another one', () => {
    expect(formatFirstKeyCommand(where)).toMatch(/^npm run/);
    expect(formatFirstKeyCommand({ ...where, isDefaultDataDir: false })).toMatch(/^DATA_DIR=\/srv\/data npm run/);
    const dataDir = "/home/o'neil/my data";
    expect(formatFirstKeyCommand({ ...where, dataDir, isDefaultDataDir: false })).toMatch(
      /^DATA_DIR='\/home\/o'\\''neil\/my data' npm run/,
    );
  });
});

describe("the first admin's link without a terminal", () => {
  let folder: TempFolder;
  let dataDir: string;
  let file: string;
  let shutdown: Shutdown;
  /** Undefined if there is an admin. */
  let token: string | undefined;
  beforeEach(async () => {
    folder = await createTempFolder();
    dataDir = join(folder.path, 'data');
    file = join(dataDir, 'first-admin-link');
    await mkdir(dataDir);
    shutdown = new Shutdown(silentLogger, 1_000);
    token = 'one';
  });
  afterEach(async () => {
    await shutdown.runShutdownSteps();
    await folder.remove();
  });

  const firstAdmin = {
    getFirstAdminLink: () =>
      Promise.resolve(token === undefined ? undefined : ({ purpose: 'first_admin', token, expires_at: '' } as const)),
  };
  const keep = () =>
    keepFirstAdminLinkFileCurrent(
      { firstAdmin, appUrl: 'https://app.example', dataDir, logger: silentLogger, checkIntervalMs: 20 },
      shutdown,
    );

  it('is stored in a file for its owner only, replacing an existing file', async () => {
    await writeFile(file, 'an older one\n', { mode: 0o644 });
    expect(await keep()).toBe(file);
    expect(await readFile(file, 'utf8')).toBe('https://app.example/invitation#one\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('is replaced by the next link, and deleted when there is an admin', async () => {
    await keep();
    token = 'two';
    await eventually(async () => expect(await readFile(file, 'utf8')).toContain('#two\n'));
    token = undefined;
    await eventually(() => expect(stat(file)).rejects.toThrow('ENOENT'));
  });

  it('is not stored if there is an admin, and an old file is deleted', async () => {
    await writeFile(file, 'an older one\n');
    token = undefined;
    expect(await keep()).toBeUndefined();
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });
});
