import { setImmediate } from 'node:timers/promises';
import { type AllStreamResolvedEvent, type AllStreamSubscription, streamNameFilter } from '@eventstore/db-client';
import { bytesOf, type CatchUpOptions, type EventBatch, type Position, type StoredEvent } from '@tracking/ports';
import { monotonicMs, WakeUp } from '@tracking/resilience';
import { type NodeClient, reasonOf, type RetryTelemetry, retryUntilStopped, unlessAborted } from './node-client.ts';
import { endSubscription, type LiveEventBuffer, type LiveSubscription } from './live-subscription.ts';
import {
  BEGINNING,
  fromPosition,
  later,
  LogPages,
  type LogSlice,
  matches,
  readHead,
  toLogEntry,
  toPosition,
} from './log-reads.ts';

const DEFAULT_BATCH = 500;
/** Entries that the node looks at before it tells how far it is, where nothing matches. */
const SEARCH_WINDOW = 500;
/** A slice ends once its events have so many bytes. */
const MAX_SLICE_BYTES = 16 * 1_048_576;
/** Entries that are held in memory before they are asked for. */
const MAX_AHEAD = 64;
/** After so long without news a subscription has probably handed over all that was stored: it does not say so. */
const QUIET_MS = 200;

interface CatchUpSource extends RetryTelemetry {
  readonly node: NodeClient;
  readonly live: LiveSubscription;
  readonly timeoutMs: number;
}

/** One reader: its filter and its sources. */
interface LogReader {
  readonly source: CatchUpSource;
  readonly pages: LogPages;
  readonly buffer: LiveEventBuffer;
  readonly prefixes: readonly string[];
  readonly maxBatch: number;
  readonly stop: AbortSignal;
}

/**
 * From the buffer of the newest events where that reaches back far enough, else from the node, until it does. A reader
 * that is slow falls out of the buffer and comes back by itself.
 */
export async function* catchUp(source: CatchUpSource, options: CatchUpOptions, stop: AbortSignal) {
  const { node, live, timeoutMs } = source;
  const { after = BEGINNING, streamPrefixes: prefixes, maxBatch = DEFAULT_BATCH } = options;
  const buffer = await unlessAborted(stop, live.open());
  // The live subscription may lack what was acknowledged just now.
  const head = (await retryUntilStopped(stop, source, () => readHead(node, timeoutMs))) ?? BEGINNING;
  if (buffer === undefined) return;
  const wake = () => buffer.notify();
  stop.addEventListener('abort', wake);
  try {
    const start = prefixes.length === 0 ? later(after, head) : after;
    const pages = new LogPages(node, timeoutMs);
    yield* batchesAfter(start, head, { source, pages, buffer, prefixes, maxBatch, stop });
  } finally {
    stop.removeEventListener('abort', wake);
  }
}

async function* batchesAfter(start: Position, head: Position, reader: LogReader): AsyncGenerator<EventBatch> {
  const { buffer, stop } = reader;
  let at = start;
  let isFirst = true;
  while (!stop.aborted) {
    const isLive = buffer.covers(at);
    for await (const { events, position } of isLive ? bufferedSlices(reader, at) : storedSlices(reader, at)) {
      const caughtUp = position >= later(head, buffer.last);
      // The first batch tells a reader that it has caught up, though there is nothing for it.
      if (position > at || (isFirst && caughtUp)) {
        yield { events, position, caughtUp };
        at = position;
        isFirst = false;
      }
      if (stop.aborted || (!isLive && buffer.covers(at))) break;
    }
  }
}

/** The newest events as they come, for as long as the buffer holds what comes next. */
async function* bufferedSlices({ buffer, prefixes, maxBatch, stop }: LogReader, after: Position) {
  for (let at = after; !stop.aborted && buffer.covers(at);) {
    const { changed } = buffer;
    const slice = buffer.after(at, prefixes, maxBatch);
    yield slice;
    if (slice.position === at) await changed;
    at = slice.position;
  }
}

