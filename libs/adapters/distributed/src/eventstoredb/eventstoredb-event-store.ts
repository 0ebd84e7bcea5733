import {
  BACKWARDS,
  END,
  jsonEvent,
  StreamNotFoundError,
  WrongExpectedVersionError,
  type JSONEventData,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import {
  AppendTooLarge,
  Busy,
  MAX_APPEND_BYTES,
  Unavailable,
  VersionConflict,
  eventSizeBytes,
  retryCounter,
  type AppendResult,
  type CatchUpOptions,
  type CountRetry,
  type EventBatch,
  type EventStore,
  type ExpectedRevision,
  type Logger,
  type Metrics,
  type NewEvent,
  type Position,
  type StoredEvent,
} from '@tracking/ports';
import { withDeadline } from '@tracking/resilience';
import { catchUp } from './catch-up.ts';
import {
  DEFAULT_EVENTSTOREDB_LIMITS,
  ENGINE_NAME,
  type EventStoreDbLimits,
  type EventStoreDbOptions,
  type NodeClient,
  openClient,
  retryWithin,
  createTimeoutError,
} from './node-client.ts';
import { LiveSubscription } from './live-subscription.ts';
import {
  START_POSITION,
  collect,
  type CollectResult,
  decodePosition,
  halveCount,
  readHead,
  encodePosition,
  toStoredEvent,
} from './log-reads.ts';

/** Pattern of event ids that the client supports. Other ids cause an uncaught error that ends the process. */
const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Maximum number of events in one read of a stream. After a timeout, the store requests fewer events. */
const READ_BATCH_SIZE = 1_000;

export interface EventStoreDbEventStoreOptions extends EventStoreDbOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The streams of an EventStoreDB node or cluster. One store per process is sufficient; several are independent. */
export class EventStoreDbEventStore implements EventStore {
  private readonly limits: EventStoreDbLimits;
  private readonly node: NodeClient;
  private readonly live: LiveSubscription;
  private readonly countRetry: CountRetry;
  private readonly appending = new Set<Promise<unknown>>();
  private readonly closing = new AbortController();
  private closed: Promise<void> | undefined;

  /** Creates the store, which connects with its first operation. @throws TypeError if the URL is invalid */
  constructor(private readonly options: EventStoreDbEventStoreOptions) {
    const { logger, metrics, limits } = options;
    this.limits = { ...DEFAULT_EVENTSTOREDB_LIMITS, ...limits };
    this.node = openClient(options);
    this.countRetry = retryCounter(metrics);
    this.live = new LiveSubscription({
      node: this.node,
      logger,
      countRetry: this.countRetry,
      capacity: this.limits.liveEvents,
      timeoutMs: this.limits.operationTimeoutMs,
      closing: this.closing.signal,
    });
    const help = 'Appends that the event store has not acknowledged yet.';
    metrics.gauge('event_store_appends', help, [], () => this.appending.size);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    if (events.length === 0) throw new TypeError('cannot append: specify at least one event');
    throwIfUnwritable(events);
    this.throwIfClosed();
    if (this.appending.size >= this.limits.maxAppends)
      throw new Busy(ENGINE_NAME, 'too many appends are waiting for the event store; retry later');
    const request = events.map(({ id, type, data, metadata }) => jsonEvent({ id, type, data, metadata }));
    const { operationTimeoutMs } = this.limits;
    const answer = retryWithin(operationTimeoutMs, (leftMs) => this.appendOnce(stream, expected, request, leftMs));
    this.appending.add(answer);
    try {
      return await answer;
    } finally {
      this.appending.delete(answer);
    }
  }

  async read(
    stream: string,
    { from = 0, to = Number.MAX_SAFE_INTEGER }: { readonly from?: number; readonly to?: number } = {},
  ): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    let most = READ_BATCH_SIZE;
    for (let at = from; at <= to;) {
      this.throwIfClosed();
      const count = Math.min(to - at + 1, most);
      const read = await retryWithin(this.limits.operationTimeoutMs, (ms) => this.readBatch(stream, at, count, ms));
      for (const event of read.found) events.push(event);
      if (read.isWhole && read.found.length < count) break;
      most = read.isWhole ? Math.min(READ_BATCH_SIZE, 2 * most) : halveCount(most);
      // Revisions can start above 0, because a deleted stream can be started again without its first events.
      at = (read.found.at(-1)?.revision ?? at) + 1;
    }
    return events;
  }

  async lastRevision(stream: string): Promise<number | undefined> {
    this.throwIfClosed();
    const { found } = await retryWithin(this.limits.operationTimeoutMs, (leftMs) => this.readLast(stream, leftMs));
    return found[0]?.revision;
  }

  catchUp(options: CatchUpOptions): AsyncIterable<EventBatch> {
    // Rejects a position of another store immediately, before any event is read.
    decodePosition(options.after ?? START_POSITION);
    const { operationTimeoutMs: timeoutMs } = this.limits;
    const { node, live, countRetry } = this;
    const source = { node, live, countRetry, logger: this.options.logger, timeoutMs };
    return catchUp(source, options, AbortSignal.any([options.signal, this.closing.signal]));
  }

  async head(): Promise<Position | undefined> {
    this.throwIfClosed();
    return retryWithin(this.limits.operationTimeoutMs, (leftMs) => readHead(this.node, leftMs));
  }

  close(): Promise<void> {
    this.closing.abort();
    this.closed ??= Promise.allSettled(this.appending).then(() => this.node.close());
    return this.closed;
  }

  private async appendOnce(
    stream: string,
    expected: ExpectedRevision,
    events: JSONEventData[],
    leftMs: number,
  ): Promise<AppendResult> {
    const { client, callOptions } = this.node;
    const expectedRevision = expected === 'no_stream' ? expected : BigInt(expected);
    try {
      const answer = client.appendToStream(stream, events, { ...callOptions, expectedRevision, deadline: leftMs });
      // The store limits the duration here, because the client's own deadline starts only when it is connected.
      const { nextExpectedRevision, position } = await withDeadline(answer, leftMs, createTimeoutError);
      const revision = Number(nextExpectedRevision);
      if (position !== undefined) return { revision, position: encodePosition(position) };
      // A node may not report the position of a repeated append.
      const [last] = (await this.readBatch(stream, revision, 1, leftMs)).found;
      if (last === undefined) throw createTimeoutError();
      return { revision, position: last.position };
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      const { actualVersion } = error;
      throw new VersionConflict(
        stream,
        expected,
        typeof actualVersion === 'bigint' ? Number(actualVersion) : 'no_stream',
      );
    }
  }

  private readBatch(
    stream: string,
    from: number,
    count: number,
    silenceMs: number,
  ): Promise<CollectResult<StoredEvent>> {
    const { client, callOptions } = this.node;
    const read = client.readStream(stream, { ...callOptions, fromRevision: BigInt(from), maxCount: count });
    return collectEvents(read, silenceMs);
  }

  private readLast(stream: string, silenceMs: number): Promise<CollectResult<StoredEvent>> {
    const { client, callOptions } = this.node;
    const backwards = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
    return collectEvents(client.readStream(stream, { ...callOptions, ...backwards }), silenceMs);
  }

  private throwIfClosed(): void {
    if (this.closing.signal.aborted) throw new Unavailable(ENGINE_NAME, 'closed');
  }
}

/** Throws an error for events that would cause uncaught errors in the client. */
function throwIfUnwritable(events: readonly NewEvent[]): void {
  let bytes = 0;
  for (const event of events) {
    if (!UUID_PATTERN.test(event.id))
      throw new TypeError('cannot append: the id of an event must be a lower-case UUID');
    bytes += eventSizeBytes(event);
  }
  if (bytes > MAX_APPEND_BYTES) throw new AppendTooLarge();
}

/** Reads a stream. Returns no events if the stream does not exist. */
async function collectEvents(
  read: StreamingRead<ResolvedEvent>,
  silenceMs: number,
): Promise<CollectResult<StoredEvent>> {
  try {
    const { found, ...end } = await collect(read, silenceMs);
    return { found: found.flatMap(({ event }) => (event ? [toStoredEvent(event)] : [])), ...end };
  } catch (error) {
    if (error instanceof StreamNotFoundError) return { found: [], isWhole: true };
    throw error;
  }
}
