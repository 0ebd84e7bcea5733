import { ArrayPostings, type Indexed } from './array-postings.ts';
import { column, ID, quoted, type CollectionLayout } from './collection-layout.ts';
import { sameValue } from './encoded-values.ts';
import { LIMIT, type Database } from './sqlite-database.ts';
import type { DocumentWrite, Sql, SqlValue } from './storage-protocol.ts';

const NO_GUARD: Sql = { text: 'TRUE', values: [] };

/**
 * The documents of one collection, as the writer's thread changes them. Only indexed columns that changed are written:
 * each index entry costs a page of the write-ahead log, and most updates leave most of them as they were.
 */
export class DocumentTable {
  readonly layout: CollectionLayout;
  private readonly database: Database;
  private readonly table: string;
  private readonly columns: readonly string[];
  private readonly postings: readonly ArrayPostings[];
  /** What is read of a document before it is changed: indexed columns, then the JSON of arrays. */
  private readonly storedText: string;
  private readonly insertText: string;
  /** Whether a unique index may refuse a document of which a part was already written. */
  readonly mayLeaveHalf: boolean;

  constructor(database: Database, layout: CollectionLayout) {
    this.database = database;
    this.layout = layout;
    this.table = quoted(layout.table);
    this.columns = layout.columns.map(column);
    this.postings = layout.arrays.map((array) => new ArrayPostings(database, layout, array));
    this.storedText = [...this.columns, ...layout.arrayFields.map((field) => `d.json -> '$.${field}'`)]
      .map((each) => `, ${each}`)
      .join('');
    this.mayLeaveHalf = layout.arrays.length > 0 && layout.spec.indexes.some(({ unique }) => unique);
    const names = [ID, 'json', ...this.columns];
    const values = names.map(() => '?');
    this.insertText = `INSERT INTO ${this.table} (${names}) VALUES (${values}) ON CONFLICT (id) DO NOTHING`;
  }

  /** Answers whether it wrote. */
  write(write: DocumentWrite): boolean {
    const { mode, id, guard } = write;
    if (mode === 'insert') return this.insert(write);
    const { text, values } = guard ?? NO_GUARD;
    const stored = this.database.row(`SELECT (${text}), rowid${this.storedText} FROM ${this.table} AS d WHERE id = ?`, [
      ...values,
      id,
    ]);
    if (stored === undefined) return mode === 'upsert' && this.insert(write);
    const [matches, row = null] = stored;
    if (matches !== 1) return false;
    const before = this.indexed(id, stored.slice(2));
    if (mode === 'delete') {
      this.database.run(`DELETE FROM ${this.table} WHERE rowid = ?`, [row]);
      for (const postings of this.postings) postings.remove(before);
    } else {
      this.update(row, write, before.columns);
      for (const postings of this.postings) postings.change(before, write);
    }
    return true;
  }

  /** Deletes the oldest documents, at most so many. Returns false if there was none. */
  deleteSome(limit: number): boolean {
    const ids = this.database.rows(`SELECT id FROM ${this.table} ORDER BY rowid ${LIMIT}`, [limit]);
    for (const [id] of ids) {
      this.write({ mode: 'delete', id: String(id), json: '', columns: [], arrays: [], guard: null });
    }
    return ids.length > 0;
  }

  /** Not where the id exists. A document sent again collides with itself in a unique index as well: that is no fault. */
  private insert(write: DocumentWrite): boolean {
    const { id, json, columns } = write;
    if (this.database.run(this.insertText, [id, json, ...columns]) === 0) return false;
    for (const postings of this.postings) postings.add(write);
    return true;
  }

  /** Makes the postings of all documents. */
  index(): void {
    const rows = this.database.each(`SELECT id${this.storedText} FROM ${this.table} AS d`);
    for (const [id, ...stored] of rows) {
      for (const postings of this.postings) postings.add(this.indexed(String(id), stored));
    }
  }

  /** @param stored what `storedText` selects */
  private indexed(id: string, stored: readonly SqlValue[]): Indexed {
    const { length } = this.columns;
    return { id, columns: stored.slice(0, length), arrays: stored.slice(length) as (string | null)[] };
  }

  private update(row: SqlValue, { json, columns }: DocumentWrite, stored: readonly SqlValue[]): void {
    const changed = columns.map((_, index) => index).filter((index) => !sameValue(columns[index], stored[index]));
    const assignments = ['json = ?', ...changed.map((index) => `${this.columns[index]} = ?`)];
    const values = changed.map((index) => columns[index] ?? null);
    this.database.run(`UPDATE ${this.table} SET ${assignments} WHERE rowid = ?`, [json, ...values, row]);
  }
}
