import { Unavailable } from '@tracking/ports';
import { CredentialCache } from './credential-cache.ts';
import type { KnownCredential } from './credential-cache.ts';

const KEY: KnownCredential = { owner_id: 'usr_1', ends_at: null };

describe('what is known of a credential', () => {
  let now: number;
  let lookups: number;
  let cache: CredentialCache<KnownCredential>;
  beforeEach(() => {
    now = 1_000_000;
    lookups = 0;
    cache = new CredentialCache({ clock: () => new Date(now), elapsed: () => now, answeredWithinMs: 4_000 });
  });
  const find = (found: KnownCredential | null = KEY, takesMs = 0, hash = 'a') =>
    cache.find(hash, async () => {
      lookups += 1;
      now += takesMs;
      return found ?? undefined;
    });

  it('is used for three seconds from the beginning of its look-up', async () => {
    await find(KEY, 1_000);
    now += 1_999;
    await find();
    expect(lookups).toBe(1);
    now += 1;
    await find();
    expect(lookups).toBe(2);
  });

  it('is shared by all who ask meanwhile', async () => {
    expect(await Promise.all(Array.from({ length: 20 }, () => find()))).toEqual(Array.from({ length: 20 }, () => KEY));
    expect(lookups).toBe(1);
  });

  it('is not used where finding it took longer than four seconds', async () => {
    expect(await find(KEY, 4_000)).toBe(KEY);
    await expect(find(KEY, 4_001, 'b')).rejects.toThrow(Unavailable);
  });

  it('is not waited for without end', async () => {
    const hasty = new CredentialCache({ clock: () => new Date(now), elapsed: () => now, answeredWithinMs: 1 });
    const never = () => new Promise<undefined>(() => undefined);
    await expect(hasty.find('a', never)).rejects.toThrow(Unavailable);
  });

  it('is not remembered where the look-up failed', async () => {
    await expect(cache.find('a', () => Promise.reject(new Unavailable('document store', 'x')))).rejects.toThrow();
    expect(await find()).toBe(KEY);
  });

  it('ends to the moment, however fresh it is', async () => {
    const ends_at = new Date(now + 2_000).toISOString();
    expect(await find({ ...KEY, ends_at })).toBeDefined();
    now += 1_999;
    expect(await find()).toBeDefined();
    now += 1;
    expect(await find()).toBeUndefined();
    expect(lookups).toBe(1);
  });

  it('is forgotten by itself, and with all others of its owner', async () => {
    await find(KEY, 0, 'a');
    await find(KEY, 0, 'b');
    await find({ ...KEY, owner_id: 'usr_2' }, 0, 'c');
    cache.forgetOwner('usr_1');
    expect([await find(null, 0, 'a'), await find(null, 0, 'b')]).toEqual([undefined, undefined]);
    expect(await find(null, 0, 'c')).toBeDefined();
    cache.forget('c');
    expect(await find(null, 0, 'c')).toBeUndefined();
    // Whose it is that is refused is not known: it may be valid again.
    cache.forgetOwner('usr_3');
    expect(await find(KEY, 0, 'c')).toBeDefined();
  });

  it('is not kept from a look-up that was under way when it was forgotten', async () => {
    for (const forget of [() => cache.forget('a'), () => cache.forgetOwner('usr_1')]) {
      const { promise, resolve } = Promise.withResolvers<KnownCredential>();
      const early = cache.find('a', () => promise);
      forget();
      resolve(KEY);
      expect(await early).toBe(KEY);
      expect(await find(null)).toBeUndefined();
      cache.forget('a');
    }
  });
});
