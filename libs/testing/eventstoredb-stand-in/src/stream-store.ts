import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type StoredEvent,
  VersionConflictError,
} from '@tracking/ports';
import {
  type AppendExpectedRevision,
  latin1ToBytes,
  toStorePosition,
  createNewEvent,
  RequestRefusedError,
  computeEventDataBytes,
  toProtocolLogPosition,
} from './records.ts';

/** Default maximum of a node for the bytes of one append. */
const MAX_APPEND_BYTES = 1_048_576;
/**
 * Number of recent event ids with which an append of any expected revision is compared. A node forgets them when it
 * restarts.
 */
const MAX_REMEMBERED_EVENT_IDS = 10_000;
/**
 * A revision that no stream reaches. An append at it always conflicts, and the conflict contains the stream's revision.
 */
const UNREACHABLE_REVISION = 2 ** 50;
/** Prefix of the stream that holds a stream's metadata. */
const METADATA_STREAM_PREFIX = '$$';

interface StreamDeletionState {
  /** First visible revision. Earlier events are hidden, because the stream was deleted and possibly created again. */
  readonly visibleFrom: number;
  readonly tombstoned: boolean;
}

interface StreamRange {
  /** First revision, inclusive; undefined for the end of the stream. */
  readonly from: number | undefined;
  readonly count: number;
  readonly backwards: boolean;
}

const INITIAL_STREAM_STATE: StreamDeletionState = { visibleFrom: 0, tombstoned: false };

/**
 * Adds the behaviour of a node to the event store: appends at any revision, deleted streams, the limit of an append.
 */
export class StandInStreamStore {
  private constructor(
    readonly store: EventStore,
    private readonly states = new Map<string, StreamDeletionState>(),
    private readonly appendsById = new LRUCache<string, AppendResult & { readonly stream: string }>({
      max: MAX_REMEMBERED_EVENT_IDS,
    }),
  ) {}

  static async openStreamStore(store: EventStore): Promise<StandInStreamStore> {
    const streams = new StandInStreamStore(store);
    for await (const event of readEventsUpToPosition(store, undefined, await store.head(), [METADATA_STREAM_PREFIX])) {
      streams.storeStreamMetadata(event.stream, event);
    }
    return streams;
  }

  /** Returns the same streams as a node reads them from its own copy of the log. */
  createStoreWithLogCopy(copy: EventStore): StandInStreamStore {
    return new StandInStreamStore(copy, this.states, this.appendsById);
  }

