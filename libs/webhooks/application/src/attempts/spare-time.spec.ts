import { ATTEMPT_MS, SpareTime } from './spare-time.ts';

const time = { elapsed: 0, idle: 0 };
const loop = (elapsed: number, idle: number) => {
  time.elapsed += elapsed;
  time.idle += idle;
};
let spare: SpareTime;
beforeEach(() => {
  spare = new SpareTime(() => ({ ...time }));
});

/** How many attempts there is enough for. */
const attempts = () => {
  let count = 0;
  while (spare.spend(ATTEMPT_MS)) count += 1;
  return count;
};

describe('time to spare', () => {
  test('is enough for a few attempts at first, and then no more', () => {
    expect(attempts()).toBe(10);
    expect(spare.isEnough).toBe(false);
  });

  test('comes while the loop has nothing to do', () => {
    attempts();
    loop(10, 10);
    expect(spare.isEnough).toBe(true);
    expect(attempts()).toBe(5);
  });

  test('is saved up for a few attempts only', () => {
    loop(60_000, 60_000);
    expect(attempts()).toBe(10);
  });

  test('comes slowly where the loop is never idle', () => {
    attempts();
    let count = 0;
    for (let ms = 0; ms < 1_000; ms += 5) {
      loop(5, 0);
      count += attempts();
    }
    expect(count).toBeGreaterThanOrEqual(24);
    expect(count).toBeLessThanOrEqual(25);
  });

  test('is not lost by asking often', () => {
    attempts();
    for (let n = 1; n <= 200; n += 1) {
      loop(0.01, 0.01);
      expect(spare.isEnough).toBe(n * 0.0105 >= ATTEMPT_MS);
    }
  });

  test('that was spent beyond what there was is paid off first', () => {
    attempts();
    loop(2, 2);
    expect(spare.spend(6)).toBe(true);
    loop(5, 5);
    expect(spare.isEnough).toBe(false);
    loop(1, 1);
    expect(spare.isEnough).toBe(true);
  });
});
