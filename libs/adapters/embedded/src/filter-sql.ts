import type { Condition, Filter, Query, Scalar } from '@tracking/ports';
import { column, ID, quoted, type ArrayTable, type CollectionLayout } from './collection-layout.ts';
import { ENCODED_ELEMENT, encodeValue, typeBounds } from './encoded-values.ts';
import { LIMIT } from './sqlite-database.ts';
import type { Sql, SqlValue } from './storage-protocol.ts';

type Bounds = Extract<Condition, { readonly gt?: Scalar }>;
const FIELD = /^[A-Za-z0-9_]+$/;

/** SQL text under construction, its values in the order of its `?`. */
class SqlBuilder {
  text = '';
  readonly values: SqlValue[] = [];

  add(text: string, ...values: SqlValue[]): this {
    this.text += text;
    this.values.push(...values);
    return this;
  }
}

/** Where the filter holds for the document in the row `d`: so is its table called in every statement with a filter. */
export function filterSql(layout: CollectionLayout, filter: Filter): Sql {
  const sql = new SqlBuilder();
  addFilter(sql, layout, filter);
  return sql;
}

export function findSql(layout: CollectionLayout, { filter, sort, after, limit }: Query): Sql {
  const sql = new SqlBuilder();
  sql.add(`SELECT d.json FROM ${quoted(layout.table)} AS d WHERE `);
  addFilter(sql, layout, filter);
  const sortKeys = sort?.fields.map((field) => sortKey(layout, field)) ?? [];
  if (after !== undefined && sortKeys.length > 0) {
    const values = after.map(encodeValue);
    sql.add(` AND (${sortKeys}) ${sort?.descending ? '<' : '>'} (${values.map(() => '?')})`, ...values);
  }
  if (sortKeys.length > 0) sql.add(` ORDER BY ${sortKeys.map((key) => key + (sort?.descending ? ' DESC' : ''))}`);
  return sql.add(` ${LIMIT}`, limit);
}

export function countSql(layout: CollectionLayout, filter: Filter): Sql {
  const sql = new SqlBuilder();
  sql.add(`SELECT count(*) FROM ${quoted(layout.table)} AS d WHERE `);
  addFilter(sql, layout, filter);
  return sql;
}

/** Most documents, and most values of one `in`, that a look-up on the calling thread may have. */
const FEW = 10;
/** And where they lie side by side in an index. */
const FEW_SIDE_BY_SIDE = 50;

/** Whether an index alone leads to a few documents, in no order that has to be made: cheap enough for the calling thread. */
export function isPointQuery({ spec }: CollectionLayout, { filter, sort, limit }: Query): boolean {
  const pinned = (field: string) => {
    const condition = filter[field];
    if (condition === undefined) return false;
    return isScalar(condition) || ('in' in condition && condition.in.length <= FEW);
  };
  if (pinned(ID)) return true;
  const unsorted = sort === undefined;
  const fields = Object.keys(filter);
  return spec.indexes.some((index) => {
    if (index.fields.every(pinned) && (index.unique === true || (unsorted && limit <= FEW))) return true;
    const leading = index.fields.slice(0, fields.length);
    const leadsThere = fields.every((field) => leading.includes(field) && isScalar(filter[field]));
    return leadsThere && unsorted && limit <= FEW_SIDE_BY_SIDE;
  });
}

function addFilter(sql: SqlBuilder, layout: CollectionLayout, filter: Filter): void {
  sql.add('TRUE');
  const pinnedByArray = fieldsPinnedByArray(layout, filter);
  for (const [field, condition] of Object.entries(filter)) {
    if (!FIELD.test(field)) throw new TypeError(`not a top-level field: ${field}`);
    // The rows of the array's table say it already; said again, it would lure the planner to a much wider index.
    if (pinnedByArray.has(field)) continue;
    sql.add(' AND ');
    const array = arrayTable(layout, field, filter);
    if (field === ID || layout.columns.includes(field)) addCondition(sql, `d.${column(field)}`, condition);
    else if (array !== undefined && !('exists' in Object(condition))) addIndexedArray(sql, array, filter, condition);
    else addUnindexed(sql, field, condition);
  }
}

