import { setImmediate } from 'node:timers/promises';
import { type AllStreamResolvedEvent, type AllStreamSubscription, streamNameFilter } from '@eventstore/db-client';
import { eventSizeBytes, type CatchUpOptions, type EventBatch, type Position, type StoredEvent } from '@tracking/ports';
import { monotonicMs, WakeUpSignal } from '@tracking/resilience';
import {
  type NodeClient,
  describeReason,
  type RetryTelemetry,
  retryUntilStopped,
  resolveUnlessAborted,
} from './node-client.ts';
import { endSubscription, type LiveEventBuffer, type LiveSubscription } from './live-subscription.ts';
import {
  START_POSITION,
  decodePosition,
  maxPosition,
  LogPageReader,
  type LogSlice,
  matchesPrefix,
  readHead,
  toLogEntry,
  encodePosition,
} from './log-reads.ts';

const DEFAULT_BATCH_SIZE = 500;
/** Number of log entries without a match after which the node reports its position. */
const SEARCH_WINDOW_ENTRIES = 500;
/** Maximum size of the events of a slice, in bytes. The slice ends when it is exceeded. */
const MAX_SLICE_BYTES = 16 * 1_048_576;
/** Maximum number of log entries that a reader reads ahead. */
const MAX_READ_AHEAD = 64;
/**
 * Milliseconds without events after which a reader assumes that a subscription has sent all stored events. The node
 * does not report when it has sent the last one.
 */
const QUIET_PERIOD_MS = 200;

interface CatchUpDependencies extends RetryTelemetry {
  readonly node: NodeClient;
  readonly live: LiveSubscription;
  readonly timeoutMs: number;
}

/** Filter and event sources of one reader. */
interface LogReader {
  readonly source: CatchUpDependencies;
  readonly pages: LogPageReader;
  readonly buffer: LiveEventBuffer;
  readonly prefixes: readonly string[];
  readonly maxBatch: number;
  readonly stop: AbortSignal;
}

/**
 * Reads the log after a position. A reader uses the buffer of the newest events while the buffer contains its next
 * events, and reads from the node otherwise. A slow reader falls out of the buffer, and returns to the buffer when it
 * has caught up.
 */
export async function* catchUp(source: CatchUpDependencies, options: CatchUpOptions, stop: AbortSignal) {
  const { node, live, timeoutMs } = source;
  const { after = START_POSITION, streamPrefixes: prefixes, maxBatch = DEFAULT_BATCH_SIZE } = options;
  const buffer = await resolveUnlessAborted(stop, live.open());
  // The live subscription may not have the latest acknowledged events yet.
  const head = (await retryUntilStopped(stop, source, () => readHead(node, timeoutMs))) ?? START_POSITION;
  if (buffer === undefined) return;
  const wake = () => buffer.notify();
  stop.addEventListener('abort', wake);
  try {
    const start = prefixes.length === 0 ? maxPosition(after, head) : after;
    const pages = new LogPageReader(node, timeoutMs);
    yield* readBatchesAfter(start, head, { source, pages, buffer, prefixes, maxBatch, stop });
  } finally {
    stop.removeEventListener('abort', wake);
  }
}

async function* readBatchesAfter(start: Position, head: Position, reader: LogReader): AsyncGenerator<EventBatch> {
  const { buffer, stop } = reader;
  let at = start;
  let isFirst = true;
  while (!stop.aborted) {
    const isLive = buffer.containsAllAfter(at);
    for await (const { events, position } of isLive ? readBufferedSlices(reader, at) : readStoredSlices(reader, at)) {
      const caughtUp = position >= maxPosition(head, buffer.last);
      // The first batch, even if empty, reports that the reader has caught up.
      if (position > at || (isFirst && caughtUp)) {
        yield { events, position, caughtUp };
        at = position;
        isFirst = false;
      }
      if (stop.aborted || (!isLive && buffer.containsAllAfter(at))) break;
    }
  }
}

/** Yields the newest events as they arrive, as long as the buffer contains the next ones. */
async function* readBufferedSlices({ buffer, prefixes, maxBatch, stop }: LogReader, after: Position) {
  for (let at = after; !stop.aborted && buffer.containsAllAfter(at);) {
    const { changed } = buffer;
    const slice = buffer.after(at, prefixes, maxBatch);
    yield slice;
    if (slice.position === at) await changed;
    at = slice.position;
  }
}

