import { SpareTime } from './spare-time.ts';

const time = { elapsed: 0, idle: 0 };
const loop = (elapsed: number, idle: number) => {
  time.elapsed += elapsed;
  time.idle += idle;
};
let spare: SpareTime;
beforeEach(() => {
  spare = new SpareTime(() => ({ ...time }));
});

/** Takes what there is, at most so often. */
const taken = (most = 1_000) => {
  let count = 0;
  while (count < most && spare.take()) count += 1;
  return count;
};

describe('time to spare', () => {
  test('is enough for a few attempts at first, and then no more', () => {
    expect(taken()).toBe(20);
    expect(spare.take()).toBe(false);
  });

  test('comes while the loop has nothing to do', () => {
    taken();
    loop(5, 5);
    expect(spare.attempts).toBe(10);
    expect(taken()).toBe(10);
  });

  test('is saved up for a few attempts only', () => {
    loop(60_000, 60_000);
    expect(taken()).toBe(20);
  });

  test('comes slowly where the loop is never idle', () => {
    taken();
    let count = 0;
    for (let ms = 0; ms < 1_000; ms += 5) {
      loop(5, 0);
      count += taken();
    }
    expect(count).toBeGreaterThanOrEqual(99);
    expect(count).toBeLessThanOrEqual(100);
  });

  test('is not lost by asking often', () => {
    taken();
    for (let n = 0; n < 49; n += 1) {
      loop(0.01, 0.01);
      expect(spare.attempts).toBe(n < 47 ? 0 : 1);
    }
  });
});
