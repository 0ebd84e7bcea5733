import { setImmediate } from 'node:timers/promises';
import { type AllStreamResolvedEvent, type AllStreamSubscription, streamNameFilter } from '@eventstore/db-client';
import {
  computeEventBytes,
  type CatchUpOptions,
  type EventBatch,
  type Position,
  type StoredEvent,
} from '@tracking/ports';
import { monotonicMs, WakeUpSignal } from '@tracking/resilience';
import {
  type NodeCallTarget,
  type EventStoreDbConnections,
  describeEventStoreFailure,
  type RetryTelemetry,
  retryUntilStopped,
  resolveOrStopOnAbort,
} from './node-client.ts';
import type { LiveEventBuffer } from './live-event-buffer.ts';
import { endSubscription, type LiveSubscription } from './live-subscription.ts';
import {
  START_POSITION,
  decodeEventLogPosition,
  chooseLaterLogPosition,
  LogPageReader,
  type EventLogSlice,
  MAX_PAGE_BYTES,
  hasStreamPrefix,
  readLastLogPosition,
  convertToEventLogEntry,
  encodePosition,
} from './log-reads.ts';

const DEFAULT_EVENTS_PER_CATCH_UP_BATCH = 500;
/** Number of log entries without a match after which the node reports its position. */
const NON_MATCHING_ENTRIES_PER_POSITION_REPORT = 500;
/**
 * Number of log entries that each end of a subscription keeps, in addition to the 16 of the gRPC call. An event has up
 * to 1 MiB, so that a reader reads at most 24 MiB ahead. Larger numbers save only 5 % of the CPU time.
 */
const MAX_READ_AHEAD = 4;
/**
 * Milliseconds without events after which a reader assumes that a subscription has sent all stored events. The node
 * does not report when it has sent the last one.
 */
const SUBSCRIPTION_QUIET_PERIOD_MS = 200;

interface CatchUpDependencies extends RetryTelemetry {
  readonly node: EventStoreDbConnections;
  readonly live: LiveSubscription;
  readonly timeoutMs: number;
}

/** Filter and event sources of one reader. */
interface LogReaderInputs {
  readonly source: CatchUpDependencies;
  readonly pages: LogPageReader;
  readonly buffer: LiveEventBuffer;
  readonly prefixes: readonly string[];
  readonly maxBatch: number;
  readonly stop: AbortSignal;
  /** Returns true if the signal has aborted, in less time than a signal that depends on others. */
  readonly hasStopped: () => boolean;
  readonly onSkipped: CatchUpOptions['onSkipped'];
}

/**
 * Reads the log after a position. A reader uses the buffer of the newest events while the buffer contains its next
 * events, and reads from the node otherwise. A slow reader falls out of the buffer, and returns to the buffer when it
 * has caught up.
 */
export async function* readAndFollowLogAfterPosition(
  source: CatchUpDependencies,
  options: CatchUpOptions,
  stop: AbortSignal,
) {
  const { node, live, timeoutMs } = source;
  const {
    after = START_POSITION,
    streamPrefixes: prefixes,
    maxBatch = DEFAULT_EVENTS_PER_CATCH_UP_BATCH,
    onSkipped,
  } = options;
  const buffer = await resolveOrStopOnAbort(stop, live.openLiveEventBuffer());
  // The live subscription may not have the latest acknowledged events yet.
  const head = (await retryUntilStopped(stop, source, () => readLastLogPosition(node, timeoutMs))) ?? START_POSITION;
  if (buffer === undefined) return;
  let hasStopped = stop.aborted;
  const wake = () => {
    hasStopped = true;
    buffer.notifyReaders();
  };
  stop.addEventListener('abort', wake);
  try {
    const start = prefixes.length === 0 ? chooseLaterLogPosition(after, head) : after;
    const pages = new LogPageReader(timeoutMs);
    const reader = { source, pages, buffer, prefixes, maxBatch, stop, hasStopped: () => hasStopped, onSkipped };
    yield* readEventBatchesAfter(start, head, reader);
  } finally {
    stop.removeEventListener('abort', wake);
  }
}

