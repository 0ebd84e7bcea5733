import { LogTailCache } from './live-tail.ts';

const all = () => true;
const entry = (item: string, characters = 1) => ({ item, characters });

describe('the tail of the newest items', () => {
  it('is read by position, up to a limit', () => {
    const tail = new LogTailCache<string>(10, { items: 100, characters: 100 });
    expect([tail.hasAllItemsInMemoryAfter(9), tail.hasAllItemsInMemoryAfter(10)]).toEqual([false, true]);
    tail.appendItemsToTail([entry('a'), entry('b')]);
    tail.appendItemsToTail([entry('c')]);
    expect(tail.last).toBe(13);
    expect(tail.listCachedItemsAfterPosition(10, 9, all)).toEqual({ items: ['a', 'b', 'c'], position: 13 });
    expect(tail.listCachedItemsAfterPosition(11, 1, all)).toEqual({ items: ['b'], position: 12 });
    expect(tail.listCachedItemsAfterPosition(10, 9, (item) => item === 'c')).toEqual({ items: ['c'], position: 13 });
  });

  it('is bounded by number', () => {
    const tail = new LogTailCache<string>(0, { items: 3, characters: 100 });
    for (let number = 1; number <= 6; number += 1) tail.appendItemsToTail([entry(String(number))]);
    expect([tail.hasAllItemsInMemoryAfter(2), tail.hasAllItemsInMemoryAfter(3)]).toEqual([false, true]);
    expect(tail.listCachedItemsAfterPosition(3, 9, all).items).toEqual(['4', '5', '6']);
  });

  it('is bounded by length, even of a single item', () => {
    const tail = new LogTailCache<string>(0, { items: 3, characters: 10 });
    tail.appendItemsToTail([entry('a', 9), entry('b', 9)]);
    expect(tail.hasAllItemsInMemoryAfter(0)).toBe(true);
    tail.appendItemsToTail([entry('c', 9)]);
    expect([tail.hasAllItemsInMemoryAfter(1), tail.hasAllItemsInMemoryAfter(2)]).toEqual([false, true]);
    tail.appendItemsToTail([entry('d', 99)]);
    expect([tail.hasAllItemsInMemoryAfter(3), tail.hasAllItemsInMemoryAfter(4), tail.last]).toEqual([false, true, 4]);
  });

  it('drops items that are no longer stored', () => {
    const tail = new LogTailCache<string>(0, { items: 3, characters: 10 });
    tail.appendItemsToTail([entry('a')]);
    tail.dropAllBufferedItems();
    expect([tail.hasAllItemsInMemoryAfter(0), tail.hasAllItemsInMemoryAfter(1)]).toEqual([false, true]);
    tail.appendItemsToTail([entry('b')]);
    expect(tail.listCachedItemsAfterPosition(1, 9, all)).toEqual({ items: ['b'], position: 2 });
  });
});
