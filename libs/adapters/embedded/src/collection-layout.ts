import type { CollectionSpec, IndexSpec, Scalar } from '@tracking/ports';
import type { SqliteConnection } from './sqlite-database.ts';
import type { SqlValue } from './storage-threads.ts';

const COLLECTION_NAME_PATTERN = /^[a-z0-9_.-]+$/;
/** The pattern accepts only lower case, because SQLite's names are case-insensitive. */
const INDEXED_FIELD_NAME_PATTERN = /^[a-z0-9_]+$/;
export const ID_FIELD = 'id';

/*
 * Type tags of JSON values as SQL values, chosen so that equality and order match the port: absent is NULL, numbers and
 * strings are themselves, and other JSON types are one byte. SQLite sorts NULL < numbers < text < bytes.
 */

/** Type tag of a JSON null as an SQL value. */
const ENCODED_NULL = Uint8Array.of(0);
const ENCODED_FALSE = Uint8Array.of(1);
const INDEX_TAG_OF_TRUE = Uint8Array.of(2);
/** Type tag of objects and arrays: the field exists, but equals no value. */
const OBJECT_OR_ARRAY_TYPE_TAG = Uint8Array.of(3);
/** Placeholder for an absent field in an index key. It equals no value and lies outside every range. */
const ABSENT_VALUE_KEY = new Uint8Array(0);

/**
 * Index of an array field: a table with one posting per array element of a document, in the order of the index's
 * fields. Absent fields are stored as `ABSENT_VALUE_KEY`, because keys cannot contain NULL.
 */
export interface ArrayIndexTable {
  readonly index: IndexSpec;
  readonly table: string;
  readonly arrayField: string;
  /** Fields of the index, with the document's id at its position or last. */
  readonly fields: readonly string[];
  /** True if no two documents may have the same posting. Documents without a field are distinguished by `apart`. */
  readonly unique: boolean;
}

/** Table layout of a collection: one row per document with its JSON, and a column for each indexed field. */
export interface CollectionLayout {
  readonly spec: CollectionSpec;
  readonly table: string;
  /** Indexed fields except `id` and arrays. */
  readonly columns: readonly string[];
  /** Indexed array fields. */
  readonly arrayFields: readonly string[];
  readonly arrays: readonly ArrayIndexTable[];
}

export function computeSqliteCollectionLayout(spec: CollectionSpec): CollectionLayout {
  if (!COLLECTION_NAME_PATTERN.test(spec.name))
    throw new TypeError(`cannot define a collection: ${spec.name} is not a valid name`);
  const columns = new Set<string>();
  const arrayFields = new Set<string>();
  const arrays: ArrayIndexTable[] = [];
  for (const index of spec.indexes) {
    const { name, fields, arrayField } = index;
    for (const field of [name, ...fields]) {
      if (!INDEXED_FIELD_NAME_PATTERN.test(field))
        throw new TypeError(`cannot define collection ${spec.name}: ${field} is not a valid name of an index or field`);
    }
    for (const field of fields) if (field !== ID_FIELD && field !== arrayField) columns.add(field);
    if (arrayField === undefined) continue;
    arrayFields.add(arrayField);
    arrays.push({
      index,
      table: `array:${spec.name}:${name}`,
      arrayField,
      fields: fields.includes(ID_FIELD) ? fields : [...fields, ID_FIELD],
      unique: index.unique === true && !fields.includes(ID_FIELD),
    });
  }
  return { spec, table: `documents:${spec.name}`, columns: [...columns], arrayFields: [...arrayFields], arrays };
}

export function quoteName(name: string): string {
  return `"${name}"`;
}

/**
 * Returns the column of an indexed field. The name has a prefix, because a field can have a name such as `json` or
 * `rowid`.
 */
export function getColumnOfIndexedField(field: string): string {
  return field === ID_FIELD ? ID_FIELD : quoteName(`f_${field}`);
}

/** Returns the quoted name of a scalar index. */
export function getIndexName({ name }: CollectionSpec, index: string): string {
  return quoteName(`index:${name}:${index}`);
}

