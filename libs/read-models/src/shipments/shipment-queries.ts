import { isResourceInScope } from '@tracking/contracts';
import type { WorkspaceScope, ShipmentRecord } from '@tracking/contracts';
import { type Position, type Scalar, UnavailableError } from '@tracking/ports';
import type { ActiveGenerationSelector } from '../active-rows.ts';
import { createScopeFilter, type QueryPage, toShardKeyValuesOfScope } from '../read-model.ts';
import { ConcurrentTermReadBatcher } from './combined-term-reads.ts';
import {
  areConditionsUnsatisfiable,
  toRowFilter,
  type ShipmentListFilter,
  type ShipmentListQuery,
  type ShipmentSortOrder,
} from './list-conditions.ts';
import { DEFAULT_LIST_PAGE_READ_LIMITS, readListPage, chooseListPlan } from './list-plan.ts';
import { readShipmentPageByIds } from './named-page.ts';
import {
  type Freight,
  type PossibleDuplicate,
  DUPLICATE_SEARCH_FIRST_READ_ROWS,
  createTermsFilter,
  findPossibleDuplicateShipments,
} from './possible-duplicates.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';
import {
  READ_MODEL_VERSION_BY_FILTER,
  foldReference,
  EXACT_MATCH_TERM_FILTERS,
  type TermFilter,
  createTermIndexEntry,
} from './shipment-terms.ts';

/** Values of one kind of reference to search for. */
export interface ReferenceSearchValues {
  readonly field: Extract<TermFilter, 'external_id' | 'master_bill' | 'booking_number' | 'container_number'>;
  readonly values: readonly string[];
}

/** A shipment that has a container. The status is as new as the read model. */
export type ShipmentOfContainer = Pick<ShipmentRecord, 'id' | 'status'>;

/** Maximum number of shipments per container that are candidates for a milestone, newest first. */
const MAX_CANDIDATE_SHIPMENTS_PER_MILESTONE_CONTAINER = 50;
/** Maximum number of shipments that are read for a value to find the one with exactly this spelling. */
const MAX_SHIPMENTS_READ_TO_MATCH_SPELLING = 10;
/** Rows per value that one query of several values reads. A container rarely has more shipments. */
const MAX_ROWS_READ_PER_VALUE = 10;
/** Maximum number of reference values per query. */
const REFERENCES_PER_READ = 50;
const NEWEST_FIRST: ShipmentSortOrder = { field: 'created_at', descending: true };

/** Queries of shipments. For read-your-writes, wait with `ReadModelProgress`. */
export class ShipmentQueries {
  private readonly termReads = new ConcurrentTermReadBatcher(DUPLICATE_SEARCH_FIRST_READ_ROWS);

  constructor(
    private readonly active: Pick<
      ActiveGenerationSelector<ShipmentReadModelRow>,
      'openActiveGenerationRows' | 'openRowsOfQueriedGeneration'
    >,
    private readonly bounds = DEFAULT_LIST_PAGE_READ_LIMITS,
    private readonly filtersSince = READ_MODEL_VERSION_BY_FILTER,
  ) {}

  /**
   * Returns a shipment.
   * @returns the record and the position of the last event that it reflects
   * @throws UnavailableError
   */
  async getShipment(
    scope: WorkspaceScope,
    id: string,
  ): Promise<{ record: ShipmentRecord; position: Position } | undefined> {
    const row = await (await this.active.openActiveGenerationRows()).get(id, toShardKeyValuesOfScope(scope));
    if (!row || !isResourceInScope(row, scope)) return undefined;
    return { record: row.record, position: row.position };
  }

