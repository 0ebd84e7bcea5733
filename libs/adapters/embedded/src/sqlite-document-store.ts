import {
  type Collection,
  type CollectionSpec,
  type CollectionWrite,
  type CountOptions,
  type Document,
  type DocumentStore,
  DuplicateKeyError,
  type Filter,
  type DocumentsWithinByteLimit,
  isUnsatisfiableFilter,
  type Query,
  type DocumentReplacement,
  type IndexScanQuery,
  type IndexScanResult,
  UnavailableError,
  convertToUnknownOutcomeError,
} from '@tracking/ports';
import { BackgroundWorkThrottle } from '@tracking/resilience';
import {
  getIndexedArraysAsJson,
  type CollectionLayout,
  getSqlValuesOfIndexedFields,
  decodeSqlValue,
  computeSqliteCollectionLayout,
  quoteName,
} from './collection-layout.ts';
import { createFilterSql } from './filter-sql.ts';
import { createCountSql, createFindSql, isCheapIndexLookup, createScanSql, createSumSql } from './query-sql.ts';
import { getErrorMessage } from './sqlite-database.ts';
import type { SqliteStorage } from './sqlite-reader-pool.ts';
import { type CommitClass, ENGINE_NAME } from './sqlite-writer.ts';
import type { DocumentWrite, SqlStatement } from './storage-threads.ts';

/** Share of the writer's time that dropping a collection may use. Other writes use the rest. */
const COLLECTION_DROP_TIME_FRACTION = 0.25;
/** Maximum number of documents read by id on the calling thread. A reader thread reads more. */
const MAX_DOCUMENTS_READ_ON_CALLING_THREAD = 250;
/** Maximum number of documents in one operation of the SQLite writer. Longer lists are written in several operations. */
const WRITE_BATCH_SIZE = 1_000;

export class SqliteDocumentStore implements DocumentStore {
  private readonly collections = new Map<string, { readonly spec: string; readonly opened: Promise<unknown> }>();
  private readonly closing = new AbortController();

  constructor(private readonly storage: SqliteStorage) {}

  async collection<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    this.throwIfClosed();
    const json = JSON.stringify(spec);
    const known = this.collections.get(spec.name);
    if (known?.spec === json) return known.opened as Promise<SqliteCollection<T>>;
    const opened = this.openCollection<T>(spec);
    this.collections.set(spec.name, { spec: json, opened });
    opened.catch(() => this.collections.delete(spec.name));
    return opened;
  }

  async listCollectionNames(prefix: string): Promise<readonly string[]> {
    this.throwIfClosed();
    const names = this.storage.database
      .readRows('SELECT name FROM collections ORDER BY name')
      .map(([name]) => String(name));
    return Promise.resolve(names.filter((name) => name.startsWith(prefix)));
  }

  async dropCollection(name: string, ending?: AbortSignal): Promise<void> {
    this.collections.delete(name);
    const signal = ending === undefined ? this.closing.signal : AbortSignal.any([ending, this.closing.signal]);
    const pace = new BackgroundWorkThrottle({ share: COLLECTION_DROP_TIME_FRACTION });
    const drop = () => {
      this.throwIfClosed();
      this.storage.writer.throwIfNotWritable();
      return this.storage.writer.addOperationToBatch(
        { kind: 'drop', collection: name },
        1,
        'durable',
        ({ more }) => more,
      );
    };
    let more = await drop();
    while (more && ending?.aborted !== true) more = await pace.runWorkThenRest(drop, signal);
  }

  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }

  private async openCollection<T extends Document>(spec: CollectionSpec): Promise<SqliteCollection<T>> {
    const { name, indexes } = spec;
    const collection = new SqliteCollection<T>(computeSqliteCollectionLayout(spec), this.storage);
    this.storage.writer.throwIfNotWritable();
    await this.storage.writer.addOperationToBatch(
      { kind: 'define', spec: JSON.stringify({ name, indexes }) },
      1,
      'durable',
      collection.refuseDuplicate,
    );
    return collection;
  }

  private throwIfClosed(): void {
    if (this.closing.signal.aborted) throw new UnavailableError(ENGINE_NAME, 'closed');
  }
}

