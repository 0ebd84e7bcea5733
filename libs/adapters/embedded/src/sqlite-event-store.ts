import { setImmediate } from 'node:timers/promises';
import {
  AppendTooLargeError,
  InvalidPositionError,
  UnavailableError,
  VersionConflictError,
  type AppendResult,
  type CatchUpOptions,
  type CountRetry,
  type EventBatch,
  type EventStore,
  type ExpectedRevision,
  type Logger,
  type NewEvent,
  type Position,
  type StoredEvent,
} from '@tracking/ports';
import type { JsonObject } from '@tracking/contracts';
import { retry } from '@tracking/resilience';
import type { LogTailCache } from './live-tail.ts';
import { getErrorMessage } from './sqlite-database.ts';
import type { SqliteStorage } from './sqlite-reader-pool.ts';
import { ENGINE_NAME } from './sqlite-writer.ts';
import type { AppendOperation, AppendOutcome } from './storage-threads.ts';

/**
 * Maximum number of events of a stream that are parsed at once, which takes about a millisecond of the calling thread.
 */
const READ_BATCH_SIZE = 200;
const DEFAULT_EVENTS_PER_CATCH_UP_BATCH = 1_000;
const SELECT_EVENTS_SQL = `SELECT position, revision, id, type, data, metadata FROM events
  WHERE stream = ? AND revision >= ? AND revision <= ? ORDER BY revision LIMIT ${READ_BATCH_SIZE}`;
const SELECT_LAST_REVISION_SQL = 'SELECT revision FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1';

interface SqliteEventStoreOptions {
  /** Maximum bytes of data and metadata in one append. */
  readonly appendBytes: number;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

export class SqliteEventStore implements EventStore {
  private readonly closing = new AbortController();

  constructor(
    private readonly storage: SqliteStorage,
    private readonly tail: LogTailCache<StoredEvent>,
    private readonly options: SqliteEventStoreOptions,
  ) {}

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    if (events.length === 0) throw new TypeError('cannot append: specify at least one event');
    this.throwIfClosed();
    let bytes = 0;
    const cells = events.flatMap((event) => {
      const [data, metadata] = [JSON.stringify(event.data), JSON.stringify(event.metadata)];
      bytes += Buffer.byteLength(data) + Buffer.byteLength(metadata);
      return [event.id, event.type, data, metadata];
    });
    if (bytes > this.options.appendBytes) throw new AppendTooLargeError();
    const { writer } = this.storage;
    writer.throwIfNotWritable();
    const operation = { kind: 'append', stream, expected: expected === 'no_stream' ? -1 : expected, cells } as const;
    return writer.addOperationToBatch(operation, events.length, 'durable', (outcome) =>
      this.convertCommitOutcomeToAppendResult(operation, events, outcome),
    );
  }

