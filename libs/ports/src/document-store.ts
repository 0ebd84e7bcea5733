/** A value in a filter or a sort key. */
export type Scalar = string | number | boolean | null;

/** A document: JSON with a string `id`, unique in its collection. */
export interface Document {
  readonly id: string;
}

export interface IndexSpec {
  readonly name: string;
  /** Top-level fields. A field that holds an array is indexed by each of its elements; at most one such in an index. */
  readonly fields: readonly string[];
  /** Set on the one array field of the index, if any. */
  readonly arrayField?: string;
  /** No two documents with equal keys; documents that lack one of the fields (absent, not null) are not in the index. */
  readonly unique?: boolean;
  /**
   * One of its fields: documents that lack it are not in the index, and cost next to nothing there. Only a filter that
   * compares this field with a value or bounds, or asks that it exists, is answered by it. Not of an array, nor unique.
   */
  readonly only?: string;
}

/**
 * How a resolved write survives a crash or a power cut:
 * - `durable`: the write. For what somebody was told is done.
 * - `ordered`: the write, if anything is left that was written after it, through whatever port. For what is made again
 *   unless something written later says that it was made, as the record of a message is until its offset is committed.
 * - `derived`: the write, if anything is left that was written after it to this store. For what can be made again from
 *   the events: read models and their checkpoints.
 */
export type Durability = 'durable' | 'ordered' | 'derived';

export interface CollectionSpec {
  /** `[a-z0-9_.-]+` */
  readonly name: string;
  readonly indexes: readonly IndexSpec[];
  /**
   * Of the writes through this {@link Collection}; `durable` by default. The same documents may be opened in several
   * ways, each for the writes that need it.
   */
  readonly durability?: Durability;
}

export interface Bounds {
  readonly gt?: Scalar;
  readonly gte?: Scalar;
  readonly lt?: Scalar;
  readonly lte?: Scalar;
}

/**
 * A value (equal; for an array field: contains), or bounds. Conditions of one filter are and-ed. Top-level fields only.
 * Values of different types are never equal, nor within each other's bounds; text is ordered by code points. `null` is a
 * value: it is not equal to an absent field. `ne` also matches where the field is absent; for an array field: contains
 * none such. `all`: for each of them an element that equals it or lies within the bounds. An index of the field leads to
 * the documents by the first of them, so that comes first of which there are the fewest.
 */
export type FilterCondition =
  | Scalar
  | { readonly in: readonly Scalar[] }
  | Bounds
  | { readonly ne: Scalar }
  | { readonly exists: boolean }
  | { readonly all: readonly (Scalar | Bounds)[] };
export type Filter = Readonly<Record<string, FilterCondition>>;

/**
 * Whether no value can meet one of its conditions, as one that asks for a time which ends before it begins. An engine
 * may look through an index to find so: an adapter answers none without a question.
 */
export function matchesNothing(filter: Filter): boolean {
  return Object.values(filter).some((condition) => {
    if (condition === null || typeof condition !== 'object') return false;
    return 'in' in condition ? condition.in.length === 0 : isEmptyRange(condition as Bounds);
  });
}

function isEmptyRange({ gt, gte, lt, lte }: Bounds): boolean {
  const pairs = [gt, gte].flatMap((from) => [lt, lte].map((to) => [from, to] as const));
  return pairs.some(([from, to]) => {
    if (from === undefined || to === undefined) return false;
    return isGreater(from, to) || (from === to && (from === gt || to === lt));
  });
}

/** Text by code points. */
function isGreater(one: Scalar, other: Scalar): boolean {
  if (typeof one === 'string' && typeof other === 'string')
    return Buffer.compare(Buffer.from(one), Buffer.from(other)) > 0;
  return typeof one === 'number' && typeof other === 'number' && one > other;
}

/**
 * Cheap where one index begins with the fields that the filter compares with one value, and goes on with the sort's:
 * engines without statistics choose among several by rules of thumb, so ask for a sort only where order matters.
 */
export interface Query {
  readonly filter: Filter;
  /** Fields that are present and not null in every document (stored sort keys), all in one direction. */
  readonly sort?: { readonly fields: readonly string[]; readonly descending?: boolean };
  /** Only documents after these values of the sort fields, in the sort's direction. */
  readonly after?: readonly Scalar[];
  readonly limit: number;
  /** Name of the index to go by; the engine chooses without it. */
  readonly index?: string;
}

/**
 * A look at a stretch of an index. The filter compares the fields that the index begins with, up to the first field of the
 * sort, with one value each (of an array field: one element, or the first of `all`); the sort's fields follow them in the
 * index. Bounds of the first sort field are those of the range; all else in the filter is looked at entry by entry, and
 * costs least where it is of the index's own fields or elements.
 */
