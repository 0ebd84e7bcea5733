import type { ShipmentStatus } from '@tracking/contracts';
import type { DocumentsWithinByteLimit, Query, IndexScanQuery } from '@tracking/ports';
import { VisitCountingCollection } from '../../test/counted-rows.ts';
import {
  toTimeOfNthDay,
  createRandomShipmentRecord,
  createSeededRandom,
  toShipmentRow,
} from '../../test/listed-shipments.ts';
import { ACME_LIVE_SCOPE } from '../../test/shipment-events.ts';
import { ConcurrentTermReadBatcher } from './combined-term-reads.ts';
import { DUPLICATE_SEARCH_FIRST_READ_ROWS, findPossibleDuplicateShipments } from './possible-duplicates.ts';
import { type ShipmentReadModelRow, shipmentsReadModel } from './shipment-rows.ts';

const random = createSeededRandom(7);
const containers = Array.from({ length: 200 }, (_, n) => `C${n}`);
const shipment = (n: number, status: ShipmentStatus, container_numbers: readonly string[]): ShipmentReadModelRow =>
  toShipmentRow({
    ...createRandomShipmentRecord(n, random),
    status,
    created_at: toTimeOfNthDay(n),
    house_bill: null,
    container_numbers,
  });
const freight = (count: number) => ({
  id: 'shp_new',
  house_bill: 'HB',
  container_numbers: containers.slice(0, count),
});

/** Counts the visited rows. Rows of a reference are returned oldest first, as an engine may do. */
async function look(rows: readonly ShipmentReadModelRow[], count: number) {
  const counted = new VisitCountingCollection<ShipmentReadModelRow>(rows, shipmentsReadModel.indexes);
  let scans = 0;
  const scan = (query: IndexScanQuery) => {
    scans += 1;
    return counted.scan(query);
  };
  const readFirstRows = () =>
    Promise.resolve({ documents: rows.slice(0, DUPLICATE_SEARCH_FIRST_READ_ROWS), isCut: false });
  const found = await findPossibleDuplicateShipments(
    { rows: { scan }, version: shipmentsReadModel.version, readFirstRows },
    ACME_LIVE_SCOPE,
    freight(count),
  );
  return { ids: found.map(({ id }) => id), scans, visits: counted.visits };
}

describe('finding possible duplicates of containers used before', () => {
  const past = (length: number, count: number) =>
    Array.from({ length }, (_, n) => shipment(n, 'delivered', containers.slice(0, count)));

  it.each([
    [1, 300, 200],
    [5, 300, 5 * 200],
    [199, 10, 19 * 10],
    [199, 300, 19 * 100],
  ])('of %d containers that %d earlier shipments had visits at most %d rows', async (count, before, most) => {
    const { ids, scans, visits } = await look(past(before, count), count);
    expect(ids).toEqual([]);
    expect(scans).toBeLessThanOrEqual(20);
    expect(visits).toBe(most);
  });

  it('finds active shipments behind the earlier ones', async () => {
    const now = shipment(500, 'in_transit', containers.slice(10));
    expect((await look([...past(300, 200), now], 200)).ids).toEqual([now.id]);
  });
});

describe('searches for possible duplicates of large shipments', () => {
  const MIB = 1_048_576;
  const LARGE_ROWS = Array.from({ length: 60 }, (_, n) => {
    const row = shipment(n, 'in_transit', [`C${n % 20}`, 'C0']);
    return { ...row, record: { ...row.record, metadata: { note: 'x'.repeat(0.7 * MIB) } } };
  });
  const sizeOf = (found: readonly object[]) => JSON.stringify(found).length;

  it('read a bounded number of bytes at once, and each finds another shipment', async () => {
    const stored = new VisitCountingCollection<ShipmentReadModelRow>(LARGE_ROWS, shipmentsReadModel.indexes);
    const sizes: number[] = [];
    const measure = <T extends { readonly documents: readonly object[] }>(found: T) => {
      sizes.push(sizeOf(found.documents));
      return found;
    };
    const withIndex = (query: Query) => ({ ...query, index: 'by_term' });
    const rows = {
      find: async (query: Query) => measure({ documents: await stored.find(withIndex(query)) }).documents,
      findWithinByteLimit: async (query: Query, maxBytes: number) =>
        measure(await stored.findWithinByteLimit(withIndex(query), maxBytes)),
      scan: async (query: IndexScanQuery) => measure(await stored.scan(query)),
    };
    const reads = new ConcurrentTermReadBatcher(DUPLICATE_SEARCH_FIRST_READ_ROWS);
    const readFirstRows = (terms: readonly string[]) => reads.readRows(rows, ACME_LIVE_SCOPE, terms);
    const source = { rows, version: shipmentsReadModel.version, readFirstRows };
    const newest = LARGE_ROWS.slice(40).map(({ record }) => record);
    const found = await Promise.all(
      newest.map((record) => findPossibleDuplicateShipments(source, ACME_LIVE_SCOPE, record)),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4.1 * MIB);
    expect(found.map((others) => others.length > 0)).toEqual(newest.map(() => true));
  });
});

