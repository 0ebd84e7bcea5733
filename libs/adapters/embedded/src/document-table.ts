import { column, ID, quoted, type CollectionLayout } from './collection-layout.ts';
import type { Database } from './sqlite-database.ts';
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
  private readonly insertText: string;
  /** Whether a unique index may refuse a document of which a part was already written. */
  readonly mayLeaveHalf: boolean;

  constructor(database: Database, layout: CollectionLayout) {
    this.database = database;
    this.layout = layout;
    this.table = quoted(layout.table);
    this.columns = layout.columns.map(column);
    this.mayLeaveHalf = layout.arrays.length > 0 && layout.spec.indexes.some(({ unique }) => unique);
    const names = [ID, 'json', ...this.columns];
    const values = names.map(() => '?');
    this.insertText = `INSERT INTO ${this.table} (${names}) VALUES (${values}) ON CONFLICT (id) DO NOTHING`;
  }

  /** Answers whether it wrote. */
  write(write: DocumentWrite): boolean {
    const { mode, id, json, columns, arrays, guard } = write;
    if (mode === 'insert') return this.insert(write);
    const { text, values } = guard ?? NO_GUARD;
    const stored = this.database.row(
      `SELECT (${text})${this.columns.map((name) => `, ${name}`).join('')} FROM ${this.table} AS d WHERE id = ?`,
      [...values, id],
    );
    if (stored === undefined) return mode === 'upsert' && this.insert(write);
    if (stored[0] !== 1) return false;
    if (mode === 'delete') this.database.run(`DELETE FROM ${this.table} WHERE id = ?`, [id]);
    else this.update(id, json, columns, stored.slice(1));
    this.layout.arrays.forEach((_, index) => this.writeArray(index, id, arrays[index] ?? [], false));
    return true;
  }

  /** Not where the id exists. A document sent again collides with itself in a unique index as well: that is no fault. */
  private insert({ id, json, columns, arrays }: DocumentWrite): boolean {
    if (this.database.run(this.insertText, [id, json, ...columns]) === 0) return false;
    arrays.forEach((rows, index) => this.writeArray(index, id, rows, true));
    return true;
  }

  private update(id: string, json: string, columns: readonly SqlValue[], stored: readonly SqlValue[]): void {
    const changed = columns.map((_, index) => index).filter((index) => !same(columns[index], stored[index]));
    const assignments = ['json = ?', ...changed.map((index) => `${this.columns[index]} = ?`)];
    const values = changed.map((index) => columns[index] ?? null);
    this.database.run(`UPDATE ${this.table} SET ${assignments} WHERE id = ?`, [json, ...values, id]);
  }

  private writeArray(index: number, id: string, rows: readonly (readonly SqlValue[])[], isNew: boolean): void {
    const { table, fields } = this.layout.arrays[index] ?? {};
    if (table === undefined || fields === undefined) return;
    if (!isNew) {
      const stored = this.database.rows(
        `SELECT ${fields.map(column)} FROM ${quoted(table)} WHERE id = ? ORDER BY rowid`,
        [id],
      );
      if (
        stored.length === rows.length &&
        rows.every((row, at) => row.every((value, of) => same(value, stored[at]?.[of])))
      ) {
        return;
      }
      this.database.run(`DELETE FROM ${quoted(table)} WHERE id = ?`, [id]);
    }
    const text = `INSERT INTO ${quoted(table)} VALUES (${[...fields, ID].map(() => '?')})`;
    for (const row of rows) this.database.run(text, [...row, id]);
  }
}

function same(one: SqlValue | undefined, other: SqlValue | undefined): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return one[0] === other[0];
  return one === other;
}
