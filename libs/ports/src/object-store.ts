/** Pattern of object ids, which are safe as file names on any system. */
export const OBJECT_ID_PATTERN = /^[a-z0-9_-]{1,100}$/;

/** Size and hash of an object, computed while it was stored. */
export interface StoredObject {
  readonly sizeBytes: number;
  /** SHA-256 in lower-case hex. */
  readonly sha256: string;
}

export interface ObjectContent {
  /** Size of the complete object in bytes. */
  readonly sizeBytes: number;
  /**
   * Requested bytes, which are read as the caller consumes them, at any pace. Iterate once. The iteration holds no
   * resources before its first step and after its last. If the engine fails or the object is deleted, the iteration
   * throws `Unavailable`; it never ends early as if complete.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** An object with this id exists or is being stored. The existing object was not changed. */
export class ObjectExists extends Error {
  override readonly name = 'ObjectExists';
  constructor(readonly id: string) {
    super(`object ${id} already exists`);
  }
}

/**
 * Stores immutable bytes under ids that the caller generates and uses once. Memory use does not depend on the object's
 * size, and slow consumers or sources do not delay others. An id that does not match `OBJECT_ID_PATTERN` is a
 * programming error (`TypeError`).
 */
export interface ObjectStore {
  /**
   * Stores all bytes of the source under a new id. The object becomes visible only when it is complete, and is durable
   * when this resolves. If the source throws, the call rejects with that error and nothing is kept, so callers can
   * enforce limits of size, content and time in the source.
   * @throws ObjectExists
   * @throws Unavailable the object may have been stored; retry with another id
   */
  put(id: string, source: AsyncIterable<Uint8Array>): Promise<StoredObject>;

  /**
   * Opens an object; undefined if it does not exist. Every `put` that resolved before is visible.
   * @param range offsets of the first byte and after the last byte, clipped to the object's size; by default the
   * complete object
   * @throws Unavailable
   */
  get(id: string, range?: { readonly start: number; readonly end: number }): Promise<ObjectContent | undefined>;

  /**
   * Deletes the object; does nothing if it does not exist. Current readers get the remaining bytes or an error. @throws
   * Unavailable
   */
  delete(id: string): Promise<void>;

  /**
   * Iterates over the ids of complete objects stored in a period, in no particular order. The clock of the storing
   * process determines the time. Use it to find unreferenced objects. Objects may be deleted during the iteration.
   * @param period `from` is inclusive, `before` exclusive
   * @throws Unavailable
   */
  listIdsStoredIn(period: { readonly from?: Date; readonly before: Date }): AsyncIterable<string>;

  /**
   * Removes remains of uploads and deletions that a crash or a loss of the engine interrupted.
   * @param before latest start of such an operation, for example one day ago, so that the operation can no longer run
   * @throws Unavailable
   */
  removeUnfinished(before: Date): Promise<void>;
}
