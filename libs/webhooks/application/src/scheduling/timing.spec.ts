import { eventually } from '@tracking/testing';
import { startSystemTimer } from '../attempts/dispatcher.ts';
import {
  SPARE_TIME_CHARGED_PER_ATTEMPT_MS,
  DelayQueue,
  type EndpointLimitedToSpareCapacity,
  SpareTimePacing,
  EventLoopSpareTimeBudget,
} from './timing.ts';

describe('delay queue', () => {
  let now = 0;
  const time = { now: () => now, steps: 0 };
  let woken: string[] = [];
  let delays: DelayQueue<string>;

  beforeEach(() => {
    now = 1_000;
    woken = [];
    delays = new DelayQueue(time, (item) => woken.push(item), startSystemTimer);
  });
  afterEach(() => delays.closeDelayQueue());

  describe('a delay queue', () => {
    test('wakes items in order of time, in whatever order they were added', async () => {
      const moments = Array.from({ length: 50 }, (_, index) => 1_001 + ((index * 37) % 50));
      for (const moment of moments) delays.scheduleItem(String(moment), moment);
      now = 2_000;
      delays.scheduleItem('last', 1_999);
      await eventually(() => expect(woken).toHaveLength(51));
      expect(woken).toEqual([...moments.toSorted((a, b) => a - b).map(String), 'last']);
    });

    test('wakes an item once, at the earliest time requested', async () => {
      delays.scheduleItem('a', 5_000);
      delays.scheduleItem('a', 1_010);
      delays.scheduleItem('a', 3_000);
      now = 1_020;
      delays.scheduleItem('b', 1_020);
      await eventually(() => expect(woken).toEqual(['a', 'b']));
      now = 10_000;
      delays.scheduleItem('c', 10_000);
      await eventually(() => expect(woken).toContain('c'));
      expect(woken).toEqual(['a', 'b', 'c']);
    });

    test('does not wake an item that was removed', async () => {
      delays.scheduleItem('a', 1_000);
      delays.cancelWakeUpOfItem('a');
      delays.scheduleItem('b', 1_000);
      await eventually(() => expect(woken).toEqual(['b']));
    });

    test('keeps the order after some items were removed', async () => {
      const moments = Array.from({ length: 100 }, (_, index) => 1_001 + ((index * 37) % 100));
      for (const moment of moments) delays.scheduleItem(String(moment), moment);
      const [gone, kept] = [moments.filter((at) => at % 3 === 0), moments.filter((at) => at % 3 !== 0)];
      for (const moment of gone) delays.cancelWakeUpOfItem(String(moment));
      now = 2_000;
      delays.scheduleItem('last', 1_999);
      await eventually(() => expect(woken).toContain('last'));
      expect(woken).toEqual([...kept.toSorted((a, b) => a - b).map(String), 'last']);
    });

    test('holds an item once, however often it is woken before a distant time', async () => {
      for (let round = 1; round <= 20; round += 1) {
        delays.scheduleItem('a', 100_000_000);
        delays.scheduleItem('a', now);
        await eventually(() => expect(woken).toHaveLength(round));
      }
      delays.scheduleItem('a', 100_000_000);
      expect(delays.size).toBe(1);
    });

    test('wakes the others before an item that is scheduled again for a past time', async () => {
      const again = new DelayQueue<string>(
        time,
        (item) => {
          woken.push(item);
          if (woken.length < 6) again.scheduleItem('a', 1_000);
        },
        startSystemTimer,
      );
      again.scheduleItem('a', 1_000);
      again.scheduleItem('b', 1_001);
      now = 2_000;
      await eventually(() => expect(woken).toContain('b'));
      expect(woken.slice(0, 2)).toEqual(['a', 'b']);
      again.closeDelayQueue();
    });

    test('reads the clock once a second, and so notices that it was set forward', () => {
      const timers: { readonly ring: () => void; readonly ms: number }[] = [];
      const driven = new DelayQueue<string>(
        time,
        (item) => woken.push(item),
        (ring, ms) => {
          timers.push({ ring, ms });
          return () => undefined;
        },
      );
      driven.scheduleItem('a', 1_000 + 3_600_000);
      timers[0]?.ring();
      expect(woken).toEqual([]);
      now += 3_600_000;
      timers[1]?.ring();
      expect(woken).toEqual(['a']);
      expect(timers.map(({ ms }) => ms)).toEqual([1_000, 1_000]);
    });

    test('wakes all items after a step of the wall clock', () => {
      const rings: (() => void)[] = [];
      const stepped = { now: () => now, steps: 0 };
      const driven = new DelayQueue<string>(
        stepped,
        (item) => woken.push(item),
        (ring) => {
          rings.push(ring);
          return () => undefined;
        },
      );
      driven.scheduleItem('a', now + 259_200_000);
      driven.scheduleItem('b', now + 5_000);
      stepped.steps += 1;
      rings.at(-1)?.();
      expect([woken, driven.size]).toEqual([['b', 'a'], 0]);
    });
  });
});

