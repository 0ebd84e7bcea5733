import { type BulkWriteResult, writeItemsConcurrently } from './write.ts';

const never = new AbortController().signal;

it('writes all items except those that fail', async () => {
  const progress: BulkWriteResult<number>[] = [];
  const write = (n: number) => (n % 2 === 0 ? Promise.reject(new Error(`no ${n}`)) : Promise.resolve());
  const tally = await writeItemsConcurrently([1, 2, 3, 4, 5], {
    write,
    onProgress: (it) => progress.push(it),
    signal: never,
  });
  expect(tally).toMatchObject({ done: [1, 3, 5], left: 0 });
  expect(tally.failed.map(({ item }) => item)).toEqual([2, 4]);
  expect(progress).toHaveLength(5);
});

it('sends at most four requests at once', async () => {
  let [now, most] = [0, 0];
  const write = async () => {
    now += 1;
    most = Math.max(most, now);
    await Promise.resolve();
    now -= 1;
  };
  await writeItemsConcurrently(Array.from({ length: 20 }), { write, onProgress: () => undefined, signal: never });
  expect(most).toBe(4);
});

it('completes pending requests when stopped and starts no more', async () => {
  const stopped = new AbortController();
  const write = () => {
    stopped.abort();
    return Promise.resolve();
  };
  const parts = { write, onProgress: () => undefined, signal: stopped.signal };
  expect(await writeItemsConcurrently([1, 2, 3], parts)).toEqual({ done: [1], failed: [], left: 2 });
});
