import type { ShipmentRecord } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import type { SortValues } from '../src/read-model.ts';
import type { ListPageReadLimits, ScopedRowsWithBounds } from '../src/shipments/list-plan.ts';
import type { ShipmentListFilter, ShipmentSortOrder } from '../src/shipments/list-conditions.ts';
import { ShipmentQueries } from '../src/shipments/shipment-queries.ts';
import type { ShipmentReadModelRow } from '../src/shipments/shipment-rows.ts';
import {
  createFixedRowSource,
  toTimeOfNthDay,
  sortShipmentRecords,
  matchesShipmentListFilter,
  createRandomShipmentRecord,
  toShipmentRow,
} from './listed-shipments.ts';
import { ACME_LIVE_SCOPE } from './shipment-events.ts';

/** Maximum number of writes during one list, because a list sorted by last change never ends while rows change. */
const MAX_WRITES_DURING_LIST = 200;
const MAX_PAGES_PER_LIST = 1_000;

interface QueryOfChangingList {
  readonly filter: ShipmentListFilter;
  readonly order: ShipmentSortOrder;
  readonly bounds: ListPageReadLimits;
}

/**
 * Changes, creates and deletes rows while lists are read: between pages, between scans of a page, and between ranges of
 * a scan. Reads are sequential on every store, so that a seed always produces the same writes.
 */
