import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import { BusyError, UnavailableError } from '@tracking/ports';
import { monotonicMs, retry, retryConflicts, waitForAbort, withDeadline } from './retry.ts';

const away = new Error('away');
const failing = (times: number) => (failures: number) => {
  if (failures < times) throw away;
  return 'done';
};

describe('retry', () => {
  let pauses: number[];
  // Open resources of other suites in the process set timers too.
  const own = new AsyncLocalStorage<true>();
  const it = (name: string, body: () => Promise<void>) => test(name, () => own.run(true, body));

  beforeEach(() => {
    pauses = [];
    const others = globalThis.setTimeout;
    jest.spyOn(Math, 'random').mockReturnValue(1);
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((done, ms) => {
      if (own.getStore() === undefined) return others(done, ms);
      pauses.push(ms ?? 0);
      return setImmediate(done) as unknown as NodeJS.Timeout;
    });
  });
  afterEach(() => jest.restoreAllMocks());

  it('repeats until the action succeeds, with pauses that double up to their bound', async () => {
    await expect(retry(failing(6), { firstPauseMs: 10, maxPauseMs: 100 })).resolves.toBe('done');
    expect(pauses).toEqual([10, 20, 40, 80, 100, 100]);
  });

  it('chooses each pause at random between 0 and its maximum', async () => {
    jest.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.25);
    await retry(failing(2), { firstPauseMs: 40 });
    expect(pauses).toEqual([0, 20]);
  });

  it('retries soon after Busy, regardless of the number of failures', async () => {
    const full = (failures: number) => {
      if (failures < 10) throw new BusyError('event store', 'the queue is full');
      return 'taken';
    };
    await expect(retry(full)).resolves.toBe('taken');
    expect(Math.max(...pauses)).toBe(50);
  });

  it('throws errors that are not transient immediately, and reports them', async () => {
    const told: unknown[] = [];
    const options = { isTransient: () => false, onFailure: (error: unknown, n: number) => told.push([error, n]) };
    await expect(retry(failing(1), options)).rejects.toBe(away);
    expect(told).toEqual([[away, 1]]);
    expect(pauses).toEqual([]);
  });

  it('throws the last error if a pause would exceed the deadline', async () => {
    const deadline = monotonicMs() + 100;
    await expect(retry(failing(1_000), { firstPauseMs: 30, deadline })).rejects.toBe(away);
    expect(pauses).toEqual([30, 60]);
  });

  it('ends with the last error when the signal aborts, also during a pause', async () => {
    const stopping = new AbortController();
    const onFailure = (_: unknown, failures: number) => {
      if (failures === 3) stopping.abort();
    };
    await expect(retry(failing(1_000), { signal: stopping.signal, onFailure })).rejects.toBe(away);
    expect(pauses).toHaveLength(2);
  });

  it('returns the result of an action during which the signal aborted', async () => {
    const stopping = new AbortController();
    const action = () => {
      stopping.abort();
      return 'done';
    };
    await expect(retry(action, { signal: stopping.signal })).resolves.toBe('done');
  });
});

describe('retryConflicts', () => {
  const THINGS = {};

  it('repeats a refused attempt until it writes', async () => {
    let attempts = 0;
    const written = await retryConflicts(THINGS, 'thing 1', () =>
      Promise.resolve((attempts += 1) < 4 ? undefined : 'written'),
    );
    expect([written, attempts]).toEqual(['written', 4]);
  });

  it('pauses between attempts, so that a write of another replica becomes readable', async () => {
    let isReadable = false;
    let attempts = 0;
    setImmediate(() => (isReadable = true));
    await retryConflicts(THINGS, 'thing 1', () => {
      attempts += 1;
      return attempts > 1_000 ? Promise.reject(new Error('no pause')) : Promise.resolve(isReadable || undefined);
    });
    expect(attempts).toBeLessThan(1_000);
  });

  it('throws Busy with the name of the resource once the deadline has passed', async () => {
    const refused = retryConflicts(THINGS, 'thing 1', () => Promise.resolve(undefined), 0);
    await expect(refused).rejects.toThrow(
      new BusyError('document store', 'too many requests change thing 1 at the same time'),
    );
    await expect(refused).rejects.toBeInstanceOf(BusyError);
  });

  it('does not repeat an attempt that throws', async () => {
    let attempts = 0;
    const away = new UnavailableError('document store', 'no answer');
    const failed = retryConflicts(THINGS, 'thing 1', () => {
      attempts += 1;
      return Promise.reject(away);
    });
    await expect(failed).rejects.toBe(away);
    expect(attempts).toBe(1);
  });

  it('runs calls for one resource one after another, also after a failed one', async () => {
    const running = new Set<number>();
    const increment = (call: number) => async () => {
      running.add(call);
      expect([...running]).toEqual([call]);
      await new Promise(setImmediate);
      running.delete(call);
      return call === 1 ? Promise.reject(new Error('failed')) : call;
    };
    const calls = [0, 1, 2, 3].map((call) => retryConflicts(THINGS, 'thing 1', increment(call)));
    const results = await Promise.allSettled(calls);
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([
      0,
      'failed',
      2,
      3,
    ]);
  });

  it('lets neither another resource nor another collection wait', async () => {
    const held = Promise.withResolvers<string>();
    const first = retryConflicts(THINGS, 'thing 1', () => held.promise);
    const written = () => Promise.resolve('written');
    await expect(retryConflicts(THINGS, 'thing 2', written)).resolves.toBe('written');
    await expect(retryConflicts({}, 'thing 1', written)).resolves.toBe('written');
    held.resolve('held');
    await first;
  });

  it('throws Busy without an attempt if an earlier call does not end, and lets the next call proceed', async () => {
    const never = new Promise<never>(() => undefined);
    void retryConflicts(THINGS, 'thing 3', () => never);
    let attempts = 0;
    const write = () => Promise.resolve((attempts += 1));
    await expect(retryConflicts(THINGS, 'thing 3', write, 0)).rejects.toBeInstanceOf(BusyError);
    expect(attempts).toBe(0);
    await expect(retryConflicts(THINGS, 'thing 3', write)).resolves.toBe(1);
  });
});

const LONG_MS = 2 ** 31 - 1;
const late = () => new Error('late');

describe('a promise with a deadline', () => {
  it('settles as the promise does', async () => {
    await expect(withDeadline(Promise.resolve('done'), LONG_MS, late)).resolves.toBe('done');
    await expect(withDeadline(Promise.reject(new Error('away')), LONG_MS, late)).rejects.toThrow('away');
  });

  it('fails with the given error after the deadline, regardless of later results', async () => {
    const slow = Promise.withResolvers<string>();
    await expect(withDeadline(slow.promise, 1, late)).rejects.toThrow('late');
    slow.reject(new Error('away'));
    await new Promise(setImmediate);
  });
});

it('waitForAbort resolves when any of the signals aborts, or if one has aborted', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  let isResolved = false;
  const waiting = waitForAbort(first.signal, second.signal).then(() => (isResolved = true));
  await new Promise(setImmediate);
  expect(isResolved).toBe(false);
  second.abort();
  await waiting;
  await waitForAbort(first.signal, second.signal);
});
