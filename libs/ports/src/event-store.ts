import type { JsonObject } from '@tracking/contracts';

/**
 * A place in the store's one total order. Opaque, but fixed in width: compared as strings (`<`), positions of one store
 * sort as their events do. Not comparable between stores.
 */
export type Position = string;

/** Handed over with the append: not to be changed afterwards, for live readers may get the very object. */
export interface NewEvent {
  /** UUID. The same id with the same expected revision is the same event, however often it is sent. */
  readonly id: string;
  /** Wire name with version, as `milestone.recorded.v1`. */
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** An event as stored. Never mutate one: adapters may hand the same object to several readers. */
export interface StoredEvent extends NewEvent {
  readonly stream: string;
  /** 0 for a stream's first event, without holes. */
  readonly revision: number;
  readonly position: Position;
}

/** The stream's last revision as the writer knows it, or that it does not exist. There is no "any". */
export type ExpectedRevision = number | 'no_stream';

export interface AppendResult {
  /** Revision of the last event appended. */
  readonly revision: number;
  /** At or after the last event appended; never after one that was appended later and acknowledged earlier. */
  readonly position: Position;
}

/** The stream is not at the expected revision. Certain that nothing was written. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision,
  ) {
    super(`${stream}: expected ${expected}, is ${actual}`);
  }
}

/** The text is no position of this store. */
export class InvalidPosition extends Error {
  override readonly name = 'InvalidPosition';
  constructor(readonly position: string) {
    super(`not a position of this store: ${position}`);
  }
}

/** Most bytes of data and metadata in one append, as JSON in UTF-8. EventStoreDB takes 1 MiB by default. */
export const MAX_APPEND_BYTES = 1_010_000;

/** How much of {@link MAX_APPEND_BYTES} an event takes. */
export function eventSizeBytes({ data, metadata }: Pick<NewEvent, 'data' | 'metadata'>): number {
  return Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));
}

/** An append of more than {@link MAX_APPEND_BYTES}. Certain that nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  constructor() {
    super(`an append holds at most ${MAX_APPEND_BYTES} bytes`);
  }
}

export interface CatchUpOptions {
  /** Exclusive: the checkpoint a consumer stored; from the beginning without one. */
  readonly after?: Position | undefined;
  /** Only streams whose name begins with one of these. */
  readonly streamPrefixes: readonly string[];
  /** Most events in one batch; 500 by default. */
  readonly maxBatch?: number;
  /** Ends the iteration, without an error. */
  readonly signal: AbortSignal;
}

export interface EventBatch {
  /** In the store's order; may be empty, when only other streams moved. */
  readonly events: readonly StoredEvent[];
  /** Everything that matches up to here was handed out: a checkpoint to resume after. */
  readonly position: Position;
  /** Whether nothing later had been appended when this batch was read. */
  readonly caughtUp: boolean;
}

/**
 * Streams of events in one total order.
 *
 * Ordering: events of one append are contiguous in their stream and in the total order. Positions grow with every
 * acknowledged append; a reader that saw a position never later sees a smaller one appear.
 * Idempotency: an append repeated with the same event ids at the same expected revision answers as the first did, also
 * after a crash and whatever was appended since.
 * Atomicity and durability: an append is stored whole or not at all, and is on disk when it resolves.
 * Unknown outcomes: `Unavailable` from `append` may mean stored; repeat it with the same ids at the same revision.
 */
export interface EventStore {
  /**
   * Appends at least one event to a stream that is at `expected`.
   * @throws VersionConflict, AppendTooLarge, Unavailable, Busy
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>;

  /**
   * The stream's events from revision `from` (0 by default) up to and including `to` (its end by default), in order;
   * empty if there is no such stream. Sees every append acknowledged before the call.
   * @throws InvalidPosition, Unavailable
   */
  read(stream: string, range?: { readonly from?: number; readonly to?: number }): Promise<readonly StoredEvent[]>;

  /**
   * The revision of the stream's last event; undefined if there is no such stream. Sees every append acknowledged before
   * the call, and costs the same however long the stream is.
   * @throws Unavailable
   */
  lastRevision(stream: string): Promise<number | undefined>;

  /**
   * All events of the matching streams in total order, first those stored, then those to come, each once per iteration,
   * until `signal` aborts. The first batch comes at once, empty where there is nothing to hand out. A slow consumer delays only itself: at most a bounded buffer is held for it. Survives the
   * loss of the engine: it goes on from where it was, for as long as the process lives.
   */
  catchUp(options: CatchUpOptions): AsyncIterable<EventBatch>;

  /** The position of the last event stored; undefined in an empty store. */
  head(): Promise<Position | undefined>;

  /** Ends every catch-up, lets appends under way finish, then releases the engine. */
  close(): Promise<void>;
}
