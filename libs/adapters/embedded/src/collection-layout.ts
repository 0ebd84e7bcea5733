import type { CollectionSpec, IndexSpec, Scalar } from '@tracking/ports';
import type { Database } from './sqlite-database.ts';
import type { SqlValue } from './storage-threads.ts';

const COLLECTION_NAME = /^[a-z0-9_.-]+$/;
/** SQLite's names know no case, so neither do these. */
const FIELD_NAME = /^[a-z0-9_]+$/;
export const ID = 'id';
/**
 * JSON values as SQL values, so that equality and order are the port's: absent is NULL, numbers and strings are
 * themselves, and what SQL has no type for is a byte. SQLite sorts NULL < numbers < text < bytes.
 */
const NULL = Uint8Array.of(0);
const FALSE = Uint8Array.of(1);
const TRUE = Uint8Array.of(2);
/** Objects and arrays: they exist, and equal nothing. */
const OTHER = Uint8Array.of(3);
/** Stands in a key for an absent field: equal to no value, and within no bounds. */
const ABSENT = new Uint8Array(0);

/**
 * The index of an array field: a table with a posting for each element of a document's array, in the order of the index's
 * fields. Fields that a document lacks are `ABSENT`, since a key has no NULL.
 */
export interface ArrayTable {
  readonly index: IndexSpec;
  readonly table: string;
  readonly arrayField: string;
  /** The index's fields, with the document's id in its place or as the last. */
  readonly fields: readonly string[];
  /** Whether no two documents have the same posting; those that lack a field are told apart by `apart`. */
  readonly unique: boolean;
}

/** How a collection lies in tables: one row per document with its JSON, indexed fields in columns of their own. */
export interface CollectionLayout {
  readonly spec: CollectionSpec;
  readonly table: string;
  /** Indexed fields but `id` and arrays. */
  readonly columns: readonly string[];
  /** Indexed arrays. */
  readonly arrayFields: readonly string[];
  readonly arrays: readonly ArrayTable[];
}

export function layoutOf(spec: CollectionSpec): CollectionLayout {
  if (!COLLECTION_NAME.test(spec.name)) throw new TypeError(`not a collection's name: ${spec.name}`);
  const columns = new Set<string>();
  const arrayFields = new Set<string>();
  const arrays: ArrayTable[] = [];
  for (const index of spec.indexes) {
    const { name, fields, arrayField } = index;
    for (const field of [name, ...fields]) {
      if (!FIELD_NAME.test(field)) throw new TypeError(`${spec.name}: not an index's or field's name: ${field}`);
    }
    for (const field of fields) if (field !== ID && field !== arrayField) columns.add(field);
    if (arrayField === undefined) continue;
    arrayFields.add(arrayField);
    arrays.push({
      index,
      table: `array:${spec.name}:${name}`,
      arrayField,
      fields: fields.includes(ID) ? fields : [...fields, ID],
      unique: index.unique === true && !fields.includes(ID),
    });
  }
  return { spec, table: `documents:${spec.name}`, columns: [...columns], arrayFields: [...arrayFields], arrays };
}

export function quoted(name: string): string {
  return `"${name}"`;
}

/** The column of an indexed field. Prefixed, since a field may be called `json` or `rowid`. */
export function column(field: string): string {
  return field === ID ? ID : quoted(`f_${field}`);
}

/** The name of a scalar index, quoted. */
export function indexName({ name }: CollectionSpec, index: string): string {
  return quoted(`index:${name}:${index}`);
}

export function columnValues(layout: CollectionLayout, document: Readonly<Record<string, unknown>>): SqlValue[] {
  return layout.columns.map((field) => encodeValue(document[field]));
}

/** The JSON of each indexed array; null where the document has none. */
export function arrayValues(
  layout: CollectionLayout,
  document: Readonly<Record<string, unknown>>,
): readonly (string | null)[] {
  return layout.arrayFields.map((field) => JSON.stringify(document[field]) ?? null);
}

/** Every table and index of a collection. */
export function definition(layout: CollectionLayout): string[] {
  const { spec, table, columns } = layout;
  const own = [
    `CREATE TABLE ${quoted(table)} (${['id TEXT PRIMARY KEY', 'json TEXT NOT NULL', ...columns.map(column)]})`,
  ];
  for (const { name, fields, arrayField, unique, only } of spec.indexes) {
    if (arrayField !== undefined) continue;
    const which = only === undefined ? '' : ` WHERE ${column(only)} IS NOT NULL`;
    own.push(
      `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${indexName(spec, name)} ON ${quoted(table)} (${fields.map(column)})${which}`,
    );
  }
  return [...own, ...layout.arrays.map(arrayDefinition)];
}

/** One tree, ordered by the index's fields: a posting is written in one place, and found by all that the document has. */
function arrayDefinition({ table, fields, unique }: ArrayTable): string {
  const columns = fields.map(column);
  const key = unique ? [...columns.filter((name) => name !== ID), 'apart'] : columns;
  const all = unique ? [...columns, 'apart'] : columns;
  return `CREATE TABLE ${quoted(table)} (${all}, PRIMARY KEY (${key})) WITHOUT ROWID`;
}

