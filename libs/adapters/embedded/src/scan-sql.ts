import type { Bounds, Filter, Scalar, Scan } from '@tracking/ports';
import { column, indexName, quoted, type CollectionLayout } from './collection-layout.ts';
import { encodeValue, typeBounds } from './encoded-values.ts';
import { addFilter, isScalar, SqlBuilder } from './filter-sql.ts';
import { addLed, arrayNamed, split } from './query-sql.ts';
import { LIMIT } from './sqlite-database.ts';
import type { Sql, SqlValue } from './storage-protocol.ts';

/**
 * A row for each entry of the stretch: the document's JSON where the filter holds for it, else null; then the values of the
 * sort. What the filter says of an entry is looked at in the row, not in `WHERE`: there the engine would pass over entries,
 * any number of them, until enough match.
 */
export function scanSql(layout: CollectionLayout, scan: Scan): Sql {
  const array = arrayNamed(layout, scan.index);
  const alias = array === undefined ? 'd' : 'a';
  const key = (field: string) => `${alias}.${column(field)}`;
  const keys = scan.sort.fields.map(key);
  const parts = array === undefined ? { led: scan.filter, ofPosting: {}, ofDocument: {} } : split(scan.filter, array);
  const { pinned, others } = parted(layout, scan, parts.led);
  const sql = new SqlBuilder();
  sql.add('SELECT CASE WHEN ');
  if (array === undefined) addFilter(sql, layout, others);
  else {
    addLed(sql, others);
    addFilter(sql.add(' AND '), layout, parts.ofPosting, array);
  }
  sql.add(' THEN ');
  if (array === undefined) sql.add('d.json');
  else {
    sql.add(`(SELECT d.json FROM ${quoted(layout.table)} AS d WHERE d.id = a.id AND `);
    addFilter(sql, layout, parts.ofDocument);
    sql.add(')');
  }
  sql.add(` END, ${keys} FROM ${quoted(array?.table ?? layout.table)} AS ${alias}`);
  if (array === undefined) sql.add(` INDEXED BY ${indexName(layout.spec, scan.index)}`);
  sql.add(' WHERE TRUE');
  for (const [field, value] of pinned) sql.add(` AND ${key(field)} = ?`, value);
  addRange(sql, keys, scan);
  return sql.add(` ORDER BY ${keys.map((each) => each + (scan.sort.descending ? ' DESC' : ''))} ${LIMIT}`, scan.visit);
}

/** What the filter says of the fields before those of the sort: one value each. And what else it says. */
function parted({ spec }: CollectionLayout, { index, sort }: Scan, filter: Filter) {
  const fields = spec.indexes.find(({ name }) => name === index)?.fields ?? [];
  const [first = ''] = sort.fields;
  const from = fields.indexOf(first);
  if (from < 0 || sort.fields.some((field, at) => fields[from + at] !== field)) {
    throw new TypeError(`${index} does not go on in the order of ${sort.fields.join()}`);
  }
  const pinned = fields.slice(0, from).map((field): [string, SqlValue] => {
    const condition = filter[field];
    if (!isScalar(condition)) throw new TypeError(`${index}: the filter names no one ${field}`);
    return [field, encodeValue(condition)];
  });
  const others = Object.entries(filter).filter(([field]) => !pinned.some(([name]) => name === field));
  return { pinned, others: Object.fromEntries(others) };
}

/** From where to where: what the bounds leave open ends with their type, and a stretch that goes on begins there. */
function addRange(sql: SqlBuilder, keys: readonly string[], { filter, sort, after }: Scan): void {
  const [first = ''] = sort.fields;
  const [key = ''] = keys;
  const { from, to } = rangeOf(boundsOf(filter[first]));
  const add = (bound: Bound | undefined) => {
    if (bound !== undefined) sql.add(` AND ${key} ${bound.text}`, ...bound.values);
  };
  const goesOn = after === undefined ? undefined : sort.descending === true ? '<' : '>';
  if (goesOn !== '>') add(from);
  if (goesOn !== '<') add(to);
  if (after !== undefined) sql.add(` AND (${keys}) ${goesOn} (${keys.map(() => '?')})`, ...after.map(encodeValue));
}

/** A comparison, without the key that is compared. */
type Bound = Sql;

function rangeOf({ gt, gte, lt, lte }: Bounds): { readonly from?: Bound | undefined; readonly to?: Bound | undefined } {
  const from = boundAt('>=', gte) ?? boundAt('>', gt);
  const to = boundAt('<=', lte) ?? boundAt('<', lt);
  const [low, high] = [from?.values[0], to?.values[0]];
  return {
    from: from ?? (high === undefined ? undefined : ofType('>=', typeBounds(high).from)),
    to: to ?? (low === undefined ? undefined : ofType('<', typeBounds(low).below)),
  };
}

function boundAt(comparison: string, value: Scalar | undefined): Bound | undefined {
  return value === undefined ? undefined : { text: `${comparison} ?`, values: [encodeValue(value)] };
}

function ofType(comparison: string, literal: string | undefined): Bound | undefined {
  return literal === undefined ? undefined : { text: `${comparison} ${literal}`, values: [] };
}

function boundsOf(condition: Filter[string] | undefined): Bounds {
  if (condition === undefined) return {};
  if (isScalar(condition)) return { gte: condition, lte: condition };
  return 'in' in condition || 'ne' in condition || 'exists' in condition || 'all' in condition ? {} : condition;
}
