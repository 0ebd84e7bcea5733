import type { CollectionSpec, IndexSpec } from '@tracking/ports';
import { encodeValue } from './encoded-values.ts';
import type { SqlValue } from './storage-protocol.ts';

const COLLECTION_NAME = /^[a-z0-9_.-]+$/;
/** SQLite's names know no case, so neither do these. */
const FIELD_NAME = /^[a-z0-9_]+$/;
export const ID = 'id';

/** A table beside the documents, with one row for each element of a document's array. */
export interface ArrayTable {
  readonly index: IndexSpec;
  readonly table: string;
  readonly arrayField: string;
  /** The index's fields but `id`: the table's columns, before the document's id. */
  readonly fields: readonly string[];
}

/** How a collection lies in tables: one row per document with its JSON, indexed fields in columns of their own. */
export interface CollectionLayout {
  readonly spec: CollectionSpec;
  readonly table: string;
  /** Indexed fields but `id` and arrays. */
  readonly columns: readonly string[];
  readonly arrays: readonly ArrayTable[];
}

export function layoutOf(spec: CollectionSpec): CollectionLayout {
  if (!COLLECTION_NAME.test(spec.name)) throw new TypeError(`not a collection's name: ${spec.name}`);
  const columns = new Set<string>();
  const arrays: ArrayTable[] = [];
  for (const index of spec.indexes) {
    for (const field of [index.name, ...index.fields]) {
      if (!FIELD_NAME.test(field)) throw new TypeError(`${spec.name}: not an index's or field's name: ${field}`);
    }
    for (const field of index.fields) {
      if (field !== ID && field !== index.arrayField) columns.add(field);
    }
    if (index.arrayField !== undefined) {
      const fields = index.fields.filter((field) => field !== ID);
      arrays.push({ index, table: `array:${spec.name}:${index.name}`, arrayField: index.arrayField, fields });
    }
  }
  return { spec, table: `documents:${spec.name}`, columns: [...columns], arrays };
}

export function quoted(name: string): string {
  return `"${name}"`;
}

/** The column of an indexed field. Prefixed, since a field may be called `json` or `rowid`. */
export function column(field: string): string {
  return field === ID ? ID : quoted(`f_${field}`);
}

export function columnValues(layout: CollectionLayout, document: Readonly<Record<string, unknown>>): SqlValue[] {
  return layout.columns.map((field) => encodeValue(document[field]));
}

/** For each array table its rows: equal elements make one, as does a field that holds no array. */
export function arrayRows(layout: CollectionLayout, document: Readonly<Record<string, unknown>>): SqlValue[][][] {
  return layout.arrays.map(({ fields, arrayField }) => {
    const value = document[arrayField];
    const elements = new Set((Array.isArray(value) ? value : [value]).map(encodeValue));
    return [...elements]
      .filter((element) => element !== null)
      .map((element) => fields.map((field) => (field === arrayField ? element : encodeValue(document[field]))));
  });
}

/** Every table and index of a collection. */
export function definition({ spec, table, columns, arrays }: CollectionLayout): string[] {
  const own = [
    `CREATE TABLE ${quoted(table)} (${['id TEXT PRIMARY KEY', 'json TEXT NOT NULL', ...columns.map(column)]})`,
  ];
  for (const index of spec.indexes) {
    if (index.arrayField !== undefined) continue;
    own.push(
      `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${quoted(`index:${spec.name}:${index.name}`)}
         ON ${quoted(table)} (${index.fields.map(column)})`,
    );
  }
  for (const { index, table: beside, fields } of arrays) {
    own.push(
      `CREATE TABLE ${quoted(beside)} (${[...fields.map(column), 'id TEXT NOT NULL']})`,
      `CREATE INDEX ${quoted(`index:${beside}:id`)} ON ${quoted(beside)} (id)`,
      `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${quoted(`index:${beside}`)}
         ON ${quoted(beside)} (${index.fields.map(column)})`,
    );
  }
  return own;
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
    const columns = fields.map((field) => `${owner}.${field === ID ? ID : `f_${field}`}`).join(', ');
    if (unique && message.endsWith(`: ${columns}`)) return name;
  }
  return ID;
}
