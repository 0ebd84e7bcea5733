import { QueryClient, QueryObserver, hashKey } from '@tanstack/react-query';
import { readOnceMore } from './read-once-more.ts';

let queries: QueryClient;
let reads: PromiseWithResolvers<string>[];
let leave: () => void;
beforeEach(() => {
  queries = new QueryClient();
  reads = [];
  leave = () => undefined;
});
afterEach(() => {
  leave();
  queries.clear();
});

/** Looks at what each read of it answers by hand. */
function look(queryKey: readonly unknown[]): void {
  const queryFn = () => {
    const read = Promise.withResolvers<string>();
    reads.push(read);
    return read.promise;
  };
  leave = new QueryObserver(queries, { queryKey, queryFn, staleTime: Infinity }).subscribe(() => undefined);
}
async function answered(text: string): Promise<void> {
  reads.at(-1)?.resolve(text);
  await Promise.resolve(reads.at(-1)?.promise);
  await new Promise(setImmediate);
}

it.each([['shipment'], ['shipments'], ['exception-queue']])('what was read is read again: %s', async (kind) => {
  look([kind, 'live', 'a']);
  await answered('before');
  readOnceMore(queries, 'live');
  await new Promise(setImmediate);
  expect([reads.length, queries.getQueryData([kind, 'live', 'a'])]).toEqual([2, 'before']);
  await answered('now');
  expect(queries.getQueryData([kind, 'live', 'a'])).toBe('now');
});

it('what is being read is shown, and then read again', async () => {
  look(['shipment', 'live', 'a']);
  readOnceMore(queries, 'live');
  await new Promise(setImmediate);
  expect(reads).toHaveLength(1);
  await answered('before');
  expect([reads.length, queries.getQueryData(['shipment', 'live', 'a'])]).toEqual([2, 'before']);
  await answered('now');
  expect(queries.getQueryData(['shipment', 'live', 'a'])).toBe('now');
});

it.each([[['session', 'live']], [['place', 'live', 'NLRTM']], [['shipment', 'test', 'a']]])(
  '%j is not read again',
  async (key) => {
    look(key);
    await answered('before');
    readOnceMore(queries, 'live');
    await new Promise(setImmediate);
    expect([reads.length, queries.getQueryCache().get(hashKey(key))?.state.isInvalidated]).toEqual([1, false]);
  },
);
