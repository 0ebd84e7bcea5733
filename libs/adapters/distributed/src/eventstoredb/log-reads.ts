import { setImmediate } from 'node:timers/promises';
import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  type Position as LogPosition,
  type RecordedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import type { JsonObject } from '@tracking/contracts';
import { computeEventBytes, InvalidPositionError, type Position, type StoredEvent } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';
import type { NodeCallTarget, EventStoreDbConnections } from './node-client.ts';
import { createNodeTimeoutError } from './node-connection.ts';

const DIGITS_PER_POSITION_HALF = 16;
/** The position before the first event. */
export const START_POSITION: Position = '0'.repeat(2 * DIGITS_PER_POSITION_HALF);
/** Maximum number of log entries of a page. */
const MAX_PAGE_ENTRIES = 500;
/**
 * Maximum size of the events of a page, in bytes. The page ends when it is exceeded. A process can catch up in 32
 * partitions at the same time, each with a page in memory.
 */
export const MAX_PAGE_BYTES = 4 * 1_048_576;

/** Encodes commit and prepare position in 16 hexadecimal digits each, so that strings sort in the order of the log. */
export function encodePosition({ commit, prepare }: LogPosition): Position {
  return (
    commit.toString(16).padStart(DIGITS_PER_POSITION_HALF, '0') +
    prepare.toString(16).padStart(DIGITS_PER_POSITION_HALF, '0')
  );
}

/** Converts a position to the client's type. A read starts after this position. */
export function decodeEventLogPosition(position: Position): LogPosition | 'start' {
  if (!/^[0-9a-f]{32}$/.test(position)) throw new InvalidPositionError(position);
  if (position === START_POSITION) return 'start';
  return {
    commit: BigInt(`0x${position.slice(0, DIGITS_PER_POSITION_HALF)}`),
    prepare: BigInt(`0x${position.slice(DIGITS_PER_POSITION_HALF)}`),
  };
}

export function chooseLaterLogPosition(one: Position, other: Position): Position {
  return one > other ? one : other;
}

/**
 * Converts an event of the client.
 * @throws TypeError for a node older than 22.6, which does not return positions of a stream's events
 */
export function toStoredEvent({ streamId, id, revision, type, data, metadata, position }: RecordedEvent): StoredEvent {
  if (position === undefined)
    throw new TypeError('the node does not return positions because it is older than 22.6; upgrade EventStoreDB');
  return {
    id,
    type,
    data: data as JsonObject,
    metadata: (metadata ?? {}) as JsonObject,
    stream: streamId,
    revision: Number(revision),
    position: encodePosition(position),
  };
}

/** Entry of the whole log as a reader receives it. */
export interface EventLogEntry {
  readonly position: Position;
  /** The event of the entry; absent for entries of the node itself, such as statistics. */
  readonly event?: StoredEvent;
}

/** Matching events of a part of the log, and the position where the part ends. */
export interface EventLogSlice {
  readonly events: readonly StoredEvent[];
  readonly position: Position;
}

export function convertToEventLogEntry({ event }: AllStreamResolvedEvent): EventLogEntry {
  // The event is undefined only if links are resolved, which no read requests.
  if (event === undefined) return { position: START_POSITION };
  if (event.streamId.startsWith('$')) return { position: encodePosition(event.position) };
  return { position: encodePosition(event.position), event: toStoredEvent(event) };
}

export function hasStreamPrefix({ stream }: StoredEvent, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => stream.startsWith(prefix));
}

/**
 * Returns the position of the last entry of the whole log, including the node's own entries; undefined if the log is
 * empty. Includes every acknowledged append.
 */
export async function readLastLogPosition(
  { leader, stored }: Pick<EventStoreDbConnections, 'leader' | 'stored'>,
  timeoutMs: number,
): Promise<Position | undefined> {
  const { client, callOptions } = leader;
  const read = client.readAll({ ...callOptions, direction: BACKWARDS, fromPosition: END, maxCount: 1 });
  const [entry] = (await collectStreamedItems(leader, read, timeoutMs)).found;
  if (entry?.event === undefined) return undefined;
  const position = encodePosition(entry.event.position);
  stored.recordStoredPosition(position);
  return position;
}

interface LogReadPage {
  readonly entries: readonly EventLogEntry[];
  /** True if the page reaches the end of the node's log at the time of the read. A follower's log may end earlier. */
  readonly isLast: boolean;
}

/** Reads the log of all streams page by page. Pages get smaller after a timeout, and larger again after a success. */
export class LogPageReader {
  private count = MAX_PAGE_ENTRIES;

  /** @param silenceMs maximum milliseconds between two items of a response */
  constructor(private readonly silenceMs: number) {}

