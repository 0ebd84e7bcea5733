import { RecentlyUsed } from './recently-used.ts';

describe('the values used last', () => {
  it('forget what was unused the longest', () => {
    const values = new RecentlyUsed<string>(2);
    values.set('a', 'A');
    values.set('b', 'B');
    values.get('a');
    values.set('c', 'C');
    expect(values.get('b')).toBeUndefined();
    expect([values.get('a'), values.get('c')]).toEqual(['A', 'C']);
  });

  it('hold fewer of the heavy ones, and none that is too heavy', () => {
    const values = new RecentlyUsed<number>(10, (value) => value);
    values.set('a', 6);
    values.set('b', 6);
    expect(values.get('a')).toBeUndefined();
    expect(values.get('b')).toBe(6);
    values.set('c', 11);
    expect(values.get('c')).toBeUndefined();
    values.set('d', 10);
    expect(values.get('d')).toBe(10);
  });

  it('hold the newest under a key', () => {
    const values = new RecentlyUsed<number>(10, (value) => value);
    for (const value of [1, 9, 2]) values.set('a', value);
    values.set('b', 8);
    expect([values.get('a'), values.get('b')]).toEqual([2, 8]);
  });
});
