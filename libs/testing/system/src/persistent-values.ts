import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@tracking/testing';

/**
 * Returns the port that a process had in this folder before. If another server uses that port, returns and stores a new
 * one.
 */
export async function readOrCreatePort(folder: string, process: string): Promise<number> {
  const path = join(folder, 'ports.json');
  const ports = () => JSON.parse(readIfExists(path) ?? '{}') as Readonly<Record<string, number>>;
  const port = await findFreePort(ports()[process]);
  // Read the file again, because other processes may have stored their ports meanwhile.
  writeFileSync(path, `${JSON.stringify({ ...ports(), [process]: port }, null, 2)}\n`);
  return port;
}

/** Returns 32 random bytes that are created at the first start in this folder, readable only by their owner. */
export function readOrCreateSecret(folder: string, name: string, encoding: 'base64' | 'hex'): string {
  const path = join(folder, name);
  const known = readIfExists(path);
  if (known) return known;
  const secret = randomBytes(32).toString(encoding);
  writeFileSync(path, secret, { mode: 0o600 });
  return secret;
}

function readIfExists(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
