import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { derivedKey } from '@tracking/runtime';
import { secretsKey } from './secrets.ts';

describe('the key of the data folder', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'secrets-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is made once, for its owner alone', () => {
    const key = secretsKey(undefined, folder);
    expect(key).toHaveLength(32);
    expect(secretsKey(undefined, folder)).toEqual(key);
    expect(statSync(join(folder, 'secrets.key')).mode & 0o777).toBe(0o600);
  });

  it('gives way to the operator’s own', () => {
    expect(secretsKey(new Uint8Array(32).fill(1), folder)).toEqual(new Uint8Array(32).fill(1));
  });

  it('is refused when it is damaged, without showing it', () => {
    writeFileSync(join(folder, 'secrets.key'), 'damaged');
    expect(() => secretsKey(undefined, folder)).toThrow(/^SECRETS_KEY: .*secrets\.key/);
  });

  it('gives another key for each purpose', () => {
    const key = secretsKey(undefined, folder);
    expect(derivedKey(key, 'a')).not.toEqual(derivedKey(key, 'b'));
    expect(derivedKey(key, 'a')).toEqual(derivedKey(key, 'a'));
  });
});
