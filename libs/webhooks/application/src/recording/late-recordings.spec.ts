import { Unavailable } from '@tracking/ports';
import { eventually, silentLogger } from '@tracking/testing';
import { Persistence } from '../attempts/persistence.ts';
import { LateRecordings, type Recording } from './late-recordings.ts';

const never = new AbortController().signal;

/** `count` deliveries of one endpoint. */
function recording(endpointId: string, count = 1): Recording {
  const one = { endpoint: { id: endpointId }, delivery: { id: `dlv_${endpointId}` } };
  return { matched: Array.from({ length: count }, () => one), payloads: [] } as unknown as Recording;
}

function stage(store: (recordings: readonly Recording[]) => Promise<void> = async () => {}) {
  const ended = new AbortController();
  const stored: (readonly string[])[] = [];
  const retries: string[] = [];
  const late = new LateRecordings(
    async (recordings) => {
      await store(recordings);
      stored.push(recordings.flatMap(({ matched }) => matched.map(({ endpoint }) => endpoint.id)));
    },
    new Persistence(silentLogger, ended.signal, (what) => retries.push(what)),
  );
  return { late, stored, retries, ended };
}

describe('deliveries recorded late', () => {
  test('wait for others and are recorded with them, in the order in which they came', async () => {
    const { late, stored } = stage();
    await Promise.all([
      late.add(recording('a'), never),
      late.add(recording('b'), never),
      late.add(recording('a'), never),
    ]);
    expect(stored).toEqual([['a', 'b', 'a']]);
    await late.add(recording('c'), never);
    expect(stored[1]).toEqual(['c']);
  });

  test('are known until they are recorded', async () => {
    const { late } = stage();
    const done = Promise.all([late.add(recording('a', 3), never), late.add(recording('b'), never)]);
    expect([late.count, late.has('a'), late.has('b'), late.has('c')]).toEqual([4, true, true, false]);
    await done;
    await eventually(() => expect([late.count, late.has('a'), late.has('b')]).toEqual([0, false, false]));
  });

  test('are recorded a part at a time, each only when the one before is', async () => {
    let working = 0;
    const { late, stored } = stage(async () => {
      working += 1;
      expect(working).toBe(1);
      await new Promise(setImmediate);
      working -= 1;
    });
    await Promise.all(Array.from({ length: 10 }, (_, index) => late.add(recording(`e${index}`, 100), never)));
    expect(stored.flat()).toHaveLength(1_000);
    expect(stored.length).toBeGreaterThan(1);
    expect([...new Set(stored.flat())]).toEqual(Array.from({ length: 10 }, (_, index) => `e${index}`));
  });

  test('are not recorded where their partition was taken away', async () => {
    const { late, stored } = stage();
    const fencing = new AbortController();
    const done = Promise.all([late.add(recording('a'), fencing.signal), late.add(recording('b'), never)]);
    fencing.abort();
    await done;
    expect(stored).toEqual([['b']]);
  });

  test('are tried again until the store takes them', async () => {
    let failures = 2;
    const { late, stored, retries } = stage(async () => {
      if (failures-- > 0) throw new Unavailable('store', 'away');
    });
    await late.add(recording('a'), never);
    expect(stored).toEqual([['a']]);
    expect(retries).toHaveLength(2);
  });

  test('are given up when consumption ends while the store is away, and when they are at fault', async () => {
    const away = stage(() => Promise.reject(new Unavailable('store', 'away')));
    const given = away.late.add(recording('a'), never);
    given.catch(() => away.ended.abort());
    away.ended.abort();
    await expect(given).rejects.toThrow();
    const faulty = stage(() => Promise.reject(new TypeError('no')));
    await expect(faulty.late.add(recording('a'), never)).rejects.toThrow(TypeError);
    await eventually(() => expect([away.late.count, faulty.late.count]).toEqual([0, 0]));
  });

  test('go at once when somebody waits for the next ones', async () => {
    const { late, stored } = stage();
    const done = Promise.all([late.add(recording('a'), never), late.add(recording('b'), never)]);
    const waited = new Promise((resolve) => setTimeout(() => resolve('waited'), 100));
    expect(await Promise.race([late.next().then(() => 'at once'), waited])).toBe('at once');
    expect(stored).toEqual([['a', 'b']]);
    expect([late.has('a'), late.has('b'), late.flushes]).toEqual([false, false, 1]);
    await Promise.all([done, late.next()]);
    expect(late.flushes).toBe(1);
  });

  test('fail without ending the process where nobody looks yet', async () => {
    const { late } = stage(() => Promise.reject(new TypeError('no')));
    const given = late.add(recording('a'), never);
    await eventually(() => expect(late.count).toBe(0));
    await expect(given).rejects.toThrow(TypeError);
  });

  test('admit more only when there is room', async () => {
    const gate = Promise.withResolvers<void>();
    const { late } = stage(() => gate.promise);
    const done = late.add(recording('a', 5_000), never);
    let admitted = false;
    const admission = late.admit().then(() => (admitted = true));
    await new Promise(setImmediate);
    expect(admitted).toBe(false);
    gate.resolve();
    await Promise.all([done, admission]);
  });
});
