/** Value that a filter or a sort key can contain. */
export type Scalar = string | number | boolean | null;

/** Document as JSON, with a string `id` that is unique in its collection. */
export interface Document {
  readonly id: string;
}

export interface IndexSpec {
  readonly name: string;
  /**
   * Indexed top-level fields. The index has an entry for each element of an array field; an index can have one array
   * field.
   */
  readonly fields: readonly string[];
  /** The array field of the index, if it has one. */
  readonly arrayField?: string;
  /**
   * True if no two documents may have equal keys. Documents without one of the fields (absent, not null) are not
   * indexed.
   */
  readonly unique?: boolean;
  /**
   * Version of the definition, from 1, which is the default. Increase it with every change of the other fields: an engine
   * builds the new version before it drops the earlier ones.
   */
  readonly version?: number;
  /**
   * Index field that a document must have to be indexed; other documents cost almost nothing. Only filters that compare
   * this field with a value or bounds, or that require the field to exist, use the index. Not allowed for array fields
   * and unique indexes.
   */
  readonly only?: string;
}

/**
 * Guarantee that a resolved write survives a crash or a power failure:
 * - `durable`: The write survives. Use it for data that was acknowledged.
 * - `ordered`: The write survives if any later write through any port does. Use it for data that is rebuilt unless
 * a later write says that it was done, such as the record of a message until its offset is committed.
 * - `derived`: The write survives if any later write to this store does. Use it for data that can be rebuilt from
 * events: read models and their checkpoints.
 */
export type Durability = 'durable' | 'ordered' | 'derived';

export interface CollectionSpec {
  /** Name of the collection, `[a-z0-9_.-]+`. */
  readonly name: string;
  readonly indexes: readonly IndexSpec[];
  /**
   * Fields of the shard key, before the id, if the collection grows with its use; empty if the key is the id alone.
   * Absent for a collection that is not sharded. Every document has these fields, with text values that its id
   * determines and that never change. A query that compares them with values reads only from the shards of these values.
   */
  readonly shardKey?: readonly string[];
  /**
   * Durability of writes through this {@link Collection}; `durable` by default. The same documents can be opened
   * several times, each with the durability that its writes need.
   */
  readonly durability?: Durability;
}

export interface FieldBounds {
  readonly gt?: Scalar;
  readonly gte?: Scalar;
  readonly lt?: Scalar;
  readonly lte?: Scalar;
}

/**
 * Condition on a top-level field: a value (equal, or contained in an array field) or bounds. All conditions of a filter
 * must match. Values of different types are never equal and never within each other's bounds. Text is ordered by code
 * points. `null` is a value and not equal to an absent field. `ne` also matches an absent field, and an array field
 * without the value. `all` requires, for each condition, an element that equals the value, equals one of several values
 * or lies within the bounds. An index is searched by the first condition of `all`, so put the most selective one first.
 */
export type FilterCondition =
  | Scalar
  | { readonly in: readonly Scalar[] }
  | FieldBounds
  | { readonly ne: Scalar }
  | { readonly exists: boolean }
  | { readonly all: readonly (Scalar | { readonly in: readonly Scalar[] } | FieldBounds)[] };
export type Filter = Readonly<Record<string, FilterCondition>>;

/** Values of the shard key of the requested documents, by field. Each document has one of the values of each field. */
export type ShardValues = Readonly<Record<string, readonly string[]>>;

/** Returns the filter for documents with these values of the shard key. */
export function toShardFilter(values: ShardValues): Filter {
  return Object.fromEntries(
    Object.entries(values).map(([field, some]) => [
      field,
      some.length === 1 && some[0] !== undefined ? some[0] : { in: some },
    ]),
  );
}

/**
 * Returns true if no value can meet one of the conditions, such as a time range that ends before it begins. Adapters
 * then return an empty result without a query, because an engine might scan a whole index.
 */
export function isUnsatisfiableFilter(filter: Filter): boolean {
  return Object.values(filter).some((condition) => {
    if (condition === null || typeof condition !== 'object') return false;
    return 'in' in condition ? condition.in.length === 0 : isEmptyRange(condition as FieldBounds);
  });
}