async function* readEventBatchesAfter(
  start: Position,
  head: Position,
  reader: LogReaderInputs,
): AsyncGenerator<EventBatch> {
  const { buffer, stop } = reader;
  let at = start;
  let isFirst = true;
  while (!stop.aborted) {
    const isLive = buffer.hasBufferedAllEventsAfter(at);
    for await (const { events, position } of isLive
      ? readEventsFromLiveBuffer(reader, at)
      : readStoredLogEventsAfterPosition(reader, at)) {
      const caughtUp = position >= chooseLaterLogPosition(head, buffer.last);
      // The first batch, even if empty, reports that the reader has caught up.
      if (position > at || (isFirst && caughtUp)) {
        yield { events, position, caughtUp };
        at = position;
        isFirst = false;
      }
      if (stop.aborted || (!isLive && buffer.hasBufferedAllEventsAfter(at))) break;
    }
  }
}

/** Yields the newest events as they arrive, as long as the buffer contains the next ones. */
async function* readEventsFromLiveBuffer({ buffer, maxBatch, ...reader }: LogReaderInputs, after: Position) {
  const { prefixes, stop, hasStopped, onSkipped } = reader;
  let at = after;
  while (!stop.aborted && buffer.hasBufferedAllEventsAfter(at)) {
    const { changed } = buffer;
    const slice = buffer.readEventsAfter(at, prefixes, maxBatch);
    yield slice;
    if (onSkipped !== undefined)
      at = await buffer.waitForMatchingEvent(slice.position, { prefixes, hasStopped, onSkipped });
    else {
      if (slice.position === at) await changed;
      at = slice.position;
    }
  }
  // The reader continues after the skipped positions, which it has reported.
  if (!stop.aborted) yield { events: [], position: at };
}

/** A page of the log, and the target that answered. */
interface LogPageWithNode {
  readonly page: Awaited<ReturnType<LogPageReader['readLogPageAfter']>>;
  readonly target: NodeCallTarget;
}

/**
 * Reads a page of the whole log from any node, or from the leader if the node does not respond or has no later entry
 * although one is stored. Returns undefined if the reader stops first.
 * @param stored position that the log has reached
 */
async function readLogPage(
  { source, pages, stop }: LogReaderInputs,
  after: Position,
  stored: Position,
): Promise<LogPageWithNode | undefined> {
  const { leader, anyNode } = source.node;
  let next = anyNode;
  return retryUntilStopped(stop, source, async () => {
    const target = next;
    next = target === leader ? anyNode : leader;
    const page = await pages.readLogPageAfter(after, target);
    const isBehind = page.entries.length === 0 && after < stored;
    if (target === leader || !isBehind) return { page, target };
    return { page: await pages.readLogPageAfter(after, leader), target: leader };
  });
}

/**
 * Yields stored events: first a page of the whole log, which is sufficient after a short absence, then the matching
 * events that the node finds. The node does not report the end of the matching events, so a final page of the whole log
 * follows.
 */
async function* readStoredLogEventsAfterPosition(
  reader: LogReaderInputs,
  after: Position,
): AsyncGenerator<EventLogSlice> {
  const { source, buffer, prefixes, maxBatch, stop } = reader;
  const { node, logger } = source;
  const stored = chooseLaterLogPosition(buffer.last, node.stored.highest);
  const answered = await readLogPage(reader, after, stored);
  if (answered === undefined) return;
  const { target, page } = answered;
  const { entries, isLast } = page;
  const events = entries.flatMap(({ event }) =>
    event !== undefined && hasStreamPrefix(event, prefixes) ? [event] : [],
  );
  while (events.length > maxBatch) {
    const batch = events.splice(0, maxBatch);
    yield { events: batch, position: batch.at(-1)?.position ?? after };
  }
  const end = entries.at(-1)?.position ?? after;
  // The log of a follower can end before entries that are already in the buffer.
  yield { events, position: isLast && target === node.leader ? chooseLaterLogPosition(end, stored) : end };
  if (isLast) return;
  try {
    yield* findStoredEvents(target, { after: end, prefixes, limit: maxBatch, stop });
  } catch (error) {
    logger.warn(
      { reason: describeEventStoreFailure(error) },
      'event store: the node ended a catch-up subscription; subscribing again',
    );
  }
}

