import { VisitCountingCollection } from '../../test/counted-rows.ts';
import {
  createFixedRowSource,
  toTimeOfNthDay,
  createRandomShipmentRecord,
  createSeededRandom,
  toShipmentRow,
} from '../../test/listed-shipments.ts';
import { ACME_LIVE_SCOPE } from '../../test/shipment-events.ts';
import type { ShipmentListFilter, ShipmentSortField } from './list-conditions.ts';
import { ShipmentQueries } from './shipment-queries.ts';
import { shipmentsReadModel } from './shipment-rows.ts';

const random = createSeededRandom(5);
/**
 * Half of the shipments are ocean and MAEU, half air and MSCU. One in ten has an ETA, and thousands share each word of
 * a name.
 */
const ROWS = Array.from({ length: 20_000 }, (_, n) => {
  const isEven = n % 2 === 0;
  return toShipmentRow({
    ...createRandomShipmentRecord(n, random),
    mode: isEven ? 'ocean' : 'air',
    carrier_scac: isEven ? 'MAEU' : 'MSCU',
    house_bill: `HBL-${n}`,
    eta: n % 10 === 0 ? toTimeOfNthDay(n % 300) : null,
    destination_port: 'NLRTM',
    open_exceptions_count: 0,
    shipper: { name: isEven ? 'Acme Trading' : 'Nordic Paper', external_id: `C-${n % 500}` },
    consignee: null,
    legs: [],
  });
});

describe('rows visited per page of a list of 20,000 shipments', () => {
  const rows = new VisitCountingCollection(ROWS, shipmentsReadModel.indexes);
  const queries = new ShipmentQueries(createFixedRowSource(rows));

  // A page of 50 reads 51 entries.
  it.each<[string, ShipmentListFilter, ShipmentSortField, number, number]>([
    ['nothing', {}, 'created_at', 51, 50],
    ['nothing', {}, 'updated_at', 51, 50],
    ['nothing, of which nine in ten have no ETA', {}, 'eta', 51, 50],
    ['three ids', { ids: ROWS.slice(7, 10).map(({ id }) => id) }, 'eta', 3, 3],
    ['a term that all have', { destination_port: 'NLRTM' }, 'created_at', 51, 50],
    ['a term that all have', { destination_port: 'NLRTM' }, 'updated_at', 1_000 + 51, 50],
    ['what nearly all have', { has_open_exceptions: false }, 'created_at', 51, 50],
    ['what nearly all have', { has_open_exceptions: false }, 'updated_at', 51, 50],
    ['a term that none has', { has_open_exceptions: true }, 'eta', 0, 0],
    ['those on their way', { active: true }, 'created_at', 51, 50],
    ['those that are over', { active: false }, 'created_at', 4 * 51, 50],
    ['several statuses', { status: ['pending', 'booked', 'arrived'] }, 'created_at', 3 * 51, 50],
    ['one reference', { house_bill: 'HBL-77' }, 'created_at', 1, 1],
    ['one shipper', { shipper: 'C-7' }, 'eta', 3 * 40, 40],
    ['a range of time', { eta_from: toTimeOfNthDay(10), eta_to: toTimeOfNthDay(40) }, 'created_at', 2 * 280, 50],
    ['several modes', { mode: ['ocean', 'air', 'rail'] }, 'created_at', 3 * 51, 50],
    ['several modes', { mode: ['ocean', 'air', 'rail'] }, 'updated_at', 1_000 + 51, 50],
    ['several modes and a term', { mode: ['ocean', 'air'], carrier_scac: 'MSCU' }, 'updated_at', 2_000 + 2 * 51, 50],
    ['modes of which one never meets', { mode: ['ocean', 'rail'], carrier_scac: 'MSCU' }, 'eta', 2_000 + 4_000, 0],
    ['modes and statuses', { mode: ['ocean', 'air'], status: ['pending', 'booked'] }, 'created_at', 22_000 + 2_000, 50],
    ['two that never meet', { mode: ['ocean'], carrier_scac: 'MSCU' }, 'created_at', 2_000 + 20_000 + 2_000, 0],
    ['two that never meet', { mode: ['ocean'], carrier_scac: 'MSCU' }, 'updated_at', 2_000 + 2_000, 0],
    ['two that never meet', { mode: ['ocean'], carrier_scac: 'MSCU' }, 'eta', 2_000 + 4_000, 0],
    ['one letter', { words: ['a'] }, 'created_at', 1_000 + 200, 50],
    ['one letter', { words: ['a'] }, 'eta', 1_000 + 200, 50],
    ['two words that never meet', { words: ['acme', 'nordic'] }, 'created_at', 700 + 200, 0],
    ['two words that never meet', { words: ['acme', 'nordic'] }, 'eta', 700 + 400, 0],
    ['a word that many and one that one has', { words: ['acme', '777'] }, 'eta', 400 + 3 * 40, 0],
  ])('filter %s: %j by %s visits at most %d', async (_title, filter, field, most, found) => {
    rows.visits = 0;
    const page = await queries.listShipments(ACME_LIVE_SCOPE, {
      filter,
      order: { field, descending: true },
      limit: 50,
    });
    expect(rows.visits).toBeLessThanOrEqual(most);
    if (found > 0) expect(page.items).toHaveLength(found);
  });

  it('continue after a page and end', async () => {
    const filter: ShipmentListFilter = { mode: ['ocean'], carrier_scac: 'MSCU' };
    let pages = 0;
    for (let after: Parameters<typeof queries.listShipments>[1]['after']; ;) {
      const { items, next } = await queries.listShipments(ACME_LIVE_SCOPE, {
        filter,
        order: { field: 'eta', descending: false },
        limit: 50,
        after,
      });
      expect(items).toEqual([]);
      pages += 1;
      if (next === undefined) break;
      after = next;
    }
    expect(pages).toBe(9);
  });
});
