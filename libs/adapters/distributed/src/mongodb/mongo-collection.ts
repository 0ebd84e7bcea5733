import {
  isUnsatisfiableFilter,
  type Collection,
  type CollectionSpec,
  type CountOptions,
  type Document,
  type Filter,
  type DocumentsWithinByteLimit,
  type Query,
  type DocumentReplacement,
  type Scalar,
  type IndexScanQuery,
  type IndexScanResult,
  type ShardValues,
  type CollectionWrite,
} from '@tracking/ports';
import type { Filter as DriverFilter } from 'mongodb';
import { BatchedReads } from './batched-reads.ts';
import { BulkWriter, createWriteContentionError, getMaxUpsertAttempts } from './bulk-writer.ts';
import {
  DOCUMENT_ID_CONFLICT_RESULT,
  CollectionOperationRunner,
  readDocumentsWithinBytes,
} from './collection-access.ts';
import type { MongoConnection } from './mongo-connection.ts';
import {
  fromStoredDocument,
  pickShardKeyAndId,
  createGuardedDocumentFilter,
  createFilterByIdAndGuard,
  toShardKeyFilter,
  type MongoDocument,
  toMongoFilter,
  toMongoQuery,
  toMongoSort,
  createScanDocumentsFilter,
  createScanIndexFilter,
  toMongoFieldName,
  encodeFieldValuesForMongo,
} from './mongo-filter.ts';
import { toMongoHint } from './mongo-indexes.ts';

/** Attempts of a claim without an id. Each further attempt shows that another claim succeeded. */
const MAX_DOCUMENT_CLAIM_ATTEMPTS = 1_000;

export class MongoCollection<T extends Document> implements Collection<T> {
  private readonly reads: BatchedReads<T>;
  private readonly access: CollectionOperationRunner;
  private readonly bulks: BulkWriter<T>;

  constructor(
    private readonly spec: CollectionSpec,
    connection: MongoConnection,
  ) {
    this.access = new CollectionOperationRunner(spec, connection);
    this.bulks = new BulkWriter(spec, this.access, this);
    this.reads = new BatchedReads(spec, (ids, shards, maxBytes) =>
      this.findDocumentsUpToByteLimit({ filter: { id: { in: ids } }, shards, limit: ids.length }, maxBytes),
    );
  }

  /** Combines reads of single documents in one turn of the event loop into one query. */
  get(id: string, shards?: ShardValues): Promise<T | undefined> {
    return this.reads.readDocumentInNextBatch(id, shards);
  }

  async getMany(ids: readonly string[], shards: ShardValues = {}): Promise<readonly T[]> {
    if (ids.length === 0) return [];
    const query = { filter: { id: { in: ids } }, shards, limit: ids.length };
    return (await this.findDocumentsUpToByteLimit(query)).documents;
  }

  async find(query: Query): Promise<readonly T[]> {
    if (query.limit <= 0 || isUnsatisfiableFilter(query.filter)) return [];
    return (await this.findDocumentsUpToByteLimit(query)).documents;
  }

  async findWithinByteLimit(query: Query, maxBytes: number): Promise<DocumentsWithinByteLimit<T>> {
    if (query.limit <= 0 || isUnsatisfiableFilter(query.filter)) return { documents: [], isCut: false };
    return this.findDocumentsUpToByteLimit(query, maxBytes);
  }

  async count(filter: Filter, { atMost: limit, index, shards = {} }: CountOptions = {}): Promise<number> {
    if ((limit !== undefined && limit <= 0) || isUnsatisfiableFilter(filter)) return 0;
    const options = { ...this.createIndexHintOptions(index), ...(limit === undefined ? {} : { limit }) };
    return this.access.runIdempotentOperation((documents) =>
      documents.countDocuments(toMongoQuery(this.spec, { filter, shards }), options),
    );
  }

  async sum(field: string, filter: Filter, index: string): Promise<number> {
    if (isUnsatisfiableFilter(filter)) return 0;
    const stages = [
      { $match: toMongoFilter(this.spec, filter) },
      { $group: { _id: null, sum: { $sum: `$${toMongoFieldName(field)}` } } },
    ];
    const options = this.createIndexHintOptions(index);
    const [found] = await this.access.runIdempotentOperation((documents) =>
      documents.aggregate<{ sum: number }>(stages, options).toArray(),
    );
    return found?.sum ?? 0;
  }

  /** The server finds the end of the range in the index alone, without reading a document. */
  async scan(scan: IndexScanQuery): Promise<IndexScanResult<T>> {
    const { index, visit, limit, sort, filter, maxBytes } = scan;
    if (isUnsatisfiableFilter(filter)) return { documents: [], next: undefined };
    const range = createScanIndexFilter(this.spec, scan);
    const projection = { _id: 0, ...Object.fromEntries(sort.fields.map((field) => [toMongoFieldName(field), 1])) };
    const edge = {
      ...this.createIndexHintOptions(index),
      sort: toMongoSort(sort),
      skip: visit - 1,
      limit: 1,
      projection,
    };
    const [last] = await this.access.runIdempotentOperation((documents) => documents.find(range, edge).toArray());
    const valuesOf = (row: Readonly<Record<string, unknown>>) =>
      sort.fields.map((field) => row[toMongoFieldName(field)] ?? null);
    const within = createScanDocumentsFilter(this.spec, scan, last && valuesOf(last));
    const { found, isCut } = await this.findDocumentsByDriverFilter(within, { index, sort, limit }, maxBytes);
    const end = found.length < limit && !isCut ? last : found.at(-1);
    return {
      documents: found.map((document) => fromStoredDocument<T>(document)),
      next: end && (valuesOf(end) as Scalar[]),
      isCut,
    };
  }

