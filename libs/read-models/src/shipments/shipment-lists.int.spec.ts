import type { Collection } from '@tracking/ports';
import { rounds } from '@tracking/testing';
import { FILTERS, ORDERS, inOrder, isAskedFor, listedRows, readThrough, titleOf } from '../../test/listed-shipments.ts';
import { ACME } from '../../test/shipment-events.ts';
import { World } from '../../test/world.ts';
import { rowsOf } from '../read-model.ts';
import type { ShipmentListFilter, ShipmentOrder } from './list-query.ts';
import { type ShipmentRow, shipmentsModel } from './shipment-rows.ts';

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

describe('lists', () => {
  let world: World;
  let rows: Collection<ShipmentRow>;
  beforeAll(async () => {
    world = await World.open();
    rows = await world.engine.documentStore.collection<ShipmentRow>(rowsOf(shipmentsModel, 1));
    await rows.writeMany(ROWS.map((document) => ({ kind: 'upsert', document })));
  });
  afterAll(() => world.close());

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
      // Each in one order: those of memory are asked in every one.
      const order = ORDERS[turn % ORDERS.length] as ShipmentOrder;
      const expected = inOrder(asked, order).map(({ id }) => id);
      expect(await readThrough(rows, { filter, order, limit: 60 }, MANY_ROWS)).toEqual(expected);
    }
  });
});
