import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@tracking/testing';

/** The port that a process of this folder had before; another one, kept from then on, where something listens there. */
export async function keptPort(folder: string, process: string): Promise<number> {
  const path = join(folder, 'ports.json');
  const ports = () => JSON.parse(read(path) ?? '{}') as Readonly<Record<string, number>>;
  const port = await freePort(ports()[process]);
  // Read again: others have got theirs meanwhile.
  writeFileSync(path, `${JSON.stringify({ ...ports(), [process]: port }, null, 2)}\n`);
  return port;
}

/** 32 random bytes, made at the first start in this folder and readable by their owner only. */
export function keptSecret(folder: string, name: string, encoding: 'base64' | 'hex'): string {
  const path = join(folder, name);
  const known = read(path);
  if (known) return known;
  const secret = randomBytes(32).toString(encoding);
  writeFileSync(path, secret, { mode: 0o600 });
  return secret;
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