export class SqliteCollection<T extends Document> implements Collection<T> {
  private readonly commitClass: CommitClass;
  private readonly getSql: string;
  private readonly getManySql: string;

  constructor(
    private readonly layout: CollectionLayout,
    private readonly storage: SqliteStorage,
  ) {
    const { durability = 'durable' } = layout.spec;
    // One write-ahead log orders the writes of all ports: a crash that loses a write also loses all later writes.
    this.commitClass = durability === 'durable' ? 'durable' : 'soon';
    this.getSql = `SELECT json FROM ${quoteName(layout.table)} WHERE id = ?`;
    this.getManySql = `SELECT json FROM ${quoteName(layout.table)} WHERE id IN (SELECT value FROM json_each(?))`;
  }

  async get(id: string): Promise<T | undefined> {
    return Promise.resolve(this.readInCallingThread({ text: this.getSql, values: [id] })[0]);
  }

  async getMany(ids: readonly string[]): Promise<readonly T[]> {
    if (ids.length === 0) return [];
    const sql = { text: this.getManySql, values: [JSON.stringify(ids)] };
    return ids.length > MAX_DOCUMENTS_READ_ON_CALLING_THREAD
      ? this.readRowsInReaderPool<T>(sql)
      : this.readInCallingThread(sql);
  }

  async find(query: Query): Promise<readonly T[]> {
    const sql = createFindSql(this.layout, query);
    if (isUnsatisfiableFilter(query.filter)) return [];
    return isCheapIndexLookup(this.layout, query) ? this.readInCallingThread(sql) : this.readRowsInReaderPool<T>(sql);
  }

  async findWithinByteLimit(query: Query, maxBytes: number): Promise<DocumentsWithinByteLimit<T>> {
    const sql = createFindSql(this.layout, query);
    if (isUnsatisfiableFilter(query.filter)) return { documents: [], isCut: false };
    const { json, isCut } = await this.storage.readers.runReadInThread({ kind: 'rows', sql, maxBytes });
    return { documents: JSON.parse(json) as T[], isCut };
  }

  async count(filter: Filter, options?: CountOptions): Promise<number> {
    const sql = createCountSql(this.layout, filter, options);
    if (isUnsatisfiableFilter(filter)) return 0;
    const [count] = await this.readRowsInReaderPool<number>(sql);
    return count ?? 0;
  }

  async sum(field: string, filter: Filter, index: string): Promise<number> {
    const sql = createSumSql(this.layout, field, filter, index);
    if (isUnsatisfiableFilter(filter)) return 0;
    const [sum] = await this.readRowsInReaderPool<number>(sql);
    return sum ?? 0;
  }

  async scan(query: IndexScanQuery): Promise<IndexScanResult<T>> {
    const { limit, visit, filter, maxBytes } = query;
    if (isUnsatisfiableFilter(filter)) return { documents: [], next: undefined };
    const { json, next, isCut } = await this.storage.readers.runReadInThread({
      kind: 'scan',
      sql: createScanSql(this.layout, query),
      limit,
      visit,
      maxBytes,
    });
    return { documents: JSON.parse(json) as T[], next: next?.map(decodeSqlValue), isCut };
  }

  insert(document: T): Promise<boolean> {
    return this.writeDocument(this.createDocumentWrite('insert', document));
  }

  replace(document: T, guard?: Filter): Promise<boolean> {
    return this.writeDocument(this.createDocumentWrite('replace', document, guard));
  }

  /** All writes of one turn share a commit. */
  replaceMany(replacements: readonly DocumentReplacement<T>[]): Promise<readonly boolean[]> {
    return Promise.all(replacements.map(({ document, guard }) => this.replace(document, guard)));
  }

