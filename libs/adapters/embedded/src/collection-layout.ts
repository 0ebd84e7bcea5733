import type { CollectionSpec, IndexSpec } from '@tracking/ports';
import { encodeValue } from './encoded-values.ts';
import type { SqlValue } from './storage-protocol.ts';

const COLLECTION_NAME = /^[a-z0-9_.-]+$/;
/** SQLite's names know no case, so neither do these. */
const FIELD_NAME = /^[a-z0-9_]+$/;
export const ID = 'id';
/** Of the tables of array indexes, as a collection's entry in `collections` has it: those of others are made anew. */
export const ARRAY_LAYOUT = 2;

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
export function arrayDefinition({ table, fields, unique }: ArrayTable): string {
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
