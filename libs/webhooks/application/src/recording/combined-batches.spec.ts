import { BatchCombiner } from './combined-batches.ts';

describe('CombinedBatches', () => {
  const handled: (readonly string[])[] = [];
  const record = (items: readonly string[]) => {
    handled.push([...items]);
    return items.includes('bad') ? Promise.reject(new Error('refused')) : Promise.resolve();
  };
  beforeEach(() => void handled.splice(0));

  it('handles the batches of one turn together, in their order', async () => {
    const batches = new BatchCombiner(10, record);
    await Promise.all([
      batches.addToCombinedBatchAndAwaitHandling(['a', 'b']),
      batches.addToCombinedBatchAndAwaitHandling(['c']),
    ]);
    await batches.addToCombinedBatchAndAwaitHandling(['d']);
    expect(handled).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('starts another batch above the maximum, and never splits one', async () => {
    const batches = new BatchCombiner(3, record);
    await Promise.all([
      batches.addToCombinedBatchAndAwaitHandling(['a', 'b']),
      batches.addToCombinedBatchAndAwaitHandling(['c', 'd']),
      batches.addToCombinedBatchAndAwaitHandling(['e', 'f', 'g', 'h']),
    ]);
    expect(handled).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f', 'g', 'h'],
    ]);
  });

  it('rejects all batches that were handled together, and handles later ones', async () => {
    const batches = new BatchCombiner(10, record);
    const outcomes = await Promise.allSettled([
      batches.addToCombinedBatchAndAwaitHandling(['a']),
      batches.addToCombinedBatchAndAwaitHandling(['bad']),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await batches.addToCombinedBatchAndAwaitHandling(['a']);
    expect(handled).toEqual([['a', 'bad'], ['a']]);
  });
});
