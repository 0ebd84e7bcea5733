import { ACME_LIVE_SCOPE, createNthTestShipmentToken } from '../../test/shipment-events.ts';
import { ReadModelsTestBed, waitUntilCaughtUp } from '../../test/world.ts';
import type { ReadModels } from '../read-models.ts';
import type { SortValues } from '../read-model.ts';
import { MAX_PAGE_BYTES } from '../walked-ranges.ts';
import type { ShipmentListQuery } from './list-conditions.ts';

const many = <T>(one: (n: number) => T): readonly T[] => Array.from({ length: 50 }, (_, n) => one(n));
/** Field value of about 600 kB. */
const LARGE = {
  metadata: Object.fromEntries(many((n) => [`${'貨'.repeat(990)}${n}`, '船'.repeat(1_000)])),
  references: many(() => ({ type: '港'.repeat(1_000), value: '海'.repeat(1_000) })),
};
/** More shipments than fit into one page. */
const IDS = Array.from({ length: 15 }, (_, n) => `shp_${createNthTestShipmentToken(n)}`);

describe('pages of large shipments', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  beforeAll(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
    for (const [n] of IDS.entries()) {
      const eta = n % 2 === 0 ? null : '2026-05-01T00:00:00.000Z';
      await world.writer.createShipment(n, {
        ...LARGE,
        eta,
        house_bill: 'HB-1',
        container_numbers: ['MSKU1234565'],
        status: n % 3 === 0 ? 'booked' : 'pending',
      });
    }
    await waitUntilCaughtUp(models);
  });
  afterAll(() => world.close());

  it.each<[string, Omit<ShipmentListQuery, 'limit' | 'after'>]>([
    ['all', { filter: {} }],
    ['all, by their arrival', { filter: {}, order: { field: 'eta', descending: false } }],
    ['those of some statuses', { filter: { status: ['booked', 'pending'] } }],
    ['those that are named', { filter: { ids: IDS }, order: { field: 'created_at', descending: false } }],
    ['those of one house bill', { filter: { house_bill: 'HB-1' }, order: { field: 'eta', descending: true } }],
  ])('end at their maximum size and continue on the next page: %s', async (_title, query) => {
    const seen: string[] = [];
    let pages = 0;
    for (let after: SortValues | undefined, goesOn = true; goesOn; goesOn = after !== undefined) {
      const { items, next } = await models.queries.shipments.listShipments(ACME_LIVE_SCOPE, {
        ...query,
        limit: 200,
        after,
      });
      expect(items.length).toBeGreaterThan(0);
      expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThanOrEqual(MAX_PAGE_BYTES);
      seen.push(...items.map(({ id }) => id));
      after = next;
      pages += 1;
    }
    expect(pages).toBeGreaterThan(1);
    expect([...seen].sort()).toEqual([...IDS].sort());
  });

  it('do not hide shipments of a container', async () => {
    const found = await models.queries.shipments.findShipmentsByContainer(ACME_LIVE_SCOPE, ['MSKU1234565']);
    const ids = found.get('MSKU1234565')?.map(({ id }) => id) ?? [];
    expect([...ids].sort()).toEqual([...IDS].sort());
  });
});
