import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Shutdown } from '@tracking/runtime';
import { eventually, silentLogger, tempFolder, type TempFolder } from '@tracking/testing';
import { keepFirstAdminLink } from './first-admin.ts';

describe('the link of the first admin, where nobody looks at a terminal', () => {
  let folder: TempFolder;
  let dataDir: string;
  let file: string;
  let shutdown: Shutdown;
  /** Undefined where there is an admin. */
  let token: string | undefined;
  beforeEach(async () => {
    folder = await tempFolder();
    dataDir = join(folder.path, 'data');
    file = join(dataDir, 'first-admin-link');
    await mkdir(dataDir);
    shutdown = new Shutdown(silentLogger, 1_000);
    token = 'one';
  });
  afterEach(async () => {
    await shutdown.run();
    await folder.remove();
  });

  const firstAdmin = {
    link: () =>
      Promise.resolve(token === undefined ? undefined : ({ purpose: 'first_admin', token, expires_at: '' } as const)),
  };
  const keep = () =>
    keepFirstAdminLink(
      { firstAdmin, appUrl: 'https://app.example', dataDir, logger: silentLogger, lookEveryMs: 20 },
      shutdown,
    );

  it('is in a file for its owner alone, also where another one was', async () => {
    await writeFile(file, 'an older one\n', { mode: 0o644 });
    expect(await keep()).toBe(file);
    expect(await readFile(file, 'utf8')).toBe('https://app.example/invitation#one\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('is replaced by the next one, and goes when there is an admin', async () => {
    await keep();
    token = 'two';
    await eventually(async () => expect(await readFile(file, 'utf8')).toContain('#two\n'));
    token = undefined;
    await eventually(() => expect(stat(file)).rejects.toThrow('ENOENT'));
  });

  it('is in no file where there is an admin, not even an older one', async () => {
    await writeFile(file, 'an older one\n');
    token = undefined;
    expect(await keep()).toBeUndefined();
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });
});
