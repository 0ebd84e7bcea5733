import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@tracking/testing';

/**
 * Returns the port that the process had in this folder at its previous start. If another server uses that port, returns
 * and stores a new port.
 */
export async function readOrCreatePort(folder: string, process: string): Promise<number> {
  const path = join(folder, 'ports.json');
  const ports = () => JSON.parse(readFileIfExists(path) ?? '{}') as Readonly<Record<string, number>>;
  const port = await findFreePort(ports()[process]);
  // The file is read again, because other processes may have stored their ports meanwhile.
  writeFileSync(path, `${JSON.stringify({ ...ports(), [process]: port }, null, 2)}\n`);
  return port;
}

/**
 * Returns 32 random bytes. They are created at the first start in this folder and stored in a file that only its owner
 * can read.
 */
export function readOrCreateSecret(folder: string, name: string, encoding: 'base64' | 'hex'): string {
  const path = join(folder, name);
  const known = readFileIfExists(path);
  if (known) return known;
  const secret = randomBytes(32).toString(encoding);
  writeFileSync(path, secret, { mode: 0o600 });
  return secret;
}

function readFileIfExists(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