  /**
   * Lists shipments in the requested order, then by id. Shipments without an ETA are last. A page visits a bounded
   * number of index entries, so it can have fewer items than `limit`, even none, although more follow. During
   * concurrent writes, each unchanged shipment appears on exactly one page.
   * @throws UnavailableError, BusyError
   */
  async listShipments(scope: WorkspaceScope, query: ShipmentListQuery): Promise<QueryPage<ShipmentRecord>> {
    const { phrase, ...filter } = query.filter;
    const page = await this.listMatchingShipments(scope, { ...query, filter });
    if (phrase === undefined || page.items.length > 0 || page.next !== undefined) return page;
    return this.listMatchingShipments(scope, { ...query, filter: { ...filter, words: [phrase] } });
  }

  private async listMatchingShipments(
    scope: WorkspaceScope,
    query: ShipmentListQuery,
  ): Promise<QueryPage<ShipmentRecord>> {
    const { rows, version } = await this.active.openRowsOfQueriedGeneration();
    const { order = NEWEST_FIRST } = query;
    this.requireRowsSupportFilters(query.filter, version);
    const { ids } = query.filter;
    // The terms of shipments with given ids are computed from the records, so they do not depend on the version.
    const conditions = ids === undefined ? toRowFilter(query.filter, version) : toRowFilter(query.filter);
    if (areConditionsUnsatisfiable(conditions)) return { items: [], next: undefined };
    const listed = { rows, scope: createScopeFilter(scope), bounds: this.bounds };
    if (ids !== undefined)
      return readShipmentPageByIds({ rows, scope, bytes: this.bounds.bytes }, ids, conditions, { ...query, order });
    const plan = await chooseListPlan(listed, conditions, order);
    const { rows: found, next } = await readListPage(listed, plan, order, query);
    return { items: found.map(({ record }) => record), next };
  }

  /**
   * Finds a few other active shipments that have the same house bill or a container of this shipment. Responses to
   * writes warn of some of these: docs/reference/shipments.md#warnings.
   * @throws UnavailableError, BusyError
   */
  async findPossibleDuplicates(scope: WorkspaceScope, record: Freight): Promise<readonly PossibleDuplicate[]> {
    const { rows, version } = await this.active.openRowsOfQueriedGeneration();
    const readFirstRows = (terms: readonly string[]) => this.termReads.readRows(rows, scope, terms);
    return findPossibleDuplicateShipments({ rows, version, readFirstRows }, scope, record);
  }

  /**
   * Returns the ids of shipments with the given reference values, in any status. Case, spaces and hyphens do not matter.
   * If a shipment has exactly the value, only such shipments are returned.
   * @param atMost maximum number of ids per value
   * @returns ids by value, in no particular order; values without a shipment are omitted
   * @throws UnavailableError, BusyError
   */
  async findShipmentIdsByReference(
    scope: WorkspaceScope,
    { field, values }: ReferenceSearchValues,
    atMost: number,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = await this.findByReference(
      scope,
      { field, values },
      Math.max(atMost, MAX_SHIPMENTS_READ_TO_MATCH_SPELLING),
      ({ id, record }) => ({ id, references: listReferencesOfSearchField(record, field) }),
    );
    return new Map(
      [...found].map(([value, shipments]) => {
        const exact = shipments.filter(({ references }) => references.includes(value));
        return [value, (exact.length > 0 ? exact : shipments).slice(0, atMost).map(({ id }) => id)];
      }),
    );
  }