  /** @throws RequestRefusedError */
  async appendEvents(
    stream: string,
    expected: AppendExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendResult> {
    if (events.reduce((bytes, event) => bytes + computeEventDataBytes(event), 0) > MAX_APPEND_BYTES) {
      throw new RequestRefusedError({ kind: 'append_too_large', limit: MAX_APPEND_BYTES });
    }
    const { visibleFrom, tombstoned } = this.loadStreamState(stream);
    if (tombstoned) throw new RequestRefusedError({ kind: 'stream_deleted', stream });
    const known = expected === 'any' ? this.appendsById.get(events.at(-1)?.id ?? '') : undefined;
    if (known?.stream === stream) return known;
    const result = await this.appendAtRevision(stream, expected, visibleFrom, events);
    for (const event of events) {
      this.storeStreamMetadata(stream, event);
      this.appendsById.set(event.id, { ...result, stream });
    }
    return result;
  }

  /**
   * Returns at most `count` events of a stream, starting at a revision; undefined if the stream does not exist.
   * @throws RequestRefusedError
   */
  async readStream(
    stream: string,
    { from, count, backwards }: StreamRange,
  ): Promise<readonly StoredEvent[] | undefined> {
    const { visibleFrom, tombstoned } = this.loadStreamState(stream);
    if (tombstoned) throw new RequestRefusedError({ kind: 'stream_deleted', stream });
    const events = backwards
      ? await this.readStreamSliceBackwards(stream, visibleFrom, from, count)
      : await this.readStreamEventsForwards(stream, visibleFrom, from, count);
    if (events.length > 0) return events;
    const first = await this.store.read(stream, { from: visibleFrom, to: visibleFrom });
    return first.length > 0 ? [] : undefined;
  }

  /**
   * Deletes a stream. A soft-deleted stream can be created again and continues its revisions; a stream with a tombstone
   * cannot.
   * @throws RequestRefusedError
   */
  async deleteStream(stream: string, expected: AppendExpectedRevision, tombstone: boolean): Promise<AppendResult> {
    if (this.loadStreamState(stream).tombstoned) throw new RequestRefusedError({ kind: 'stream_deleted', stream });
    const last = await this.readLastRevision(stream);
    const current = last === 'no_stream' ? undefined : last;
    if (expected !== 'any' && expected !== last) {
      throw new RequestRefusedError({ kind: 'wrong_expected_version', stream, expected, current });
    }
    const data = Buffer.from(JSON.stringify({ $tb: (current ?? -1) + 1 }));
    const type = tombstone ? '$streamDeleted' : '$metadata';
    const event = createNewEvent({ id: randomUUID(), type, contentType: 'application/json', data });
    return this.appendEvents(METADATA_STREAM_PREFIX + stream, 'any', [event]);
  }

  private async readStreamEventsForwards(stream: string, visibleFrom: number, from: number | undefined, count: number) {
    if (from === undefined) return [];
    const start = Math.max(from, visibleFrom);
    return this.store.read(stream, { from: start, to: start + count - 1 });
  }

  private async readStreamSliceBackwards(stream: string, visibleFrom: number, from: number | undefined, count: number) {
    const last = await this.readLastRevision(stream);
    const to = Math.min(from ?? UNREACHABLE_REVISION, last === 'no_stream' ? -1 : last);
    const events = await this.store.read(stream, { from: Math.max(visibleFrom, to - count + 1), to });
    return events.toReversed();
  }

  private async appendAtRevision(
    stream: string,
    expected: AppendExpectedRevision,
    visibleFrom: number,
    events: readonly NewEvent[],
  ): Promise<AppendResult> {
    let at = chooseExpectedRevisionOfFirstAppendAttempt(expected, visibleFrom);
    for (;;) {
      try {
        return await this.store.append(stream, at, events);
      } catch (error) {
        if (!(error instanceof VersionConflictError)) throw error;
        const current = error.actual === 'no_stream' ? undefined : error.actual;
        const goesOn = expected === 'any' || (expected === 'stream_exists' && (current ?? -1) >= visibleFrom);
        if (!goesOn) throw new RequestRefusedError({ kind: 'wrong_expected_version', stream, expected, current });
        at = error.actual;
      }
    }
  }

  private async readLastRevision(stream: string): Promise<ExpectedRevision> {
    return (await this.store.readLastRevision(stream)) ?? 'no_stream';
  }

  private loadStreamState(stream: string): StreamDeletionState {
    return this.states.get(stream) ?? INITIAL_STREAM_STATE;
  }

  private storeStreamMetadata(stream: string, { type, data }: NewEvent): void {
    if (!stream.startsWith(METADATA_STREAM_PREFIX)) return;
    const { $tb: visibleFrom = 0 } = JSON.parse(latin1ToBytes(data['bytes']).toString()) as { readonly $tb?: number };
    this.states.set(stream.slice(METADATA_STREAM_PREFIX.length), {
      visibleFrom,
      tombstoned: type === '$streamDeleted',
    });
  }
}

/** Returns the expected revision for the first attempt at the append. */
function chooseExpectedRevisionOfFirstAppendAttempt(
  expected: AppendExpectedRevision,
  visibleFrom: number,
): ExpectedRevision {
  if (expected === 'any' || expected === 'stream_exists') return UNREACHABLE_REVISION;
  return expected === 'no_stream' && visibleFrom > 0 ? visibleFrom - 1 : expected;
}

/** Number of events that a backwards read holds in memory. */
const READ_PAGE_SIZE = 1_000;

/**
 * Returns the events of streams with these prefixes, after one position and up to another; no events if `to` is
 * undefined.
 */
export async function* readEventsUpToPosition(
  store: EventStore,
  after: Position | undefined,
  to: Position | undefined,
  streamPrefixes: readonly string[],
): AsyncGenerator<StoredEvent> {
  if (to === undefined || (after !== undefined && after >= to)) return;
  for await (const batch of store.catchUp({ after, streamPrefixes, signal: new AbortController().signal })) {
    for (const event of batch.events) if (event.position <= to) yield event;
    if (batch.position >= to) return;
  }
}

/** Returns the events before a position, or all events, in reverse order. The positions of the store have no gaps. */
export async function* readEventsBackwards(
  store: EventStore,
  before: Position | undefined,
): AsyncGenerator<StoredEvent> {
  const head = await store.head();
  let to = before === undefined ? head : toPositionBefore(before);
  if (head !== undefined && to !== undefined && to > head) to = head;
  while (to !== undefined) {
    const after: Position | undefined = toPositionBefore(to, READ_PAGE_SIZE);
    const page: StoredEvent[] = [];
    for await (const event of readEventsUpToPosition(store, after, to, [''])) page.push(event);
    yield* page.reverse();
    to = after;
  }
}

/** Returns the position that is `count` events earlier; undefined if that is the beginning. */
export function toPositionBefore(position: Position, count = 1): Position | undefined {
  const step = BigInt(toProtocolLogPosition('0000000000000001'));
  const logPosition = BigInt(toProtocolLogPosition(position)) - BigInt(count) * step;
  return logPosition > 0n ? toStorePosition(String(logPosition)) : undefined;
}
