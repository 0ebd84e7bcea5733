import type { FieldBounds, FilterCondition, Filter, Scalar } from '@tracking/ports';
import {
  type ArrayTable,
  type CollectionLayout,
  getColumnName,
  encodeJsonSql,
  encodeValue,
  ID_FIELD,
  quoteName,
  getSqlBoundsOfType,
} from './collection-layout.ts';
import type { SqlStatement, SqlValue } from './storage-threads.ts';

const FIELD_NAME_PATTERN = /^[A-Za-z0-9_]+$/;
/** Key of an absent field in a posting. In the row of a document, an absent field is NULL. */
const ABSENT_VALUE_KEY_SQL = `x''`;

/** Builds SQL text and collects the values of its `?` in order. */
export class SqlBuilder {
  text = '';
  readonly values: SqlValue[] = [];

  /** @param continuationKey key of the first sort value after which the page continues, if any */
  constructor(readonly continuationKey?: string) {}

  addText(text: string, ...values: SqlValue[]): this {
    this.text += text;
    this.values.push(...values);
    return this;
  }
}

/** Adds conditions for the document in the row `d`. Every statement with a filter uses this table alias. */
export function createFilterSql(layout: CollectionLayout, filter: Filter): SqlStatement {
  const sql = new SqlBuilder();
  addFilterSql(sql, layout, filter);
  return sql;
}

/** @param postings table `a` whose rows lead to the documents, if any; its array is then not read from `d` */
export function addFilterSql(sql: SqlBuilder, layout: CollectionLayout, filter: Filter, postings?: ArrayTable): void {
  sql.addText('TRUE');
  for (const [field, condition] of Object.entries(filter)) {
    if (!FIELD_NAME_PATTERN.test(field))
      throw new TypeError(`cannot filter by ${field}: only top-level fields are supported`);
    sql.addText(' AND ');
    const array = findArrayTable(layout, field, postings);
    if (array !== undefined) addIndexedArray(sql, { array, isLeading: array === postings }, condition);
    else if (field === ID_FIELD || layout.columns.includes(field))
      addConditionSql(sql, `d.${getColumnName(field)}`, condition);
    else addJsonCondition(sql, field, condition);
  }
}

/** Index that shows if a document has an element. */
function findArrayTable({ arrays }: CollectionLayout, field: string, postings?: ArrayTable): ArrayTable | undefined {
  if (postings?.arrayField === field) return postings;
  return arrays.find(({ arrayField }) => arrayField === field);
}

/** Adds a condition on the postings in the table `a`. */
export function addPostingCondition(sql: SqlBuilder, field: string, condition: FilterCondition): void {
  addConditionSql(sql, `a.${getColumnName(field)}`, condition, ABSENT_VALUE_KEY_SQL);
}

/** @param absent key that postings use for an absent field */
function addConditionSql(sql: SqlBuilder, key: string, condition: FilterCondition, absent = 'NULL'): void {
  if (isScalar(condition)) sql.addText(`${key} = ?`, encodeValue(condition));
  else if ('in' in condition)
    sql.addText(`${key} IN (${condition.in.map(() => '?')})`, ...condition.in.map(encodeValue));
  else if ('ne' in condition) sql.addText(`${key} IS NOT ?`, encodeValue(condition.ne));
  else if ('exists' in condition) sql.addText(`${key} IS ${condition.exists ? 'NOT ' : ''}${absent}`);
  else if ('all' in condition)
    for (const one of joinConditionsWithAnd(sql, condition.all)) addConditionSql(sql, key, one);
  else addBoundsSql(sql, key, condition);
}

/** Separate conditions, all of which must match. */
function* joinConditionsWithAnd<C>(sql: SqlBuilder, conditions: readonly C[]): Generator<C> {
  sql.addText('(TRUE');
  for (const one of conditions) {
    sql.addText(' AND ');
    yield one;
  }
  sql.addText(')');
}

/** Compares only values of one type: the end of the type replaces a missing bound. */
function addBoundsSql(sql: SqlBuilder, key: string, { gt, gte, lt, lte }: FieldBounds): void {
  // The unary `+` keeps the planner from starting at the end of the type, because the page starts at a later entry.
  const ofType = key === sql.continuationKey ? `+${key}` : key;
  const bound = (value: Scalar | undefined, comparison: string, counterparts: readonly (Scalar | undefined)[]) => {
    if (value === undefined) return;
    const encoded = encodeValue(value);
    sql.addText(` AND ${key} ${comparison} ?`, encoded);
    if (counterparts.some((other) => other !== undefined && getJsonTypeName(other) === getJsonTypeName(value))) return;
    const { from, below } = getSqlBoundsOfType(encoded);
    if (comparison.startsWith('>')) sql.addText(` AND ${ofType} < ${below}`);
    else if (from !== undefined) sql.addText(` AND ${ofType} >= ${from}`);
  };
  sql.addText('(TRUE');
  bound(gt, '>', [lt, lte]);
  bound(gte, '>=', [lt, lte]);
  bound(lt, '<', [gt, gte]);
  bound(lte, '<=', [gt, gte]);
  sql.addText(')');
}