function isEmptyRange({ gt, gte, lt, lte }: FieldBounds): boolean {
  const pairs = [gt, gte].flatMap((from) => [lt, lte].map((to) => [from, to] as const));
  return pairs.some(([from, to]) => {
    if (from === undefined || to === undefined) return false;
    return isGreaterScalar(from, to) || (from === to && (from === gt || to === lt));
  });
}

/** Compares text by code points. */
function isGreaterScalar(one: Scalar, other: Scalar): boolean {
  if (typeof one === 'string' && typeof other === 'string')
    return Buffer.compare(Buffer.from(one), Buffer.from(other)) > 0;
  return typeof one === 'number' && typeof other === 'number' && one > other;
}

/** Query for documents of a collection. */
export interface Query {
  readonly filter: Filter;
  /**
   * Sort fields, all in the same direction. Every document must have these fields, and no field may be null. A sort is
   * cheap if an index begins with the fields that the filter compares with one value and continues with the sort fields.
   * Engines without statistics choose indexes by rules of thumb, so request a sort only if the order matters.
   */
  readonly sort?: { readonly fields: readonly string[]; readonly descending?: boolean };
  /** Values of the sort fields after which the result starts, in the sort's direction. */
  readonly after?: readonly Scalar[];
  readonly limit: number;
  /** Name of the index to use; by default the engine chooses. */
  readonly index?: string;
  /** Values of the shard key, if the filter does not compare it. See {@link Collection.get}. */
  readonly shards?: ShardValues;
}

/**
 * A scan of a range of an index. The filter compares the leading index fields before the first sort field with one
 * value each (of an array field, one element or the first of `all`); the sort fields follow them in the index. Bounds
 * of the first sort field are the bounds of the range. All other conditions are checked entry by entry, which costs
 * least for fields of the index.
 */
export interface IndexScanQuery extends Query {
  readonly index: string;
  readonly sort: NonNullable<Query['sort']>;
  /** Maximum number of visited entries. */
  readonly visit: number;
  /**
   * Maximum total size of the documents, in bytes of JSON. The first document is returned even if it exceeds this size.
   */
  readonly maxBytes?: number;
}

/** First documents of a query, limited by their size. */
export interface DocumentsWithinByteLimit<T extends Document> {
  /** Documents in sort order. */
  readonly documents: readonly T[];
  /** True if the result ended early because the next document would exceed the maximum size. */
  readonly isCut: boolean;
}

export interface IndexScanResult<T extends Document> {
  /** Documents in sort order. */
  readonly documents: readonly T[];
  /** Sort values for the `after` of the next scan; undefined if the scan reached the end of the index range. */
  readonly next: readonly Scalar[] | undefined;
  /** True if the scan ended because the next document would exceed `maxBytes`. */
  readonly isCut?: boolean;
}

export interface CountOptions {
  /** Number of documents at which the count stops. */
  readonly atMost?: number;
  /** Name of the index to use, as in {@link Query}. */
  readonly index?: string;
  /** Values of the shard key, as in {@link Query}. */
  readonly shards?: ShardValues;
}

export type CollectionWrite<T extends Document> =
  /** Inserts the document, or does nothing if its id exists. */
  | { readonly kind: 'insert'; readonly document: T }
  | { readonly kind: 'upsert'; readonly document: T; readonly guard?: Filter }
  | { readonly kind: 'delete'; readonly id: string; readonly guard?: Filter };

/** Replacement of the stored document of the same id, if it matches the guard. */
export interface DocumentReplacement<T extends Document> {
  readonly document: T;
  readonly guard: Filter;
}

/** A unique index refused the write. No part of that document was written. */
export class DuplicateKeyError extends Error {
  override readonly name = 'DuplicateKey';
  constructor(
    readonly collection: string,
    readonly index: string,
  ) {
    super(`${collection}: another document already has this ${index}`);
  }
}

/**
 * Documents of one kind. Writes are atomic per document only. Reads see every write that resolved before. A guard is a
 * filter on the stored document: if it does not match, nothing is written. Every method throws `UnavailableError` if the
 * engine does not respond; a write may then have taken effect.
 */
