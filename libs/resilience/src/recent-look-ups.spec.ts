import { UnavailableError } from '@tracking/ports';
import { RecentLookUpCache } from './recent-look-ups.ts';

const FOUND = 'what is there';

describe('cached look-ups', () => {
  let now: number;
  let lookups: number;
  let recent: RecentLookUpCache<string>;
  beforeEach(() => {
    now = 1_000_000;
    lookups = 0;
    recent = new RecentLookUpCache({ elapsed: () => now, timeoutMs: 4_000 });
  });
  const find = (found: string | null = FOUND, takesMs = 0, key = 'a') =>
    recent.getOrLookUpValue(key, async () => {
      lookups += 1;
      now += takesMs;
      return found ?? undefined;
    });

  it('are used for three seconds from the start of the look-up', async () => {
    await find(FOUND, 1_000);
    now += 1_999;
    await find();
    expect(lookups).toBe(1);
    now += 1;
    await find();
    expect(lookups).toBe(2);
  });

  it('are shared by concurrent callers', async () => {
    expect(await Promise.all(Array.from({ length: 20 }, () => find()))).toEqual(
      Array.from({ length: 20 }, () => FOUND),
    );
    expect(lookups).toBe(1);
  });

  it('are not used if the look-up took longer than four seconds', async () => {
    expect(await find(FOUND, 4_000)).toBe(FOUND);
    await expect(find(FOUND, 4_001, 'b')).rejects.toThrow(UnavailableError);
  });

  it('have a timeout', async () => {
    const hasty = new RecentLookUpCache({ elapsed: () => now, timeoutMs: 1 });
    const never = () => new Promise<undefined>(() => undefined);
    await expect(hasty.getOrLookUpValue('a', never)).rejects.toThrow(UnavailableError);
  });

  it('are not kept after a failed look-up', async () => {
    await expect(
      recent.getOrLookUpValue('a', () => Promise.reject(new UnavailableError('document store', 'x'))),
    ).rejects.toThrow();
    expect(await find()).toBe(FOUND);
  });

  it('are removed if their value matches, together with all missing values', async () => {
    await find('one', 0, 'a');
    await find('two', 0, 'b');
    await find(null, 0, 'c');
    recent.removeMatchingCachedLookUps((found) => found === 'one');
    expect([await find('new', 0, 'a'), await find('new', 0, 'b'), await find('new', 0, 'c')]).toEqual([
      'new',
      'two',
      'new',
    ]);
  });

  it('do not store a look-up that was in progress when its key was removed', async () => {
    for (const forget of [() => recent.removeCachedLookUp('a'), () => recent.removeMatchingCachedLookUps(() => true)]) {
      const { promise, resolve } = Promise.withResolvers<string>();
      const early = recent.getOrLookUpValue('a', () => promise);
      forget();
      resolve(FOUND);
      expect(await early).toBe(FOUND);
      expect(await find(null)).toBeUndefined();
      recent.removeCachedLookUp('a');
    }
  });
});
