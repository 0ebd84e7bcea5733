/** Pattern of object ids, which are safe as file names on any system. */
export const OBJECT_ID_PATTERN = /^[a-z0-9_-]{1,100}$/;

/** Size and hash of an object, computed while it was stored. */
export interface StoredObjectSizeAndHash {
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
   * throws `UnavailableError`; it never ends early as if complete.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** An object with this id exists or is being stored. The existing object was not changed. */
export class ObjectExistsError extends Error {
  override readonly name = 'ObjectExists';
  constructor(readonly id: string) {
    super(`object ${id} already exists`);
  }
}

/**
 * The disk of the engine has no room for objects: what is left is reserved for other data. Nothing was stored.
 */
export class StorageFullError extends Error {
  override readonly name = 'StorageFull';
  constructor(readonly freeBytes: number) {
    super(`the disk of the object store has only ${freeBytes} free bytes, which are reserved for other data`);
  }
}

/** Free space of the disk on which an object store keeps its objects. */
export interface DiskSpace {
  /** Bytes that objects must leave free. */
  readonly reserveBytes: number;
  /** Returns the free bytes of the disk; undefined if the engine does not know them. Throws `UnavailableError`. */
  readonly freeBytes: () => Promise<number | undefined>;
}

/** Maximum number of bytes that a `put` stores between two checks of the free space, unless one chunk has more. */
const BYTES_BETWEEN_SPACE_CHECKS = 1_048_576;

/**
 * Passes the bytes of a source on while the disk has at least its reserve of free bytes. Parallel sources together can
 * use up to a mebibyte each of the reserve, and more if `freeBytes` returns old values.
 * @throws StorageFullError, before the first byte and after each mebibyte
 */
export async function* passBytesWhileDiskHasSpace(
  source: AsyncIterable<Uint8Array>,
  disk: DiskSpace,
): AsyncGenerator<Uint8Array> {
  let unchecked = 0;
  const check = async () => {
    unchecked = 0;
    const free = await disk.freeBytes();
    if (free !== undefined && free < disk.reserveBytes) throw new StorageFullError(free);
  };
  await check();
  for await (const bytes of source) {
    if (unchecked + bytes.length > BYTES_BETWEEN_SPACE_CHECKS) await check();
    unchecked += bytes.length;
    yield bytes;
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
   * @throws ObjectExistsError
   * @throws StorageFullError
   * @throws UnavailableError the object may have been stored; retry with another id
   */
  putObject(id: string, source: AsyncIterable<Uint8Array>): Promise<StoredObjectSizeAndHash>;

  /**
   * Opens an object; undefined if it does not exist. Every `put` that resolved before is visible.
   * @param range offsets of the first byte and after the last byte, clipped to the object's size; by default the
   * complete object
   * @throws UnavailableError
   */
  getObject(id: string, range?: { readonly start: number; readonly end: number }): Promise<ObjectContent | undefined>;

  /**
   * Deletes the object; does nothing if it does not exist. Current readers get the remaining bytes or an error. @throws
   * UnavailableError
   */
  deleteObject(id: string): Promise<void>;

  /**
   * Iterates over the ids of complete objects stored in a period, in no particular order. The clock of the storing
   * process determines the time. Use it to find unreferenced objects. Objects may be deleted during the iteration.
   * @param period `from` is inclusive, `before` exclusive
   * @throws UnavailableError
   */
  listObjectIdsStoredInPeriod(period: { readonly from?: Date; readonly before: Date }): AsyncIterable<string>;

  /**
   * Removes remains of uploads and deletions that a crash or a loss of the engine interrupted.
   * @param before latest start of such an operation, for example one day ago, so that the operation can no longer run
   * @throws UnavailableError
   */
  removeUnfinishedObjects(before: Date): Promise<void>;
}