export function getSqlValuesOfIndexedFields(
  layout: CollectionLayout,
  document: Readonly<Record<string, unknown>>,
): SqlValue[] {
  return layout.columns.map((field) => encodeSqlValue(document[field]));
}

/** Returns the JSON of each indexed array; null if the document has none. */
export function getIndexedArraysAsJson(
  layout: CollectionLayout,
  document: Readonly<Record<string, unknown>>,
): readonly (string | null)[] {
  return layout.arrayFields.map((field) => JSON.stringify(document[field]) ?? null);
}

/** Returns statements that create every table and index of the collection. */
export function createTableStatements(layout: CollectionLayout): string[] {
  const { spec, table, columns } = layout;
  const own = [
    `CREATE TABLE ${quoteName(table)} (${['id TEXT PRIMARY KEY', 'json TEXT NOT NULL', ...columns.map(getColumnOfIndexedField)]})`,
  ];
  for (const { name, fields, arrayField, unique, only } of spec.indexes) {
    if (arrayField !== undefined) continue;
    const which = only === undefined ? '' : ` WHERE ${getColumnOfIndexedField(only)} IS NOT NULL`;
    own.push(
      `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${getIndexName(spec, name)} ON ${quoteName(table)} (${fields.map(getColumnOfIndexedField)})${which}`,
    );
  }
  return [...own, ...layout.arrays.map(createArrayTableStatement)];
}

/**
 * Returns the statement that creates the table of an index on an array field. The table is one B-tree in the order of
 * the index's fields, so that each posting is written once and found by its whole key.
 */
function createArrayTableStatement({ table, fields, unique }: ArrayIndexTable): string {
  const columns = fields.map(getColumnOfIndexedField);
  const key = unique ? [...columns.filter((name) => name !== ID_FIELD), 'apart'] : columns;
  const all = unique ? [...columns, 'apart'] : columns;
  return `CREATE TABLE ${quoteName(table)} (${all}, PRIMARY KEY (${key})) WITHOUT ROWID`;
}

export function createDropTableStatements({ table, arrays }: CollectionLayout): string[] {
  return [table, ...arrays.map((array) => array.table)].map((name) => `DROP TABLE ${quoteName(name)}`);
}

/**
 * Returns the name of the unique index in an error message of SQLite.
 * @param message `UNIQUE constraint failed: documents:keys.f_hash, documents:keys.f_kind`
 */
export function parseViolatedIndex({ spec, table }: CollectionLayout, message: string): string {
  for (const { name, fields, arrayField, unique } of spec.indexes) {
    const owner = arrayField === undefined ? table : `array:${spec.name}:${name}`;
    const key = fields.map((field) => (field === ID_FIELD ? ID_FIELD : `f_${field}`));
    if (arrayField !== undefined) key.push('apart');
    if (unique && message.endsWith(`: ${key.map((each) => `${owner}.${each}`).join(', ')}`)) return name;
  }
  return ID_FIELD;
}

/** Parts of a document from which postings are built. */
export interface IndexedValues {
  readonly id: string;
  /** Values in the order of `CollectionLayout.columns`. */
  readonly columns: readonly SqlValue[];
  /** JSON of each array in the order of `CollectionLayout.arrayFields`; null without an array. */
  readonly arrays: readonly (string | null)[];
}

/** Writes the postings of one index on an array field. Unchanged postings are not written again. */
export class ArrayIndexWriter {
  private readonly database: SqliteConnection;
  private readonly table: ArrayIndexTable;
  /** Index of the array in the layout. */
  private readonly array: number;
  /** Column of the document for each posting field; -1 for the id, -2 for the element. */
  private readonly sources: readonly number[];
  private readonly addText: string;
  private readonly removeText: string;