export interface Collection<T extends Document> {
  /**
   * Returns the document of this id.
   * @param shards values of the shard key, so that only their shards are read. Engines without shards ignore them, so
   *   check in the document itself that it is allowed
   */
  get(id: string, shards?: ShardValues): Promise<T | undefined>;
  /**
   * Returns the existing documents of these ids, in no particular order.
   * @param shards as in `get`; the combinations of these values include those of all documents
   */
  getMany(ids: readonly string[], shards?: ShardValues): Promise<readonly T[]>;
  find(query: Query): Promise<readonly T[]>;
  /**
   * Runs a query, but stops before the document with which the total JSON size would exceed `maxBytes`. The first
   * document is returned even if it exceeds this size. Engines that store other formats count about the same size.
   */
  findWithinByteLimit(query: Query, maxBytes: number): Promise<DocumentsWithinByteLimit<T>>;
  count(filter: Filter, options?: CountOptions): Promise<number>;
  /**
   * Adds up an integer field of an index over all documents that match. Documents without the field, or with a value of
   * another type, count as 0. Cheapest if the index begins with the fields that the filter compares.
   * @param index name of the index to use, which contains the field
   */
  sum(field: string, filter: Filter, index: string): Promise<number>;
  /**
   * Scans at most `visit` entries of the index after the entry `after`, in sort order, and returns at most `limit`
   * matching documents. A scan can therefore return fewer documents than `limit`, even none, together with a `next`.
   */
  scan(query: IndexScanQuery): Promise<IndexScanResult<T>>;

  /**
   * Stores the document unless its id exists. The id is checked before unique indexes, so that repeating an insert is
   * not a duplicate.
   * @returns true if it was stored
   * @throws DuplicateKeyError
   */
  insert(document: T): Promise<boolean>;
  /**
   * Replaces the stored document of the same id if it exists and matches the guard. @returns true if it was replaced
   * @throws DuplicateKeyError
   */
  replace(document: T, guard?: Filter): Promise<boolean>;
  /**
   * Replaces many small documents, each like `replace`, without atomicity across documents. Each document must match its
   * own guard, so that a repeated replacement has the same effect and the same result.
   * @returns for each replacement, true if its document was replaced
   * @throws DuplicateKeyError; some documents may then be replaced
   */
  replaceMany(replacements: readonly DocumentReplacement<T>[]): Promise<readonly boolean[]>;
  /**
   * Inserts the document, or replaces it if the guard matches.
   * @returns true if it was written
   * @throws DuplicateKeyError
   */
  upsert(document: T, guard?: Filter): Promise<boolean>;
  /**
   * Deletes the document. In a sharded collection, the guard compares the shard key, so that one shard is asked.
   * @returns true if it existed and matched the guard
   */
  delete(id: string, guard?: Filter): Promise<boolean>;
  /**
   * Applies many writes, in order for each id, without atomicity across documents. Guards that do not match are not
   * reported; use the single methods to check guards.
   * @throws DuplicateKeyError after the other writes were applied
   */
  writeMany(writes: readonly CollectionWrite<T>[]): Promise<void>;
  /**
   * Sets fields on the first matching document in query order, and returns the new document. If the change makes the
   * document no longer match, exactly one of several concurrent claims gets it.
   */
  claim(query: Omit<Query, 'limit' | 'after'>, set: Partial<T>): Promise<T | undefined>;
}

export interface DocumentStore {
  /**
   * Opens the collection and creates missing indexes. Opening an existing collection is cheap, even with another
   * durability.
   * @throws UnavailableError also if only the set-up may build a missing index, because the collection contains documents
   */
  collection<T extends Document>(spec: CollectionSpec): Promise<Collection<T>>;
  /** Returns the names of collections that start with `prefix`. */
  listCollectionNames(prefix: string): Promise<readonly string[]>;
  /**
   * Drops the collection with its documents; does nothing if it does not exist. Open collections of that name become
   * invalid. A large collection can take minutes; other writes run in between.
   * @param ending aborts the drop; a later call drops the rest
   */
  dropCollection(name: string, ending?: AbortSignal): Promise<void>;
  /** Waits for running writes, then releases the engine. */
  close(): Promise<void>;
}
