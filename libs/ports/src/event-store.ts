import type { JsonObject } from '@tracking/contracts';

/**
 * A position in the total order of a store. Opaque text of fixed width: positions of one store compare as strings (`<`)
 * in the order of their events. Not comparable between stores.
 */
export type Position = string;

/** Event data. Do not change the data after the append, because live readers may receive the same object. */
export interface NewEvent {
  /** UUID of the event. Repeated appends with the same id and the same expected revision store one event. */
  readonly id: string;
  /** Wire name with version, such as `milestone.recorded.v1`. */
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** A stored event. Never mutate it, because adapters may return the same object to several readers. */
export interface StoredEvent extends NewEvent {
  readonly stream: string;
  /** Revision within the stream: 0 for the first event, without gaps. */
  readonly revision: number;
  readonly position: Position;
}

/**
 * Last revision of the stream that the writer expects, or that the stream does not exist. Every append must specify it.
 */
export type ExpectedRevision = number | 'no_stream';

export interface AppendResult {
  /** Revision of the last event appended. */
  readonly revision: number;
  /**
   * Position at or after the last appended event. It never exceeds the position of an event that was appended later and
   * acknowledged earlier.
   */
  readonly position: Position;
}

/** The stream is not at the expected revision. Nothing was written. */
export class VersionConflictError extends Error {
  override readonly name = 'VersionConflict';
  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision,
  ) {
    super(`${stream}: expected ${expected}, is ${actual}`);
  }
}

/** The text is not a position of this store. */
export class InvalidPositionError extends Error {
  override readonly name = 'InvalidPosition';
  constructor(readonly position: string) {
    super(`cannot read from ${position}: it is not a position of this event store`);
  }
}

/** Maximum total bytes of data and metadata in one append, as JSON in UTF-8. EventStoreDB allows 1 MiB by default. */
export const MAX_APPEND_BYTES = 1_010_000;

/** Returns the number of bytes that an event counts against {@link MAX_APPEND_BYTES}. */
export function computeEventBytes({ data, metadata }: Pick<NewEvent, 'data' | 'metadata'>): number {
  return Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));
}

/** An append exceeds {@link MAX_APPEND_BYTES}. Nothing was written. */
export class AppendTooLargeError extends Error {
  override readonly name = 'AppendTooLarge';
  constructor() {
    super(`the append exceeds the maximum of ${MAX_APPEND_BYTES} bytes; split it`);
  }
}

export interface CatchUpOptions {
  /** Exclusive start position, such as a stored checkpoint; by default the beginning of the log. */
  readonly after?: Position | undefined;
  /** Name prefixes of the streams to read. */
  readonly streamPrefixes: readonly string[];
  /** Maximum number of events in one batch; 500 by default. */
  readonly maxBatch?: number;
  /** Signal that ends the iteration without an error. */
  readonly signal: AbortSignal;
  /**
   * Called instead of an empty batch while the reader waits for the next batch: no event up to the position matches.
   * With many readers, it costs less than a batch. A store may return empty batches all the same.
   */
  readonly onSkipped?: (position: Position) => void;
}

/** Range of revisions in a stream. */
export interface RevisionRange {
  readonly from?: number;
  readonly to?: number;
  /**
   * True if the caller has seen the event at `to`, or a later one. A replica that has all events of the range may then
   * answer. If it does not have them, the store reads them from the leader.
   */
  readonly isStored?: boolean;
}

export interface EventBatch {
  /** Events in store order. The batch can be empty if only other streams changed. */
  readonly events: readonly StoredEvent[];
  /** Position up to which all matching events were returned. Resume after it. */
  readonly position: Position;
  /** True if the store had no later event when this batch was read. */
  readonly caughtUp: boolean;
}

/**
 * Streams of events in one total order.
 * Ordering: Events of one append are contiguous in their stream and in the total order. Positions grow with every
 * acknowledged append; after a reader has seen a position, no smaller one appears. Idempotency: Repeating an append
 * with the same event ids and expected revision returns the first result, also after a crash and after later appends.
 * Atomicity and durability: An append is stored completely or not at all, and is on disk when it resolves. Unknown
 * outcomes: If `append` throws `UnavailableError`, the events may be stored; repeat it with the same ids and revision.
 */
export interface EventStore {
  /**
   * Appends at least one event to a stream that is at `expected`.
   * @throws VersionConflictError, AppendTooLargeError, UnavailableError, BusyError
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>;

  /**
   * Reads the stream's events from revision `from` (default 0) to `to` (inclusive, default the end), in order; none if
   * the stream does not exist. Includes every append acknowledged before the call.
   * @throws InvalidPositionError, UnavailableError
   */
  read(stream: string, range?: RevisionRange): Promise<readonly StoredEvent[]>;

  /**
   * Returns the revision of the stream's last event; undefined if the stream does not exist. Includes every append
   * acknowledged before the call. The cost does not depend on the stream's length.
   * @throws UnavailableError
   */
  readLastRevision(stream: string): Promise<number | undefined>;

  /**
   * Iterates over all events of the matching streams in total order until `signal` aborts. Stored events come first,
   * then new ones; each event comes once. The first batch is returned immediately and can be empty. A slow consumer
   * delays only itself, because its buffer is bounded. After a loss of the engine, the iteration continues where it
   * stopped while the process runs.
   */
  catchUp(options: CatchUpOptions): AsyncIterable<EventBatch>;

  /** Returns the position of the last stored event; undefined for an empty store. */
  head(): Promise<Position | undefined>;

  /** Ends every catch-up, waits for running appends, then releases the engine. */
  close(): Promise<void>;
}
