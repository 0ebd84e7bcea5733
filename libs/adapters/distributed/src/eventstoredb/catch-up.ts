import type { CatchUpOptions, EventBatch, Position } from '@tracking/ports';
import { reasonOf } from './eventstoredb-errors.ts';
import type { LiveEventBuffer } from './live-event-buffer.ts';
import type { LiveSubscription } from './live-subscription.ts';
import { LogPages, readHead } from './log-reads.ts';
import { findStored } from './log-subscriptions.ts';
import type { NodeClient } from './node-client.ts';
import { retryUntilStopped, unlessAborted, type RetryTelemetry } from './node-retries.ts';
import { BEGINNING, later, matches, type LogSlice } from './stored-event.ts';

const DEFAULT_BATCH = 500;

export interface CatchUpSource extends RetryTelemetry {
  readonly node: NodeClient;
  readonly live: LiveSubscription;
  readonly timeoutMs: number;
}

/** What one reader reads, and where from. */
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
