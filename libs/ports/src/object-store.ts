/** Form of an object's id: safe as a file name on any system. */
export const OBJECT_ID_PATTERN = /^[a-z0-9_-]{1,100}$/;

/** Size and hash of the bytes, taken while they were stored. */
export interface StoredObject {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface ObjectContent {
  /** Size of the whole object. */
  readonly sizeBytes: number;
  /**
   * The bytes asked for, read as they are consumed, however slowly; to be iterated once. Nothing is held before the
   * first step and after the last. Throws `Unavailable` in the middle when the engine fails or the object is deleted:
   * never ends early as if it were complete.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** There is an object of this id, or one is being put. Certain that it was left as it is. */
export class ObjectExists extends Error {
  override readonly name = 'ObjectExists';
  constructor(readonly id: string) {
    super(`there is an object ${id}`);
  }
}

/**
 * Bytes under ids that the caller makes, each used once: an object never changes. Memory does not grow with an object's
 * size, and a consumer's or a source's pace holds up nobody else. Ids that do not match `OBJECT_ID` are a fault of the
 * caller (`TypeError`).
 */
export interface ObjectStore {
  /**
   * Stores all bytes of the source under a fresh id. Nothing is visible under it before it is whole, and it is durable
   * when this resolves. When the source throws, this rejects with what it threw, and nothing is kept: so a caller
   * enforces limits of size, content and time by throwing from the source.
   * @throws ObjectExists
   * @throws Unavailable the object may have been stored whole all the same: begin again under another id
   */
  put(id: string, source: AsyncIterable<Uint8Array>): Promise<StoredObject>;

  /**
   * Sees every put that resolved before. Undefined where there is no such object.
   * @param range offsets of the first byte and of the one after the last, cut to the object's size; everything by default
   * @throws Unavailable
   */
  get(id: string, range?: { readonly start: number; readonly end: number }): Promise<ObjectContent | undefined>;

  /** Nothing happens where there is none. Whoever is reading it gets the rest, or an error. @throws Unavailable */
  delete(id: string): Promise<void>;

  /**
   * Ids of whole objects by when they were stored, in no particular order, by the clock of the process that stored them:
   * for a search for objects that nothing names. May be deleted from while iterating.
   * @param period inclusive from, where given; exclusive before
   * @throws Unavailable
   */
  listIdsStoredIn(period: { readonly from?: Date; readonly before: Date }): AsyncIterable<string>;

  /**
   * Removes what was left behind by puts and deletes that a crash or the loss of the engine cut off.
   * @param before when those had begun; so long ago that none of that time can still be under way: a day
   * @throws Unavailable
   */
  removeUnfinished(before: Date): Promise<void>;
}
