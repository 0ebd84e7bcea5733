import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type StoredEvent,
  VersionConflict,
} from '@tracking/ports';
import {
  type AppendExpectedRevision,
  bytesOf,
  fromLogPosition,
  newEvent,
  RequestRefused,
  sizeOf,
  toLogPosition,
} from './records.ts';

/** Bytes in one append, as a node is configured out of the box. */
const MOST_BYTES = 1_048_576;
/** Ids that an append at any revision is compared with; a node forgets them when it restarts. */
const REMEMBERED_IDS = 10_000;
/** A revision that no stream reaches: the conflict it causes tells where the stream is. */
const NEVER = 2 ** 50;
/** Where a node keeps what it knows of a stream. */
const METADATA_PREFIX = '$$';

interface StreamState {
  /** Events before this revision are gone: those of a stream that was deleted, and may have been begun again. */
  readonly visibleFrom: number;
  readonly tombstoned: boolean;
}

interface StreamRange {
  /** Inclusive; undefined: the end of the stream. */
  readonly from: number | undefined;
  readonly count: number;
  readonly backwards: boolean;
}

const UNTOUCHED: StreamState = { visibleFrom: 0, tombstoned: false };

/** Adds to the store what a node has: appends at any revision, deleted streams, the limit of an append. */
export class StreamStore {
  private readonly states = new Map<string, StreamState>();
  private readonly recent = new LRUCache<string, AppendResult & { readonly stream: string }>({ max: REMEMBERED_IDS });
  readonly store: EventStore;

  private constructor(store: EventStore) {
    this.store = store;
  }

  static async open(store: EventStore): Promise<StreamStore> {
    const streams = new StreamStore(store);
    for await (const event of eventsUntil(store, undefined, await store.head(), [METADATA_PREFIX])) {
      streams.learn(event.stream, event);
    }
    return streams;
  }

  /** @throws RequestRefused */
  async append(stream: string, expected: AppendExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    if (events.reduce((bytes, event) => bytes + sizeOf(event), 0) > MOST_BYTES) {
      throw new RequestRefused({ kind: 'append_too_large', limit: MOST_BYTES });
    }
    const { visibleFrom, tombstoned } = this.stateOf(stream);
    if (tombstoned) throw new RequestRefused({ kind: 'stream_deleted', stream });
    const known = expected === 'any' ? this.recent.get(events.at(-1)?.id ?? '') : undefined;
    if (known?.stream === stream) return known;
    const result = await this.appendAt(stream, expected, visibleFrom, events);
    for (const event of events) {
      this.learn(stream, event);
      this.recent.set(event.id, { ...result, stream });
    }
    return result;
  }

  /**
   * The events of a stream from a revision on, at most `count`; undefined if there is no such stream.
   * @throws RequestRefused
   */
  async read(stream: string, { from, count, backwards }: StreamRange): Promise<readonly StoredEvent[] | undefined> {
    const { visibleFrom, tombstoned } = this.stateOf(stream);
    if (tombstoned) throw new RequestRefused({ kind: 'stream_deleted', stream });
    const events = backwards
      ? await this.readBackwards(stream, visibleFrom, from, count)
      : await this.readForwards(stream, visibleFrom, from, count);
    if (events.length > 0) return events;
    const first = await this.store.read(stream, { from: visibleFrom, to: visibleFrom });
    return first.length > 0 ? [] : undefined;
  }

  /**
   * A stream deleted softly can be begun again and numbers on; one with a tombstone cannot.
   * @throws RequestRefused
   */
  async delete(stream: string, expected: AppendExpectedRevision, tombstone: boolean): Promise<AppendResult> {
    if (this.stateOf(stream).tombstoned) throw new RequestRefused({ kind: 'stream_deleted', stream });
    const last = await this.last(stream);
    const current = last === 'no_stream' ? undefined : last;
    if (expected !== 'any' && expected !== last) {
      throw new RequestRefused({ kind: 'wrong_expected_version', stream, expected, current });
    }
    const data = Buffer.from(JSON.stringify({ $tb: (current ?? -1) + 1 }));
    const type = tombstone ? '$streamDeleted' : '$metadata';
    const event = newEvent({ id: randomUUID(), type, contentType: 'application/json', data });
    return this.append(METADATA_PREFIX + stream, 'any', [event]);
  }

