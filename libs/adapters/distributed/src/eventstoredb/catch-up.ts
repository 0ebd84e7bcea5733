import type { CatchUpOptions, EventBatch, Position } from '@tracking/ports';
import { reasonOf } from './eventstoredb-errors.ts';
import type { LiveFeed } from './live-feed.ts';
import type { LiveTail } from './live-tail.ts';
import { PAGE, readHead, readPage } from './log-reads.ts';
import { findStored } from './log-subscriptions.ts';
import type { NodeClient } from './node-client.ts';
import { patiently, unless, type Complaints } from './patience.ts';
import { BEGINNING, later, matches, type Stretch } from './stored-event.ts';

const DEFAULT_BATCH = 500;

export interface CatchUpParts extends Complaints {
  readonly node: NodeClient;
  readonly feed: LiveFeed;
  readonly timeoutMs: number;
}

/**
 * From the memory of the newest events where that reaches back far enough, else from the node, until it does. A reader
 * that is slow falls out of the memory and comes back by itself.
 */
export async function* catchUp(parts: CatchUpParts, options: CatchUpOptions, stop: AbortSignal) {
  const { node, feed, timeoutMs } = parts;
  const { streamPrefixes, maxBatch = DEFAULT_BATCH } = options;
  const tail = await unless(stop, feed.open());
  // The feed may lack what was acknowledged just now.
  const head = (await patiently(stop, parts, () => readHead(node, timeoutMs))) ?? BEGINNING;
  if (tail === undefined) return;
  const toBatch = ({ events, position }: Stretch): EventBatch => {
    return { events, position, caughtUp: position >= later(head, tail.last) };
  };
  let at = options.after ?? BEGINNING;
  if (streamPrefixes.length === 0) at = later(at, head);
  let isFirst = true;
  const wake = () => tail.notify();
  stop.addEventListener('abort', wake);
  try {
    while (!stop.aborted) {
      const { changed } = tail;
      if (!tail.covers(at)) {
        for await (const stretch of stored(parts, at, options, tail, stop)) {
          if (stretch.position <= at) continue;
          yield toBatch(stretch);
          at = stretch.position;
          isFirst = false;
          if (stop.aborted || tail.covers(at)) break;
        }
        continue;
      }
      const batch = toBatch(tail.after(at, streamPrefixes, maxBatch));
      if (batch.position > at || (isFirst && batch.caughtUp)) {
        yield batch;
        at = batch.position;
        isFirst = false;
      } else await changed;
    }
  } finally {
    stop.removeEventListener('abort', wake);
  }
}

/**
 * The next that is stored: a page of the log as it is, which is all of it after a short absence, then what the node finds
 * of what matches. It does not say when that was all: the next page will.
 */
async function* stored(
  parts: CatchUpParts,
  after: Position,
  { streamPrefixes, maxBatch = DEFAULT_BATCH }: CatchUpOptions,
  tail: LiveTail,
  stop: AbortSignal,
): AsyncGenerator<Stretch> {
  const { node, timeoutMs } = parts;
  const { last } = tail;
  const page = await patiently(stop, parts, () => readPage(node, after, timeoutMs));
  if (page === undefined) return;
  const events = page.flatMap(({ event }) => (event !== undefined && matches(event, streamPrefixes) ? [event] : []));
  while (events.length > maxBatch) {
    const batch = events.splice(0, maxBatch);
    yield { events: batch, position: batch.at(-1)?.position ?? after };
  }
  const end = page.at(-1)?.position ?? after;
  const isLast = page.length < PAGE;
  yield { events, position: isLast ? later(end, last) : end };
  if (isLast) return;
  try {
    yield* findStored(node, end, streamPrefixes, maxBatch, stop);
  } catch (error) {
    parts.logger.warn({ reason: reasonOf(error) }, 'event store: the node ended a subscription');
  }
}