  upsert(document: T, guard?: Filter): Promise<boolean> {
    return this.writeDocument(this.createDocumentWrite('upsert', document, guard));
  }

  delete(id: string, guard?: Filter): Promise<boolean> {
    return this.writeDocument(this.createDeleteWrite(id, guard));
  }

  async writeMany(writes: readonly CollectionWrite<T>[]): Promise<void> {
    this.storage.writer.throwIfNotWritable();
    const all = writes.map((write) => this.toDocumentWrite(write));
    const parts: Promise<{ readonly duplicate: string | null }>[] = [];
    for (let from = 0; from < all.length; from += WRITE_BATCH_SIZE) {
      parts.push(this.runDocumentWrites(all.slice(from, from + WRITE_BATCH_SIZE)));
    }
    const outcomes = await Promise.all(parts).catch((error: unknown) => {
      throw parts.length === 1 ? error : convertToUnknownOutcomeError(error);
    });
    outcomes.forEach(this.refuseDuplicate);
  }

  async claim(query: Omit<Query, 'limit' | 'after'>, set: Partial<T>): Promise<T | undefined> {
    this.storage.writer.throwIfNotWritable();
    const select = createFindSql(this.layout, { ...query, limit: 1 });
    const operation = { kind: 'claim', collection: this.layout.spec.name, select, set: JSON.stringify(set) } as const;
    return this.storage.writer.addOperationToBatch(operation, 1, this.commitClass, (outcome) => {
      this.refuseDuplicate(outcome);
      return outcome.json === null ? undefined : (JSON.parse(outcome.json) as T);
    });
  }

  readonly refuseDuplicate = ({ duplicate }: { readonly duplicate: string | null }): void => {
    if (duplicate !== null) throw new DuplicateKeyError(this.layout.spec.name, duplicate);
  };

  private toDocumentWrite(write: CollectionWrite<T>): DocumentWrite {
    switch (write.kind) {
      case 'insert':
        return this.createDocumentWrite('insert', write.document);
      case 'upsert':
        return this.createDocumentWrite('upsert', write.document, write.guard);
      case 'delete':
        return this.createDeleteWrite(write.id, write.guard);
    }
  }

  private createDocumentWrite(mode: 'insert' | 'replace' | 'upsert', document: T, guard?: Filter): DocumentWrite {
    const fields = document as Readonly<Record<string, unknown>>;
    return {
      mode,
      id: document.id,
      json: JSON.stringify(document),
      columns: getSqlValuesOfIndexedFields(this.layout, fields),
      arrays: getIndexedArraysAsJson(this.layout, fields),
      guard: guard === undefined ? null : createFilterSql(this.layout, guard),
    };
  }

  private createDeleteWrite(id: string, guard?: Filter): DocumentWrite {
    const condition = guard === undefined ? null : createFilterSql(this.layout, guard);
    return { mode: 'delete', id, json: '', columns: [], arrays: [], guard: condition };
  }

  private async writeDocument(write: DocumentWrite): Promise<boolean> {
    this.storage.writer.throwIfNotWritable();
    const outcome = await this.runDocumentWrites([write]);
    this.refuseDuplicate(outcome);
    return outcome.count === 1;
  }

  private runDocumentWrites(writes: readonly DocumentWrite[]) {
    const operation = { kind: 'write', collection: this.layout.spec.name, writes } as const;
    return this.storage.writer.addOperationToBatch(operation, writes.length, this.commitClass, (outcome) => outcome);
  }

  private readInCallingThread({ text, values }: SqlStatement): T[] {
    try {
      return this.storage.database.readRows(text, values).map(([json]) => JSON.parse(String(json)) as T);
    } catch (error) {
      throw new UnavailableError(ENGINE_NAME, getErrorMessage(error));
    }
  }

  private async readRowsInReaderPool<R>(sql: SqlStatement): Promise<readonly R[]> {
    const { json } = await this.storage.readers.runReadInThread({ kind: 'rows', sql });
    return JSON.parse(json) as R[];
  }
}