describe('combined reads of rows by their terms', () => {
  const LIMIT = 2;
  const TEST = { ...ACME_LIVE_SCOPE, environment: 'test' as const };
  const row = (id: string, ...terms: readonly string[]) => ({ ...shipment(1, 'booked', []), id, terms });
  let requests: Query[];
  let answers: readonly (readonly ShipmentReadModelRow[])[];
  const rows = {
    findWithinByteLimit: (query: Query) => {
      requests.push(query);
      return Promise.resolve({ documents: answers[requests.length - 1] ?? [], isCut: false });
    },
  };
  const getIds = ({ documents }: { readonly documents: readonly ShipmentReadModelRow[] }) =>
    documents.map(({ id }) => id);
  const readAll = (...terms: readonly (readonly string[])[]) => {
    const reads = new ConcurrentTermReadBatcher(LIMIT);
    return Promise.all(terms.map(async (each) => getIds(await reads.readRows(rows, ACME_LIVE_SCOPE, each)).join()));
  };
  beforeEach(() => {
    requests = [];
    answers = [];
  });

  it('of one turn are one request, and each gets only its own rows', async () => {
    answers = [[row('one', 'a', 'b'), row('two', 'b'), row('three', 'c')]];
    expect(await readAll(['a'], ['b', 'x'], ['c'], ['y'])).toEqual(['one', 'one,two', 'three', '']);
    expect(requests.map(({ filter, limit }) => [filter?.['terms'], limit])).toEqual([
      [{ in: ['a', 'b', 'x', 'c', 'y'] }, 4 * LIMIT],
    ]);
  });

  it('of different environments are different requests', async () => {
    const reads = new ConcurrentTermReadBatcher(LIMIT);
    await Promise.all([reads.readRows(rows, ACME_LIVE_SCOPE, ['a']), reads.readRows(rows, TEST, ['a'])]);
    expect(requests.map(({ filter }) => filter?.['environment']).sort()).toEqual(['live', 'test']);
  });

  it('are repeated one by one if the rows of one may displace those of another', async () => {
    const many = ['one', 'two', 'three', 'four'].map((id) => row(id, 'a'));
    answers = [many, many.slice(0, LIMIT), [row('five', 'b')]];
    expect(await readAll(['a'], ['b'])).toEqual(['one,two', 'five']);
    expect(requests.map(({ filter, limit }) => [filter?.['terms'], limit])).toEqual([
      [{ in: ['a', 'b'] }, 2 * LIMIT],
      ['a', LIMIT],
      ['b', LIMIT],
    ]);
  });

  it('have bounded numbers of searches and terms', async () => {
    const terms = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
    await readAll(terms(200, 'x'), ...terms(12, 'y').map((term) => [term]), terms(95, 'z'));
    const sizes = requests.map(({ filter }) => filter?.['terms'] as string | { readonly in: readonly string[] });
    expect(sizes.map((each) => (typeof each === 'string' ? 1 : each.in.length))).toEqual([200, 10, 97]);
  });

  it('fail together, and later ones are not affected', async () => {
    const failing = { findWithinByteLimit: () => Promise.reject(new Error('away')) };
    const reads = new ConcurrentTermReadBatcher(LIMIT);
    const failed = await Promise.allSettled(['a', 'b'].map((term) => reads.readRows(failing, ACME_LIVE_SCOPE, [term])));
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(getIds(await reads.readRows(rows, ACME_LIVE_SCOPE, ['a']))).toEqual([]);
  });

  it('read the rows of the generation that was asked for', async () => {
    const pending = Promise.withResolvers<DocumentsWithinByteLimit<ShipmentReadModelRow>>();
    const reads = new ConcurrentTermReadBatcher(LIMIT);
    const former = reads.readRows({ findWithinByteLimit: () => pending.promise }, ACME_LIVE_SCOPE, ['a']);
    answers = [[row('new', 'a')]];
    expect(getIds(await reads.readRows(rows, ACME_LIVE_SCOPE, ['a']))).toEqual(['new']);
    pending.resolve({ documents: [row('former', 'a')], isCut: false });
    expect(getIds(await former)).toEqual(['former']);
  });

  it('that arrive while a request runs wait for it at most 5 ms', async () => {
    const nothing = { documents: [], isCut: false };
    const pending = Promise.withResolvers<DocumentsWithinByteLimit<ShipmentReadModelRow>>();
    const sent = Promise.withResolvers<void>();
    const slow = {
      findWithinByteLimit: (query: Query) => {
        requests.push(query);
        sent.resolve();
        return requests.length === 1 ? pending.promise : Promise.resolve(nothing);
      },
    };
    const reads = new ConcurrentTermReadBatcher(LIMIT);
    const first = reads.readRows(slow, ACME_LIVE_SCOPE, ['a']);
    await sent.promise;
    const others = ['b', 'c'].map((term) => reads.readRows(slow, ACME_LIVE_SCOPE, [term]));
    expect(await Promise.all(others)).toEqual([nothing, nothing]);
    expect(requests.map(({ filter }) => filter?.['terms'])).toEqual(['a', { in: ['b', 'c'] }]);
    pending.resolve(nothing);
    expect(await first).toEqual(nothing);
  });
});
