import { jest } from '@jest/globals';
import { UnavailableError } from '@tracking/ports';
import { pauseFor } from '@tracking/resilience';
import { MongoServerSilenceMonitor } from './silence-monitor.ts';

const NEVER = new Promise<never>(() => undefined);

describe('a monitor of silent servers', () => {
  let answerPing: () => void;
  let pings: number;
  let monitor: MongoServerSilenceMonitor;
  beforeEach(() => {
    jest.useFakeTimers();
    pings = 0;
    monitor = new MongoServerSilenceMonitor(() => {
      pings += 1;
      return new Promise<void>((resolve) => (answerPing = resolve));
    });
  });
  afterEach(() => jest.useRealTimers());

  /** Watches an operation that is never answered. Returns the outcome so far. */
  function watchForever(): { outcome: unknown } {
    const watched: { outcome: unknown } = { outcome: 'waiting' };
    monitor.rejectCallIfSilent(NEVER).catch((error: unknown) => (watched.outcome = error));
    return watched;
  }
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('fails waiting operations within 2.2 s, also those that started late, and later ones immediately', async () => {
    const first = watchForever();
    await pass(1_800);
    const second = watchForever();
    expect(first.outcome).toBe('waiting');
    await pass(400);
    expect(first.outcome).toBeInstanceOf(UnavailableError);
    expect(second.outcome).toBeInstanceOf(UnavailableError);
    expect(() => monitor.throwIfServerIsSilent()).toThrow(UnavailableError);
  });

  it('accepts operations again after a ping is answered', async () => {
    watchForever();
    await pass(3_000);
    answerPing();
    await pass(0);
    expect(() => monitor.throwIfServerIsSilent()).not.toThrow();
    await expect(monitor.rejectCallIfSilent(Promise.resolve(1))).resolves.toBe(1);
  });

  it('lets an operation take any time while pings are answered', async () => {
    const slow = watchForever();
    for (let n = 0; n < 100; n += 1) {
      await pass(100);
      answerPing?.();
    }
    expect(slow.outcome).toBe('waiting');
    expect(pings).toBeGreaterThan(5);
  });

  it('sends no ping while other operations are answered', async () => {
    watchForever();
    for (let n = 0; n < 100; n += 1) {
      await pass(100);
      monitor.recordServerAnswer();
    }
    expect(pings).toBe(0);
  });

  it('repeats pings that fail immediately, and reports the silence in the same time', async () => {
    monitor = new MongoServerSilenceMonitor(() => {
      pings += 1;
      return Promise.reject(new Error('connection refused'));
    });
    const watched = watchForever();
    await pass(2_200);
    expect(watched.outcome).toBeInstanceOf(UnavailableError);
    expect(pings).toBeGreaterThan(5);
  });

  it('does not count time in which this process was busy', async () => {
    const watched = watchForever();
    await pass(700);
    const { now } = performance;
    const delayed = jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 5_000);
    await pass(1_300);
    expect(watched.outcome).toBe('waiting');
    await pass(200);
    expect(watched.outcome).toBeInstanceOf(UnavailableError);
    delayed.mockRestore();
  });

  it('counts at most 150 ms between two checks, so that a process with little CPU time waits longer', async () => {
    const watched = watchForever();
    const { now } = performance;
    const slow = jest.spyOn(performance, 'now').mockImplementation(() => 3 * now.call(performance));
    await pass(1_400);
    expect(watched.outcome).toBe('waiting');
    await pass(400);
    expect(watched.outcome).toBeInstanceOf(UnavailableError);
    slow.mockRestore();
  });

  it('reads answers that have arrived before it decides', async () => {
    monitor = new MongoServerSilenceMonitor(() => pauseFor(1_500).then(() => new Promise(setImmediate)));
    const watched = watchForever();
    await pass(2_200);
    expect(watched.outcome).toBe('waiting');
  });

  it('sends further pings while one is not answered', async () => {
    const answers: (() => void)[] = [];
    monitor = new MongoServerSilenceMonitor(() => new Promise<void>((resolve) => answers.push(resolve)));
    watchForever();
    await pass(2_700);
    expect(() => monitor.throwIfServerIsSilent()).toThrow(UnavailableError);
    answers[2]?.();
    await pass(0);
    expect(() => monitor.throwIfServerIsSilent()).not.toThrow();
    expect(answers).toHaveLength(3);
  });

  it('does not count an earlier silence whose operations have failed by themselves', async () => {
    monitor = new MongoServerSilenceMonitor(() => Promise.reject(new Error('connection refused')));
    const { promise, reject } = Promise.withResolvers<void>();
    monitor.rejectCallIfSilent(promise).catch(() => undefined);
    await pass(1_500);
    reject(new Error('connection refused'));
    await pass(3_600_000);
    const watched = watchForever();
    await pass(1_900);
    expect(watched.outcome).toBe('waiting');
    await pass(300);
    expect(watched.outcome).toBeInstanceOf(UnavailableError);
  });

  it('stops when no operation waits', async () => {
    await monitor.rejectCallIfSilent(Promise.resolve());
    await pass(10_000);
    expect(pings).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