  async read(stream: string, range: { readonly from?: number; readonly to?: number } = {}): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    const to = range.to ?? Number.MAX_SAFE_INTEGER;
    let from = range.from ?? 0;
    for (;;) {
      const rows = this.readRows(SELECT_EVENTS_SQL, [stream, from, to]);
      for (const [position, revision, id, type, data, metadata] of rows) {
        found.push({
          id: String(id),
          type: String(type),
          data: JSON.parse(String(data)) as JsonObject,
          metadata: JSON.parse(String(metadata)) as JsonObject,
          stream,
          revision: Number(revision),
          position: encodePosition(Number(position)),
        });
      }
      if (rows.length < READ_BATCH_SIZE) return found;
      from += rows.length;
      await setImmediate();
    }
  }

  async readLastRevision(stream: string): Promise<number | undefined> {
    const [last] = this.readRows(SELECT_LAST_REVISION_SQL, [stream]);
    return last === undefined ? undefined : Number(last[0]);
  }

  async *catchUp(options: CatchUpOptions): AsyncGenerator<EventBatch> {
    const stop = AbortSignal.any([options.signal, this.closing.signal]);
    const wake = () => this.tail.signal.notifyWaiters();
    stop.addEventListener('abort', wake, { once: true });
    try {
      let after = options.after === undefined ? 0 : decodeEventLogPosition(options.after);
      let isFirst = true;
      while (!stop.aborted) {
        const { changed } = this.tail.signal;
        const isLive = this.tail.hasAllItemsInMemoryAfter(after);
        const batch = isLive
          ? this.readEventBatchFromMemoryTail(after, options)
          : await this.readStoredEventBatch(after, options, stop);
        if (batch === undefined) return;
        const position = decodeEventLogPosition(batch.position);
        if (position > after || isFirst) {
          yield batch;
          after = position;
          isFirst = false;
        } else {
          await changed;
        }
      }
    } finally {
      stop.removeEventListener('abort', wake);
    }
  }

  head(): Promise<Position | undefined> {
    return Promise.resolve(this.tail.last === 0 ? undefined : encodePosition(this.tail.last));
  }

  /** Ends the catch-ups. The engine is shared with other ports and is closed separately. */
  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }

  /** The callback runs in commit order, so that the tail contains the events in the order of their positions. */
  private convertCommitOutcomeToAppendResult(
    { stream, expected, cells }: AppendOperation,
    events: readonly NewEvent[],
    outcome: AppendOutcome,
  ): AppendResult {
    if (outcome.kind === 'conflict') {
      throw new VersionConflictError(stream, toRevisionOrNoStream(expected), toRevisionOrNoStream(outcome.actual));
    }
    const { revision, position, repeated } = outcome;
    if (!repeated) {
      const back = events.length - 1;
      const characters = cells.reduce((sum, cell) => sum + cell.length, 0) / events.length;
      const stored = ({ id, type, data, metadata }: NewEvent, index: number): StoredEvent => ({
        id,
        type,
        data,
        metadata,
        stream,
        revision: revision - back + index,
        position: encodePosition(position - back + index),
      });
      this.tail.appendItemsToTail(events.map((event, index) => ({ characters, item: stored(event, index) })));
    }
    return { revision, position: encodePosition(position) };
  }

  private readRows(sql: string, values: readonly (string | number)[]) {
    this.throwIfClosed();
    try {
      return this.storage.database.readRows(sql, values);
    } catch (error) {
      throw new UnavailableError(ENGINE_NAME, getErrorMessage(error));
    }
  }

  private readEventBatchFromMemoryTail(
    after: number,
    { streamPrefixes, maxBatch = DEFAULT_EVENTS_PER_CATCH_UP_BATCH }: CatchUpOptions,
  ): EventBatch {
    const isWanted = ({ stream }: StoredEvent) => streamPrefixes.some((prefix) => stream.startsWith(prefix));
    const { items, position } = this.tail.listCachedItemsAfterPosition(after, maxBatch, isWanted);
    return { events: items, position: encodePosition(position), caughtUp: position >= this.tail.last };
  }

  /** Retries until a reader thread returns; undefined if the signal stops the retries first. */
  private readStoredEventBatch(
    after: number,
    options: CatchUpOptions,
    signal: AbortSignal,
  ): Promise<EventBatch | undefined> {
    const onFailure = (error: unknown) => {
      if (signal.aborted) return;
      this.options.countRetry('catching up');
      this.options.logger.warn({ reason: getErrorMessage(error) }, 'storage: a read for a catch-up failed; retrying');
    };
    return retry(() => this.readEventBatch(after, options), { signal, maxPauseMs: 1_000, onFailure }).catch(
      () => undefined,
    );
  }

  private async readEventBatch(
    after: number,
    { streamPrefixes, maxBatch = DEFAULT_EVENTS_PER_CATCH_UP_BATCH }: CatchUpOptions,
  ): Promise<EventBatch> {
    const request = { kind: 'events', after, prefixes: streamPrefixes, limit: maxBatch } as const;
    const { json, position, head } = await this.storage.readers.runReadInThread(request);
    const events: StoredEvent[] = [];
    for (const part of json) {
      // Yields to the event loop, so that other work on the thread can run in between.
      if (events.length > 0) await setImmediate();
      const rows = JSON.parse(part) as (Omit<StoredEvent, 'position'> & { readonly at: number })[];
      for (const { at, ...event } of rows) events.push({ ...event, position: encodePosition(at) });
    }
    return { events, position: encodePosition(position), caughtUp: position >= head };
  }

  private throwIfClosed(): void {
    if (this.closing.signal.aborted) throw new UnavailableError(ENGINE_NAME, 'closed');
  }
}

function toRevisionOrNoStream(revision: number): ExpectedRevision {
  return revision < 0 ? 'no_stream' : revision;
}

/** Formats the position as 16 hexadecimal digits, so that positions sort as strings. */
function encodePosition(number: number): Position {
  return number.toString(16).padStart(16, '0');
}

function decodeEventLogPosition(position: Position): number {
  if (!/^[0-9a-f]{16}$/.test(position)) throw new InvalidPositionError(position);
  return Number.parseInt(position, 16);
}