interface StoredEventSearchOptions {
  readonly after: Position;
  readonly prefixes: readonly string[];
  /** Maximum number of events of a slice. */
  readonly limit: number;
  readonly stop: AbortSignal;
}

/**
 * Reads matching stored events after a position until none arrives for a while. If the node drops the reader for being
 * too slow, the events received before are kept.
 * @throws the client's error when the subscription is lost
 */
async function* findStoredEvents(
  { client, callOptions }: NodeCallTarget,
  { after, prefixes, limit, stop }: StoredEventSearchOptions,
): AsyncGenerator<EventLogSlice> {
  let checkpoint = after;
  let failure: Error | undefined;
  let newsAt = monotonicMs();
  const wakeUp = new WakeUpSignal();
  const onNews = () => {
    newsAt = monotonicMs();
    wakeUp.signalWakeUp();
  };
  const checkpointReached = (_: unknown, reached: Parameters<typeof encodePosition>[0]) => {
    checkpoint = encodePosition(reached);
    onNews();
  };
  const filter = streamNameFilter({
    prefixes: [...prefixes],
    maxSearchWindow: NON_MATCHING_ENTRIES_PER_POSITION_REPORT,
    checkpointReached,
  });
  const subscription = client.subscribeToAll(
    { ...callOptions, fromPosition: decodeEventLogPosition(after), filter },
    { highWaterMark: Math.min(limit, MAX_READ_AHEAD) },
  );
  subscription.on('readable', onNews).on('error', (error) => {
    failure = error;
    onNews();
  });
  try {
    for (let position = after; !stop.aborted;) {
      const slice = new LogSliceBuilder(limit);
      // Waits for several events, because each turn of the event loop brings only a few.
      while (slice.moveReceivedEventsToSlice(subscription) && !slice.isFull) await setImmediate();
      const { events } = slice;
      let reached = chooseLaterLogPosition(position, events.at(-1)?.position ?? position);
      // All events before the checkpoint were received in this turn. The checkpoint's prepare position may be 0, that
      // is, before the last event.
      if (!slice.isFull) reached = chooseLaterLogPosition(reached, checkpoint);
      const quietAt = newsAt + SUBSCRIPTION_QUIET_PERIOD_MS;
      if (reached > position) {
        position = reached;
        yield { events, position };
        newsAt = monotonicMs();
      } else if (failure !== undefined) throw failure;
      else if (monotonicMs() >= quietAt) return;
      else await wakeUp.waitForWakeUp(quietAt - monotonicMs(), stop);
    }
  } finally {
    endSubscription(subscription);
  }
}

/** Collects the events of a slice. A slice is bounded in bytes like a page. */
class LogSliceBuilder {
  readonly events: StoredEvent[] = [];
  private bytes = 0;

  constructor(private readonly limit: number) {}

  get isFull(): boolean {
    return this.events.length >= this.limit || this.bytes >= MAX_PAGE_BYTES;
  }

  /** Moves the received events to the slice. Returns false if there were none. */
  moveReceivedEventsToSlice(subscription: AllStreamSubscription): boolean {
    const before = this.events.length;
    while (!this.isFull) {
      const resolved = subscription.read() as AllStreamResolvedEvent | null;
      if (resolved === null) break;
      const { event } = convertToEventLogEntry(resolved);
      if (event === undefined) continue;
      this.events.push(event);
      this.bytes += computeEventBytes(event);
    }
    return this.events.length > before;
  }
}