/**
 * The next that is stored: a page of the log as it is, which is all of it after a short absence, then what the node finds
 * of what matches. It does not say when that was all: the next page will.
 */
async function* storedSlices(reader: LogReader, after: Position): AsyncGenerator<LogSlice> {
  const { source, pages, buffer, prefixes, maxBatch, stop } = reader;
  const { node, logger } = source;
  const { last } = buffer;
  const page = await retryUntilStopped(stop, source, () => pages.after(after));
  if (page === undefined) return;
  const { entries, isLast } = page;
  const events = entries.flatMap(({ event }) => (event !== undefined && matches(event, prefixes) ? [event] : []));
  while (events.length > maxBatch) {
    const batch = events.splice(0, maxBatch);
    yield { events: batch, position: batch.at(-1)?.position ?? after };
  }
  const end = entries.at(-1)?.position ?? after;
  yield { events, position: isLast ? later(end, last) : end };
  if (isLast) return;
  try {
    yield* findStored(node, { after: end, prefixes, limit: maxBatch, stop });
  } catch (error) {
    logger.warn({ reason: reasonOf(error) }, 'event store: the node ended a subscription');
  }
}

interface Search {
  readonly after: Position;
  readonly prefixes: readonly string[];
  /** Most events of a slice. */
  readonly limit: number;
  readonly stop: AbortSignal;
}

/**
 * Reads what is stored after a position, as the node finds it, until nothing comes for a while. A reader that the node
 * drops for being too slow keeps what was sent before.
 * @throws the client's error when the subscription is lost
 */
async function* findStored(
  { client, callOptions }: NodeClient,
  { after, prefixes, limit, stop }: Search,
): AsyncGenerator<LogSlice> {
  let checkpoint = after;
  let failure: Error | undefined;
  let newsAt = monotonicMs();
  const wakeUp = new WakeUp();
  const onNews = () => {
    newsAt = monotonicMs();
    wakeUp.wake();
  };
  const checkpointReached = (_: unknown, reached: Parameters<typeof toPosition>[0]) => {
    checkpoint = toPosition(reached);
    onNews();
  };
  const filter = streamNameFilter({ prefixes: [...prefixes], maxSearchWindow: SEARCH_WINDOW, checkpointReached });
  const subscription = client.subscribeToAll(
    { ...callOptions, fromPosition: fromPosition(after), filter },
    { highWaterMark: Math.min(limit, MAX_AHEAD) },
  );
  subscription.on('readable', onNews).on('error', (error) => {
    failure = error;
    onNews();
  });
  try {
    for (let position = after; !stop.aborted;) {
      const slice = new GrowingSlice(limit);
      // Each turn brings a few; together they make a batch worth handing over.
      while (slice.takeFrom(subscription) && !slice.isFull) await setImmediate();
      const { events } = slice;
      let reached = later(position, events.at(-1)?.position ?? position);
      // All that came before the checkpoint was taken in this very turn. Its second half may be zero: before the last event.
      if (!slice.isFull) reached = later(reached, checkpoint);
      const quietAt = newsAt + QUIET_MS;
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

/** Events of a slice as they come. */
class GrowingSlice {
  readonly events: StoredEvent[] = [];
  private bytes = 0;

  constructor(private readonly limit: number) {}

  get isFull(): boolean {
    return this.events.length >= this.limit || this.bytes >= MAX_SLICE_BYTES;
  }

  /** Takes what is there; answers whether there was anything. */
  takeFrom(subscription: AllStreamSubscription): boolean {
    const before = this.events.length;
    while (!this.isFull) {
      const resolved = subscription.read() as AllStreamResolvedEvent | null;
      if (resolved === null) break;
      const { event } = toLogEntry(resolved);
      if (event === undefined) continue;
      this.events.push(event);
      this.bytes += bytesOf(event);
    }
    return this.events.length > before;
  }
}
