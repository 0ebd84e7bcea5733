import { eventually } from '@tracking/testing';
import { setSystemTimer } from '../attempts/dispatcher.ts';
import { DelayQueue } from './delay-queue.ts';

let now = 0;
let woken: string[] = [];
let delays: DelayQueue<string>;

beforeEach(() => {
  now = 1_000;
  woken = [];
  delays = new DelayQueue(
    () => now,
    (item) => woken.push(item),
    setSystemTimer,
  );
});
afterEach(() => delays.close());

describe('a delay queue', () => {
  test('wakes in the order of time, whatever the order of asking', async () => {
    const moments = Array.from({ length: 50 }, (_, index) => 1_001 + ((index * 37) % 50));
    for (const moment of moments) delays.at(String(moment), moment);
    now = 2_000;
    delays.at('last', 1_999);
    await eventually(() => expect(woken).toHaveLength(51));
    expect(woken).toEqual([...moments.toSorted((a, b) => a - b).map(String), 'last']);
  });

  test('wakes an item once, at the earliest moment asked for', async () => {
    delays.at('a', 5_000);
    delays.at('a', 1_010);
    delays.at('a', 3_000);
    now = 1_020;
    delays.at('b', 1_020);
    await eventually(() => expect(woken).toEqual(['a', 'b']));
    now = 10_000;
    delays.at('c', 10_000);
    await eventually(() => expect(woken).toContain('c'));
    expect(woken).toEqual(['a', 'b', 'c']);
  });

  test('does not wake what was taken out', async () => {
    delays.at('a', 1_000);
    delays.remove('a');
    delays.at('b', 1_000);
    await eventually(() => expect(woken).toEqual(['b']));
  });

  test('keeps the order when some are taken out', async () => {
    const moments = Array.from({ length: 100 }, (_, index) => 1_001 + ((index * 37) % 100));
    for (const moment of moments) delays.at(String(moment), moment);
    const [gone, kept] = [moments.filter((at) => at % 3 === 0), moments.filter((at) => at % 3 !== 0)];
    for (const moment of gone) delays.remove(String(moment));
    now = 2_000;
    delays.at('last', 1_999);
    await eventually(() => expect(woken).toContain('last'));
    expect(woken).toEqual([...kept.toSorted((a, b) => a - b).map(String), 'last']);
  });

  test('holds an item once, however often it is woken before a moment far ahead', async () => {
    for (let round = 1; round <= 20; round += 1) {
      delays.at('a', 100_000_000);
      delays.at('a', now);
      await eventually(() => expect(woken).toHaveLength(round));
    }
    delays.at('a', 100_000_000);
    expect(delays.size).toBe(1);
  });

  test('wakes the others before one that asks again for a moment that has come', async () => {
    const again = new DelayQueue<string>(
      () => now,
      (item) => {
        woken.push(item);
        if (woken.length < 6) again.at('a', 1_000);
      },
      setSystemTimer,
    );
    again.at('a', 1_000);
    again.at('b', 1_001);
    now = 2_000;
    await eventually(() => expect(woken).toContain('b'));
    expect(woken.slice(0, 2)).toEqual(['a', 'b']);
    again.close();
  });

  test('looks at the clock once a second, and so notices that it was set forward', () => {
    const timers: { readonly ring: () => void; readonly ms: number }[] = [];
    const driven = new DelayQueue<string>(
      () => now,
      (item) => woken.push(item),
      (ring, ms) => {
        timers.push({ ring, ms });
        return () => undefined;
      },
    );
    driven.at('a', 1_000 + 3_600_000);
    timers[0]?.ring();
    expect(woken).toEqual([]);
    now += 3_600_000;
    timers[1]?.ring();
    expect(woken).toEqual(['a']);
    expect(timers.map(({ ms }) => ms)).toEqual([1_000, 1_000]);
  });
});
