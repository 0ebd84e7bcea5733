import type { ShipmentStatus } from '@tracking/contracts';
import type { Scan } from '@tracking/ports';
import { VisitCountingRows } from '../../test/counted-rows.ts';
import { toDay, createRandomRecord, createSeededRandom, toShipmentRow } from '../../test/listed-shipments.ts';
import { ACME_LIVE } from '../../test/shipment-events.ts';
import { findPossibleDuplicates } from './possible-duplicates.ts';
import { type ShipmentRow, shipmentsModel } from './shipment-rows.ts';

const random = createSeededRandom(7);
const containers = Array.from({ length: 200 }, (_, n) => `C${n}`);
const shipment = (n: number, status: ShipmentStatus, container_numbers: readonly string[]): ShipmentRow =>
  toShipmentRow({
    ...createRandomRecord(n, random),
    status,
    created_at: toDay(n),
    house_bill: null,
    container_numbers,
  });
const freight = (count: number) => ({
  id: 'shp_new',
  house_bill: 'HB',
  container_numbers: containers.slice(0, count),
});

/** Counts the visited rows. Rows of a reference are returned oldest first, as an engine may do. */
async function look(rows: readonly ShipmentRow[], count: number) {
  const counted = new VisitCountingRows<ShipmentRow>(rows, shipmentsModel.indexes);
  let scans = 0;
  const scan = (query: Scan) => {
    scans += 1;
    return counted.scan(query);
  };
  const find = ({ limit }: { readonly limit: number }) => Promise.resolve(rows.slice(0, limit));
  const found = await findPossibleDuplicates(
    { rows: { find, scan }, version: shipmentsModel.version },
    ACME_LIVE,
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
