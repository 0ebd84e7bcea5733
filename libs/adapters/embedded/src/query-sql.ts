import type {
  FieldBounds,
  CountOptions,
  Filter,
  FilterCondition,
  Query,
  Scalar,
  IndexScanQuery,
} from '@tracking/ports';
import {
  type ArrayIndexTable,
  type CollectionLayout,
  getColumnOfIndexedField,
  encodeSqlValue,
  ID_FIELD,
  getIndexName,
  quoteName,
  getSqlBoundsOfValueType,
} from './collection-layout.ts';
import { addFilterSql, addArrayTableConditionSql, createDocumentFieldSql, isScalar, SqlBuilder } from './filter-sql.ts';
import { LIMIT_CLAUSE_SQL } from './sqlite-database.ts';
import type { SqlStatement, SqlValue } from './storage-threads.ts';

/** Maximum number of documents, and of values of one `in`, in a lookup on the calling thread. */
const MAX_DOCUMENTS_LOOKED_UP_ON_CALLING_THREAD = 10;
/** Maximum number of documents in such a lookup if they are adjacent in an index. */
const MAX_ADJACENT_LOOKUP_DOCUMENTS = 50;

export function createFindSql(layout: CollectionLayout, { filter, sort, after, limit, index }: Query): SqlStatement {
  const path = chooseAccessPath(layout, filter, index);
  const sortKeys = sort?.fields.map((field) => sortKeySql(layout, field, path)) ?? [];
  const sql = new SqlBuilder(after && sortKeys[0]);
  sql.addSqlText('SELECT d.json');
  addSelectMatchingDocumentsSql(sql, layout, filter, path);
  if (after !== undefined && sortKeys.length > 0) {
    const values = after.map(encodeSqlValue);
    sql.addSqlText(` AND (${sortKeys}) ${sort?.descending ? '<' : '>'} (${values.map(() => '?')})`, ...values);
  }
  if (sortKeys.length > 0)
    sql.addSqlText(` ORDER BY ${sortKeys.map((key) => key + (sort?.descending ? ' DESC' : ''))}`);
  return sql.addSqlText(` ${LIMIT_CLAUSE_SQL}`, limit);
}

export function createCountSql(
  layout: CollectionLayout,
  filter: Filter,
  { atMost, index }: CountOptions = {},
): SqlStatement {
  const sql = new SqlBuilder();
  sql.addSqlText('SELECT count(*) FROM (SELECT 1');
  addSelectMatchingDocumentsSql(sql, layout, filter, { ...chooseAccessPath(layout, filter, index), isCounted: true });
  if (atMost !== undefined) sql.addSqlText(` ${LIMIT_CLAUSE_SQL}`, atMost);
  return sql.addSqlText(')');
}

/** @throws TypeError if the field is not indexed */
export function createSumSql(layout: CollectionLayout, field: string, filter: Filter, index: string): SqlStatement {
  if (!layout.columns.includes(field)) throw new TypeError(`${layout.spec.name} has no index of ${field}`);
  const key = `d.${getColumnOfIndexedField(field)}`;
  const sql = new SqlBuilder();
  sql.addSqlText(`SELECT coalesce(sum(${key}) FILTER (WHERE typeof(${key}) IN ('integer', 'real')), 0)`);
  addSelectMatchingDocumentsSql(sql, layout, filter, chooseAccessPath(layout, filter, index));
  return sql;
}

/**
 * Returns true if an index leads to a few documents without sorting. Such a query is cheap enough for the calling
 * thread.
 */
