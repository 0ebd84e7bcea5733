import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { deriveKey, openSealingKey } from '@tracking/runtime';
import { secretsKeyInUse, useSecretsKey } from '@tracking/webhooks';
import { openSecretsKey } from './features.ts';

const OWN = new Uint8Array(32).fill(1);

describe('the key of the data folder', () => {
  let folder: string;
  let file: string;
  let engine: EmbeddedEngine;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    file = join(folder, 'secrets.key');
    engine = await openTestEngine(folder);
  });
  afterEach(async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  const settings = (given?: Uint8Array, lostSecretsKey?: string) =>
    openSecretsKey({ secretsKey: given, lostSecretsKey, dataDir: folder }, engine.documentStore);
  /** As a start does it. */
  const start = async (given?: Uint8Array, lost?: string) =>
    openSealingKey(await settings(given, lost), (key, id) => useSecretsKey(engine.documentStore, key, id));
  const inUse = async () => (await secretsKeyInUse(engine.documentStore)) ?? '';

  it('is made once, for its owner alone', async () => {
    const key = await start();
    expect(key).toHaveLength(32);
    expect(await start()).toEqual(key);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('gives way to the operator’s own', async () => {
    expect((await settings(OWN)).secretsKey).toEqual(OWN);
    expect(await start(OWN)).toEqual(deriveKey(OWN, 'webhook secrets'));
  });

  it('is refused when it is damaged, without showing it', async () => {
    writeFileSync(file, 'damaged');
    await expect(settings()).rejects.toThrow(/^SECRETS_KEY: .*secrets\.key/);
  });

  it('gives another key for each purpose', async () => {
    const { secretsKey: key } = await settings();
    expect(deriveKey(key, 'a')).not.toEqual(deriveKey(key, 'b'));
    expect(deriveKey(key, 'a')).toEqual(deriveKey(key, 'a'));
  });

  it('is not made anew where secrets are stored already', async () => {
    await start();
    rmSync(file);
    const id = await inUse();
    for (const missing of [settings(), start()]) {
      await expect(missing).rejects.toThrow(
        new RegExp(`^SECRETS_KEY is not set and ${file} is missing,.* key ${id}: put .* SECRETS_KEY_LOST=${id},`),
      );
    }
    expect(() => statSync(file)).toThrow('ENOENT');
  });

  it('is refused when it is another one, in the file or given', async () => {
    const key = await start();
    const id = await inUse();
    await expect(start(OWN)).rejects.toThrow(
      `SECRETS_KEY holds another key, while secrets are stored under the key ${id}`,
    );
    writeFileSync(file, Buffer.from(OWN).toString('base64'));
    const refused = await start().catch((error: unknown) => String(error));
    expect(refused).toContain(`${file} holds another key`);
    for (const secret of [OWN, key]) expect(refused).not.toContain(Buffer.from(secret).toString('base64'));
  });

  it('is refused where the operator’s own is no longer given', async () => {
    await start(OWN);
    await expect(start()).rejects.toThrow('SECRETS_KEY is not set and');
  });

  it('is made anew where the one before is given up, and only that one', async () => {
    const before = await start();
    rmSync(file);
    await expect(start(undefined, 'ffffffff')).rejects.toThrow('is missing');
    const after = await start(undefined, await inUse());
    expect(after).not.toEqual(before);
    expect(await start()).toEqual(after);
  });
});
