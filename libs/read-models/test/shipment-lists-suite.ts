import type { Collection, DocumentStore } from '@tracking/ports';
import { choosePropertyTestRounds } from '@tracking/testing';
import { createRowsCollectionSpec } from '../src/read-model.ts';
import type { ListPageReadLimits } from '../src/shipments/list-plan.ts';
import type { ShipmentListFilter, ShipmentSortOrder } from '../src/shipments/list-conditions.ts';
import { type ShipmentReadModelRow, shipmentsReadModel } from '../src/shipments/shipment-rows.ts';
import { RowChangerDuringReads, REFERENCE_VALUES_RARELY_IN_SAME_ROW } from './changing-rows.ts';
import {
  TESTED_SHIPMENT_LIST_FILTERS,
  SHIPMENT_LIST_ORDERS,
  toTimeOfNthDay,
  sortShipmentRecords,
  matchesShipmentListFilter,
  createRandomShipmentRows,
  createSeededRandom,
  readAllShipmentPages,
  describeFilter,
} from './listed-shipments.ts';
import { ACME_LIVE_SCOPE } from './shipment-events.ts';

const RANDOMLY_GENERATED_SHIPMENT_ROWS = createRandomShipmentRows(100);
const LIVE_ENVIRONMENT_RECORDS = RANDOMLY_GENERATED_SHIPMENT_ROWS.filter(
  (row) => row.workspace_id === ACME_LIVE_SCOPE.workspace_id && row.environment === ACME_LIVE_SCOPE.environment,
).map(({ record }) => record);
const PAIRWISE_COMBINED_TEST_FILTERS = TESTED_SHIPMENT_LIST_FILTERS.flatMap((one, at) =>
  TESTED_SHIPMENT_LIST_FILTERS.slice(at).map((other): ShipmentListFilter => ({ ...one, ...other })),
);
/** `LIMITS_MAKING_LISTS_SORT_ALL_ROWS` make lists read and sort all rows; `LIST_BOUNDS_FORCING_SCANS` make them scan all rows. */
const LIMITS_MAKING_LISTS_SORT_ALL_ROWS = { few: 1_000, compared: 1_000, stretch: 1_000, stretches: 1, bytes: 60_000 };
const LIST_BOUNDS_FORCING_SCANS = { few: 5, compared: 50, stretch: 30, stretches: 2, bytes: 60_000 };

/** Filters for lists that are read while rows change: by a sort index, a term, words, and a selective condition. */
const SINGLE_INDEX_RANGE_FILTERS: readonly ShipmentListFilter[] = [
  {},
  { active: true },
  { carrier_scac: 'MAEU' },
  { has_open_exceptions: false },
  REFERENCE_VALUES_RARELY_IN_SAME_ROW,
  { words: ['ma'] },
  { words: ['acme', 'po'] },
  { eta_from: toTimeOfNthDay(105), active: true },
];
/**
 * Filters that select several index ranges. Lists sorted by creation are scanned in list order; other lists are sorted
 * in memory.
 */
const SEVERAL_RANGES_FILTERS: readonly ShipmentListFilter[] = [
  { status: ['arrived', 'pending', 'cancelled'] },
  { active: false, has_open_exceptions: false },
  { status: ['arrived', 'pending', 'in_transit'], origin_port: 'CNSHA' },
  { status: ['arrived', 'pending', 'cancelled'], words: ['ma'] },
  { mode: ['air', 'ocean', 'rail'] },
  { mode: ['air', 'ocean', 'rail'], incoterm: ['DAP', 'FOB'], status: ['arrived', 'pending', 'in_transit'] },
];
/** Low limits, so that lists need many scans and the plan changes while a list is read. */
const LOW_LIST_READ_LIMITS: readonly ListPageReadLimits[] = [
  { few: 5, compared: 1_000, stretch: 30, stretches: 2, bytes: 30_000 },
  { few: 45, compared: 60, stretch: 10, stretches: 3, bytes: 60_000 },
];
const LIST_BOUNDS_SORTING_ALL_ROWS: ListPageReadLimits = {
  few: 1_000,
  compared: 1_000,
  stretch: 10,
  stretches: 2,
  bytes: 60_000,
};

/** Step between the tested orders. CI tests each filter in every order; local runs test two orders alternately. */
const TESTED_SORT_ORDER_STEP = SHIPMENT_LIST_ORDERS.length / choosePropertyTestRounds(SHIPMENT_LIST_ORDERS.length);

/**
 * Tests that a document store lists the same shipments as plain filters over all rows, for each filter and each pair.
 * @param open returns the store; called once
 */