describe('pacing', () => {
  const time = { elapsed: 0, idle: 0 };
  const loop = (elapsed: number, idle: number) => {
    time.elapsed += elapsed;
    time.idle += idle;
  };
  let spare: EventLoopSpareTimeBudget;
  beforeEach(() => {
    spare = new EventLoopSpareTimeBudget({ ...time });
  });

  /** Number of attempts that the spare time allows. */
  const attempts = () => {
    let count = 0;
    while (spare.trySpendTime(SPARE_TIME_CHARGED_PER_ATTEMPT_MS, { ...time })) count += 1;
    return count;
  };

  describe('spare time', () => {
    test('allows a few attempts at first', () => {
      expect(attempts()).toBe(10);
      expect(spare.hasSpareEventLoopTimeForAttempt({ ...time })).toBe(false);
    });

    test('increases while the loop is idle', () => {
      attempts();
      loop(10, 10);
      expect(spare.hasSpareEventLoopTimeForAttempt({ ...time })).toBe(true);
      expect(attempts()).toBe(5);
    });

    test('is saved for a few attempts only', () => {
      loop(60_000, 60_000);
      expect(attempts()).toBe(10);
    });

    test('increases slowly if the loop is never idle', () => {
      attempts();
      let count = 0;
      for (let ms = 0; ms < 1_000; ms += 5) {
        loop(5, 0);
        count += attempts();
      }
      expect(count).toBeGreaterThanOrEqual(24);
      expect(count).toBeLessThanOrEqual(25);
    });

    test('is not lost by frequent checks', () => {
      attempts();
      for (let n = 1; n <= 200; n += 1) {
        loop(0.01, 0.01);
        expect(spare.hasSpareEventLoopTimeForAttempt({ ...time })).toBe(
          n * 0.0105 >= SPARE_TIME_CHARGED_PER_ATTEMPT_MS,
        );
      }
    });

    test('is paid off first if more was spent than available', () => {
      attempts();
      loop(2, 2);
      expect(spare.trySpendTime(6, { ...time })).toBe(true);
      loop(5, 5);
      expect(spare.hasSpareEventLoopTimeForAttempt({ ...time })).toBe(false);
      loop(1, 1);
      expect(spare.hasSpareEventLoopTimeForAttempt({ ...time })).toBe(true);
    });
  });

  describe('pacing', () => {
    const endpoint = (workspace: string, isPaced = true, isFailing = true): EndpointLimitedToSpareCapacity => ({
      ...{ workspace, isPaced, isFailing },
    });
    /** Admits probes until the time saved at the beginning is spent. */
    const spent = () => {
      const pacing = new SpareTimePacing<EndpointLimitedToSpareCapacity>({ ...time });
      while (pacing.tryReserveSpareTimeForAttempt(endpoint('wsp_0'), { ...time }));
      pacing.removeWaitingEndpoint(endpoint('wsp_0'));
      expect(pacing.takeNextWaitingEndpoint({ ...time })).toBeUndefined();
      return pacing;
    };

    test('admits endpoints that are not paced, whatever the spare time', () => {
      expect(spent().tryReserveSpareTimeForAttempt(endpoint('wsp_1', false), { ...time })).toBe(true);
    });

    test('charges a probe twice as much as an attempt, and a replay three times', () => {
      const count = (admit: (pacing: SpareTimePacing<EndpointLimitedToSpareCapacity>) => boolean) => {
        const pacing = new SpareTimePacing<EndpointLimitedToSpareCapacity>({ ...time });
        let admitted = 0;
        while (admit(pacing)) admitted += 1;
        return admitted;
      };
      expect(count((pacing) => pacing.tryReserveSpareTimeForAttempt(endpoint('wsp_1', true, false), { ...time }))).toBe(
        10,
      );
      expect(count((pacing) => pacing.tryReserveSpareTimeForAttempt(endpoint('wsp_1'), { ...time }))).toBe(5);
      expect(count((pacing) => pacing.canReplayTakeTurn(endpoint('wsp_1', false), { ...time }))).toBe(4);
    });

    test('returns waiting endpoints, workspace by workspace, as soon as there is spare time', () => {
      const pacing = new SpareTimePacing<EndpointLimitedToSpareCapacity>({ ...time });
      while (pacing.canReplayTakeTurn(endpoint('wsp_0'), { ...time }));
      for (
        let one = pacing.takeNextWaitingEndpoint(loopWith(6));
        one !== undefined;
        one = pacing.takeNextWaitingEndpoint({ ...time })
      );
      const [first, second, other] = [endpoint('wsp_1'), endpoint('wsp_1'), endpoint('wsp_2')];
      while (pacing.tryReserveSpareTimeForAttempt(first, { ...time }));
      expect(pacing.canReplayTakeTurn(second, { ...time })).toBe(false);
      expect(pacing.tryReserveSpareTimeForAttempt(other, { ...time })).toBe(false);
      expect([pacing.isAwaited, pacing.takeNextWaitingEndpoint({ ...time })]).toEqual([true, undefined]);
      loop(20, 20);
      expect([pacing.takeNextWaitingEndpoint({ ...time }), pacing.takeNextWaitingEndpoint({ ...time })]).toEqual([
        first,
        other,
      ]);
      pacing.removeWaitingEndpoint(second);
      expect([pacing.takeNextWaitingEndpoint({ ...time }), pacing.isAwaited]).toEqual([undefined, false]);
    });

    function loopWith(ms: number) {
      loop(ms, ms);
      return { ...time };
    }
  });
});