export interface Scan extends Query {
  readonly index: string;
  readonly sort: NonNullable<Query['sort']>;
  /** Most entries that are looked at. */
  readonly visit: number;
  /** Most bytes of JSON of all documents together. The first document is returned whatever its size. */
  readonly maxBytes?: number;
}

/** The first documents of a query. */
export interface BoundedResult<T extends Document> {
  /** In the sort's order. */
  readonly documents: readonly T[];
  /** Whether it ended before the limit because the next document would have been too much. */
  readonly isCut: boolean;
}

export interface ScanResult<T extends Document> {
  /** In the sort's order. */
  readonly documents: readonly T[];
  /** The `after` of the next scan; undefined at the end of the index range. */
  readonly next: readonly Scalar[] | undefined;
  /** Whether it ended because the next document would have been more than `maxBytes`. */
  readonly isCut?: boolean;
}

export interface CountOptions {
  /** Where to stop counting. */
  readonly atMost?: number;
  /** As in {@link Query}. */
  readonly index?: string;
}

export type CollectionWrite<T extends Document> =
  /** Nothing happens where the id exists. */
  | { readonly kind: 'insert'; readonly document: T }
  | { readonly kind: 'upsert'; readonly document: T; readonly guard?: Filter }
  | { readonly kind: 'delete'; readonly id: string; readonly guard?: Filter };

/** A unique index refused the write. Certain that nothing of that document was written. */
export class DuplicateKey extends Error {
  override readonly name = 'DuplicateKey';
  constructor(
    readonly collection: string,
    readonly index: string,
  ) {
    super(`${collection}: another document has this ${index}`);
  }
}

/**
 * Documents of one kind. Atomicity is one document; nothing spans two. Reads see every write that resolved before.
 * A guard is a filter on the stored document: where it does not match, nothing is written.
 * Every method throws `Unavailable` when the engine does not answer; the writes below may then have happened.
 */
export interface Collection<T extends Document> {
  get(id: string): Promise<T | undefined>;
  /** Returns the documents that exist, in no particular order. */
  getMany(ids: readonly string[]): Promise<readonly T[]>;
  find(query: Query): Promise<readonly T[]>;
  /**
   * The same, but ends before the document with which the JSON of all is larger than `maxBytes`. The first document is
   * returned whatever its size. Documents of an engine in another form count with about that many bytes.
   */
  findWithin(query: Query, maxBytes: number): Promise<BoundedResult<T>>;
  count(filter: Filter, options?: CountOptions): Promise<number>;
  /**
   * At most `visit` entries of the index after `after`, in the sort's order: of them those documents that match the filter,
   * at most `limit`. Whatever is stored, it looks at no more; so there may be fewer documents than `limit`, even none,
   * while there is a `next`.
   */
  scan(query: Scan): Promise<ScanResult<T>>;

  /**
   * Stores the document unless its id exists; answers whether it did. The id is looked at before any unique index, so
   * that the same document sent again is no duplicate.
   * @throws DuplicateKey
   */
  insert(document: T): Promise<boolean>;
  /** Replaces the stored document of the same id if it exists and matches the guard; answers whether it did. @throws DuplicateKey */
  replace(document: T, guard?: Filter): Promise<boolean>;
  /** Inserts, or replaces where the guard matches; answers whether it wrote. @throws DuplicateKey */
  upsert(document: T, guard?: Filter): Promise<boolean>;
  /** Answers whether it deleted. */
  delete(id: string, guard?: Filter): Promise<boolean>;
  /**
   * Many writes, in order per id, not atomic together. Guards that do not match are silent: use the single forms to know.
   * @throws DuplicateKey after the others were written
   */
  writeMany(writes: readonly CollectionWrite<T>[]): Promise<void>;
  /**
   * Sets fields on the first document that matches, in the query's order, and answers it as it is after; of any number
   * of concurrent claims that would each end the match, exactly one gets a document.
   */
  claim(query: Omit<Query, 'limit' | 'after'>, set: Partial<T>): Promise<T | undefined>;
}

export interface DocumentStore {
  /** The collection, made with its indexes if it is not there; cheap when it is, also with another durability. */
  collection<T extends Document>(spec: CollectionSpec): Promise<Collection<T>>;
  /** Names of the collections that begin with `prefix`. */
  collectionNames(prefix: string): Promise<readonly string[]>;
  /**
   * Drops the collection with everything in it; does nothing if there is none. Open collections of that name are void. A large
   * one may take minutes, in pieces between which other writes are done.
   * @param ending ends it early: a later call drops what is left
   */
  dropCollection(name: string, ending?: AbortSignal): Promise<void>;
  /** Lets writes under way finish, then releases the engine. */
  close(): Promise<void>;
}
