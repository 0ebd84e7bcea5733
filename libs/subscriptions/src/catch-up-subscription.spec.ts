import { SubscriptionLagMeter } from './catch-up-subscription.ts';

describe('a lag', () => {
  let now: number;
  let lag: SubscriptionLagMeter;
  /** Observes once per second for the given time. */
  const look = (
    seconds: number,
    see: (second: number) => readonly [head: string | undefined, done: string | undefined],
  ) => {
    for (const end = now + seconds * 1_000; now < end;) {
      now += 1_000;
      const [head, done] = see(now / 1_000);
      lag.recordLagObservation(now, head, done);
    }
  };
  const at = (second: number) => String(second).padStart(6, '0');
  beforeEach(() => {
    now = 0;
    lag = new SubscriptionLagMeter(() => now);
  });

  it('is zero if everything is handled or nothing is stored', () => {
    look(10, () => [undefined, undefined]);
    expect(lag.computeLagMs()).toBe(0);
    look(10, () => ['0007', '0007']);
    expect(lag.computeLagMs()).toBe(0);
  });

  it('grows from the first observation of a waiting event', () => {
    look(10, () => ['0001', '0001']);
    look(60, () => ['0002', '0001']);
    expect(lag.computeLagMs()).toBe(59_000);
    look(1, () => ['0002', '0002']);
    expect(lag.computeLagMs()).toBe(0);
  });

  it('grows if nothing was ever handled', () => {
    look(60, () => ['0002', undefined]);
    expect(lag.computeLagMs()).toBe(59_000);
  });

  it('equals the delay of the work while both advance', () => {
    look(5_000, (second) => [at(second), at(Math.max(0, second - 30))]);
    expect(lag.computeLagMs()).toBe(29_000);
  });

  it('grows while nothing advances', () => {
    look(10, (second) => [at(second), at(second)]);
    look(9_990, (second) => [at(second), at(10)]);
    expect(lag.computeLagMs()).toBe(9_989_000);
  });

  it('grows while it cannot be observed', () => {
    look(10, () => ['0001', '0001']);
    now += 3_000;
    expect(lag.computeLagMs()).toBe(0);
    now += 57_000;
    expect(lag.computeLagMs()).toBe(60_000);
    look(1, () => ['0001', '0001']);
    expect(lag.computeLagMs()).toBe(0);
  });
});
