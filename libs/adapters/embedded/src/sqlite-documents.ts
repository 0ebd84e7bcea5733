import type { CollectionSpec } from '@tracking/ports';
import {
  ArrayIndexWriter,
  getIndexedArraysAsJson,
  type CollectionLayout,
  getColumnOfIndexedField,
  getSqlValuesOfIndexedFields,
  createTableStatements,
  ID_FIELD,
  type IndexedValues,
  computeSqliteCollectionLayout,
  quoteName,
  createDropTableStatements,
  isSameValue,
  parseViolatedIndex,
} from './collection-layout.ts';
import { type SqliteConnection, isConstraintError, LIMIT_CLAUSE_SQL, getErrorMessage } from './sqlite-database.ts';
import type {
  ClaimDocumentOperation,
  SqliteDocumentClaimResult,
  DocumentWrite,
  DocumentWriteOutcome,
  CollectionDroppedOutcome,
  SqlStatement,
  SqlValue,
  DocumentWriteOperation,
  WrittenCountAndDuplicateIndex,
} from './storage-threads.ts';

/** Milliseconds of one transaction that deletes documents of a dropped collection. Other writes wait for it. */
const COLLECTION_DROP_SLICE_MS = 5;
/** Documents can be large, so one transaction deletes only a few. */
const DELETE_BATCH_SIZE = 20;
const ALWAYS_TRUE_SQL: SqlStatement = { text: 'TRUE', values: [] };

/** Changes documents and collections in the writer thread. */
export class SqliteDocumentWriter {
  private readonly database: SqliteConnection;
  private readonly tables = new Map<string, SqliteDocumentTable>();

  constructor(database: SqliteConnection) {
    this.database = database;
    this.reloadDocumentCollections();
  }

  /** Reloads the collections. Call it after a rollback, which may have undone the creation of a collection. */
  reloadDocumentCollections(): void {
    this.tables.clear();
    for (const [name, spec] of this.database.readRows('SELECT name, spec FROM collections')) {
      this.tables.set(String(name), this.openDocumentTable(String(spec)));
    }
  }

  /** Creates the collection. If its indexes changed, rebuilds it with the existing documents. */
  createOrRebuildCollection(spec: string): DocumentWriteOutcome {
    const table = this.openDocumentTable(spec);
    const { name } = table.layout.spec;
    const stored = this.database.readFirstValueOfQuery('SELECT spec FROM collections WHERE name = ?', [name]);
    if (stored !== undefined && hasSameTableIndexes(String(stored), table)) return { kind: 'done', duplicate: null };
    const duplicate = this.runAtomically(table, () => this.rebuildDocumentTables(table, spec));
    if (duplicate === null) this.tables.set(name, table);
    return { kind: 'done', duplicate };
  }

  /**
   * Deletes documents for a short time, and drops the collection when it is empty. Dropping a full collection at once
   * would take long.
   */
  dropCollection(name: string): CollectionDroppedOutcome {
    const table = this.tables.get(name);
    if (table === undefined) return { kind: 'dropped', more: false };
    const end = performance.now() + COLLECTION_DROP_SLICE_MS;
    while (table.deleteOldestDocuments(DELETE_BATCH_SIZE)) {
      if (performance.now() >= end) return { kind: 'dropped', more: true };
    }
    this.dropTable(table);
    return { kind: 'dropped', more: false };
  }

  private dropTable({ layout }: SqliteDocumentTable): void {
    for (const statement of createDropTableStatements(layout)) this.database.runStatement(statement);
    this.database.runStatement('DELETE FROM collections WHERE name = ?', [layout.spec.name]);
    this.tables.delete(layout.spec.name);
  }

  runDocumentWrites({ collection, writes }: DocumentWriteOperation): WrittenCountAndDuplicateIndex {
    const table = this.requireTable(collection);
    let count = 0;
    let duplicate: string | null = null;
    for (const write of writes) {
      const refused = this.runDocumentWriteAtomically(table, () => {
        if (table.writeDocumentIfGuardMatches(write)) count += 1;
      });
      duplicate ??= refused;
    }
    return { kind: 'wrote', count, duplicate };
  }

