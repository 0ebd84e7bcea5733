import { InfiniteQueryObserver, QueryClient, QueryObserver, hashKey } from '@tanstack/react-query';
import { buildShipmentForTest } from '../shipments/build-shipment.ts';
import {
  createShipmentRereadPredicate,
  markVisibleShipmentListsAsMissingUpdates,
  refetchDataOfEnvironment,
  shipmentUpdatesQuery,
  updateCachedShipments,
  addChangedShipments,
} from './live-updates.ts';

describe('live updates', () => {
  const NONE = { shipments: new Map(), missed: false };
  const KEY = ['shipments', 'live', {}];
  const [first, second] = [buildShipmentForTest({ id: 'a', version: 3 }), buildShipmentForTest({ id: 'b' })];

  let queries: QueryClient;
  beforeEach(() => {
    queries = new QueryClient();
    queries.setQueryData(KEY, { pages: [{ data: [first, second], next_cursor: null }], pageParams: [undefined] });
  });
  afterEach(() => queries.clear());
  const listed = () => queries.getQueryData<{ pages: { data: unknown[] }[] }>(KEY)?.pages[0]?.data;

  it('replaces a listed shipment with a newer version in place, and never with an older one', () => {
    const [newer, older] = [
      buildShipmentForTest({ id: 'b', version: 2, status: 'booked' }),
      buildShipmentForTest({ id: 'a', version: 2 }),
    ];
    updateCachedShipments(queries, 'live', [older, newer]);
    expect(listed()).toEqual([first, newer]);
  });

  it('records a shipment that no list shows as an update, without adding it to a list', () => {
    const fresh = buildShipmentForTest({ id: 'c' });
    updateCachedShipments(queries, 'live', [fresh]);
    expect(listed()).toEqual([first, second]);
    expect([...(queries.getQueryData(shipmentUpdatesQuery('live').queryKey)?.shipments.keys() ?? [])]).toEqual(['c']);
  });

  it('reads listed shipments after events, or all shipments while a visible list filters by exceptions', () => {
    expect(['a', 'b', 'c'].filter(createShipmentRereadPredicate(queries, 'live'))).toEqual(['a', 'b']);
    const queryKey = ['shipments', 'live', { has_open_exceptions: true }];
    const leave = new InfiniteQueryObserver(queries, {
      ...{ queryKey, queryFn: () => ({ data: [], next_cursor: null }), initialPageParam: undefined },
      getNextPageParam: () => undefined,
    }).subscribe(() => undefined);
    expect(['a', 'c'].filter(createShipmentRereadPredicate(queries, 'live'))).toEqual(['a', 'c']);
    leave();
    expect(['a', 'c'].filter(createShipmentRereadPredicate(queries, 'live'))).toEqual(['a']);
  });

  it('keeps the updates of each environment separate', () => {
    updateCachedShipments(queries, 'test', [buildShipmentForTest({ id: 'b', version: 2 })]);
    expect(listed()).toEqual([first, second]);
  });

  it('keeps the latest 1,000 updates, and records that further updates are missing', () => {
    const many = Array.from({ length: 1_001 }, (_, n) => buildShipmentForTest({ id: `s${n}` }));
    const news = addChangedShipments(NONE, many, 1);
    expect([news.shipments.size, news.shipments.has('s0'), news.missed]).toEqual([1_000, false, true]);
  });

  it('removes hidden lists from the cache after events were missed', () => {
    markVisibleShipmentListsAsMissingUpdates(queries, 'live');
    expect(listed()).toBeUndefined();
    expect(queries.getQueryData(shipmentUpdatesQuery('live').queryKey)).toBeUndefined();
  });

  it('marks a visible list as possibly outdated', () => {
    const observer = new InfiniteQueryObserver(queries, {
      queryKey: KEY,
      queryFn: () => ({ data: [], next_cursor: null }),
      initialPageParam: undefined,
      getNextPageParam: () => undefined,
      staleTime: Infinity,
    });
    const leave = observer.subscribe(() => undefined);
    markVisibleShipmentListsAsMissingUpdates(queries, 'live');
    leave();
    expect(listed()).toEqual([first, second]);
    expect(queries.getQueryData(shipmentUpdatesQuery('live').queryKey)?.missed).toBe(true);
  });
});

describe('refetching an environment', () => {
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

  /** Observes a query whose fetches return the values of `answered`. */
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

  it.each([['shipment'], ['shipments'], ['exception-queue']])('refetches data that was read: %s', async (kind) => {
    look([kind, 'live', 'a']);
    await answered('before');
    refetchDataOfEnvironment(queries, 'live');
    await new Promise(setImmediate);
    expect([reads.length, queries.getQueryData([kind, 'live', 'a'])]).toEqual([2, 'before']);
    await answered('now');
    expect(queries.getQueryData([kind, 'live', 'a'])).toBe('now');
  });

  it('shows the result of a pending fetch and then refetches', async () => {
    look(['shipment', 'live', 'a']);
    refetchDataOfEnvironment(queries, 'live');
    await new Promise(setImmediate);
    expect(reads).toHaveLength(1);
    await answered('before');
    expect([reads.length, queries.getQueryData(['shipment', 'live', 'a'])]).toEqual([2, 'before']);
    await answered('now');
    expect(queries.getQueryData(['shipment', 'live', 'a'])).toBe('now');
  });

  it.each([[['session', 'live']], [['place', 'live', 'NLRTM']], [['shipment', 'test', 'a']]])(
    'does not refetch %j',
    async (key) => {
      look(key);
      await answered('before');
      refetchDataOfEnvironment(queries, 'live');
      await new Promise(setImmediate);
      expect([reads.length, queries.getQueryCache().get(hashKey(key))?.state.isInvalidated]).toEqual([1, false]);
    },
  );
});