export function isCheapIndexLookup({ spec }: CollectionLayout, { filter, sort, limit }: Query): boolean {
  const pinned = (field: string) => {
    const condition = filter[field];
    if (condition === undefined) return false;
    return (
      isScalar(condition) || ('in' in condition && condition.in.length <= MAX_DOCUMENTS_LOOKED_UP_ON_CALLING_THREAD)
    );
  };
  if (pinned(ID_FIELD)) return true;
  const unsorted = sort === undefined;
  const fields = Object.keys(filter);
  return spec.indexes.some((index) => {
    if (index.only !== undefined && filter[index.only] === undefined) return false;
    if (
      index.fields.every(pinned) &&
      (index.unique === true || (unsorted && limit <= MAX_DOCUMENTS_LOOKED_UP_ON_CALLING_THREAD))
    )
      return true;
    const leading = index.fields.slice(0, fields.length);
    const leadsThere = fields.every((field) => leading.includes(field) && pinned(field));
    const isOne = fields.every((field) => isScalar(filter[field]));
    return (
      leadsThere &&
      unsorted &&
      limit <= (isOne ? MAX_ADJACENT_LOOKUP_DOCUMENTS : MAX_DOCUMENTS_LOOKED_UP_ON_CALLING_THREAD)
    );
  });
}

/** Access path of a query to its documents. */
interface AccessPath {
  /** Index on an array field, if the query finds its documents through the postings of one. */
  readonly postings?: ArrayIndexTable;
  /** True if several index entries can point to the same document. */
  readonly repeats: boolean;
  /** `INDEXED BY` clause for the documents' table, if the query names an index. */
  readonly hint: string;
  /** True if the query only counts documents. It then reads a document only if the filter needs more than postings. */
  readonly isCounted?: boolean;
}

/**
 * Chooses the index that the query names. Otherwise it chooses the index on an array field with the most fields
 * compared by value, unless the filter specifies document ids.
 */
function chooseAccessPath(layout: CollectionLayout, filter: Filter, index?: string): AccessPath {
  const array = index === undefined ? chooseArrayIndexTable(layout, filter) : findArrayTableByIndex(layout, index);
  if (array === undefined) {
    return { repeats: false, hint: index === undefined ? '' : ` INDEXED BY ${getIndexName(layout.spec, index)}` };
  }
  const lead = findIndexSearchCondition(filter[array.arrayField]);
  if (lead === undefined)
    throw new TypeError(`cannot use index ${array.index.name}: the filter has no condition on ${array.arrayField}`);
  return { postings: array, repeats: !isScalar(lead), hint: '' };
}

function findArrayTableByIndex({ spec, arrays }: CollectionLayout, name: string): ArrayIndexTable | undefined {
  if (!spec.indexes.some((index) => index.name === name))
    throw new TypeError(`the collection ${spec.name} has no index ${name}`);
  return arrays.find(({ index }) => index.name === name);
}

function chooseArrayIndexTable({ arrays }: CollectionLayout, filter: Filter): ArrayIndexTable | undefined {
  const id = filter[ID_FIELD];
  if (id !== undefined && (isScalar(id) || 'in' in id)) return undefined;
  const pinned = ({ fields }: ArrayIndexTable) => fields.filter((name) => isScalar(filter[name])).length;
  const [array] = arrays
    .filter(({ arrayField }) => findIndexSearchCondition(filter[arrayField]) !== undefined)
    .sort((one, other) => pinned(other) - pinned(one));
  return array;
}

/** Returns the elements by which an index can be searched; undefined for a negated condition. */
function findIndexSearchCondition(condition: FilterCondition | undefined): FilterCondition | undefined {
  if (condition === undefined || isScalar(condition)) return condition;
  if ('all' in condition) return condition.all[0];
  return 'exists' in condition || 'ne' in condition ? undefined : condition;
}

/**
 * Filter split into three parts: conditions on postings, conditions that other postings decide, and conditions on the
 * document.
 */
interface SplitFilter {
  readonly led: Filter;
  readonly ofPosting: Filter;
  readonly ofDocument: Filter;
}

function splitFilterByArrayTable(filter: Filter, { fields, arrayField }: ArrayIndexTable): SplitFilter {
  const parts = { led: {}, ofPosting: {}, ofDocument: {} } satisfies Record<keyof SplitFilter, Filter>;
  const add = (part: Filter, field: string, condition: FilterCondition) => Object.assign(part, { [field]: condition });
  for (const [field, condition] of Object.entries(filter)) {
    if (field !== arrayField) {
      add(fields.includes(field) ? parts.led : parts.ofDocument, field, condition);
      continue;
    }
    if (isScalar(condition) || !('all' in condition)) {
      add(parts.led, field, condition);
      continue;
    }
    const [first = { all: [] }, ...others] = condition.all;
    add(parts.led, field, first);
    const isElement = (one: FilterCondition) => isScalar(one) || 'in' in one;
    const [elements, bounds] = [others.filter(isElement), others.filter((one) => !isElement(one))];
    if (elements.length > 0) add(parts.ofPosting, field, { all: elements });
    if (bounds.length > 0) add(parts.ofDocument, field, { all: bounds });
  }
  return parts;
}

