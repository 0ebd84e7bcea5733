import { setImmediate, setTimeout } from 'node:timers/promises';
import {
  AppendTooLarge,
  Unavailable,
  VersionConflict,
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
import type { LiveTail } from './live-tail.ts';
import { messageOf, type Database } from './sqlite-database.ts';
import type { SqliteReaders } from './sqlite-readers.ts';
import { ENGINE, type SqliteWriter } from './sqlite-writer.ts';
import type { AppendOutcome } from './storage-protocol.ts';

/** Events of a stream parsed in one go: about a millisecond of the calling thread. */
const READ_AT_ONCE = 200;
const DEFAULT_BATCH = 500;
const RETRY_MS = 100;
const READ = `SELECT position, revision, id, type, data, metadata FROM events
  WHERE stream = ? AND revision >= ? AND revision <= ? ORDER BY revision LIMIT ${READ_AT_ONCE}`;

export class SqliteEventStore implements EventStore {
  private readonly closing = new AbortController();

  constructor(
    private readonly writer: SqliteWriter,
    private readonly database: Database,
    private readonly readers: SqliteReaders,
    private readonly tail: LiveTail<StoredEvent>,
    private readonly logger: Logger,
    private readonly countRetry: CountRetry,
    private readonly appendBytes: number,
  ) {}

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    if (events.length === 0) throw new TypeError('an append holds at least one event');
    this.refuseWhenClosed();
    const cells = events.flatMap(({ id, type, data, metadata }) => [
      id,
      type,
      JSON.stringify(data),
      JSON.stringify(metadata),
    ]);
    if (cells.reduce((sum, cell) => sum + Buffer.byteLength(cell), 0) > this.appendBytes) throw new AppendTooLarge();
    const characters = cells.reduce((sum, cell) => sum + cell.length, 0) / events.length;
    this.writer.admit();
    return this.writer.run(
      { kind: 'append', stream, expected: expected === 'no_stream' ? -1 : expected, cells },
      events.length,
      'durable',
      (outcome) => this.appended(stream, expected, events, characters, outcome),
    );
  }

  async read(stream: string, range: { readonly from?: number; readonly to?: number } = {}): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    const to = range.to ?? Number.MAX_SAFE_INTEGER;
    let from = range.from ?? 0;
    for (;;) {
      const rows = this.rows(stream, from, to);
      for (const [position, revision, id, type, data, metadata] of rows) {
        found.push({
          id: String(id),
          type: String(type),
          data: JSON.parse(String(data)) as JsonObject,
          metadata: JSON.parse(String(metadata)) as JsonObject,
          stream,
          revision: Number(revision),
          position: toPosition(Number(position)),
        });
      }
      if (rows.length < READ_AT_ONCE) return found;
      from += rows.length;
      await setImmediate();
    }
  }

  async *catchUp(options: CatchUpOptions): AsyncGenerator<EventBatch> {
    const stop = AbortSignal.any([options.signal, this.closing.signal]);
    const wake = () => this.tail.signal.notify();
    stop.addEventListener('abort', wake, { once: true });
    try {
      let after = options.after === undefined ? 0 : fromPosition(options.after);
      let isFirst = true;
      while (!stop.aborted) {
        const { changed } = this.tail.signal;
        const batch = this.tail.covers(after)
          ? this.liveBatch(after, options)
          : await this.oldBatch(after, options, stop);
        const position = fromPosition(batch?.position ?? toPosition(after));
        if (batch !== undefined && (position > after || isFirst)) {
          yield batch;
          after = position;
          isFirst = false;
        } else if (batch !== undefined) {
          await changed;
        }
      }
    } finally {
      stop.removeEventListener('abort', wake);
    }
  }

  head(): Promise<Position | undefined> {
    return Promise.resolve(this.tail.last === 0 ? undefined : toPosition(this.tail.last));
  }

  /** Ends the catch-ups; the engine, which other ports share, is closed by itself. */
  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }

  private appended(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    characters: number,
    outcome: AppendOutcome,
  ): AppendResult {
    if (outcome.kind === 'conflict') {
      throw new VersionConflict(stream, expected, outcome.actual < 0 ? 'no_stream' : outcome.actual);
    }
    const { revision, position, repeated } = outcome;
    if (!repeated) {
      const back = events.length - 1;
      this.tail.push(
        events.map(({ id, type, data, metadata }, index) => ({
          characters,
          item: {
            id,
            type,
            data,
            metadata,
            stream,
            revision: revision - back + index,
            position: toPosition(position - back + index),
          },
        })),
      );
    }
    return { revision, position: toPosition(position) };
  }

  private rows(stream: string, from: number, to: number) {
    this.refuseWhenClosed();
    try {
      return this.database.rows(READ, [stream, from, to]);
    } catch (error) {
      throw new Unavailable(ENGINE, messageOf(error));
    }
  }

  private liveBatch(after: number, { streamPrefixes, maxBatch = DEFAULT_BATCH }: CatchUpOptions): EventBatch {
    const isWanted = ({ stream }: StoredEvent) => streamPrefixes.some((prefix) => stream.startsWith(prefix));
    const { items, position } = this.tail.after(after, maxBatch, isWanted);
    return { events: items, position: toPosition(position), caughtUp: position >= this.tail.last };
  }

  /** Undefined when the engine did not answer; tried again after a pause. */
  private async oldBatch(
    after: number,
    { streamPrefixes, maxBatch = DEFAULT_BATCH }: CatchUpOptions,
    stop: AbortSignal,
  ): Promise<EventBatch | undefined> {
    try {
      const request = { kind: 'events', after, prefixes: streamPrefixes, limit: maxBatch } as const;
      const { json, position, head } = await this.readers.read(request);
      const events = (JSON.parse(json) as (Omit<StoredEvent, 'position'> & { readonly at: number })[]).map(
        ({ at, ...event }) => ({ ...event, position: toPosition(at) }),
      );
      return { events, position: toPosition(position), caughtUp: position >= head };
    } catch (error) {
      if (stop.aborted) return undefined;
      this.countRetry('catching up');
      this.logger.warn({ reason: messageOf(error) }, 'storage: catching up is tried again');
      await setTimeout(RETRY_MS, undefined, { signal: stop }).catch(() => undefined);
      return undefined;
    }
  }

  private refuseWhenClosed(): void {
    if (this.closing.signal.aborted) throw new Unavailable(ENGINE, 'closed');
  }
}

/** 16 hexadecimal digits: as strings they sort as the numbers do. */
function toPosition(number: number): Position {
  return number.toString(16).padStart(16, '0');
}

function fromPosition(position: Position): number {
  if (!/^[0-9a-f]{16}$/.test(position)) throw new TypeError(`not a position of this store: ${position}`);
  return Number.parseInt(position, 16);
}