  private async readForwards(stream: string, visibleFrom: number, from: number | undefined, count: number) {
    if (from === undefined) return [];
    const start = Math.max(from, visibleFrom);
    return this.store.read(stream, { from: start, to: start + count - 1 });
  }

  private async readBackwards(stream: string, visibleFrom: number, from: number | undefined, count: number) {
    const last = await this.last(stream);
    const to = Math.min(from ?? NEVER, last === 'no_stream' ? -1 : last);
    const events = await this.store.read(stream, { from: Math.max(visibleFrom, to - count + 1), to });
    return events.toReversed();
  }

  private async appendAt(
    stream: string,
    expected: AppendExpectedRevision,
    visibleFrom: number,
    events: readonly NewEvent[],
  ): Promise<AppendResult> {
    let at = startingAt(expected, visibleFrom);
    for (;;) {
      try {
        return await this.store.append(stream, at, events);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
        const current = error.actual === 'no_stream' ? undefined : error.actual;
        const goesOn = expected === 'any' || (expected === 'stream_exists' && (current ?? -1) >= visibleFrom);
        if (!goesOn) throw new RequestRefused({ kind: 'wrong_expected_version', stream, expected, current });
        at = error.actual;
      }
    }
  }

  private async last(stream: string): Promise<ExpectedRevision> {
    try {
      const probe = newEvent({ id: randomUUID(), type: 'never', contentType: '', data: Buffer.alloc(0) });
      await this.store.append(stream, NEVER, [probe]);
    } catch (error) {
      if (error instanceof VersionConflict) return error.actual;
      throw error;
    }
    throw new Error('unreachable');
  }

  private stateOf(stream: string): StreamState {
    return this.states.get(stream) ?? UNTOUCHED;
  }

  private learn(stream: string, { type, data }: NewEvent): void {
    if (!stream.startsWith(METADATA_PREFIX)) return;
    const { $tb: visibleFrom = 0 } = JSON.parse(bytesOf(data['bytes']).toString()) as { readonly $tb?: number };
    this.states.set(stream.slice(METADATA_PREFIX.length), { visibleFrom, tombstoned: type === '$streamDeleted' });
  }
}

/** The revision at which the store shall append. */
function startingAt(expected: AppendExpectedRevision, visibleFrom: number): ExpectedRevision {
  if (expected === 'any' || expected === 'stream_exists') return NEVER;
  return expected === 'no_stream' && visibleFrom > 0 ? visibleFrom - 1 : expected;
}

/** Events that a backwards read holds in memory at once. */
const PAGE = 1_000;

/** The events of the streams that begin so, after one position and up to another; none where that is undefined. */
export async function* eventsUntil(
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

/** The events before a position, or all, the last one first. The store's positions have no holes. */
export async function* eventsBackwards(store: EventStore, before: Position | undefined): AsyncGenerator<StoredEvent> {
  const head = await store.head();
  let to = before === undefined ? head : previous(before);
  if (head !== undefined && to !== undefined && to > head) to = head;
  while (to !== undefined) {
    const after: Position | undefined = previous(to, PAGE);
    const page: StoredEvent[] = [];
    for await (const event of eventsUntil(store, after, to, [''])) page.push(event);
    yield* page.reverse();
    to = after;
  }
}

/** The position some events before; undefined for the beginning. */
export function previous(position: Position, count = 1): Position | undefined {
  const step = BigInt(toLogPosition('0000000000000001'));
  const logPosition = BigInt(toLogPosition(position)) - BigInt(count) * step;
  return logPosition > 0n ? fromLogPosition(String(logPosition)) : undefined;
}
