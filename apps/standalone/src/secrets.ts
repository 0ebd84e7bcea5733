import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@tracking/runtime';

/**
 * The key under which secrets are kept at rest: the operator's own, else one made in the data folder at the first start,
 * readable by its owner only. It appears under its name only when it is whole and on disk: a crash never leaves half a key.
 */
export function secretsKey(given: Uint8Array | undefined, dataDir: string): Uint8Array {
  if (given) return given;
  const path = join(dataDir, 'secrets.key');
  const stored = read(path) ?? make(path, dataDir);
  const key = Buffer.from(stored.trim(), 'base64');
  if (key.length !== 32) throw new ConfigError(`SECRETS_KEY: ${path} does not hold 32 bytes as base64`);
  return key;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function make(path: string, dataDir: string): string {
  const key = randomBytes(32).toString('base64');
  const draft = `${path}.${process.pid}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = openSync(draft, 'w', 0o600);
  writeSync(file, `${key}\n`);
  fsyncSync(file);
  closeSync(file);
  linkSync(draft, path);
  unlinkSync(draft);
  const folder = openSync(dataDir, 'r');
  fsyncSync(folder);
  closeSync(folder);
  return key;
}
