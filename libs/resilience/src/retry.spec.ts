import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import { Busy } from '@tracking/ports';
import { monotonicMs, retry } from './retry.ts';

const away = new Error('away');
const failing = (times: number) => (failures: number) => {
  if (failures < times) throw away;
  return 'done';
};

describe('retry', () => {
  let pauses: number[];
  // What other suites of the process have open sets timers too.
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
    await expect(retry(failing(6), { firstPauseMs: 10, longestPauseMs: 100 })).resolves.toBe('done');
    expect(pauses).toEqual([10, 20, 40, 80, 100, 100]);
  });

  it('draws each pause between nothing and its bound', async () => {
    jest.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.25);
    await retry(failing(2), { firstPauseMs: 40 });
    expect(pauses).toEqual([0, 20]);
  });

  it('comes back soon to a full queue, however often it was full', async () => {
    const full = (failures: number) => {
      if (failures < 10) throw new Busy('event store', 'the queue is full');
      return 'taken';
    };
    await expect(retry(full)).resolves.toBe('taken');
    expect(Math.max(...pauses)).toBe(50);
  });

  it('throws at once what is not transient, and tells of it', async () => {
    const told: unknown[] = [];
    const options = { isTransient: () => false, onFailure: (error: unknown, n: number) => told.push([error, n]) };
    await expect(retry(failing(1), options)).rejects.toBe(away);
    expect(told).toEqual([[away, 1]]);
    expect(pauses).toEqual([]);
  });

  it('throws the last failure where a pause would pass the deadline', async () => {
    const deadline = monotonicMs() + 100;
    await expect(retry(failing(1_000), { firstPauseMs: 30, deadline })).rejects.toBe(away);
    expect(pauses).toEqual([30, 60]);
  });

  it('ends with the last failure when the signal aborts, also in a pause', async () => {
    const stopping = new AbortController();
    const onFailure = (_: unknown, failures: number) => {
      if (failures === 3) stopping.abort();
    };
    await expect(retry(failing(1_000), { signal: stopping.signal, onFailure })).rejects.toBe(away);
    expect(pauses).toHaveLength(2);
  });

  it('answers what an action did although the signal aborted meanwhile', async () => {
    const stopping = new AbortController();
    const action = () => {
      stopping.abort();
      return 'done';
    };
    await expect(retry(action, { signal: stopping.signal })).resolves.toBe('done');
  });
});
