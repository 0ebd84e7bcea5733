import { column, ID, quoted, type ArrayTable, type CollectionLayout } from './collection-layout.ts';
import { ABSENT, encodeValue, sameValue } from './encoded-values.ts';
import type { Database } from './sqlite-database.ts';
import type { SqlValue } from './storage-protocol.ts';

/** Of a document, as far as postings are made of it. */
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