  /**
   * Returns the shipments that have the given containers, in any status; at most the newest 50 per container.
   * @param numbers normalized container numbers
   * @returns shipments by container number, newest first; containers without a shipment are omitted
   * @throws UnavailableError, BusyError
   */
  async findShipmentsByContainer(
    scope: WorkspaceScope,
    numbers: readonly string[],
  ): Promise<ReadonlyMap<string, readonly ShipmentOfContainer[]>> {
    const references = { field: 'container_number', values: numbers } as const;
    const found = await this.findByReference(
      scope,
      references,
      MAX_CANDIDATE_SHIPMENTS_PER_MILESTONE_CONTAINER,
      ({ id, created_at, record: { status } }) => ({ id, created_at, status }),
    );
    return new Map(
      [...found].map(([number, shipments]) => [
        number,
        shipments.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)).map(({ id, status }) => ({ id, status })),
      ]),
    );
  }

  /**
   * Returns at most the newest `atMost` rows for each reference value, in no particular order.
   * @param pick returns the fields of a row to keep in memory, because rows may be large
   */
  private async findByReference<T>(
    scope: WorkspaceScope,
    { field, values }: ReferenceSearchValues,
    atMost: number,
    pick: (row: ShipmentReadModelRow) => T,
  ): Promise<ReadonlyMap<string, readonly T[]>> {
    const { rows, version } = await this.active.openRowsOfQueriedGeneration();
    const found = new Map<string, readonly T[]>();
    const add = (those: readonly string[], all: readonly ShipmentReadModelRow[]) => {
      const rowsByReference = groupByReference(all, field);
      for (const value of those) {
        const own = rowsByReference.get(foldReference(value));
        if (own !== undefined) found.set(value, [...(found.get(value) ?? []), ...own.map(pick)].slice(0, atMost));
      }
    };
    const filterFor = (those: readonly string[]) =>
      createTermsFilter(
        scope,
        those.map((value) => createTermIndexEntry(field, value, version)),
      );
    for (const some of splitIntoBatches([...new Set(values)], REFERENCES_PER_READ)) {
      const limit = some.length * Math.min(atMost, MAX_ROWS_READ_PER_VALUE);
      const { documents, isCut } = await rows.findWithinByteLimit(
        { filter: filterFor(some), limit },
        this.bounds.bytes,
      );
      if (!isCut && documents.length < limit) {
        add(some, documents);
        continue;
      }
      // The results of one value may have displaced results of another value, so each value is queried alone.
      for (const value of some) {
        const sort = { fields: ['created_at', 'id'], descending: true };
        const query = { index: 'by_term', filter: filterFor([value]), sort, limit: atMost, visit: atMost };
        for (
          let after: readonly Scalar[] | undefined, isCut = true;
          isCut && (found.get(value)?.length ?? 0) < atMost;
        ) {
          const page = await rows.scan({ ...query, maxBytes: this.bounds.bytes, ...(after && { after }) });
          add([value], page.documents);
          after = page.next;
          isCut = page.isCut === true && after !== undefined;
        }
      }
    }
    return found;
  }

  /**
   * Checks that rows of this version have the terms of all filters.
   * @throws UnavailableError if an earlier version of the read model built the rows and lacks a filter
   */
  private requireRowsSupportFilters(filter: ShipmentListFilter, version: number): void {
    const isUnknown = (name: TermFilter) => (this.filtersSince[name] ?? 1) > version;
    if (!EXACT_MATCH_TERM_FILTERS.some((name) => filter[name] !== undefined && isUnknown(name))) return;
    throw new UnavailableError(
      'read models',
      'the shipment list is being rebuilt after an update and does not support this filter yet; retry later',
    );
  }
}

/** Groups rows by their folded references. A row is in the group of each of its references. */
function groupByReference(
  rows: readonly ShipmentReadModelRow[],
  field: ReferenceSearchValues['field'],
): ReadonlyMap<string, readonly ShipmentReadModelRow[]> {
  const groups = new Map<string, ShipmentReadModelRow[]>();
  for (const row of rows) {
    for (const reference of new Set(listReferencesOfSearchField(row.record, field).map(foldReference))) {
      const group = groups.get(reference);
      if (group === undefined) groups.set(reference, [row]);
      else group.push(row);
    }
  }
  return groups;
}

function listReferencesOfSearchField(record: ShipmentRecord, field: ReferenceSearchValues['field']): readonly string[] {
  const references = field === 'container_number' ? record.container_numbers : [record[field]];
  return references.filter((reference) => reference !== null);
}

function* splitIntoBatches<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}
