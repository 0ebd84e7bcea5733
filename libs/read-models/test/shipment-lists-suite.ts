import type { Collection, DocumentStore } from '@tracking/ports';
import { rounds } from '@tracking/testing';
import { rowsOf } from '../src/read-model.ts';
import type { ShipmentListFilter, ShipmentOrder } from '../src/shipments/list-query.ts';
import { type ShipmentRow, shipmentsModel } from '../src/shipments/shipment-rows.ts';
import { FILTERS, ORDERS, inOrder, isAskedFor, listedRows, readThrough, titleOf } from './listed-shipments.ts';
import { ACME } from './shipment-events.ts';

const ROWS = listedRows(100);
const RECORDS = ROWS.filter(
  (row) => row.workspace_id === ACME.workspace_id && row.environment === ACME.environment,
).map(({ record }) => record);
const PAIRS = FILTERS.flatMap((one, at) =>
  FILTERS.slice(at).map((other): ShipmentListFilter => ({ ...one, ...other })),
);
/** All are looked at and sorted; and all is walked. */
const FEW_ROWS = { few: 1_000, compared: 1_000, stretch: 1_000, stretches: 1 };
const MANY_ROWS = { few: 5, compared: 50, stretch: 30, stretches: 2 };

/** Each filter is asked in every order by CI, else in two of them, by turns. */
const EVERY = ORDERS.length / rounds(ORDERS.length);

/**
 * The tests that lists of shipments answer, on a store, what the filters say plainly: each filter, and each two of them.
 * @param open answers the store, once it is asked for
 */
export function shipmentListsSuite(open: () => DocumentStore): void {
  let rows: Collection<ShipmentRow>;
  beforeAll(async () => {
    rows = await open().collection<ShipmentRow>(rowsOf(shipmentsModel, 1));
    await rows.writeMany(ROWS.map((document) => ({ kind: 'upsert', document })));
  });

  it.each([['nothing', {}] as const, ...FILTERS.map((filter) => [titleOf(filter), filter] as const)])(
    'that ask for %s',
    async (_filter, filter) => {
      const asked = RECORDS.filter((record) => isAskedFor(record, filter));
      for (const order of ORDERS.filter((_order, at) => (at + FILTERS.indexOf(filter)) % EVERY === 0)) {
        const expected = inOrder(asked, order).map(({ id }) => id);
        expect(await readThrough(rows, { filter, order, limit: 30 }, FEW_ROWS)).toEqual(expected);
        expect(await readThrough(rows, { filter, order, limit: 30 }, MANY_ROWS)).toEqual(expected);
      }
    },
  );

  it('that ask for two things', async () => {
    for (let turn = 0; turn < PAIRS.length; turn += Math.floor(PAIRS.length / rounds(PAIRS.length))) {
      const filter = PAIRS[turn] as ShipmentListFilter;
      const asked = RECORDS.filter((record) => isAskedFor(record, filter));
      // Each in one order: in memory they are asked in every one.
      const order = ORDERS[turn % ORDERS.length] as ShipmentOrder;
      const expected = inOrder(asked, order).map(({ id }) => id);
      expect(await readThrough(rows, { filter, order, limit: 60 }, MANY_ROWS)).toEqual(expected);
    }
  });
}