  /**
   * Returns log entries after a position.
   * @param target decides whether a follower may answer
   * @throws the failure if no entry arrived before it
   */
  async readLogPageAfter(position: Position, target: NodeCallTarget): Promise<LogReadPage> {
    const { client, callOptions } = target;
    // Unlike a subscription, a read starts with the entry at the position.
    const maxCount = this.count + 1;
    let bytes = 0;
    const isEnough = ({ event }: EventLogEntry) => {
      bytes += event === undefined ? 0 : computeEventBytes(event);
      return bytes >= MAX_PAGE_BYTES;
    };
    const read = client.readAll({ ...callOptions, fromPosition: decodeEventLogPosition(position), maxCount });
    try {
      const { found, isWhole, failure } = await collectStreamedItems(target, read, this.silenceMs, {
        toItem: convertToEventLogEntry,
        isEnough,
      });
      const entries = found.filter((entry) => entry.position > position);
      if (failure !== undefined && entries.length === 0) throw failure;
      this.count = failure === undefined ? Math.min(MAX_PAGE_ENTRIES, 2 * this.count) : halveEventCount(this.count);
      return { entries, isLast: isWhole && found.length < maxCount };
    } catch (error) {
      this.count = halveEventCount(this.count);
      throw error;
    }
  }
}

/** Returns half of the count, but at least one. */
export function halveEventCount(count: number): number {
  return Math.max(1, Math.floor(count / 2));
}

export interface CollectedReadResult<T> {
  readonly found: readonly T[];
  /** True if the node ended the call, which means that the response is complete. */
  readonly isWhole: boolean;
  /** The reason why the call ended early; undefined if `isEnough` ended it. */
  readonly failure?: unknown;
}

interface CollectItemsOptions<R, T> {
  readonly toItem: (answer: R) => T;
  /** Callback for each item. If it returns true, the call ends after this item. */
  readonly isEnough?: (item: T) => boolean;
}

export function collectStreamedItems<T>(
  target: Pick<NodeCallTarget, 'connection'>,
  read: StreamingRead<T>,
  silenceMs: number,
): Promise<CollectedReadResult<T>>;
export function collectStreamedItems<R, T>(
  target: Pick<NodeCallTarget, 'connection'>,
  read: StreamingRead<R>,
  silenceMs: number,
  collecting: CollectItemsOptions<R, T>,
): Promise<CollectedReadResult<T>>;
/**
 * Collects the items of a call until it ends, fails, or sends nothing for a while. Items before a failure are kept.
 * Also ends a failed call and handles its later errors, which the client does not. Avoids iterating over the call and
 * canceling an ended call, because each costs as much as the call.
 * @throws the failure if no item arrived before it
 */
export async function collectStreamedItems<R, T>(
  { connection }: Pick<NodeCallTarget, 'connection'>,
  read: StreamingRead<R>,
  silenceMs: number,
  { toItem, isEnough = () => false }: CollectItemsOptions<R, T> = { toItem: (answer) => answer as unknown as T },
): Promise<CollectedReadResult<T>> {
  const found: T[] = [];
  const over = Promise.withResolvers<Omit<CollectedReadResult<T>, 'found'>>();
  let heardAt = monotonicMs();
  let isOver = false;
  const finish = (end: Omit<CollectedReadResult<T>, 'found'>) => {
    isOver = true;
    over.resolve(end);
  };
  read
    .on('data', (answer: R) => {
      if (isOver) return;
      heardAt = monotonicMs();
      connection.recordTimeOfNodeAnswer();
      const item = toItem(answer);
      found.push(item);
      if (isEnough(item)) finish({ isWhole: false });
    })
    .on('end', () => {
      connection.recordTimeOfNodeAnswer();
      finish({ isWhole: true });
    })
    .on('error', (failure) => finish({ isWhole: false, failure }));
  let timer = setTimeout(endReadIfCallIsSilent, silenceMs);
  async function endReadIfCallIsSilent(): Promise<void> {
    // A busy process may have received items that it has not handled yet.
    await setImmediate();
    if (isOver) return;
    const leftMs = heardAt + silenceMs - monotonicMs();
    if (leftMs > 0) timer = setTimeout(endReadIfCallIsSilent, leftMs);
    else {
      connection.giveUpNodeIfUnresponsive();
      finish({ isWhole: false, failure: createNodeTimeoutError() });
    }
  }
  const end = await over.promise;
  clearTimeout(timer);
  if (!end.isWhole) read.cancel().catch(() => undefined);
  if (end.failure !== undefined && found.length === 0) throw end.failure;
  return { found, ...end };
}
