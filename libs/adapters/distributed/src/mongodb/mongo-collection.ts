import { setImmediate } from 'node:timers/promises';
import {
  DuplicateKey,
  Unavailable,
  matchesNothing,
  withUnknownOutcome,
  type Collection,
  type CollectionSpec,
  type CountOptions,
  type Document,
  type Filter,
  type BoundedResult,
  type Query,
  type Scalar,
  type Scan,
  type ScanResult,
  type CollectionWrite,
} from '@tracking/ports';
import { BSON, type AnyBulkWriteOperation, type Collection as DriverCollection, type FindCursor } from 'mongodb';
import { ID_INDEX, type MongoConnection, listRefusedWrites, findViolatedIndex } from './mongo-connection.ts';
import {
  fromStoredDocument,
  toGuardedFilter,
  type MongoDocument,
  toMongoFilter,
  toMongoHint,
  toMongoQuery,
  toMongoSort,
  toScanDocumentsFilter,
  toScanRangeFilter,
  toStoredField,
  toStoredFields,
  toStoredDocument,
} from './mongo-filter.ts';

/**
 * Maximum number of documents per write, so that the write ends within its deadline. After a write that missed its
 * deadline, later writes are smaller.
 */
const WRITE_BATCH_SIZE = 1_000;
/** Number of documents of maximum size that any working server writes within the deadline. */
const MIN_WRITE_BATCH_SIZE = 16;
/** Result of an insert that was refused because the id exists. */
const ID_CONFLICT = Symbol('taken');