function addCondition(sql: SqlBuilder, key: string, condition: Condition): void {
  if (isScalar(condition)) sql.add(`${key} = ?`, encodeValue(condition));
  else if ('in' in condition) sql.add(`${key} IN (${condition.in.map(() => '?')})`, ...condition.in.map(encodeValue));
  else if ('ne' in condition) sql.add(`${key} IS NOT ?`, encodeValue(condition.ne));
  else if ('exists' in condition) sql.add(`${key} IS ${condition.exists ? 'NOT ' : ''}NULL`);
  else addBounds(sql, key, condition);
}

/** Values of one type only are compared with each other: a bound without its counterpart reaches to the end of its type. */
function addBounds(sql: SqlBuilder, key: string, { gt, gte, lt, lte }: Bounds): void {
  const bound = (value: Scalar | undefined, comparison: string, counterparts: readonly (Scalar | undefined)[]) => {
    if (value === undefined) return;
    const encoded = encodeValue(value);
    sql.add(` AND ${key} ${comparison} ?`, encoded);
    if (counterparts.some((other) => other !== undefined && typeOf(other) === typeOf(value))) return;
    const { from, below } = typeBounds(encoded);
    if (comparison.startsWith('>')) sql.add(` AND ${key} < ${below}`);
    else if (from !== undefined) sql.add(` AND ${key} >= ${from}`);
  };
  sql.add('(TRUE');
  bound(gt, '>', [lt, lte]);
  bound(gte, '>=', [lt, lte]);
  bound(lt, '<', [gt, gte]);
  bound(lte, '<=', [gt, gte]);
  sql.add(')');
}

function typeOf(value: Scalar): string {
  return value === null ? 'null' : typeof value;
}

/** The index of this array of which the filter pins the most fields. */
function arrayTable(layout: CollectionLayout, field: string, filter: Filter): ArrayTable | undefined {
  const pinned = ({ fields }: ArrayTable) => fields.filter((name) => isScalar(filter[name])).length;
  return layout.arrays
    .filter(({ arrayField }) => arrayField === field)
    .reduce<ArrayTable | undefined>((best, next) => (best && pinned(best) >= pinned(next) ? best : next), undefined);
}

/** Fields with a value that stand in the table of an indexed array which the filter asks for something of. */
function fieldsPinnedByArray(layout: CollectionLayout, filter: Filter): ReadonlySet<string> {
  const pinned = Object.entries(filter).flatMap(([field, condition]) => {
    const looksUp = isScalar(condition) || !('exists' in condition || 'ne' in condition);
    const array = looksUp ? arrayTable(layout, field, filter) : undefined;
    return array?.fields.filter((name) => name !== field && isScalar(filter[name])) ?? [];
  });
  return new Set(pinned);
}

function addIndexedArray(sql: SqlBuilder, array: ArrayTable, filter: Filter, condition: Condition): void {
  const without = !isScalar(condition) && 'ne' in condition;
  sql.add(`d.id ${without ? 'NOT ' : ''}IN (SELECT a.id FROM ${quoted(array.table)} AS a WHERE `);
  addCondition(sql, `a.${column(array.arrayField)}`, without ? condition.ne : condition);
  for (const field of array.fields) {
    const value = filter[field];
    if (field !== array.arrayField && isScalar(value)) sql.add(` AND a.${column(field)} = ?`, encodeValue(value));
  }
  sql.add(')');
}

/** Reads the JSON: right for scalars and arrays alike, but looks at every document that the rest of the filter leaves. */
function addUnindexed(sql: SqlBuilder, field: string, condition: Condition): void {
  const path = `$.${field}`;
  if (!isScalar(condition) && 'exists' in condition) {
    sql.add(`json_type(d.json, ?) IS ${condition.exists ? 'NOT ' : ''}NULL`, path);
    return;
  }
  const without = !isScalar(condition) && 'ne' in condition;
  // json_each hands out a scalar as such, an array's elements, but also an object's members: those are not asked for.
  sql.add(`${without ? 'NOT ' : ''}(json_type(d.json, ?) IS NOT 'object' AND EXISTS (`, path);
  sql.add('SELECT 1 FROM json_each(d.json, ?) AS e WHERE ', path);
  addCondition(sql, `(${ENCODED_ELEMENT})`, without ? condition.ne : condition);
  sql.add('))');
}

function sortKey(layout: CollectionLayout, field: string): string {
  if (field === ID || layout.columns.includes(field)) return `d.${column(field)}`;
  if (!FIELD.test(field)) throw new TypeError(`not a top-level field: ${field}`);
  return `json_extract(d.json, '$.${field}')`;
}

function isScalar(condition: Condition | undefined): condition is Scalar {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}
