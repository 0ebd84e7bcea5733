import { CredentialCache, type KnownCredential } from './authentication.ts';

const KEY: KnownCredential = { owner_id: 'usr_1', ends_at: null };

describe('a cached credential', () => {
  let now: number;
  let lookups: number;
  let cache: CredentialCache<KnownCredential>;
  beforeEach(() => {
    now = 1_000_000;
    lookups = 0;
    cache = new CredentialCache({ clock: () => new Date(now), elapsed: () => now });
  });
  const find = (found: KnownCredential | null = KEY, takesMs = 0, hash = 'a') =>
    cache.findCredential(hash, async () => {
      lookups += 1;
      now += takesMs;
      return found ?? undefined;
    });

  it('ends exactly at its expiry, however fresh it is', async () => {
    const ends_at = new Date(now + 2_000).toISOString();
    expect(await find({ ...KEY, ends_at })).toBeDefined();
    now += 1_999;
    expect(await find()).toBeDefined();
    now += 1;
    expect(await find()).toBeUndefined();
    expect(lookups).toBe(1);
  });

  it('is forgotten on its own, and with all others of its owner', async () => {
    await find(KEY, 0, 'a');
    await find(KEY, 0, 'b');
    await find({ ...KEY, owner_id: 'usr_2' }, 0, 'c');
    cache.forgetCredentialsOfOwner('usr_1');
    expect([await find(null, 0, 'a'), await find(null, 0, 'b')]).toEqual([undefined, undefined]);
    expect(await find(null, 0, 'c')).toBeDefined();
    cache.forgetCredential('c');
    expect(await find(null, 0, 'c')).toBeUndefined();
    // The owner of a refused credential is unknown, and the credential may become valid again.
    cache.forgetCredentialsOfOwner('usr_3');
    expect(await find(KEY, 0, 'c')).toBeDefined();
  });
});