  claimFirstMatchingDocument({ collection, select, set }: ClaimDocumentOperation): SqliteDocumentClaimResult {
    const table = this.requireTable(collection);
    const found = this.database.readFirstValueOfQuery(select.text, select.values);
    if (found === undefined) return { kind: 'claimed', json: null, duplicate: null };
    const document = { ...(JSON.parse(String(found)) as { id: string }), ...(JSON.parse(set) as object) };
    const write = createDocumentWrite(table, 'replace', document);
    const duplicate = this.runDocumentWriteAtomically(table, () => table.writeDocumentIfGuardMatches(write));
    return { kind: 'claimed', json: duplicate === null ? write.json : null, duplicate };
  }

  private rebuildDocumentTables(table: SqliteDocumentTable, spec: string): void {
    const { name } = table.layout.spec;
    const before = this.tables.get(name);
    if (before !== undefined) {
      this.database.runStatement(`CREATE TEMP TABLE moved AS SELECT json FROM ${quoteName(before.layout.table)}`);
      this.dropTable(before);
    }
    for (const statement of createTableStatements(table.layout)) this.database.runStatement(statement);
    this.database.runStatement('INSERT INTO collections (name, spec) VALUES (?, ?)', [name, spec]);
    if (before === undefined) return;
    for (const [json] of this.database.iterateSqlQueryRows('SELECT json FROM moved')) {
      table.writeDocumentIfGuardMatches(
        createDocumentWrite(table, 'insert', JSON.parse(String(json)) as { id: string }),
      );
    }
    this.database.runStatement('DROP TABLE moved');
  }

  /** If the operation has only one statement that can be refused, SQLite undoes this statement itself. */
  private runDocumentWriteAtomically(table: SqliteDocumentTable, work: () => unknown): string | null {
    return table.mayLeaveHalf ? this.runAtomically(table, work) : this.catchConstraintViolation(table, work);
  }

  private catchConstraintViolation({ layout }: SqliteDocumentTable, work: () => unknown): string | null {
    try {
      work();
      return null;
    } catch (error) {
      if (!isConstraintError(error)) throw error;
      return parseViolatedIndex(layout, getErrorMessage(error));
    }
  }

  /** Runs the work atomically. Returns the unique index that refused the work, if any. */
  private runAtomically(table: SqliteDocumentTable, work: () => unknown): string | null {
    this.database.runStatement('SAVEPOINT whole');
    try {
      const refused = this.catchConstraintViolation(table, work);
      if (refused !== null) this.database.runStatement('ROLLBACK TO whole');
      return refused;
    } finally {
      if (this.database.inTransaction) this.database.runStatement('RELEASE whole');
    }
  }

  private openDocumentTable(spec: string): SqliteDocumentTable {
    return new SqliteDocumentTable(this.database, computeSqliteCollectionLayout(JSON.parse(spec) as CollectionSpec));
  }

  private requireTable(collection: string): SqliteDocumentTable {
    const table = this.tables.get(collection);
    if (table === undefined) throw new Error(`cannot use collection ${collection}: it was dropped`);
    return table;
  }
}

function hasSameTableIndexes(stored: string, { layout }: SqliteDocumentTable): boolean {
  const { indexes } = JSON.parse(stored) as CollectionSpec;
  return JSON.stringify(indexes) === JSON.stringify(layout.spec.indexes);
}

function createDocumentWrite(
  { layout }: SqliteDocumentTable,
  mode: 'insert' | 'replace',
  document: { id: string },
): DocumentWrite {
  const { id } = document;
  const columns = getSqlValuesOfIndexedFields(layout, { ...document });
  return {
    mode,
    id,
    json: JSON.stringify(document),
    columns,
    arrays: getIndexedArraysAsJson(layout, { ...document }),
    guard: null,
  };
}

/**
 * Documents of one collection in the writer thread. An update writes only indexed columns that changed, because each
 * index entry costs a page of the write-ahead log and most updates change few.
 */
