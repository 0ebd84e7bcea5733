import { LiveTail } from './live-tail.ts';

const all = () => true;
const entry = (item: string, characters = 1) => ({ item, characters });

describe('the tail of the newest items', () => {
  it('is read by position, up to a limit', () => {
    const tail = new LiveTail<string>(10, { items: 100, characters: 100 });
    expect([tail.covers(9), tail.covers(10)]).toEqual([false, true]);
    tail.push([entry('a'), entry('b')]);
    tail.push([entry('c')]);
    expect(tail.last).toBe(13);
    expect(tail.after(10, 9, all)).toEqual({ items: ['a', 'b', 'c'], position: 13 });
    expect(tail.after(11, 1, all)).toEqual({ items: ['b'], position: 12 });
    expect(tail.after(10, 9, (item) => item === 'c')).toEqual({ items: ['c'], position: 13 });
  });

  it('is bounded by number', () => {
    const tail = new LiveTail<string>(0, { items: 3, characters: 100 });
    for (let number = 1; number <= 6; number += 1) tail.push([entry(String(number))]);
    expect([tail.covers(2), tail.covers(3)]).toEqual([false, true]);
    expect(tail.after(3, 9, all).items).toEqual(['4', '5', '6']);
  });

  it('is bounded by length, even of a single item', () => {
    const tail = new LiveTail<string>(0, { items: 3, characters: 10 });
    tail.push([entry('a', 9), entry('b', 9)]);
    expect(tail.covers(0)).toBe(true);
    tail.push([entry('c', 9)]);
    expect([tail.covers(1), tail.covers(2)]).toEqual([false, true]);
    tail.push([entry('d', 99)]);
    expect([tail.covers(3), tail.covers(4), tail.last]).toEqual([false, true, 4]);
  });

  it('drops items that are no longer stored', () => {
    const tail = new LiveTail<string>(0, { items: 3, characters: 10 });
    tail.push([entry('a')]);
    tail.clear();
    expect([tail.covers(0), tail.covers(1)]).toEqual([false, true]);
    tail.push([entry('b')]);
    expect(tail.after(1, 9, all)).toEqual({ items: ['b'], position: 2 });
  });
});