/** Selects one row per matching document, with the document as `d`, unless documents are only counted. */
function addSelectMatchingDocumentsSql(
  sql: SqlBuilder,
  layout: CollectionLayout,
  filter: Filter,
  path: AccessPath,
): void {
  const { postings, repeats, hint, isCounted = false } = path;
  if (postings === undefined) {
    sql.addSqlText(` FROM ${quoteName(layout.table)} AS d${hint} WHERE `);
    return addFilterSql(sql, layout, filter);
  }
  // Reads rows in the order of the index on an array field, and stops at the limit, however many documents have the
  // element.
  const { led, ofPosting, ofDocument } = splitFilterByArrayTable(filter, postings);
  const isEnough = isCounted && Object.keys({ ...ofDocument, ...(repeats ? ofPosting : {}) }).length === 0;
  const documents = isEnough ? '' : ` CROSS JOIN ${quoteName(layout.table)} AS d ON d.id = a.id`;
  sql.addSqlText(repeats ? ' FROM (SELECT DISTINCT a.id FROM ' : ' FROM ');
  sql.addSqlText(`${quoteName(postings.table)} AS a${repeats ? '' : documents} WHERE `);
  addSqlOfLeadingFields(sql, led);
  sql.addSqlText(repeats ? `) AS a${documents} WHERE ` : ' AND ');
  addFilterSql(sql, layout, ofPosting, repeats ? undefined : postings);
  addFilterSql(sql.addSqlText(' AND '), layout, ofDocument);
}

function addSqlOfLeadingFields(sql: SqlBuilder, led: Filter): void {
  sql.addSqlText('TRUE');
  for (const [field, condition] of Object.entries(led))
    addArrayTableConditionSql(sql.addSqlText(' AND '), field, condition);
}

function sortKeySql(layout: CollectionLayout, field: string, { postings, repeats }: AccessPath): string {
  return postings?.fields.includes(field) === true && !repeats
    ? `a.${getColumnOfIndexedField(field)}`
    : createDocumentFieldSql(layout, field);
}

/**
 * Selects one row per scanned entry: the document's JSON if the filter matches, otherwise null; then the sort values.
 * The conditions are evaluated in the row and not in `WHERE`, because the engine would otherwise skip any number of
 * entries until enough match.
 */
export function createScanSql(layout: CollectionLayout, scan: IndexScanQuery): SqlStatement {
  const array = findArrayTableByIndex(layout, scan.index);
  const alias = array === undefined ? 'd' : 'a';
  const key = (field: string) => `${alias}.${getColumnOfIndexedField(field)}`;
  const keys = scan.sort.fields.map(key);
  const parts =
    array === undefined
      ? { led: scan.filter, ofPosting: {}, ofDocument: {} }
      : splitFilterByArrayTable(scan.filter, array);
  const { pinned, others } = splitFilterByScanIndex(layout, scan, parts.led);
  const sql = new SqlBuilder();
  sql.addSqlText('SELECT CASE WHEN ');
  if (array === undefined) addFilterSql(sql, layout, others);
  else {
    addSqlOfLeadingFields(sql, others);
    addFilterSql(sql.addSqlText(' AND '), layout, parts.ofPosting, array);
  }
  sql.addSqlText(' THEN ');
  if (array === undefined) sql.addSqlText('d.json');
  else {
    sql.addSqlText(`(SELECT d.json FROM ${quoteName(layout.table)} AS d WHERE d.id = a.id AND `);
    addFilterSql(sql, layout, parts.ofDocument);
    sql.addSqlText(')');
  }
  sql.addSqlText(` END, ${keys} FROM ${quoteName(array?.table ?? layout.table)} AS ${alias}`);
  if (array === undefined) sql.addSqlText(` INDEXED BY ${getIndexName(layout.spec, scan.index)}`);
  sql.addSqlText(' WHERE TRUE');
  for (const [field, value] of pinned) sql.addSqlText(` AND ${key(field)} = ?`, value);
  addScanRangeSql(sql, keys, scan);
  return sql.addSqlText(
    ` ORDER BY ${keys.map((each) => each + (scan.sort.descending ? ' DESC' : ''))} ${LIMIT_CLAUSE_SQL}`,
    scan.visit,
  );
}