/**
 * Yields stored events: first a page of the whole log, which is sufficient after a short absence, then the matching
 * events that the node finds. The node does not report the end of the matching events, so a final page of the whole log
 * follows.
 */
async function* readStoredSlices(reader: LogReader, after: Position): AsyncGenerator<LogSlice> {
  const { source, pages, buffer, prefixes, maxBatch, stop } = reader;
  const { node, logger } = source;
  const { last } = buffer;
  const page = await retryUntilStopped(stop, source, () => pages.after(after));
  if (page === undefined) return;
  const { entries, isLast } = page;
  const events = entries.flatMap(({ event }) => (event !== undefined && matchesPrefix(event, prefixes) ? [event] : []));
  while (events.length > maxBatch) {
    const batch = events.splice(0, maxBatch);
    yield { events: batch, position: batch.at(-1)?.position ?? after };
  }
  const end = entries.at(-1)?.position ?? after;
  yield { events, position: isLast ? maxPosition(end, last) : end };
  if (isLast) return;
  try {
    yield* findStoredEvents(node, { after: end, prefixes, limit: maxBatch, stop });
  } catch (error) {
    logger.warn(
      { reason: describeReason(error) },
      'event store: the node ended a catch-up subscription; subscribing again',
    );
  }
}

interface StoredEventSearch {
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
  { client, callOptions }: NodeClient,
  { after, prefixes, limit, stop }: StoredEventSearch,
): AsyncGenerator<LogSlice> {
  let checkpoint = after;
  let failure: Error | undefined;
  let newsAt = monotonicMs();
  const wakeUp = new WakeUpSignal();
  const onNews = () => {
    newsAt = monotonicMs();
    wakeUp.wake();
  };
  const checkpointReached = (_: unknown, reached: Parameters<typeof encodePosition>[0]) => {
    checkpoint = encodePosition(reached);
    onNews();
  };
  const filter = streamNameFilter({
    prefixes: [...prefixes],
    maxSearchWindow: SEARCH_WINDOW_ENTRIES,
    checkpointReached,
  });
  const subscription = client.subscribeToAll(
    { ...callOptions, fromPosition: decodePosition(after), filter },
    { highWaterMark: Math.min(limit, MAX_READ_AHEAD) },
  );
  subscription.on('readable', onNews).on('error', (error) => {
    failure = error;
    onNews();
  });
  try {
    for (let position = after; !stop.aborted;) {
      const slice = new SliceBuilder(limit);
      // Waits for several events, because each turn of the event loop brings only a few.
      while (slice.takeEvents(subscription) && !slice.isFull) await setImmediate();
      const { events } = slice;
      let reached = maxPosition(position, events.at(-1)?.position ?? position);
      // All events before the checkpoint were received in this turn. The checkpoint's prepare position may be 0, that
      // is, before the last event.
      if (!slice.isFull) reached = maxPosition(reached, checkpoint);
      const quietAt = newsAt + QUIET_PERIOD_MS;
      if (reached > position) {
        position = reached;
        yield { events, position };
        newsAt = monotonicMs();
      } else if (failure !== undefined) throw failure;
      else if (monotonicMs() >= quietAt) return;
      else await wakeUp.wait(quietAt - monotonicMs(), stop);
    }
  } finally {
    endSubscription(subscription);
  }
}

/** Collects the events of a slice. */
class SliceBuilder {
  readonly events: StoredEvent[] = [];
  private bytes = 0;

  constructor(private readonly limit: number) {}

  get isFull(): boolean {
    return this.events.length >= this.limit || this.bytes >= MAX_SLICE_BYTES;
  }

  /** Moves the received events to the slice. Returns false if there were none. */
  takeEvents(subscription: AllStreamSubscription): boolean {
    const before = this.events.length;
    while (!this.isFull) {
      const resolved = subscription.read() as AllStreamResolvedEvent | null;
      if (resolved === null) break;
      const { event } = toLogEntry(resolved);
      if (event === undefined) continue;
      this.events.push(event);
      this.bytes += eventSizeBytes(event);
    }
    return this.events.length > before;
  }
}