  async insert(document: T): Promise<boolean> {
    return this.access.writeDocument(
      document,
      async (documents, stored) => (await documents.insertOne(stored)).acknowledged,
    );
  }

  async replace(document: T, guard?: Filter): Promise<boolean> {
    const filter = createGuardedDocumentFilter(this.spec, document, guard);
    return this.access.writeDocument(document, async (documents, stored) => {
      return (await documents.replaceOne(filter, stored)).matchedCount === 1;
    });
  }

  replaceMany(replacements: readonly DocumentReplacement<T>[]): Promise<readonly boolean[]> {
    return this.bulks.replaceMany(replacements);
  }

  /**
   * If the guard does not match, MongoDB tries to insert and finds the id taken. The same happens if another insert
   * came in between, whose document the guard may match.
   */
  async upsert(document: T, guard?: Filter): Promise<boolean> {
    const filter = createGuardedDocumentFilter(this.spec, document, guard);
    for (let attempt = 1; attempt <= getMaxUpsertAttempts(guard); attempt += 1) {
      const isWritten = await this.access.writeDocument(document, async (documents, stored) => {
        return (await documents.replaceOne(filter, stored, { upsert: true })).acknowledged;
      });
      if (isWritten) return true;
    }
    if (guard === undefined) throw createWriteContentionError();
    return false;
  }

  async delete(id: string, guard?: Filter): Promise<boolean> {
    return this.access.deleteDocument(createFilterByIdAndGuard(this.spec, id, guard));
  }

  writeMany(writes: readonly CollectionWrite<T>[]): Promise<void> {
    return this.bulks.writeMany(writes);
  }

  /**
   * Updates by the whole shard key, which MongoDB requires for `findAndModify` in a sharded collection. Without it in the
   * filter, the first matching document is looked up before. If another claim gets it, the next one is looked up.
   */
  async claim(query: Omit<Query, 'limit' | 'after'>, set: Partial<T>): Promise<T | undefined> {
    const { filter } = query;
    if (isUnsatisfiableFilter(filter)) return undefined;
    const { id } = filter;
    const isKeyKnown = (this.spec.shardKey ?? []).every((field) => typeof filter[field] === 'string');
    if (typeof id === 'string' && isKeyKnown) return this.claimDocumentByKey({ _id: id }, filter, set);
    for (let attempt = 1; attempt <= MAX_DOCUMENT_CLAIM_ATTEMPTS; attempt += 1) {
      const candidate = await this.findClaimableDocument(query);
      if (candidate === undefined) return undefined;
      const claimed = await this.claimDocumentByKey(pickShardKeyAndId(this.spec, candidate), filter, set);
      if (claimed !== undefined) return claimed;
    }
    throw createWriteContentionError();
  }

  private async claimDocumentByKey(
    key: ReturnType<typeof pickShardKeyAndId>,
    filter: Filter,
    set: Partial<T>,
  ): Promise<T | undefined> {
    const condition = toShardKeyFilter(this.spec, key, filter);
    const update = { $set: encodeFieldValuesForMongo(set) as Partial<MongoDocument> };
    const claimed = await this.access.runOnCollection((documents) =>
      this.access.ignoreIdConflict(documents.findOneAndUpdate(condition, update, { returnDocument: 'after' })),
    );
    return claimed === DOCUMENT_ID_CONFLICT_RESULT || claimed === null ? undefined : fromStoredDocument<T>(claimed);
  }

  /**
   * Returns the shard key of the first matching document. Reads from the primary's memory, because a majority confirms
   * the claims of other processes with a delay.
   */
  private async findClaimableDocument({
    filter,
    sort,
    index,
  }: Omit<Query, 'limit' | 'after'>): Promise<MongoDocument | undefined> {
    const projection = Object.fromEntries(['_id', ...(this.spec.shardKey ?? [])].map((field) => [field, 1]));
    const options = { ...this.createIndexHintOptions(index), sort: toMongoSort(sort), projection };
    const condition = toMongoFilter(this.spec, filter);
    const read = { ...options, readConcern: { level: 'local' } } as const;
    return (await this.access.runOnCollection((documents) => documents.findOne(condition, read))) ?? undefined;
  }

  private async findDocumentsUpToByteLimit(query: Query, maxBytes?: number): Promise<DocumentsWithinByteLimit<T>> {
    const { found, isCut } = await this.findDocumentsByDriverFilter(toMongoQuery(this.spec, query), query, maxBytes);
    return { documents: found.map((document) => fromStoredDocument<T>(document)), isCut };
  }

  private findDocumentsByDriverFilter(
    condition: DriverFilter<MongoDocument>,
    { index, sort, limit }: Pick<Query, 'index' | 'sort' | 'limit'>,
    maxBytes: number | undefined,
  ) {
    // The query requests one document more than it may return, so that the first response of the server is complete.
    const options = { ...this.createIndexHintOptions(index), sort: toMongoSort(sort), limit, batchSize: limit + 1 };
    return this.access.runIdempotentOperation((documents) =>
      readDocumentsWithinBytes(documents.find(condition, options), maxBytes),
    );
  }

  /** Returns the options of a read. @param index name of the index that the server must use, if given */
  private createIndexHintOptions(index: string | undefined) {
    return index === undefined ? {} : { hint: toMongoHint(this.spec, index) };
  }
}