/** Splits the filter into values of the index fields before the sort fields, and all other conditions. */
function splitFilterByScanIndex({ spec }: CollectionLayout, { index, sort }: IndexScanQuery, filter: Filter) {
  const fields = spec.indexes.find(({ name }) => name === index)?.fields ?? [];
  const [first = ''] = sort.fields;
  const from = fields.indexOf(first);
  if (from < 0 || sort.fields.some((field, at) => fields[from + at] !== field)) {
    throw new TypeError(`cannot scan: index ${index} is not sorted by ${sort.fields.join()}`);
  }
  const pinned = fields.slice(0, from).map((field): [string, SqlValue] => {
    const condition = filter[field];
    if (!isScalar(condition))
      throw new TypeError(`cannot scan index ${index}: the filter must compare ${field} with one value`);
    return [field, encodeSqlValue(condition)];
  });
  const others = Object.entries(filter).filter(([field]) => !pinned.some(([name]) => name === field));
  return { pinned, others: Object.fromEntries(others) };
}

/**
 * Adds the bounds of the scanned range. A range without a bound ends at the end of the value type; a continued scan
 * starts after its last entry.
 */
function addScanRangeSql(sql: SqlBuilder, keys: readonly string[], { filter, sort, after }: IndexScanQuery): void {
  const [first = ''] = sort.fields;
  const [key = ''] = keys;
  const { from, to } = convertBoundsToColumnRange(parseFilterBounds(filter[first]));
  const add = (bound: Bound | undefined) => {
    if (bound !== undefined) sql.addSqlText(` AND ${key} ${bound.text}`, ...bound.values);
  };
  const comparison = after === undefined ? undefined : sort.descending === true ? '<' : '>';
  if (comparison !== '>') add(from);
  if (comparison !== '<') add(to);
  if (after !== undefined)
    sql.addSqlText(` AND (${keys}) ${comparison} (${keys.map(() => '?')})`, ...after.map(encodeSqlValue));
}

/** Comparison operator and value of a bound, without the sort key. */
type Bound = SqlStatement;

function convertBoundsToColumnRange({ gt, gte, lt, lte }: FieldBounds): {
  readonly from?: Bound | undefined;
  readonly to?: Bound | undefined;
} {
  const from = createBoundSql('>=', gte) ?? createBoundSql('>', gt);
  const to = createBoundSql('<=', lte) ?? createBoundSql('<', lt);
  const [low, high] = [from?.values[0], to?.values[0]];
  return {
    from: from ?? (high === undefined ? undefined : createSqlTypeBound('>=', getSqlBoundsOfValueType(high).from)),
    to: to ?? (low === undefined ? undefined : createSqlTypeBound('<', getSqlBoundsOfValueType(low).below)),
  };
}

function createBoundSql(comparison: string, value: Scalar | undefined): Bound | undefined {
  return value === undefined ? undefined : { text: `${comparison} ?`, values: [encodeSqlValue(value)] };
}

function createSqlTypeBound(comparison: string, literal: string | undefined): Bound | undefined {
  return literal === undefined ? undefined : { text: `${comparison} ${literal}`, values: [] };
}

function parseFilterBounds(condition: Filter[string] | undefined): FieldBounds {
  if (condition === undefined) return {};
  if (isScalar(condition)) return { gte: condition, lte: condition };
  return 'in' in condition || 'ne' in condition || 'exists' in condition || 'all' in condition ? {} : condition;
}
