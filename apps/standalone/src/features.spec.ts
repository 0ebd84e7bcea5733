import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { deriveKey, deriveCheckedSecretsKey } from '@tracking/runtime';
import { getSecretsKeyId, storeOrCheckSecretsKey } from '@tracking/webhooks';
import { readOrCreateSecretsKey } from './features.ts';

const OWN = new Uint8Array(32).fill(1);

describe('the key of the data folder', () => {
  let folder: string;
  let file: string;
  let engine: EmbeddedSqliteEngine;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    file = join(folder, 'secrets.key');
    engine = await openTestEngine(folder);
  });
  afterEach(async () => {
    await engine.closeEngine();
    rmSync(folder, { recursive: true });
  });

  const settings = (given?: Uint8Array, lostSecretsKey?: string) =>
    readOrCreateSecretsKey({ secretsKey: given, lostSecretsKey, dataDir: folder }, engine.documentStore);
  /** Opens the key as the server's start does. */
  const start = async (given?: Uint8Array, lost?: string) =>
    deriveCheckedSecretsKey(await settings(given, lost), (key, id) =>
      storeOrCheckSecretsKey(engine.documentStore, key, id),
    );
  const inUse = async () => (await getSecretsKeyId(engine.documentStore)) ?? '';

  it('is created once, readable by its owner only', async () => {
    const key = await start();
    expect(key).toHaveLength(32);
    expect(await start()).toEqual(key);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is not used if the operator sets a key', async () => {
    expect((await settings(OWN)).secretsKey).toEqual(OWN);
    expect(await start(OWN)).toEqual(deriveKey(OWN, 'webhook secrets'));
  });

  it('is rejected if it is damaged, without being shown', async () => {
    writeFileSync(file, 'damaged');
    await expect(settings()).rejects.toThrow(/^SECRETS_KEY: .*secrets\.key/);
  });

  it('derives a different key for each purpose', async () => {
    const { secretsKey: key } = await settings();
    expect(deriveKey(key, 'a')).not.toEqual(deriveKey(key, 'b'));
    expect(deriveKey(key, 'a')).toEqual(deriveKey(key, 'a'));
  });

  it('is not created if secrets are already stored', async () => {
    await start();
    rmSync(file);
    const id = await inUse();
    for (const missing of [settings(), start()]) {
      await expect(missing).rejects.toThrow(
        new RegExp(`^SECRETS_KEY is not set and ${file} is missing,.* key ${id}: restore .* SECRETS_KEY_LOST=${id},`),
      );
    }
    expect(() => statSync(file)).toThrow('ENOENT');
  });

  it('is rejected if it differs from the key in use, in the file or in the setting', async () => {
    const key = await start();
    const id = await inUse();
    await expect(start(OWN)).rejects.toThrow(
      `SECRETS_KEY holds a different key, but stored secrets are encrypted with the key ${id}`,
    );
    writeFileSync(file, Buffer.from(OWN).toString('base64'));
    const refused = await start().catch((error: unknown) => String(error));
    expect(refused).toContain(`${file} holds a different key`);
    for (const secret of [OWN, key]) expect(refused).not.toContain(Buffer.from(secret).toString('base64'));
  });

  it("is rejected if the operator's key is no longer set", async () => {
    await start(OWN);
    await expect(start()).rejects.toThrow('SECRETS_KEY is not set and');
  });

  it('is created again only if the previous key is declared lost', async () => {
    const before = await start();
    rmSync(file);
    await expect(start(undefined, 'ffffffff')).rejects.toThrow('is missing');
    const after = await start(undefined, await inUse());
    expect(after).not.toEqual(before);
    expect(await start()).toEqual(after);
  });
});
