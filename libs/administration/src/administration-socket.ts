import { chmod, mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { administrationSocketPath } from '@tracking/contracts';

/**
 * Serves the application on the data folder's administration socket, which this user alone can open, and answers its
 * path. A socket that a crash left behind is replaced: only for whoever holds the data folder's lock. `app.close()`
 * removes it.
 * @throws Error when the socket has to lie outside the data folder, where another user was first
 */
export async function listenOnSocket(app: NestFastifyApplication, dataDir: string): Promise<string> {
  const path = administrationSocketPath(resolve(dataDir), tmpdir());
  const folder = dirname(path);
  if (folder !== resolve(dataDir)) await makePrivate(folder);
  await rm(path, { force: true });
  await app.listen(path);
  await chmod(path, 0o600);
  return path;
}

/** In a folder of somebody else's, somebody else could answer in the place of this service. */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await stat(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
    throw new Error(`${folder} is needed for the administration socket and belongs to another user`);
  }
}
