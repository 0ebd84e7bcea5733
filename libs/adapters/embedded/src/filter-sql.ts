import type { FilterCondition, Filter, Query, Scalar } from '@tracking/ports';
import { column, ID, quoted, type ArrayTable, type CollectionLayout } from './collection-layout.ts';
import { ENCODED_ELEMENT, encodeValue, typeBounds } from './encoded-values.ts';
import { LIMIT } from './sqlite-database.ts';
import type { Sql, SqlValue } from './storage-protocol.ts';

type Bounds = Extract<FilterCondition, { readonly gt?: Scalar }>;
const FIELD = /^[A-Za-z0-9_]+$/;

/** SQL text under construction, its values in the order of its `?`. */
class SqlBuilder {
  text = '';
  readonly values: SqlValue[] = [];

  /** @param goesOnBy what a page begins after in the first place, if it does */
  constructor(readonly goesOnBy?: string) {}

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
  const leading = leadingArray(layout, filter);
  const sortKeys = sort?.fields.map((field) => sortKey(layout, field, leading)) ?? [];
  const sql = new SqlBuilder(after && sortKeys[0]);
  sql.add('SELECT d.json');
  addMatching(sql, layout, filter, leading);
  if (after !== undefined && sortKeys.length > 0) {
    const values = after.map(encodeValue);
    sql.add(` AND (${sortKeys}) ${sort?.descending ? '<' : '>'} (${values.map(() => '?')})`, ...values);
  }
  if (sortKeys.length > 0) sql.add(` ORDER BY ${sortKeys.map((key) => key + (sort?.descending ? ' DESC' : ''))}`);
  return sql.add(` ${LIMIT}`, limit);
}

export function countSql(layout: CollectionLayout, filter: Filter): Sql {
  const sql = new SqlBuilder();
  sql.add('SELECT count(*)');
  addMatching(sql, layout, filter, leadingArray(layout, filter));
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

/** One row `d` for each document for which the filter holds. */
function addMatching(sql: SqlBuilder, layout: CollectionLayout, filter: Filter, leading?: LeadingArray): void {
  const documents = `${quoted(layout.table)} AS d`;
  if (leading === undefined) {
    sql.add(` FROM ${documents} WHERE `);
    addFilter(sql, layout, filter);
    return;
  }
  // Row by row as the array's index gives them, and no further than is asked for: however many have the element.
  const { array, once } = leading;
  sql.add(once ? ' FROM ' : ' FROM (SELECT DISTINCT a.id FROM ');
  sql.add(`${quoted(array.table)} AS a`);
  if (once) sql.add(` CROSS JOIN ${documents} ON d.id = a.id`);
  sql.add(' WHERE TRUE');
  const others: Record<string, FilterCondition> = {};
  for (const [field, condition] of Object.entries(filter)) {
    if (!array.fields.includes(field)) others[field] = condition;
    else addCondition(sql.add(' AND '), `a.${column(field)}`, condition);
  }
  sql.add(once ? ' AND ' : `) AS a CROSS JOIN ${documents} ON d.id = a.id WHERE `);
  addFilter(sql, layout, others);
}

function addFilter(sql: SqlBuilder, layout: CollectionLayout, filter: Filter): void {
  sql.add('TRUE');
  for (const [field, condition] of Object.entries(filter)) {
    if (!FIELD.test(field)) throw new TypeError(`not a top-level field: ${field}`);
    sql.add(' AND ');
    const array = layout.arrays.find(({ arrayField }) => arrayField === field);
    if (field === ID || layout.columns.includes(field)) addCondition(sql, `d.${column(field)}`, condition);
    else if (array !== undefined && !('exists' in Object(condition))) addIndexedArray(sql, array, condition);
    else addUnindexed(sql, field, condition);
  }
}

function addCondition(sql: SqlBuilder, key: string, condition: FilterCondition): void {
  if (isScalar(condition)) sql.add(`${key} = ?`, encodeValue(condition));
  else if ('in' in condition) sql.add(`${key} IN (${condition.in.map(() => '?')})`, ...condition.in.map(encodeValue));
  else if ('ne' in condition) sql.add(`${key} IS NOT ?`, encodeValue(condition.ne));
  else if ('exists' in condition) sql.add(`${key} IS ${condition.exists ? 'NOT ' : ''}NULL`);
  else addBounds(sql, key, condition);
}

/** Values of one type only are compared with each other: a bound without its counterpart reaches to the end of its type. */
function addBounds(sql: SqlBuilder, key: string, { gt, gte, lt, lte }: Bounds): void {
  // With `+` the engine does not begin at the end of a type where a page begins later.
  const ofType = key === sql.goesOnBy ? `+${key}` : key;
  const bound = (value: Scalar | undefined, comparison: string, counterparts: readonly (Scalar | undefined)[]) => {
    if (value === undefined) return;
    const encoded = encodeValue(value);
    sql.add(` AND ${key} ${comparison} ?`, encoded);
    if (counterparts.some((other) => other !== undefined && typeOf(other) === typeOf(value))) return;
    const { from, below } = typeBounds(encoded);
    if (comparison.startsWith('>')) sql.add(` AND ${ofType} < ${below}`);
    else if (from !== undefined) sql.add(` AND ${ofType} >= ${from}`);
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

/** The table of an array whose elements lead to the documents. */
interface LeadingArray {
  readonly array: ArrayTable;
  /** Whether it leads to no document twice. */
  readonly once: boolean;
}

/** That of which the filter pins the most fields, unless it names the documents. */
function leadingArray(layout: CollectionLayout, filter: Filter): LeadingArray | undefined {
  const id = filter[ID];
  if (id !== undefined && (isScalar(id) || 'in' in id)) return undefined;
  const pinned = ({ fields }: ArrayTable) => fields.filter((name) => isScalar(filter[name])).length;
  const [array] = layout.arrays
    .filter(({ arrayField }) => isLookup(filter[arrayField]))
    .sort((one, other) => pinned(other) - pinned(one));
  return array && { array, once: isScalar(filter[array.arrayField]) };
}

/** Whether it says which values are looked for, not which are not. */
function isLookup(condition: FilterCondition | undefined): boolean {
  if (condition === undefined) return false;
  return isScalar(condition) || !('exists' in condition || 'ne' in condition);
}

/** Looks at each document that the rest of the filter leaves: `+` keeps the engine from looking at all that have the element. */
function addIndexedArray(sql: SqlBuilder, array: ArrayTable, condition: FilterCondition): void {
  const without = !isScalar(condition) && 'ne' in condition;
  sql.add(`${without ? 'NOT ' : ''}EXISTS (SELECT 1 FROM ${quoted(array.table)} AS e WHERE e.id = d.id AND `);
  addCondition(sql, `+e.${column(array.arrayField)}`, without ? condition.ne : condition);
  sql.add(')');
}

/** Reads the JSON: right for scalars and arrays alike, but looks at every document that the rest of the filter leaves. */
function addUnindexed(sql: SqlBuilder, field: string, condition: FilterCondition): void {
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

function sortKey(layout: CollectionLayout, field: string, leading: LeadingArray | undefined): string {
  if (leading?.once === true && (field === ID || leading.array.fields.includes(field))) return `a.${column(field)}`;
  if (field === ID || layout.columns.includes(field)) return `d.${column(field)}`;
  if (!FIELD.test(field)) throw new TypeError(`not a top-level field: ${field}`);
  return `json_extract(d.json, '$.${field}')`;
}

function isScalar(condition: FilterCondition | undefined): condition is Scalar {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}
