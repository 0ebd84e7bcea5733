import { setImmediate } from 'node:timers/promises';
import {
  BACKWARDS,
  END,
  jsonEvent,
  StreamNotFoundError,
  WrongExpectedVersionError,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import {
  EngineAccessRefusedError,
  AppendTooLargeError,
  BusyError,
  MAX_APPEND_BYTES,
  UnavailableError,
  VersionConflictError,
  createRetryCounter,
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
  type RevisionRange,
  type StoredEvent,
} from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import type { AppendRequest, NodeAppendResult } from './batch-append.ts';
import { readAndFollowLogAfterPosition } from './catch-up.ts';
import {
  DEFAULT_EVENTSTOREDB_LIMITS,
  type EventStoreDbLimits,
  type EventStoreDbOptions,
  type NodeCallTarget,
  type EventStoreDbConnections,
  createEventStoreDbNodeClient,
  retryUntilTimeout,
} from './node-client.ts';
import { createNodeTimeoutError, ENGINE_NAME } from './node-connection.ts';
import { LiveSubscription } from './live-subscription.ts';
import { throwIfNoNodeAcceptsTls, usesTls } from './node-access.ts';
import {
  START_POSITION,
  collectStreamedItems,
  type CollectedReadResult,
  decodeEventLogPosition,
  halveEventCount,
  readLastLogPosition,
  encodePosition,
  toStoredEvent,
} from './log-reads.ts';

/** Pattern of event ids that the client supports. Other ids cause an uncaught error that ends the process. */
const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Maximum number of events in one read of a stream. After a timeout, the store requests fewer events. */
const READ_BATCH_SIZE = 1_000;
/** Milliseconds for which a node must refuse the credentials before they count as wrong. */
const CREDENTIALS_REFUSAL_PERIOD_MS = 3_000;

export interface EventStoreDbEventStoreOptions extends EventStoreDbOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The streams of an EventStoreDB node or cluster. One store per process is sufficient; several are independent. */
export class EventStoreDbEventStore implements EventStore {
  private readonly limits: EventStoreDbLimits;
  private readonly node: EventStoreDbConnections;
  private readonly live: LiveSubscription;
  private readonly countRetry: CountRetry;
  private readonly appending = new Set<Promise<unknown>>();
  private appendingBytes = 0;
  private readonly closing = new AbortController();
  private closed: Promise<void> | undefined;
  private nextHead: Promise<Position | undefined> | undefined;

  /** Creates the store, which connects with its first operation. @throws TypeError if the URL is invalid */
  constructor(private readonly options: EventStoreDbEventStoreOptions) {
    const { logger, metrics, limits } = options;
    this.limits = { ...DEFAULT_EVENTSTOREDB_LIMITS, ...limits };
    this.node = createEventStoreDbNodeClient(options);
    this.countRetry = createRetryCounter(metrics);
    this.live = new LiveSubscription({
      node: this.node,
      logger,
      countRetry: this.countRetry,
      capacity: this.limits.liveEvents,
      timeoutMs: this.limits.operationTimeoutMs,
      closing: this.closing.signal,
    });
    const help = 'Appends that the event store has not acknowledged yet.';
    metrics.createGauge('event_store_appends', help, [], () => this.appending.size);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    if (events.length === 0) throw new TypeError('cannot append: specify at least one event');
    const request = createAppendRequest(stream, expected, events);
    const { bytes } = request;
    this.throwIfClosed();
    const { maxAppends, maxAppendingBytes } = this.limits;
    const isFull = this.appending.size >= maxAppends || this.appendingBytes + bytes > maxAppendingBytes;
    if (this.appending.size > 0 && isFull)
      throw new BusyError(ENGINE_NAME, 'too many appends are waiting for the event store; retry later');
    const { operationTimeoutMs } = this.limits;
    let attempts = 0;
    const answer = retryUntilTimeout(operationTimeoutMs, async (leftMs) => {
      attempts += 1;
      // A repeated append has its own call, whose errors name the reason.
      const { revision, position } =
        attempts === 1 && this.node.batchAppends.canAppend
          ? await this.node.batchAppends.appendToStream(request, leftMs)
          : await this.appendInOwnCall(request, leftMs);
      // A node may not report the position of a repeated append.
      return this.recordPositionOfAppend({
        revision,
        position: position ? encodePosition(position) : await this.readEventPosition(stream, revision, leftMs),
      });
    });
    this.appending.add(answer);
    this.appendingBytes += bytes;
    try {
      return await answer;
    } finally {
      this.appending.delete(answer);
      this.appendingBytes -= bytes;
    }
  }

  async read(
    stream: string,
    { from = 0, to = Number.MAX_SAFE_INTEGER, isStored = false }: RevisionRange = {},
  ): Promise<StoredEvent[]> {
    const { leader, anyNode } = this.node;
    const events: StoredEvent[] = [];
    let most = READ_BATCH_SIZE;
    let target = isStored ? anyNode : leader;
    for (let at = from; at <= to;) {
      const count = Math.min(to - at + 1, most);
      const page = await this.readStreamPage(target, stream, at, count);
      for (const event of page.found) events.push(event);
      if (page.isEnd) break;
      // Revisions can start above 0, because a deleted stream can be started again without its first events.
      at = (page.found.at(-1)?.revision ?? at - 1) + 1;
      target = page.nextTarget;
      most = page.isWhole ? Math.min(READ_BATCH_SIZE, 2 * most) : halveEventCount(most);
    }
    return events;
  }

  async readLastRevision(stream: string): Promise<number | undefined> {
    this.throwIfClosed();
    const { found } = await retryUntilTimeout(this.limits.operationTimeoutMs, (leftMs) =>
      this.readLastEvent(stream, leftMs),
    );
    return found[0]?.revision;
  }

  catchUp(options: CatchUpOptions): AsyncIterable<EventBatch> {
    // Rejects a position of another store immediately, before any event is read.
    decodeEventLogPosition(options.after ?? START_POSITION);
    const { operationTimeoutMs: timeoutMs } = this.limits;
    const { node, live, countRetry } = this;
    const source = { node, live, countRetry, logger: this.options.logger, timeoutMs };
    return readAndFollowLogAfterPosition(source, options, AbortSignal.any([options.signal, this.closing.signal]));
  }

  async head(): Promise<Position | undefined> {
    this.throwIfClosed();
    // Calls in one turn share a read. Later calls need another one, because it may not contain appends before them.
    return (this.nextHead ??= setImmediate().then(() => {
      this.nextHead = undefined;
      return retryUntilTimeout(this.limits.operationTimeoutMs, (leftMs) => readLastLogPosition(this.node, leftMs));
    }));
  }

  /**
   * Checks that the leader accepts the credentials, and the TLS settings of the connection string.
   * @throws EngineAccessRefusedError if a node refuses this process for several seconds; UnavailableError if no node responds
   */
  async checkEventStoreAccess(): Promise<void> {
    const deadline = monotonicMs() + CREDENTIALS_REFUSAL_PERIOD_MS;
    // A new cluster refuses all users until its leader has created them.
    const isTransient = (error: unknown) => error instanceof EngineAccessRefusedError;
    const { connectionString } = this.node;
    try {
      if (usesTls(connectionString)) await throwIfNoNodeAcceptsTls(connectionString);
      await retry(() => this.head(), { deadline, isTransient });
    } catch (error) {
      if (!usesTls(connectionString)) await throwIfNoNodeAcceptsTls(connectionString);
      throw error;
    }
  }

  close(): Promise<void> {
    this.closing.abort();
    this.closed ??= Promise.allSettled(this.appending).then(() => this.node.close());
    return this.closed;
  }

  private async appendInOwnCall(
    { stream, expected, events }: AppendRequest,
    leftMs: number,
  ): Promise<NodeAppendResult> {
    const { client, callOptions, connection } = this.node.leader;
    const expectedRevision = expected === 'no_stream' ? expected : BigInt(expected);
    const messages = events.map(({ id, type, data, metadata }) => jsonEvent({ id, type, data, metadata }));
    try {
      const answer = client.appendToStream(stream, messages, { ...callOptions, expectedRevision, deadline: leftMs });
      // The store limits the duration here, because the client's own deadline starts only when it is connected.
      const { nextExpectedRevision, position } = await connection.awaitAnswerWithTimeout(answer, leftMs);
      return { revision: Number(nextExpectedRevision), position };
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      const { actualVersion } = error;
      throw new VersionConflictError(
        stream,
        expected,
        typeof actualVersion === 'bigint' ? Number(actualVersion) : 'no_stream',
      );
    }
  }

  private async readEventPosition(stream: string, revision: number, silenceMs: number): Promise<Position> {
    const [last] = (await readStreamBatch(this.node.leader, stream, { from: revision, count: 1, silenceMs })).found;
    if (last === undefined) throw createNodeTimeoutError();
    return last.position;
  }

  private recordPositionOfAppend(result: AppendResult): AppendResult {
    this.node.stored.recordStoredPosition(result.position);
    return result;
  }

  /**
   * Reads a part of a stream. If the target does not respond, the next attempts read from the leader. If a follower has
   * too few events, it may be behind, and the next page is read from the leader.
   */
  private async readStreamPage(target: NodeCallTarget, stream: string, from: number, count: number) {
    this.throwIfClosed();
    const { leader } = this.node;
    let asked = target;
    return retryUntilTimeout(this.limits.operationTimeoutMs, async (leftMs) => {
      const answering = asked;
      asked = leader;
      const silenceMs = answering === leader ? leftMs : leftMs / 2;
      const page = await readStreamBatch(answering, stream, { from, count, silenceMs });
      const isShort = page.isWhole && page.found.length < count;
      return { ...page, isEnd: isShort && answering === leader, nextTarget: isShort ? leader : answering };
    });
  }

  private readLastEvent(stream: string, silenceMs: number): Promise<CollectedReadResult<StoredEvent>> {
    const { leader } = this.node;
    const { client, callOptions } = leader;
    const backwards = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
    return collectStreamEvents(leader, client.readStream(stream, { ...callOptions, ...backwards }), silenceMs);
  }

  private throwIfClosed(): void {
    if (this.closing.signal.aborted) throw new UnavailableError(ENGINE_NAME, 'closed');
  }
}

/**
 * Encodes an append.
 * @throws TypeError for events that would cause uncaught errors in the client; AppendTooLargeError
 */
function createAppendRequest(
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): AppendRequest & { readonly bytes: number } {
  let bytes = 0;
  const encoded = events.map(({ data, metadata }) => {
    const body = { data: Buffer.from(JSON.stringify(data)), metadata: Buffer.from(JSON.stringify(metadata)) };
    bytes += body.data.length + body.metadata.length;
    return body;
  });
  if (!events.every(({ id }) => UUID_PATTERN.test(id)))
    throw new TypeError('cannot append: the id of an event must be a lower-case UUID');
  if (bytes > MAX_APPEND_BYTES) throw new AppendTooLargeError();
  return { stream, expected, events, encoded, bytes };
}

interface StreamReadRange {
  readonly from: number;
  readonly count: number;
  /** Maximum milliseconds between two events of the response. */
  readonly silenceMs: number;
}

function readStreamBatch(
  target: NodeCallTarget,
  stream: string,
  { from, count, silenceMs }: StreamReadRange,
): Promise<CollectedReadResult<StoredEvent>> {
  const { client, callOptions } = target;
  const read = client.readStream(stream, { ...callOptions, fromRevision: BigInt(from), maxCount: count });
  return collectStreamEvents(target, read, silenceMs);
}

/** Reads a stream. Returns no events if the stream does not exist. */
async function collectStreamEvents(
  target: NodeCallTarget,
  read: StreamingRead<ResolvedEvent>,
  silenceMs: number,
): Promise<CollectedReadResult<StoredEvent>> {
  try {
    const { found, ...end } = await collectStreamedItems(target, read, silenceMs);
    return { found: found.flatMap(({ event }) => (event ? [toStoredEvent(event)] : [])), ...end };
  } catch (error) {
    if (error instanceof StreamNotFoundError) return { found: [], isWhole: true };
    throw error;
  }
}
