import {
  isUnsatisfiableFilter,
  type Collection,
  type CollectionSpec,
  type CountOptions,
  type FilterCondition,
  type Document,
  type Filter,
  type IndexSpec,
  type Query,
  type IndexScanQuery,
} from '@tracking/ports';
import { generateNearlyMatchingDocuments } from '@tracking/testing';
import { SqliteCollection } from '../src/sqlite-document-store.ts';
import { QueryVisitedRowCounterForTest } from './visited-rows.ts';

/**
 * Records each kind of query that a suite runs, and reports queries that visit more rows than they return. Each
 * recorded query is repeated on many documents that match and many that match except for one field. It may visit a few
 * rows per returned document, and no row of other documents.
 */

/** Fields that a filter may check in visited documents, with the reason why that is cheap. */
interface AllowedUnindexedFilter {
  readonly collection: string;
  readonly fields: readonly string[];
  /** Field that the filter must contain as well. */
  readonly beside: string;
  readonly why: string;
}
const FILTERS_ALLOWED_WITHOUT_INDEX: readonly AllowedUnindexedFilter[] = [
  {
    collection: 'milestones',
    fields: ['workspace_id', 'environment', 'classifier', 'container_number', 'superseded', 'retracted'],
    beside: 'shipment_id',
    why: 'a shipment has at most 5,000 milestones, all in one workspace and environment',
  },
  {
    collection: 'published_events',
    fields: ['created_at'],
    beside: 'position',
    why: 'the filter limits positions to the requested period plus one day before and after',
  },
  {
    collection: 'published_events',
    fields: ['type'],
    beside: 'stream',
    why: 'the filter selects the events of one shipment, at most a few more than its 5,000 milestones',
  },
  {
    collection: 'webhook_deliveries',
    fields: ['event_type', 'event_created_at', 'reason'],
    beside: 'status',
    why: 'the index contains these fields; skipping a million entries takes 250 ms on a separate thread',
  },
];

/** Maximum page size when a recorded query is repeated to count the rows that it visits. */
const MAX_PAGE_SIZE_IN_EFFICIENCY_CHECK = 5;
/** Maximum visited rows per document or list value: the entry in one table, the row in another, and one at the end. */
const MAX_VISITED_ROWS_PER_RESULT = 3;

interface QueryCheckedForIndexUse {
  readonly spec: CollectionSpec;
  readonly query: Query | IndexScanQuery;
}

/** Kinds of queries that passed. All suites of a process share them, so that no kind is checked twice. */
const verifiedEfficientQueryKinds = new Set<string>();
const recordedQueriesByDescription = new Map<string, QueryCheckedForIndexUse>();

/**
 * Returns a key of everything that affects the result: the kind, the indexes, the page size and the lengths of lists.
 */
function createQueryCheckKey(title: string, { spec, query }: QueryCheckedForIndexUse): string {
  const lists = Object.entries(query.filter).map(([field, condition]) => [field, findLengthsOfInLists(condition)]);
  return JSON.stringify([title, spec, Math.min(query.limit, MAX_PAGE_SIZE_IN_EFFICIENCY_CHECK), lists.sort()]);
}

function findLengthsOfInLists(condition: FilterCondition): readonly number[] {
  if (condition === null || typeof condition !== 'object') return [];
  return Object.values(condition as object).map((one) => (Array.isArray(one) ? one.length : 1));
}

function recordWatchedQuery({ name, ...spec }: CollectionSpec, query: Query | IndexScanQuery): void {
  if (isUnsatisfiableFilter(query.filter)) return;
  // The recorder treats all generations of a read model as one collection.
  const collection = name.replace(/\.g\d+$/, '');
  const { filter, sort, after, index } = query;
  const kinds = Object.entries(filter).map(([field, condition]) => `${field} ${describeConditionKind(condition)}`);
  const order = sort === undefined ? '' : ` by ${sort.fields.join()}${sort.descending === true ? ' descending' : ''}`;
  const by = index === undefined ? '' : ` by ${index}${'visit' in query ? ', in stretches' : ''}`;
  const title = `${collection}${by}: ${kinds.sort().join(', ')}${order}${after === undefined ? '' : ', going on'}`;
  if (!recordedQueriesByDescription.has(title))
    recordedQueriesByDescription.set(title, { spec: { ...spec, name: collection }, query });
}

function describeConditionKind(condition: FilterCondition): string {
  if (condition === null || typeof condition !== 'object') return '=';
  if (hasAllOfOperator(condition)) return `all ${condition.all.map((one) => describeConditionKind(one)).join(' and ')}`;
  return Object.keys(condition).sort().join();
}

function hasAllOfOperator(
  condition: FilterCondition | undefined,
): condition is Extract<FilterCondition, { readonly all: unknown }> {
  return typeof condition === 'object' && condition !== null && 'all' in condition;
}

/**
 * Returns true if the field may be checked in documents of the named index. A query that names an index has counted
 * that it selects few documents, so other conditions may be checked in each of them.
 */
