import type { Collection } from '@tracking/ports';
import { ACME_LIVE_SCOPE, createSampleShipmentRecord } from '../../test/shipment-events.ts';
import type { SortValues } from '../read-model.ts';
import { toRowFilter } from './list-conditions.ts';
import { readShipmentPageByIds } from './named-page.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';

/** The second shipment is larger than a page, so it and all later ones are on later pages. */
const RECORDS = Array.from({ length: 25 }, (_, n) =>
  createSampleShipmentRecord(n, { metadata: n === 1 ? { note: 'x'.repeat(50_000) } : null }),
);
const ROWS = new Map(
  RECORDS.map((record) => [record.id, { id: record.id, ...ACME_LIVE_SCOPE, record } as ShipmentReadModelRow]),
);
const rows: Pick<Collection<ShipmentReadModelRow>, 'getMany'> = {
  getMany: async (ids) => ids.flatMap((id) => ROWS.get(id) ?? []),
};

it.each([3, 200])('pages of shipments by id contain each of them once, at most %i per page', async (limit) => {
  const ids = RECORDS.map(({ id }) => id);
  const seen: string[] = [];
  for (let after: SortValues | undefined, goesOn = true; goesOn; goesOn = after !== undefined) {
    const query = { filter: { ids }, order: { field: 'created_at', descending: false }, limit, after } as const;
    const page = await readShipmentPageByIds(
      { rows, scope: ACME_LIVE_SCOPE, bytes: 20_000 },
      ids,
      toRowFilter(query.filter),
      query,
    );
    seen.push(...page.items.map(({ id }) => id));
    after = page.next;
  }
  expect(seen).toEqual(ids);
});
