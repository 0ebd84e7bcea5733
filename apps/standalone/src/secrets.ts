import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentStore } from '@tracking/ports';
import { ConfigError, secretsKeyRefused, type SecretsKeySettings } from '@tracking/runtime';
import { secretsKeyInUse } from '@tracking/webhooks';
import type { StandaloneConfig } from './config.ts';

/**
 * The key under which secrets are kept at rest: the operator's own, else one made in the data folder at the first start,
 * readable by its owner only. It appears under its name only when it is whole and on disk: a crash never leaves half a key.
 * @throws ConfigError also where secrets are stored already: none is made in the place of the one they are sealed with
 */
export async function secretsKey(
  config: Pick<StandaloneConfig, 'secretsKey' | 'lostSecretsKey' | 'dataDir'>,
  store: DocumentStore,
): Promise<SecretsKeySettings> {
  const { secretsKey: given, lostSecretsKey, dataDir } = config;
  if (given) return { secretsKey: given, lostSecretsKey };
  const path = join(dataDir, 'secrets.key');
  let stored = read(path);
  if (stored === undefined) {
    const inUse = await secretsKeyInUse(store);
    const isGivenUp = inUse === undefined || inUse === lostSecretsKey;
    if (!isGivenUp) throw secretsKeyRefused(`SECRETS_KEY is not set and ${path} is missing`, inUse);
    stored = make(path, dataDir);
  }
  const key = Buffer.from(stored.trim(), 'base64');
  if (key.length !== 32) throw new ConfigError(`SECRETS_KEY: ${path} does not hold 32 bytes as base64`);
  return { secretsKey: key, lostSecretsKey, keyHolder: path };
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
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, `${key}\n`);
    fsyncSync(file);
    linkSync(draft, path);
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
  const folder = openSync(dataDir, 'r');
  fsyncSync(folder);
  closeSync(folder);
  return key;
}