export function removal({ table, arrays }: CollectionLayout): string[] {
  return [table, ...arrays.map((array) => array.table)].map((name) => `DROP TABLE ${quoted(name)}`);
}

/**
 * The name of the index that SQLite says was violated.
 * @param message `UNIQUE constraint failed: documents:keys.f_hash, documents:keys.f_kind`
 */
export function violatedIndex({ spec, table }: CollectionLayout, message: string): string {
  for (const { name, fields, arrayField, unique } of spec.indexes) {
    const owner = arrayField === undefined ? table : `array:${spec.name}:${name}`;
    const key = fields.map((field) => (field === ID ? ID : `f_${field}`));
    if (arrayField !== undefined) key.push('apart');
    if (unique && message.endsWith(`: ${key.map((each) => `${owner}.${each}`).join(', ')}`)) return name;
  }
  return ID;
}

/** The parts of a document from which postings are made. */
export interface Indexed {
  readonly id: string;
  /** As in `CollectionLayout.columns`. */
  readonly columns: readonly SqlValue[];
  /** As in `CollectionLayout.arrayFields`: the JSON of each, null without one. */
  readonly arrays: readonly (string | null)[];
}

/** The postings of one array index. Of a document that changed only those are written that did. */
export class ArrayPostings {
  private readonly database: Database;
  private readonly table: ArrayTable;
  /** Which of the arrays of the layout. */
  private readonly array: number;
  /** For each field of a posting the column of the document that it is, -1 for the id and -2 for the element. */
  private readonly sources: readonly number[];
  private readonly addText: string;
  private readonly removeText: string;

  constructor(database: Database, layout: CollectionLayout, table: ArrayTable) {
    this.database = database;
    this.table = table;
    this.array = layout.arrayFields.indexOf(table.arrayField);
    this.sources = table.fields.map((field) => {
      if (field === ID) return -1;
      return field === table.arrayField ? -2 : layout.columns.indexOf(field);
    });
    const columns = [...table.fields.map(column), ...(table.unique ? ['apart'] : [])];
    const name = quoted(table.table);
    this.addText = `INSERT INTO ${name} (${columns}) VALUES (${columns.map(() => '?')})`;
    this.removeText = `DELETE FROM ${name} WHERE ${columns.map((each) => `${each} = ?`).join(' AND ')}`;
  }

  add(document: Indexed): void {
    for (const element of this.elements(document)) this.run(this.addText, document, element);
  }

  remove(document: Indexed): void {
    for (const element of this.elements(document)) this.run(this.removeText, document, element);
  }

  change(before: Indexed, after: Indexed): void {
    const moved = this.sources.some((from) => from >= 0 && !sameValue(before.columns[from], after.columns[from]));
    if (!moved && before.arrays[this.array] === after.arrays[this.array]) return;
    const old = this.elements(before);
    const now = this.elements(after);
    // First those that go: another document, or this one, may have the same key from here on.
    for (const element of old) if (moved || !now.has(element)) this.run(this.removeText, before, element);
    for (const element of now) if (moved || !old.has(element)) this.run(this.addText, after, element);
  }

  private run(text: string, { id, columns }: Indexed, element: SqlValue): void {
    let lacks = false;
    const values = this.sources.map((from): SqlValue => {
      if (from === -1) return id;
      const value = from === -2 ? element : (columns[from] ?? null);
      lacks ||= value === null;
      return value ?? ABSENT;
    });
    if (this.table.unique) values.push(lacks ? id : '');
    this.database.run(text, values);
  }

  /** Equal elements are one, as is a field that holds no array. */
  private elements({ arrays }: Indexed): ReadonlySet<SqlValue> {
    const json = arrays[this.array] ?? null;
    if (json === null) return new Set();
    const value: unknown = JSON.parse(json);
    return new Set((Array.isArray(value) ? value : [value]).map(encodeValue));
  }
}

export function encodeValue(value: unknown): SqlValue {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'boolean') return value ? TRUE : FALSE;
  // JSON has null for the numbers that it lacks.
  return value === null || typeof value === 'number' ? NULL : OTHER;
}

/** The same in SQL, of a JSON value and its type as SQLite's functions answer them. */
export function encodedJson(type: string, value: string): string {
  return `CASE ${type} WHEN 'null' THEN x'00' WHEN 'false' THEN x'01' WHEN 'true' THEN x'02'
  WHEN 'object' THEN x'03' WHEN 'array' THEN x'03' ELSE ${value} END`;
}

/** The SQL literals between which all values of the type of `value` lie: from the first, and below the second. */
export function typeBounds(value: SqlValue): { readonly from: string | undefined; readonly below: string } {
  if (typeof value === 'number') return { from: undefined, below: `''` };
  if (typeof value === 'string') return { from: `''`, below: `x''` };
  return value === NULL ? { from: `x'00'`, below: `x'01'` } : { from: `x'01'`, below: `x'03'` };
}

export function decodeValue(value: SqlValue | undefined): Scalar {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value;
  return value[0] === FALSE[0] || value[0] === TRUE[0] ? value[0] === TRUE[0] : null;
}

export function sameValue(one: SqlValue | undefined, other: SqlValue | undefined): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return one[0] === other[0];
  return one === other;
}