export class RowChangerDuringReads {
  private readonly records = new Map<string, ShipmentRecord>();
  /** Ids of rows changed while the list was read. */
  private readonly touched = new Set<string>();
  /** Ids of rows that never change. */
  private steady: ReadonlySet<string> = new Set();
  private made = 0;
  private written = 0;
  /** Number of writes after which writing stops for one list. */
  private enough = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly rows: Pick<
      Collection<ShipmentReadModelRow>,
      'findWithinByteLimit' | 'count' | 'scan' | 'writeMany'
    >,
    private readonly random: () => number,
  ) {}

  async createStoredShipmentRows(count: number): Promise<void> {
    const records = Array.from({ length: count }, () => this.createRandomShipmentRecord());
    await this.rows.writeMany(records.map((record) => ({ kind: 'upsert', document: toShipmentRow(record) })));
    for (const record of records) this.records.set(record.id, record);
  }

  /**
   * Reads a list to its end. Fails if the list skips or repeats a row. Returns the number of unchanged rows and of
   * changes.
   */
  async expectCompleteList({
    filter,
    order,
    bounds,
  }: QueryOfChangingList): Promise<{ steady: number; changes: number }> {
    const before = [...this.records.values()].filter((record) => matchesShipmentListFilter(record, filter));
    this.steady = new Set([...this.records.keys()].filter(() => this.random() < 0.5));
    this.touched.clear();
    const begun = this.written;
    this.enough = begun + MAX_WRITES_DURING_LIST;
    const seen = await this.readAllPagesOfList({ filter, order, bounds });
    const untouched = (records: readonly ShipmentRecord[]) =>
      records.filter(({ id }) => !this.touched.has(id)).map(({ id }) => id);
    const expected = untouched(sortShipmentRecords(before, order));
    expect(untouched(seen)).toEqual(expected);
    const places = seen.map((record) => `${record[order.field]} ${record.id}`);
    expect(places).toEqual([...new Set(places)]);
    return { steady: expected.length, changes: this.written - begun };
  }

  private async readAllPagesOfList({ filter, order, bounds }: QueryOfChangingList): Promise<readonly ShipmentRecord[]> {
    const queries = new ShipmentQueries(createFixedRowSource(this.createRowsChangingAfterRead()), bounds);
    const seen: ShipmentRecord[] = [];
    let after: SortValues | undefined;
    for (let pages = 0; pages < MAX_PAGES_PER_LIST; pages += 1) {
      const limit = 1 + Math.floor(this.random() * 20);
      const { items, next } = await queries.listShipments(ACME_LIVE_SCOPE, { filter, order, limit, after });
      expect(items.length).toBeLessThanOrEqual(limit);
      expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
      seen.push(...items);
      if (next === undefined) return seen;
      // The API sends this position as a cursor, so it must survive a conversion to JSON.
      after = JSON.parse(JSON.stringify(next)) as SortValues;
    }
    throw new Error(`the list has more than ${MAX_PAGES_PER_LIST} pages and does not end`);
  }

  private createRowsChangingAfterRead(): ScopedRowsWithBounds['rows'] {
    const { rows } = this;
    return {
      findWithinByteLimit: (query, maxBytes) =>
        this.changeRowsAfterRead(
          () => rows.findWithinByteLimit(query, maxBytes),
          ({ documents }) => documents,
        ),
      count: (filter, options) =>
        this.changeRowsAfterRead(
          () => rows.count(filter, options),
          () => [],
        ),
      scan: (query) =>
        this.changeRowsAfterRead(
          () => rows.scan(query),
          ({ documents }) => documents,
        ),
    };
  }

  private changeRowsAfterRead<T>(
    at: () => Promise<T>,
    rowsIn: (found: T) => readonly ShipmentReadModelRow[],
  ): Promise<T> {
    const looked = this.last.then(async () => {
      const found = await at();
      await this.writeRandomRowChanges(rowsIn(found));
      return found;
    });
    this.last = looked.catch(() => undefined);
    return looked;
  }

  /**
   * Moves rows into, out of and within the list; creates and deletes some rows.
   * @param found rows that were just read; many changes affect these rows, because they may be read again
   */
  private async writeRandomRowChanges(found: readonly ShipmentReadModelRow[]): Promise<void> {
    if (this.written >= this.enough) return;
    const { random } = this;
    const isOpen = ({ id }: ShipmentRecord) => !this.steady.has(id);
    const all = [...this.records.values()].filter(isOpen);
    const nearby = found.map(({ record }) => record).filter(isOpen);
    const writes = Array.from({ length: 1 + Math.floor(random() * 9) }, () => {
      const among = nearby.length > 0 && random() < 0.4 ? nearby : all;
      const record = among[Math.floor(random() * among.length)];
      const kind = random();
      if (record === undefined || kind < 0.12) return this.upsertShipmentRecord(this.createRandomShipmentRecord());
      return kind < 0.24
        ? this.deleteShipmentRecord(record)
        : this.upsertShipmentRecord(this.changeRecordRandomly(record));
    });
    await this.rows.writeMany(writes);
  }

  private upsertShipmentRecord(record: ShipmentRecord) {
    this.countShipmentRowChange(record);
    this.records.set(record.id, record);
    return { kind: 'upsert', document: toShipmentRow(record) } as const;
  }

  private deleteShipmentRecord(record: ShipmentRecord) {
    this.countShipmentRowChange(record);
    this.records.delete(record.id);
    return { kind: 'delete', id: record.id } as const;
  }

  private countShipmentRowChange({ id }: ShipmentRecord): void {
    this.touched.add(id);
    this.written += 1;
  }

  private createRandomShipmentRecord(): ShipmentRecord {
    this.made += 1;
    return avoidRareReferencePair(createRandomShipmentRecord(this.made, this.random), this.random);
  }

  /** Changes a record: its status, its ETA by a day or two, or all of its fields. */
  private changeRecordRandomly(record: ShipmentRecord): ShipmentRecord {
    const { random } = this;
    const { id, external_id, created_at, eta } = record;
    const another = avoidRareReferencePair(createRandomShipmentRecord(0, random), random);
    const updated_at = toTimeOfNthDay(60 + this.written / 100);
    const what = random();
    if (what < 0.3) return { ...record, updated_at, status: another.status };
    if (what < 0.6 && eta !== null) return { ...record, updated_at, eta: addDays(eta, Math.floor(random() * 4) - 1) };
    return { ...another, id, external_id, created_at, updated_at };
  }
}

function addDays(time: string, days: number): string {
  return new Date(Date.parse(time) + days * 86_400_000).toISOString();
}

/** Two reference values that many rows have, but few rows have both. */
export const REFERENCE_VALUES_RARELY_IN_SAME_ROW = { house_bill: 'HBL 1', booking_number: 'B/1' } as const;

function avoidRareReferencePair(record: ShipmentRecord, random: () => number): ShipmentRecord {
  const hasBoth =
    record.house_bill === REFERENCE_VALUES_RARELY_IN_SAME_ROW.house_bill &&
    record.booking_number === REFERENCE_VALUES_RARELY_IN_SAME_ROW.booking_number;
  return hasBoth && random() < 0.6 ? { ...record, booking_number: null } : record;
}