  constructor(database: SqliteConnection, layout: CollectionLayout, table: ArrayIndexTable) {
    this.database = database;
    this.table = table;
    this.array = layout.arrayFields.indexOf(table.arrayField);
    this.sources = table.fields.map((field) => {
      if (field === ID_FIELD) return -1;
      return field === table.arrayField ? -2 : layout.columns.indexOf(field);
    });
    const columns = [...table.fields.map(getColumnOfIndexedField), ...(table.unique ? ['apart'] : [])];
    const name = quoteName(table.table);
    this.addText = `INSERT INTO ${name} (${columns}) VALUES (${columns.map(() => '?')})`;
    this.removeText = `DELETE FROM ${name} WHERE ${columns.map((each) => `${each} = ?`).join(' AND ')}`;
  }

  addIndexPostingsOfDocument(document: IndexedValues): void {
    for (const element of this.encodeArrayElements(document))
      this.runArrayIndexEntryStatement(this.addText, document, element);
  }

  removePostings(document: IndexedValues): void {
    for (const element of this.encodeArrayElements(document))
      this.runArrayIndexEntryStatement(this.removeText, document, element);
  }

  updateArrayIndexEntries(before: IndexedValues, after: IndexedValues): void {
    const moved = this.sources.some((from) => from >= 0 && !isSameValue(before.columns[from], after.columns[from]));
    if (!moved && before.arrays[this.array] === after.arrays[this.array]) return;
    const old = this.encodeArrayElements(before);
    const now = this.encodeArrayElements(after);
    // Postings are removed first, because added postings may reuse their keys.
    for (const element of old)
      if (moved || !now.has(element)) this.runArrayIndexEntryStatement(this.removeText, before, element);
    for (const element of now)
      if (moved || !old.has(element)) this.runArrayIndexEntryStatement(this.addText, after, element);
  }

  private runArrayIndexEntryStatement(text: string, { id, columns }: IndexedValues, element: SqlValue): void {
    let lacks = false;
    const values = this.sources.map((from): SqlValue => {
      if (from === -1) return id;
      const value = from === -2 ? element : (columns[from] ?? null);
      lacks ||= value === null;
      return value ?? ABSENT_VALUE_KEY;
    });
    if (this.table.unique) values.push(lacks ? id : '');
    this.database.runStatement(text, values);
  }

  /** Equal elements have one posting. A field that is not an array is treated as one element. */
  private encodeArrayElements({ arrays }: IndexedValues): ReadonlySet<SqlValue> {
    const json = arrays[this.array] ?? null;
    if (json === null) return new Set();
    const value: unknown = JSON.parse(json);
    return new Set((Array.isArray(value) ? value : [value]).map(encodeSqlValue));
  }
}

export function encodeSqlValue(value: unknown): SqlValue {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'boolean') return value ? INDEX_TAG_OF_TRUE : ENCODED_FALSE;
  // JSON encodes non-finite numbers as null.
  return value === null || typeof value === 'number' ? ENCODED_NULL : OBJECT_OR_ARRAY_TYPE_TAG;
}

/** SQL expression of the encoding, from a JSON value and its type as returned by SQLite's functions. */
export function createIndexValueEncodingSql(type: string, value: string): string {
  return `CASE ${type} WHEN 'null' THEN x'00' WHEN 'false' THEN x'01' WHEN 'true' THEN x'02'
  WHEN 'object' THEN x'03' WHEN 'array' THEN x'03' ELSE ${value} END`;
}

/**
 * Returns SQL literals that bound all values of the same type: an inclusive lower bound and an exclusive upper bound.
 */
export function getSqlBoundsOfValueType(value: SqlValue): {
  readonly from: string | undefined;
  readonly below: string;
} {
  if (typeof value === 'number') return { from: undefined, below: `''` };
  if (typeof value === 'string') return { from: `''`, below: `x''` };
  return value === ENCODED_NULL ? { from: `x'00'`, below: `x'01'` } : { from: `x'01'`, below: `x'03'` };
}

export function decodeSqlValue(value: SqlValue | undefined): Scalar {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value;
  return value[0] === ENCODED_FALSE[0] || value[0] === INDEX_TAG_OF_TRUE[0] ? value[0] === INDEX_TAG_OF_TRUE[0] : null;
}

export function isSameValue(one: SqlValue | undefined, other: SqlValue | undefined): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return one[0] === other[0];
  return one === other;
}