function mayCheckFieldWithoutIndex({ spec, query }: QueryCheckedForIndexUse, field: string, which: number): boolean {
  const index = spec.indexes.find(({ name }) => name === query.index);
  return index !== undefined && (which > 0 || !findIndexFieldsUsed(index, query.filter).includes(field));
}

/** Returns the fields that an index search uses: those that the filter compares with one value, and the next one. */
function findIndexFieldsUsed({ fields }: IndexSpec, filter: Filter): readonly string[] {
  const ended = fields.findIndex((field) => {
    const condition = filter[field];
    const first = hasAllOfOperator(condition) ? condition.all[0] : condition;
    return first === undefined || (typeof first === 'object' && first !== null);
  });
  return ended < 0 ? fields : fields.slice(0, ended + 1);
}

/** Returns the number of values in the filter's lists. */
function countFilterListValues(filter: Filter): number {
  const lists = Object.values(filter).map((one) =>
    one !== null && typeof one === 'object' && 'in' in one ? one.in.length : 0,
  );
  return lists.reduce((sum, length) => sum + length, 0);
}

/** Returns a description of the inefficiency, if any. */
function findInefficientStep(watched: QueryCheckedForIndexUse): string | undefined {
  const { spec, query } = watched;
  const { filter } = query;
  const elements = Object.values(filter).flatMap((one) => (hasAllOfOperator(one) ? one.all.slice(1) : []));
  const forEach = MAX_VISITED_ROWS_PER_RESULT + elements.length;
  const limit =
    'visit' in query ? MAX_PAGE_SIZE_IN_EFFICIENCY_CHECK : Math.min(query.limit, MAX_PAGE_SIZE_IN_EFFICIENCY_CHECK);
  const few = forEach * (limit + countFilterListValues(filter) + 1);
  const visited = new QueryVisitedRowCounterForTest(spec);
  try {
    const excepted = FILTERS_ALLOWED_WITHOUT_INDEX.filter(
      ({ collection, beside }) => collection === spec.name && beside in filter,
    );
    const fields = excepted.flatMap((one) => one.fields);
    const leaves = (field: string, which: number) =>
      fields.includes(field) || mayCheckFieldWithoutIndex(watched, field, which);
    const count = 2 * few;
    visited.copyDocumentsForRowCounting(generateNearlyMatchingDocuments(spec, query, count, leaves));
    if ('visit' in query) {
      const { rows } = visited.countRowsVisitedByScan({ ...query, limit, visit: limit });
      return rows <= few
        ? undefined
        : `the scan visits ${rows} rows for ${MAX_PAGE_SIZE_IN_EFFICIENCY_CHECK} results; at most ${few} are allowed`;
    }
    const { rows, answered } = visited.countVisitedRows({ ...query, limit });
    const most = query.index === undefined ? few : Math.max(few, (forEach - 1) * count);
    return rows <= most
      ? undefined
      : `the query visits ${rows} rows for ${answered} results; at most ${most} are allowed`;
  } finally {
    visited.closeVisitCountingDatabase();
  }
}

// Every collection that a test's engine opens has this class.
type WatchedCollection = Collection<Document> & { readonly layout: { readonly spec: CollectionSpec } };
const { find, findWithinByteLimit, count, scan, claim } = SqliteCollection.prototype as Collection<Document>;
Object.assign(SqliteCollection.prototype, {
  find(this: WatchedCollection, query: Query) {
    recordWatchedQuery(this.layout.spec, query);
    return find.call(this, query);
  },
  findWithinByteLimit(this: WatchedCollection, query: Query, maxBytes: number) {
    recordWatchedQuery(this.layout.spec, query);
    return findWithinByteLimit.call(this, query, maxBytes);
  },
  count(this: WatchedCollection, filter: Filter, options: CountOptions = {}) {
    const { atMost = MAX_PAGE_SIZE_IN_EFFICIENCY_CHECK, ...by } = options;
    recordWatchedQuery(this.layout.spec, { filter, limit: atMost, ...by });
    return count.call(this, filter, options);
  },
  scan(this: WatchedCollection, query: IndexScanQuery) {
    recordWatchedQuery(this.layout.spec, query);
    return scan.call(this, query);
  },
  claim(this: WatchedCollection, query: Omit<Query, 'limit' | 'after'>, set: object) {
    recordWatchedQuery(this.layout.spec, { ...query, limit: 1 });
    return claim.call(this, query, set);
  },
});

/** Resets the recorded queries before a suite, because other suites of the process may run any query. */
export function resetWatchedQueries(): void {
  recordedQueriesByDescription.clear();
}

/** Returns the inefficiencies of all queries since the last reset. */
export function findInefficientQueries(): readonly string[] {
  return [...recordedQueriesByDescription].flatMap(([title, one]) => {
    const key = createQueryCheckKey(title, one);
    if (verifiedEfficientQueryKinds.has(key)) return [];
    const found = findInefficientStep(one);
    if (found === undefined) verifiedEfficientQueryKinds.add(key);
    return found === undefined ? [] : [`${title}: ${found}`];
  });
}
