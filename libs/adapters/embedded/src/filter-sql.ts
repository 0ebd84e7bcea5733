import type { FieldBounds, FilterCondition, Filter, Scalar } from '@tracking/ports';
import {
  type ArrayIndexTable,
  type CollectionLayout,
  getColumnOfIndexedField,
  createIndexValueEncodingSql,
  encodeSqlValue,
  ID_FIELD,
  quoteName,
  getSqlBoundsOfValueType,
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

  addSqlText(text: string, ...values: SqlValue[]): this {
    this.text += text;
    this.values.push(...values);
    return this;
  }
}

/** Returns the conditions for the document in the row `d`. Every statement with a filter uses this table alias. */
export function createFilterSql(layout: CollectionLayout, filter: Filter): SqlStatement {
  const sql = new SqlBuilder();
  addFilterSql(sql, layout, filter);
  return sql;
}

/** @param postings table `a` whose rows lead to the documents, if any; its array is then not read from `d` */
export function addFilterSql(
  sql: SqlBuilder,
  layout: CollectionLayout,
  filter: Filter,
  postings?: ArrayIndexTable,
): void {
  sql.addSqlText('TRUE');
  for (const [field, condition] of Object.entries(filter)) {
    if (!FIELD_NAME_PATTERN.test(field))
      throw new TypeError(`cannot filter by ${field}: only top-level fields are supported`);
    sql.addSqlText(' AND ');
    const array = findArrayTable(layout, field, postings);
    if (array !== undefined) addIndexedArrayConditionSql(sql, { array, isLeading: array === postings }, condition);
    else if (field === ID_FIELD || layout.columns.includes(field))
      addConditionSql(sql, `d.${getColumnOfIndexedField(field)}`, condition);
    else addJsonCondition(sql, field, condition);
  }
}

/** Returns the table that indexes the elements of an array field: `postings` if it does, or else any other. */
function findArrayTable(
  { arrays }: CollectionLayout,
  field: string,
  postings?: ArrayIndexTable,
): ArrayIndexTable | undefined {
  if (postings?.arrayField === field) return postings;
  return arrays.find(({ arrayField }) => arrayField === field);
}

/** Adds a condition on the postings in the table `a`. */
export function addArrayTableConditionSql(sql: SqlBuilder, field: string, condition: FilterCondition): void {
  addConditionSql(sql, `a.${getColumnOfIndexedField(field)}`, condition, ABSENT_VALUE_KEY_SQL);
}

/** @param absent key that postings use for an absent field */
function addConditionSql(sql: SqlBuilder, key: string, condition: FilterCondition, absent = 'NULL'): void {
  if (isScalar(condition)) sql.addSqlText(`${key} = ?`, encodeSqlValue(condition));
  else if ('in' in condition)
    sql.addSqlText(`${key} IN (${condition.in.map(() => '?')})`, ...condition.in.map(encodeSqlValue));
  else if ('ne' in condition) sql.addSqlText(`${key} IS NOT ?`, encodeSqlValue(condition.ne));
  else if ('exists' in condition) sql.addSqlText(`${key} IS ${condition.exists ? 'NOT ' : ''}${absent}`);
  else if ('all' in condition)
    for (const one of joinConditionsWithAnd(sql, condition.all)) addConditionSql(sql, key, one);
  else addBoundsSql(sql, key, condition);
}

/** Separate conditions, all of which must match. */
function* joinConditionsWithAnd<C>(sql: SqlBuilder, conditions: readonly C[]): Generator<C> {
  sql.addSqlText('(TRUE');
  for (const one of conditions) {
    sql.addSqlText(' AND ');
    yield one;
  }
  sql.addSqlText(')');
}

/** Compares only values of one type: the end of the type replaces a missing bound. */
function addBoundsSql(sql: SqlBuilder, key: string, { gt, gte, lt, lte }: FieldBounds): void {
  // The unary `+` keeps the planner from starting at the end of the type, because the page starts at a later entry.
  const ofType = key === sql.continuationKey ? `+${key}` : key;
  const bound = (value: Scalar | undefined, comparison: string, counterparts: readonly (Scalar | undefined)[]) => {
    if (value === undefined) return;
    const encoded = encodeSqlValue(value);
    sql.addSqlText(` AND ${key} ${comparison} ?`, encoded);
    if (counterparts.some((other) => other !== undefined && getJsonTypeName(other) === getJsonTypeName(value))) return;
    const { from, below } = getSqlBoundsOfValueType(encoded);
    if (comparison.startsWith('>')) sql.addSqlText(` AND ${ofType} < ${below}`);
    else if (from !== undefined) sql.addSqlText(` AND ${ofType} >= ${from}`);
  };
  sql.addSqlText('(TRUE');
  bound(gt, '>', [lt, lte]);
  bound(gte, '>=', [lt, lte]);
  bound(lt, '<', [gt, gte]);
  bound(lte, '<=', [gt, gte]);
  sql.addSqlText(')');
}

