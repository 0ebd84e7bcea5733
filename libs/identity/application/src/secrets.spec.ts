import { randomBytes } from 'node:crypto';
import {
  deriveCredentialBytes,
  hashSecretKeyForStorage,
  hasApiKeyForm,
  derivePrefixedId,
  encodeApiKey,
  createPrefixedId,
} from './secrets.ts';

describe('keys', () => {
  it('contain their environment and 256 bits as letters and digits', () => {
    expect(encodeApiKey('live', randomBytes(32))).toMatch(/^sk_live_[0-9A-Za-z]{43}$/);
    expect(encodeApiKey('test', randomBytes(32))).toMatch(/^sk_test_[0-9A-Za-z]{43}$/);
    const all = encodeApiKey('live', Buffer.alloc(32, 0xff));
    const none = encodeApiKey('live', Buffer.alloc(32, 0));
    const one = encodeApiKey('live', Buffer.from(`${'00'.repeat(31)}01`, 'hex'));
    expect(new Set([all, none, one]).size).toBe(3);
    expect(none).toBe(`sk_live_${'0'.repeat(43)}`);
    expect(one).toBe(`sk_live_${'0'.repeat(42)}1`);
    expect([all, none, one].map(hasApiKeyForm)).toEqual([true, true, true]);
  });

  it('are unique', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => encodeApiKey('live', randomBytes(32)))).size).toBe(1_000);
  });

  it.each([
    '',
    'sk_live_',
    `sk_prod_${'a'.repeat(43)}`,
    `sk_live_${'a'.repeat(42)}`,
    `sk_live_${'a'.repeat(44)}`,
    `sk_live_${'a'.repeat(42)}\n`,
    ` sk_live_${'a'.repeat(43)}`,
    `sk_live_${'a'.repeat(42)}-`,
  ])('do not match %j', (text) => {
    expect(hasApiKeyForm(text)).toBe(false);
  });

  it('are stored as SHA-256', () => {
    expect(hashSecretKeyForStorage('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('derived secrets', () => {
  const secret = randomBytes(32);

  it('are the same for a repeated command only', () => {
    const first = deriveCredentialBytes(secret, 'api key', 'command 1');
    expect(deriveCredentialBytes(secret, 'api key', 'command 1')).toEqual(first);
    expect(first).toHaveLength(32);
    for (const other of [
      deriveCredentialBytes(secret, 'api key', 'command 2'),
      deriveCredentialBytes(secret, 'link', 'command 1'),
      deriveCredentialBytes(randomBytes(32), 'api key', 'command 1'),
    ]) {
      expect(other).not.toEqual(first);
    }
  });
});

describe('ids', () => {
  it('have a prefix and 128 random bits', () => {
    expect(createPrefixedId('key', randomBytes)).toMatch(/^key_[a-z2-7]{26}$/);
    expect(createPrefixedId('key', randomBytes)).not.toBe(createPrefixedId('key', randomBytes));
  });

  it('can be derived, the same on every replica', () => {
    expect(derivePrefixedId('wsp', 'default')).toBe(derivePrefixedId('wsp', 'default'));
    expect(derivePrefixedId('wsp', 'default')).toMatch(/^wsp_[a-z2-7]{26}$/);
    expect(derivePrefixedId('wsp', 'default')).not.toBe(derivePrefixedId('wsp', 'other'));
  });
});
