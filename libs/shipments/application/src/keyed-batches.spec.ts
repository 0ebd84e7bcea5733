import { BusyError } from '@tracking/ports';
import { KeyedBatchQueues, type KeyedBatchHandler } from './keyed-batches.ts';

const limits = { perBatch: 10, perKey: 20, total: 30 };

/** A handler that records its batches and answers once the gate is opened. */
function gated() {
  const seen: { key: string; items: number[] }[] = [];
  const gate = Promise.withResolvers<void>();
  const handle: KeyedBatchHandler<number, string> = async (key, batch) => {
    seen.push({ key, items: batch.map(({ item }) => item) });
    await gate.promise;
    for (const { item, answer } of batch) answer(`${key}${item}`);
  };
  return { seen, handle, open: gate.resolve };
}

describe('KeyedBatches', () => {
  it('handles one key in order, later items of the key together, and keys concurrently', async () => {
    const { seen, handle, open } = gated();
    const batches = new KeyedBatchQueues(handle, limits);
    const answers = [1, 2, 3].map((item) => batches.enqueueItemAndAwaitResult('a', item));
    answers.push(batches.enqueueItemAndAwaitResult('b', 4));
    expect(seen).toEqual([
      { key: 'a', items: [1] },
      { key: 'b', items: [4] },
    ]);
    open();
    expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'b4']);
    expect(seen[2]).toEqual({ key: 'a', items: [2, 3] });
  });

  it('limits the size of a batch', async () => {
    const { seen, handle, open } = gated();
    const batches = new KeyedBatchQueues(handle, limits);
    const answers = Array.from({ length: 21 }, (_, item) => batches.enqueueItemAndAwaitResult('a', item));
    open();
    await Promise.all(answers);
    expect(seen.map(({ items }) => items.length)).toEqual([1, 10, 10]);
    expect(seen.flatMap(({ items }) => items)).toEqual(Array.from({ length: 21 }, (_, item) => item));
  });

  it('is busy when a key or all queues are full; afterwards it accepts more', async () => {
    const { handle, open } = gated();
    const batches = new KeyedBatchQueues(handle, limits);
    const accepted = Array.from({ length: 21 }, (_, item) => batches.enqueueItemAndAwaitResult('a', item));
    await expect(batches.enqueueItemAndAwaitResult('a', 21)).rejects.toThrow(BusyError);
    for (let n = 0; n < 9; n++) accepted.push(batches.enqueueItemAndAwaitResult(`other ${n}`, n));
    await expect(batches.enqueueItemAndAwaitResult('one more', 0)).rejects.toThrow(BusyError);
    expect(batches.depth).toBe(30);
    open();
    await Promise.all(accepted);
    await expect(batches.enqueueItemAndAwaitResult('a', 22)).resolves.toBe('a22');
    expect(batches.depth).toBe(0);
  });

  it('fails unanswered items of a throwing handler, and continues with the next', async () => {
    const batches = new KeyedBatchQueues<number, number>(async (_, batch) => {
      for (const { item, answer } of batch) {
        if (item === 2) throw new Error('no');
        answer(item);
      }
    }, limits);
    const answers = [0, 1, 2, 3].map((item) => batches.enqueueItemAndAwaitResult('a', item));
    const [zero, one, two, three] = await Promise.allSettled(answers);
    expect([zero, one].map((each) => each?.status)).toEqual(['fulfilled', 'fulfilled']);
    expect([two, three].map((each) => each?.status)).toEqual(['rejected', 'rejected']);
    await expect(batches.enqueueItemAndAwaitResult('a', 5)).resolves.toBe(5);
  });
});