function getJsonTypeName(value: Scalar): string {
  return value === null ? 'null' : typeof value;
}

interface ArrayElementLookup {
  readonly array: ArrayTable;
  /** True if the document was found by a posting `a` of the same table. */
  readonly isLeading: boolean;
}

/**
 * Looks up the posting by its complete key. A condition with bounds searches the elements of the document instead,
 * because they are fewer than the index entries.
 */
function addIndexedArray(sql: SqlBuilder, lookup: ArrayElementLookup, condition: FilterCondition): void {
  const { arrayField } = lookup.array;
  if (isScalar(condition)) addArrayElementSql(sql, lookup, condition);
  else if ('in' in condition) addArrayElementSql(sql, lookup, condition);
  else if ('ne' in condition) addArrayElementSql(sql.addText('NOT '), lookup, condition.ne);
  else if ('all' in condition)
    for (const one of joinConditionsWithAnd(sql, condition.all)) addIndexedArray(sql, lookup, one);
  else addJsonCondition(sql, arrayField, condition);
}

function addArrayElementSql(
  sql: SqlBuilder,
  { array, isLeading }: ArrayElementLookup,
  condition: FilterCondition,
): void {
  // The unary `+` keeps the planner from starting a join at this table.
  sql.addText(`+EXISTS (SELECT 1 FROM ${quoteName(array.table)} AS e WHERE `);
  addConditionSql(sql, `e.${getColumnName(array.arrayField)}`, condition);
  for (const field of array.fields) {
    if (field === array.arrayField) continue;
    const name = getColumnName(field);
    const known = isLeading ? `a.${name}` : `d.${name}`;
    sql.addText(
      ` AND e.${name} = ${isLeading || field === ID_FIELD ? known : `ifnull(${known}, ${ABSENT_VALUE_KEY_SQL})`}`,
    );
  }
  sql.addText(')');
}

/**
 * Adds a condition on the JSON. Works for scalars and arrays, but reads every document that the other conditions
 * select.
 */
function addJsonCondition(sql: SqlBuilder, field: string, condition: FilterCondition): void {
  const path = `'$.${field}'`;
  if (isScalar(condition)) addArrayConditionSql(sql, path, condition);
  else if ('exists' in condition) sql.addText(`json_type(d.json, ${path}) IS ${condition.exists ? 'NOT ' : ''}NULL`);
  else if ('all' in condition)
    for (const one of joinConditionsWithAnd(sql, condition.all)) addJsonCondition(sql, field, one);
  else if ('ne' in condition) addArrayConditionSql(sql.addText('NOT '), path, condition.ne);
  else addArrayConditionSql(sql, path, condition);
}

/**
 * Arrays are checked separately, because the engine parses a document once for all scalar fields, but again for each
 * array.
 */
function addArrayConditionSql(sql: SqlBuilder, path: string, condition: FilterCondition): void {
  sql.addText(`(CASE json_type(d.json, ${path}) WHEN 'object' THEN FALSE WHEN 'array' THEN EXISTS (`);
  sql.addText(`SELECT 1 FROM json_each(d.json, ${path}) AS e WHERE `);
  addConditionSql(sql, `(${encodeJsonSql('e.type', 'e.value')})`, condition);
  sql.addText(') ELSE (');
  addConditionSql(sql, `(${encodeJsonSql(`json_type(d.json, ${path})`, `d.json ->> ${path}`)})`, condition);
  sql.addText(') IS TRUE END)');
}

export function createDocumentKeySql(layout: CollectionLayout, field: string): string {
  if (field === ID_FIELD || layout.columns.includes(field)) return `d.${getColumnName(field)}`;
  if (!FIELD_NAME_PATTERN.test(field))
    throw new TypeError(`cannot filter by ${field}: only top-level fields are supported`);
  return `json_extract(d.json, '$.${field}')`;
}

export function isScalar(condition: FilterCondition | undefined): condition is Scalar {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}
