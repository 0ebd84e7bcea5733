import { choosePropertyTestRounds } from '@tracking/testing';
import { VisitCountingCollection } from '../../test/counted-rows.ts';
import { ACME_LIVE_SCOPE } from '../../test/shipment-events.ts';
import {
  createFixedRowSource,
  TESTED_SHIPMENT_LIST_FILTERS,
  SHIPMENT_LIST_ORDERS,
  sortShipmentRecords,
  matchesShipmentListFilter,
  createRandomShipmentRows,
  readAllShipmentPages,
  describeFilter,
} from '../../test/listed-shipments.ts';
import { UnavailableError } from '@tracking/ports';
import { DEFAULT_LIST_PAGE_READ_LIMITS, type ListPageReadLimits } from './list-plan.ts';
import type { ShipmentListFilter } from './list-conditions.ts';
import { ShipmentQueries } from './shipment-queries.ts';
import { shipmentsReadModel } from './shipment-rows.ts';

const ROWS = createRandomShipmentRows(100);
const RECORDS = ROWS.filter(
  (row) => row.workspace_id === ACME_LIVE_SCOPE.workspace_id && row.environment === ACME_LIVE_SCOPE.environment,
).map(({ record }) => record);
/** Bounds that read and sort all rows, and bounds that scan a few rows at a time. */
const BOUNDS: readonly [string, ListPageReadLimits][] = [
  ['few rows', { few: 1_000, compared: 1_000, stretch: 1_000, stretches: 1, bytes: 60_000 }],
  ['many rows', { few: 5, compared: 100, stretch: 20, stretches: 2, bytes: 25_000 }],
];
const alone = TESTED_SHIPMENT_LIST_FILTERS.map((filter) => [describeFilter(filter), filter] as const);
const PAIRS = TESTED_SHIPMENT_LIST_FILTERS.flatMap((one, at) =>
  TESTED_SHIPMENT_LIST_FILTERS.slice(at).map((other): ShipmentListFilter => ({ ...one, ...other })),
);
/** CI runs each pair in every order; local runs use two orders alternately. */
const EVERY = SHIPMENT_LIST_ORDERS.length / choosePropertyTestRounds(SHIPMENT_LIST_ORDERS.length);

describe.each(BOUNDS)('lists with %s', (_title, bounds) => {
  const rows = new VisitCountingCollection(ROWS, shipmentsReadModel.indexes);

  async function expectRight(filter: ShipmentListFilter, limit: number, orders = SHIPMENT_LIST_ORDERS): Promise<void> {
    const asked = RECORDS.filter((record) => matchesShipmentListFilter(record, filter));
    for (const order of orders) {
      rows.visits = 0;
      const ids = await readAllShipmentPages(rows, { filter, order, limit }, bounds, () => {
        // Applies to each count and each part of the list.
        const words = filter.words?.length ?? 0;
        const most =
          (Object.keys(filter).length + words + 11) * (bounds.few + bounds.compared) +
          2 * bounds.stretches * (bounds.stretch + 11);
        expect(rows.visits).toBeLessThanOrEqual(most);
        rows.visits = 0;
      });
      expect(ids).toEqual(sortShipmentRecords(asked, order).map(({ id }) => id));
    }
  }

  it.each([['nothing', {}] as const, ...alone])('filtered by %s', (_filter, filter) => expectRight(filter, 7));

  it('filtered by two fields', async () => {
    for (const [turn, filter] of PAIRS.entries()) {
      await expectRight(
        filter,
        40,
        SHIPMENT_LIST_ORDERS.filter((_order, at) => (at + turn) % EVERY === 0),
      );
    }
  });

  it('filtered by all fields', async () => {
    for (const of of RECORDS.slice(0, 20)) {
      const filter: ShipmentListFilter = {
        status: [of.status],
        active: matchesShipmentListFilter(of, { active: true }),
        has_open_exceptions: of.open_exceptions_count > 0,
        ...(of.mode !== null && { mode: [of.mode] }),
        ...(of.house_bill !== null && { house_bill: of.house_bill }),
        created_from: of.created_at,
        created_to: of.created_at,
        updated_since: of.updated_at,
      };
      await expectRight(filter, 3);
    }
  });
});

describe('lists of rows that an earlier version of the read model built', () => {
  const rows = new VisitCountingCollection(ROWS, shipmentsReadModel.indexes);
  const { version } = shipmentsReadModel;
  const queries = new ShipmentQueries(createFixedRowSource(rows, version - 1), DEFAULT_LIST_PAGE_READ_LIMITS, {
    mode: version,
  });

  it('refuse filters that these rows lack, and allow all others', async () => {
    await expect(queries.listShipments(ACME_LIVE_SCOPE, { filter: { mode: ['ocean'] }, limit: 100 })).rejects.toThrow(
      UnavailableError,
    );
    const { items } = await queries.listShipments(ACME_LIVE_SCOPE, { filter: { origin_port: 'CNSHA' }, limit: 100 });
    expect(items.map(({ origin_port }) => origin_port)).toEqual(items.map(() => 'CNSHA'));
    expect(items.length).toBeGreaterThan(0);
  });

  it('find references and words as that version stored them', async () => {
    const [row] = ROWS;
    if (row === undefined) throw new Error('there are no rows');
    const record = { ...row.record, house_bill: 'HBL-Q 7' };
    const former = { ...row, ...ACME_LIVE_SCOPE, record, terms: ['word:hbl house_bill:HBL-Q 7', 'word:q', 'word:7'] };
    const source = createFixedRowSource(new VisitCountingCollection([former], shipmentsReadModel.indexes), 4);
    const found = async (filter: ShipmentListFilter) =>
      (
        await new ShipmentQueries(source, DEFAULT_LIST_PAGE_READ_LIMITS).listShipments(ACME_LIVE_SCOPE, {
          filter,
          limit: 10,
        })
      ).items.length;
    expect(await found({ house_bill: 'HBL-Q 7' })).toBe(1);
    expect(await found({ house_bill: 'hblq7' })).toBe(0);
    expect(await found({ words: ['hbl-q'] })).toBe(1);
  });
});
