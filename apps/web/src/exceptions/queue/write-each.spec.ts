import { type Outcomes, tally, writeEach } from './write-each.ts';

const never = new AbortController().signal;

it('one that fails leaves the others as they are, and says why', async () => {
  const told: Outcomes[] = [];
  const outcomes = await writeEach({
    ids: ['a', 'b', 'c'],
    write: (id) => (id === 'b' ? Promise.reject(new Error('refused')) : Promise.resolve()),
    onProgress: (each) => told.push(each),
    signal: never,
  });
  expect(tally(outcomes)).toEqual({ ended: 3, failed: [['b', 'refused']] });
  expect(told.map((each) => tally(each).ended)).toEqual([0, 1, 2, 3]);
});

it('few at once', async () => {
  let [underWay, most] = [0, 0];
  const write = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
  };
  const ids = Array.from({ length: 20 }, (_, n) => String(n));
  await writeEach({ ids, write, onProgress: () => undefined, signal: never });
  expect(most).toBe(4);
});

it('begins none once it is ended', async () => {
  const ended = new AbortController();
  const written: string[] = [];
  const write = (id: string) => {
    written.push(id);
    if (written.length === 2) ended.abort();
    return Promise.resolve();
  };
  const outcomes = await writeEach({ ids: [...'abcdefgh'], write, onProgress: () => undefined, signal: ended.signal });
  expect(written.length).toBeLessThanOrEqual(4);
  expect(tally(outcomes).ended).toBe(written.length);
});
