import { isResourceInScope } from '@tracking/contracts';
import type { WorkspaceScope, ShipmentRecord } from '@tracking/contracts';
import type { Collection, Scalar } from '@tracking/ports';
import { type QueryPage, toShardKeyValuesOfScope } from '../read-model.ts';
import {
  type ShipmentListConditions,
  matchesListConditions,
  type ShipmentListQuery,
  type ShipmentSortOrder,
} from './list-conditions.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';

interface ShipmentsByIdSource {
  readonly rows: Pick<Collection<ShipmentReadModelRow>, 'getMany'>;
  readonly scope: WorkspaceScope;
  /** Maximum size of the page, in bytes of JSON. */
  readonly bytes: number;
}

/** Number of rows per read. It limits the memory that is used in addition to the page. */
const ROWS_PER_READ = 10;

interface ShipmentRecordWithByteSize {
  readonly record: ShipmentRecord;
  readonly bytes: number;
}

/** Reads a page of shipments by their ids. Every page reads the shipments of all ids. */
export async function readShipmentPageByIds(
  { rows, scope, bytes: maxBytes }: ShipmentsByIdSource,
  ids: readonly string[],
  conditions: ShipmentListConditions,
  { order, limit, after }: ShipmentListQuery & { readonly order: ShipmentSortOrder },
): Promise<QueryPage<ShipmentRecord>> {
  const { field, descending } = order;
  const placeOf = (record: ShipmentRecord) => [record[field], record.id] as const;
  const wanted = [...new Set(ids)];
  let kept: readonly ShipmentRecordWithByteSize[] = [];
  // The first record that did not fit. This record and all later ones belong to later pages.
  let beyond: ShipmentRecord | undefined;
  for (let from = 0; from < wanted.length; from += ROWS_PER_READ) {
    const found = await rows.getMany(wanted.slice(from, from + ROWS_PER_READ), toShardKeyValuesOfScope(scope));
    const end = beyond && placeOf(beyond);
    const fitting = found
      .filter((row) => isResourceInScope(row, scope) && matchesListConditions(row.record, conditions))
      .filter(({ record }) => after === undefined || compareSortValues(placeOf(record), after, descending) > 0)
      .filter(({ record }) => end === undefined || compareSortValues(placeOf(record), end, descending) < 0)
      .map(({ record }) => ({ record, bytes: Buffer.byteLength(JSON.stringify(record)) }));
    const all = [...kept, ...fitting].sort((a, b) =>
      compareSortValues(placeOf(a.record), placeOf(b.record), descending),
    );
    kept = all.slice(0, Math.min(limit, countRecordsWithinBytes(all, maxBytes)));
    beyond = all[kept.length]?.record ?? beyond;
  }
  const last = kept.at(-1)?.record;
  return { items: kept.map(({ record }) => record), next: beyond && last ? placeOf(last) : undefined };
}

/** Returns how many leading records fit within the bytes, at least one. */
function countRecordsWithinBytes(all: readonly ShipmentRecordWithByteSize[], maxBytes: number): number {
  let left = maxBytes;
  const beyond = all.findIndex(({ bytes }, index) => (left -= bytes) < 0 && index > 0);
  return beyond === -1 ? all.length : beyond;
}

/** Compares the sort values of two records. Null sorts last in both directions; ids follow the list's direction. */
function compareSortValues(one: readonly Scalar[], other: readonly Scalar[], descending: boolean): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  const [a, b] = [one[at], other[at]];
  if (at < 0) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return String(a) < String(b) === descending ? 1 : -1;
}