export function defineShipmentListTests(open: () => DocumentStore): void {
  let rows: Collection<ShipmentReadModelRow>;
  beforeAll(async () => {
    rows = await open().collection<ShipmentReadModelRow>(createRowsCollectionSpec(shipmentsReadModel, 1));
    await rows.writeMany(RANDOMLY_GENERATED_SHIPMENT_ROWS.map((document) => ({ kind: 'upsert', document })));
  });

  it.each([
    ['nothing', {}] as const,
    ...TESTED_SHIPMENT_LIST_FILTERS.map((filter) => [describeFilter(filter), filter] as const),
  ])('filtered by %s', async (_filter, filter) => {
    const asked = LIVE_ENVIRONMENT_RECORDS.filter((record) => matchesShipmentListFilter(record, filter));
    for (const order of SHIPMENT_LIST_ORDERS.filter(
      (_order, at) => (at + TESTED_SHIPMENT_LIST_FILTERS.indexOf(filter)) % TESTED_SORT_ORDER_STEP === 0,
    )) {
      const expected = sortShipmentRecords(asked, order).map(({ id }) => id);
      expect(await readAllShipmentPages(rows, { filter, order, limit: 30 }, LIMITS_MAKING_LISTS_SORT_ALL_ROWS)).toEqual(
        expected,
      );
      expect(await readAllShipmentPages(rows, { filter, order, limit: 30 }, LIST_BOUNDS_FORCING_SCANS)).toEqual(
        expected,
      );
    }
  });

  it('filtered by two fields', async () => {
    for (
      let turn = 0;
      turn < PAIRWISE_COMBINED_TEST_FILTERS.length;
      turn += Math.floor(
        PAIRWISE_COMBINED_TEST_FILTERS.length / choosePropertyTestRounds(PAIRWISE_COMBINED_TEST_FILTERS.length),
      )
    ) {
      const filter = PAIRWISE_COMBINED_TEST_FILTERS[turn] as ShipmentListFilter;
      const asked = LIVE_ENVIRONMENT_RECORDS.filter((record) => matchesShipmentListFilter(record, filter));
      // Each filter is tested in one order, because the in-memory suite covers all orders.
      const order = SHIPMENT_LIST_ORDERS[turn % SHIPMENT_LIST_ORDERS.length] as ShipmentSortOrder;
      const expected = sortShipmentRecords(asked, order).map(({ id }) => id);
      expect(await readAllShipmentPages(rows, { filter, order, limit: 60 }, LIST_BOUNDS_FORCING_SCANS)).toEqual(
        expected,
      );
    }
  });

  describe('lists while rows are changed, created and deleted between pages and between scans', () => {
    let changing: RowChangerDuringReads;
    beforeAll(async () => {
      changing = new RowChangerDuringReads(
        await open().collection<ShipmentReadModelRow>(createRowsCollectionSpec(shipmentsReadModel, 2)),
        createSeededRandom(11),
      );
      await changing.createStoredShipmentRows(240);
    });

    async function expectCompleteLists(
      filter: ShipmentListFilter,
      ways: readonly (readonly [ShipmentSortOrder, ListPageReadLimits])[],
    ) {
      let [steady, changes] = [0, 0];
      for (const [order, bounds] of ways) {
        const read = await changing.expectCompleteList({ filter, order, bounds });
        steady += read.steady;
        changes += read.changes;
      }
      expect(steady).toBeGreaterThan(ways.length);
      expect(changes).toBeGreaterThan(50 * ways.length);
    }

    it.each(
      SINGLE_INDEX_RANGE_FILTERS.map((filter, turn) => [describeFilter(filter) || 'nothing', filter, turn] as const),
    )('lists every unchanged row exactly once: %s', async (_title, filter, turn) => {
      const ways = SHIPMENT_LIST_ORDERS.map(
        (order, at) => [order, LOW_LIST_READ_LIMITS[(turn + at) % 2] as ListPageReadLimits] as const,
      );
      await expectCompleteLists(
        filter,
        ways.filter((_way, at) => (at + turn) % TESTED_SORT_ORDER_STEP === 0),
      );
    });

    it.each(SEVERAL_RANGES_FILTERS.map((filter) => [describeFilter(filter), filter] as const))(
      'lists every unchanged row exactly once: %s',
      async (_title, filter) => {
        const byCreation = SHIPMENT_LIST_ORDERS.filter(({ field }) => field === 'created_at');
        const ways = byCreation.flatMap((order) => LOW_LIST_READ_LIMITS.map((bounds) => [order, bounds] as const));
        await expectCompleteLists(filter, [
          ...ways,
          [{ field: 'eta', descending: false }, LIST_BOUNDS_SORTING_ALL_ROWS],
        ]);
      },
    );
  });
}