function getJsonTypeName(value: Scalar): string {
  return value === null ? 'null' : typeof value;
}

interface ArrayElementLookup {
  readonly array: ArrayIndexTable;
  /** True if the document was found by a posting `a` of the same table. */
  readonly isLeading: boolean;
}

/**
 * Looks up the posting by its complete key. A condition with bounds searches the elements of the document instead,
 * because they are fewer than the index entries.
 */
function addIndexedArrayConditionSql(sql: SqlBuilder, lookup: ArrayElementLookup, condition: FilterCondition): void {
  const { arrayField } = lookup.array;
  if (isScalar(condition)) addArrayElementConditionSql(sql, lookup, condition);
  else if ('in' in condition) addArrayElementConditionSql(sql, lookup, condition);
  else if ('ne' in condition) addArrayElementConditionSql(sql.addSqlText('NOT '), lookup, condition.ne);
  else if ('all' in condition)
    for (const one of joinConditionsWithAnd(sql, condition.all)) addIndexedArrayConditionSql(sql, lookup, one);
  else addJsonCondition(sql, arrayField, condition);
}

function addArrayElementConditionSql(
  sql: SqlBuilder,
  { array, isLeading }: ArrayElementLookup,
  condition: FilterCondition,
): void {
  // The unary `+` keeps the planner from starting a join at this table.
  sql.addSqlText(`+EXISTS (SELECT 1 FROM ${quoteName(array.table)} AS e WHERE `);
  addConditionSql(sql, `e.${getColumnOfIndexedField(array.arrayField)}`, condition);
  for (const field of array.fields) {
    if (field === array.arrayField) continue;
    const name = getColumnOfIndexedField(field);
    const known = isLeading ? `a.${name}` : `d.${name}`;
    sql.addSqlText(
      ` AND e.${name} = ${isLeading || field === ID_FIELD ? known : `ifnull(${known}, ${ABSENT_VALUE_KEY_SQL})`}`,
    );
  }
  sql.addSqlText(')');
}

/**
 * Adds a condition on the JSON. Works for scalars and arrays, but reads every document that the other conditions
 * select.
 */
function addJsonCondition(sql: SqlBuilder, field: string, condition: FilterCondition): void {
  const path = `'$.${field}'`;
  if (isScalar(condition)) addArrayConditionSql(sql, path, condition);
  else if ('exists' in condition) sql.addSqlText(`json_type(d.json, ${path}) IS ${condition.exists ? 'NOT ' : ''}NULL`);
  else if ('all' in condition)
    for (const one of joinConditionsWithAnd(sql, condition.all)) addJsonCondition(sql, field, one);
  else if ('ne' in condition) addArrayConditionSql(sql.addSqlText('NOT '), path, condition.ne);
  else addArrayConditionSql(sql, path, condition);
}

/**
 * Arrays are checked separately, because the engine parses a document once for all scalar fields, but again for each
 * array.
 */
function addArrayConditionSql(sql: SqlBuilder, path: string, condition: FilterCondition): void {
  sql.addSqlText(`(CASE json_type(d.json, ${path}) WHEN 'object' THEN FALSE WHEN 'array' THEN EXISTS (`);
  sql.addSqlText(`SELECT 1 FROM json_each(d.json, ${path}) AS e WHERE `);
  addConditionSql(sql, `(${createIndexValueEncodingSql('e.type', 'e.value')})`, condition);
  sql.addSqlText(') ELSE (');
  addConditionSql(
    sql,
    `(${createIndexValueEncodingSql(`json_type(d.json, ${path})`, `d.json ->> ${path}`)})`,
    condition,
  );
  sql.addSqlText(') IS TRUE END)');
}

export function createDocumentFieldSql(layout: CollectionLayout, field: string): string {
  if (field === ID_FIELD || layout.columns.includes(field)) return `d.${getColumnOfIndexedField(field)}`;
  if (!FIELD_NAME_PATTERN.test(field))
    throw new TypeError(`cannot filter by ${field}: only top-level fields are supported`);
  return `json_extract(d.json, '$.${field}')`;
}

export function isScalar(condition: FilterCondition | undefined): condition is Scalar {
  return condition === null || (condition !== undefined && typeof condition !== 'object');
}
