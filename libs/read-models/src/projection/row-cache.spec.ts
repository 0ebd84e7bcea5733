import { RowCache } from './row-cache.ts';

const row = (id: string, revision = 0) => ({ id, revision });

describe('the row cache', () => {
  it('forgets what was unused the longest', () => {
    const cache = new RowCache(2, () => 1);
    cache.set(row('a'));
    cache.set(row('b'));
    cache.get('a');
    cache.set(row('c'));
    expect(cache.get('b')).toBeUndefined();
    expect(cache.get('a')).toEqual(row('a'));
  });

  it('holds fewer of the heavy ones, and none that is too heavy', () => {
    const cache = new RowCache<ReturnType<typeof row>>(10, ({ revision }) => revision);
    cache.set(row('a', 6));
    cache.set(row('b', 6));
    expect(cache.get('a')).toBeUndefined();
    expect(cache.get('b')).toEqual(row('b', 6));
    cache.set(row('c', 11));
    expect(cache.get('c')).toBeUndefined();
    cache.set(row('d', 10));
    expect(cache.get('d')).toEqual(row('d', 10));
  });

  it('holds the newest of a row', () => {
    const cache = new RowCache<ReturnType<typeof row>>(10, ({ revision }) => revision);
    for (const revision of [1, 9, 2]) cache.set(row('a', revision));
    cache.set(row('b', 8));
    expect(cache.get('a')).toEqual(row('a', 2));
    expect(cache.get('b')).toEqual(row('b', 8));
  });
});