export class SqliteDocumentTable {
  readonly layout: CollectionLayout;
  private readonly database: SqliteConnection;
  private readonly table: string;
  private readonly columns: readonly string[];
  private readonly postings: readonly ArrayIndexWriter[];
  /** Selects the indexed columns and the array JSON of a document before it is changed. */
  private readonly storedText: string;
  private readonly insertText: string;
  /** True if a unique index may refuse a document after a part of it was written. */
  readonly mayLeaveHalf: boolean;

  constructor(database: SqliteConnection, layout: CollectionLayout) {
    this.database = database;
    this.layout = layout;
    this.table = quoteName(layout.table);
    this.columns = layout.columns.map(getColumnOfIndexedField);
    this.postings = layout.arrays.map((array) => new ArrayIndexWriter(database, layout, array));
    this.storedText = [...this.columns, ...layout.arrayFields.map((field) => `d.json -> '$.${field}'`)]
      .map((each) => `, ${each}`)
      .join('');
    this.mayLeaveHalf = layout.arrays.length > 0 && layout.spec.indexes.some(({ unique }) => unique);
    const names = [ID_FIELD, 'json', ...this.columns];
    const values = names.map(() => '?');
    this.insertText = `INSERT INTO ${this.table} (${names}) VALUES (${values}) ON CONFLICT (id) DO NOTHING`;
  }

  /** Writes the document. Returns true if it was written. */
  writeDocumentIfGuardMatches(write: DocumentWrite): boolean {
    const { mode, id, guard } = write;
    if (mode === 'insert') return this.insertDocument(write);
    const { text, values } = guard ?? ALWAYS_TRUE_SQL;
    const stored = this.database.readRow(
      `SELECT (${text}), rowid${this.storedText} FROM ${this.table} AS d WHERE id = ?`,
      [...values, id],
    );
    if (stored === undefined) return mode === 'upsert' && this.insertDocument(write);
    const [matches, row = null] = stored;
    if (matches !== 1) return false;
    const before = this.toIndexedValues(id, stored.slice(2));
    if (mode === 'delete') {
      this.database.runStatement(`DELETE FROM ${this.table} WHERE rowid = ?`, [row]);
      for (const postings of this.postings) postings.removePostings(before);
    } else {
      this.updateDocument(row, write, before.columns);
      for (const postings of this.postings) postings.updateArrayIndexEntries(before, write);
    }
    return true;
  }

  /** Deletes the oldest documents, at most `limit`. Returns false if there was none. */
  deleteOldestDocuments(limit: number): boolean {
    const ids = this.database.readRows(`SELECT id FROM ${this.table} ORDER BY rowid ${LIMIT_CLAUSE_SQL}`, [limit]);
    for (const [id] of ids) {
      this.writeDocumentIfGuardMatches({
        mode: 'delete',
        id: String(id),
        json: '',
        columns: [],
        arrays: [],
        guard: null,
      });
    }
    return ids.length > 0;
  }

  /**
   * The check is skipped if the id exists, because a repeated document also collides with itself in unique indexes,
   * which is not an error.
   */
  private insertDocument(write: DocumentWrite): boolean {
    const { id, json, columns } = write;
    if (this.database.runStatement(this.insertText, [id, json, ...columns]) === 0) return false;
    for (const postings of this.postings) postings.addIndexPostingsOfDocument(write);
    return true;
  }

  /** @param stored values selected by `storedText` */
  private toIndexedValues(id: string, stored: readonly SqlValue[]): IndexedValues {
    const { length } = this.columns;
    return { id, columns: stored.slice(0, length), arrays: stored.slice(length) as (string | null)[] };
  }

  private updateDocument(row: SqlValue, { json, columns }: DocumentWrite, stored: readonly SqlValue[]): void {
    const changed = columns.map((_, index) => index).filter((index) => !isSameValue(columns[index], stored[index]));
    const assignments = ['json = ?', ...changed.map((index) => `${this.columns[index]} = ?`)];
    const values = changed.map((index) => columns[index] ?? null);
    this.database.runStatement(`UPDATE ${this.table} SET ${assignments} WHERE rowid = ?`, [json, ...values, row]);
  }
}