export class MongoCollection<T extends Document> implements Collection<T> {
  /** Requested ids of this turn of the event loop that were not sent to the server yet. */
  private asked: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, T>> } | undefined;
  private writesAtOnce = WRITE_BATCH_SIZE;

  constructor(
    private readonly spec: CollectionSpec,
    private readonly connection: MongoConnection,
  ) {}

  /** Combines reads of single documents in one turn of the event loop into one query. */
  async get(id: string): Promise<T | undefined> {
    const { ids, found } = (this.asked ??= this.startBatchedRead());
    ids.add(id);
    return (await found).get(id);
  }

  async getMany(ids: readonly string[]): Promise<readonly T[]> {
    return ids.length === 0 ? [] : (await this.list({ filter: { id: { in: ids } }, limit: ids.length })).documents;
  }

  async find(query: Query): Promise<readonly T[]> {
    return query.limit <= 0 || matchesNothing(query.filter) ? [] : (await this.list(query)).documents;
  }

  async findWithin(query: Query, maxBytes: number): Promise<BoundedResult<T>> {
    if (query.limit <= 0 || matchesNothing(query.filter)) return { documents: [], isCut: false };
    return this.list(query, maxBytes);
  }

  async count(filter: Filter, { atMost: limit, index }: CountOptions = {}): Promise<number> {
    if ((limit !== undefined && limit <= 0) || matchesNothing(filter)) return 0;
    const options = { ...this.createReadOptions(index), ...(limit === undefined ? {} : { limit }) };
    return this.run((documents) => documents.countDocuments(toMongoFilter(this.spec, filter), options));
  }

  async sum(field: string, filter: Filter, index: string): Promise<number> {
    if (matchesNothing(filter)) return 0;
    const stages = [
      { $match: toMongoFilter(this.spec, filter) },
      { $group: { _id: null, sum: { $sum: `$${toStoredField(field)}` } } },
    ];
    const options = this.createReadOptions(index);
    const [found] = await this.run((documents) => documents.aggregate<{ sum: number }>(stages, options).toArray());
    return found?.sum ?? 0;
  }

  /** The server finds the end of the range in the index alone, without reading a document. */
  async scan(scan: Scan): Promise<ScanResult<T>> {
    const { index, visit, limit, sort, filter, maxBytes } = scan;
    if (matchesNothing(filter)) return { documents: [], next: undefined };
    const range = toScanRangeFilter(this.spec, scan);
    const order = toMongoSort(sort);
    const projection = { _id: 0, ...Object.fromEntries(sort.fields.map((field) => [toStoredField(field), 1])) };
    const edge = { ...this.createReadOptions(index), sort: order, skip: visit - 1, limit: 1, projection };
    const [last] = await this.run((documents) => documents.find(range, edge).toArray());
    const valuesOf = (row: Readonly<Record<string, unknown>>) =>
      sort.fields.map((field) => row[toStoredField(field)] ?? null);
    const within = toScanDocumentsFilter(this.spec, scan, last && valuesOf(last));
    const options = { ...this.createReadOptions(index), sort: order, limit, batchSize: limit + 1 };
    const { found, isCut } = await this.run((documents) => readWithinBytes(documents.find(within, options), maxBytes));
    const end = found.length < limit && !isCut ? last : found.at(-1);
    return {
      documents: found.map((document) => fromStoredDocument<T>(document)),
      next: end && (valuesOf(end) as Scalar[]),
      isCut,
    };
  }

  async insert(document: T): Promise<boolean> {
    return (await this.write((documents) => documents.insertOne(toStoredDocument(document)))) !== ID_CONFLICT;
  }

  async replace(document: T, guard?: Filter): Promise<boolean> {
    const filter = toGuardedFilter(this.spec, document.id, guard);
    const outcome = await this.write((documents) => documents.replaceOne(filter, toStoredDocument(document)));
    return outcome !== ID_CONFLICT && outcome.matchedCount === 1;
  }

  /**
   * If the guard does not match, MongoDB tries to insert and finds the id taken. The same happens if another insert
   * came in between, whose document the guard may match. Only the second refusal shows that the guard does not match.
   */
  async upsert(document: T, guard?: Filter): Promise<boolean> {
    const filter = toGuardedFilter(this.spec, document.id, guard);
    const once = () =>
      this.write((documents) => documents.replaceOne(filter, toStoredDocument(document), { upsert: true }));
    let outcome = await once();
    for (let again = 0; outcome === ID_CONFLICT && (again < 1 || guard === undefined); again += 1)
      outcome = await once();
    return outcome !== ID_CONFLICT;
  }

  async delete(id: string, guard?: Filter): Promise<boolean> {
    const filter = toGuardedFilter(this.spec, id, guard);
    const { deletedCount } = await this.run((documents) => documents.deleteOne(filter));
    return deletedCount === 1;
  }

  async writeMany(writes: readonly CollectionWrite<T>[]): Promise<void> {
    let refusedBy: string | undefined;
    const atOnce = this.writesAtOnce;
    let isBegun = false;
    try {
      for (const round of splitIntoRounds(writes)) {
        for (let from = 0; from < round.length;) {
          const some = round.slice(from, from + atOnce);
          const index = await this.writeBatch(some);
          isBegun = true;
          refusedBy ??= index;
          from += some.length;
        }
      }
    } catch (error) {
      throw isBegun ? withUnknownOutcome(error) : error;
    }
    // The error is thrown only after all writes, because a caller that repeats the writes would otherwise fail at the
    // same write again.
    this.writesAtOnce = Math.min(WRITE_BATCH_SIZE, 2 * atOnce);
    if (refusedBy !== undefined) throw new DuplicateKey(this.spec.name, refusedBy);
  }

  async claim({ filter, sort }: Omit<Query, 'limit' | 'after'>, set: Partial<T>): Promise<T | undefined> {
    const condition = toMongoFilter(this.spec, filter);
    const options = { sort: toMongoSort(sort), returnDocument: 'after' } as const;
    const claimed = await this.write((documents) =>
      documents.findOneAndUpdate(condition, { $set: toStoredFields(set) as Partial<MongoDocument> }, options),
    );
    return claimed === ID_CONFLICT || claimed === null ? undefined : fromStoredDocument<T>(claimed);
  }

  private startBatchedRead() {
    const ids = new Set<string>();
    const found = setImmediate().then(async () => {
      this.asked = undefined;
      return new Map((await this.getMany([...ids])).map((document) => [document.id, document]));
    });
    return { ids, found };
  }

  private async list(query: Query, maxBytes?: number): Promise<BoundedResult<T>> {
    const { limit, sort, index } = query;
    const condition = toMongoQuery(this.spec, query);
    // The query requests one document more than it may return, so that the first response of the server is complete.
    const options = { ...this.createReadOptions(index), sort: toMongoSort(sort), limit, batchSize: limit + 1 };
    const { found, isCut } = await this.run((documents) =>
      readWithinBytes(documents.find(condition, options), maxBytes),
    );
    return { documents: found.map((document) => fromStoredDocument<T>(document)), isCut };
  }

  /** Reads documents. @param index index hint, if given */
  private createReadOptions(index: string | undefined) {
    const { deadlineMs: maxTimeMS } = this.connection;
    return index === undefined ? { maxTimeMS } : { maxTimeMS, hint: toMongoHint(this.spec, index) };
  }

  /** After a write that did not respond in time, later writes have half as many documents. */
  private async writeBatch(writes: readonly CollectionWrite<T>[]): Promise<string | undefined> {
    try {
      return await this.writeUnordered(writes, true);
    } catch (error) {
      if (error instanceof Unavailable && writes.length > MIN_WRITE_BATCH_SIZE) {
        this.writesAtOnce = Math.max(MIN_WRITE_BATCH_SIZE, Math.floor(writes.length / 2));
      }
      throw error;
    }
  }

  /** Performs writes to different ids. Returns the unique index that refused one, if any. */
  private async writeUnordered(writes: readonly CollectionWrite<T>[], first: boolean): Promise<string | undefined> {
    const models = writes.map((write) => this.model(write));
    const refused = await this.run((documents) =>
      documents.bulkWrite(models, { ordered: false }).then(() => [], listRefusedWrites),
    );
    const refusedBy = refused.find(({ index }) => index !== ID_INDEX)?.index;
    // The write is retried for the same reason as in `upsert`.
    const taken = refused.flatMap(({ at, index }) => (index === ID_INDEX ? (writes[at] ?? []) : []));
    const again = taken.filter((write) => write.kind === 'upsert' && (first || write.guard === undefined));
    if (again.length === 0) return refusedBy;
    const later = await this.writeUnordered(again, false).catch((error: unknown) => {
      throw withUnknownOutcome(error);
    });
    return refusedBy ?? later;
  }

  private model(write: CollectionWrite<T>): AnyBulkWriteOperation<MongoDocument> {
    switch (write.kind) {
      case 'insert':
        return { insertOne: { document: toStoredDocument(write.document) } };
      case 'upsert': {
        const filter = toGuardedFilter(this.spec, write.document.id, write.guard);
        return { replaceOne: { filter, replacement: toStoredDocument(write.document), upsert: true } };
      }
      case 'delete':
        return { deleteOne: { filter: toGuardedFilter(this.spec, write.id, write.guard) } };
    }
  }

  private write<R>(
    operation: (documents: DriverCollection<MongoDocument>) => Promise<R>,
  ): Promise<R | typeof ID_CONFLICT> {
    return this.run<R | typeof ID_CONFLICT>((documents) =>
      operation(documents).catch((error: unknown) => {
        const index = findViolatedIndex(error);
        if (index === undefined) throw error;
        if (index === ID_INDEX) return ID_CONFLICT;
        throw new DuplicateKey(this.spec.name, index);
      }),
    );
  }

  /**
   * Derived data is acknowledged from memory, in order with all other writes; all other data is read from the majority.
   * `ordered` writes are journaled, because later writes to Kafka or EventStoreDB do not wait for this journal.
   */
  private run<R>(operation: (documents: DriverCollection<MongoDocument>) => Promise<R>): Promise<R> {
    const { name, durability } = this.spec;
    const isDerived = durability === 'derived';
    return this.connection.run((database) =>
      operation(
        database.collection<MongoDocument>(name, {
          writeConcern: { w: 'majority', journal: !isDerived, wtimeoutMS: this.connection.deadlineMs },
          readConcern: { level: isDerived ? 'local' : 'majority' },
        }),
      ),
    );
  }
}

/** Returns the first documents of a cursor. The server sends batches of at most 16 MiB. */
async function readWithinBytes(cursor: FindCursor<MongoDocument>, maxBytes: number | undefined) {
  if (maxBytes === undefined) return { found: await cursor.toArray(), isCut: false };
  const found: MongoDocument[] = [];
  let bytes = 0;
  for await (const document of cursor) {
    bytes += BSON.calculateObjectSize(document);
    if (found.length > 0 && bytes > maxBytes) return { found, isCut: true };
    found.push(document);
  }
  return { found, isCut: false };
}

/** Splits writes into rounds, so that writes to the same id are in different rounds, in order. */
function splitIntoRounds<T extends Document>(writes: readonly CollectionWrite<T>[]): CollectionWrite<T>[][] {
  const made: CollectionWrite<T>[][] = [];
  const seen = new Map<string, number>();
  for (const write of writes) {
    const id = write.kind === 'delete' ? write.id : write.document.id;
    const round = seen.get(id) ?? 0;
    seen.set(id, round + 1);
    (made[round] ??= []).push(write);
  }
  return made;
}
