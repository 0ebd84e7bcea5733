import { setImmediate } from 'node:timers/promises';
import { streamNameFilter, type AllStreamResolvedEvent, type AllStreamSubscription } from '@eventstore/db-client';
import type { Position, StoredEvent } from '@tracking/ports';
import type { NodeClient } from './node-client.ts';
import { fromPosition, later, toLogEntry, toPosition, type LogEntry, type Stretch } from './stored-event.ts';

/** Entries that the node looks at before it tells how far it is, where nothing matches. */
const SEARCH_WINDOW = 500;
/** After so long without news a subscription has probably handed over all that was stored: it does not say so. */
const QUIET_MS = 200;

/**
 * Hands over all that follows in the log, as it comes.
 * @param began called when the node answers
 * @returns why the subscription is lost; undefined on `stop`
 */
export async function follow(
  { client, callOptions }: NodeClient,
  after: Position,
  stop: AbortSignal,
  began: () => void,
  each: (entry: LogEntry) => void,
): Promise<unknown> {
  const over = Promise.withResolvers<unknown>();
  const end = () => over.resolve(undefined);
  const subscription = client.subscribeToAll({ ...callOptions, fromPosition: fromPosition(after) });
  subscription.on('confirmation', began).on('data', (resolved) => each(toLogEntry(resolved)));
  subscription.on('error', over.resolve).on('close', end);
  stop.addEventListener('abort', end);
  if (stop.aborted) end();
  const reason = await over.promise;
  stop.removeEventListener('abort', end);
  leave(subscription);
  return reason;
}

/**
 * What is stored after a position, as the node finds it, until nothing more comes for a while. Holds `limit` events, at
 * most, that are not asked for yet; a node that drops who is too slow is left with what it sent before.
 * @throws the client's error when the subscription is lost
 */
export async function* findStored(
  { client, callOptions }: NodeClient,
  after: Position,
  prefixes: readonly string[],
  limit: number,
  stop: AbortSignal,
): AsyncGenerator<Stretch> {
  let checkpoint = after;
  let failure: Error | undefined;
  let news = Promise.withResolvers<void>();
  const wake = () => news.resolve();
  const checkpointReached = (_: unknown, reached: Parameters<typeof toPosition>[0]) => {
    checkpoint = toPosition(reached);
    wake();
  };
  const filter = streamNameFilter({ prefixes: [...prefixes], maxSearchWindow: SEARCH_WINDOW, checkpointReached });
  const subscription = client.subscribeToAll(
    { ...callOptions, fromPosition: fromPosition(after), filter },
    { highWaterMark: limit },
  );
  subscription.on('readable', wake).on('error', (error) => {
    failure = error;
    wake();
  });
  stop.addEventListener('abort', wake);
  try {
    for (let position = after; !stop.aborted;) {
      news = Promise.withResolvers();
      const events: StoredEvent[] = [];
      // Each turn brings a few; together they make a batch worth handing over.
      while (takeInto(events, limit, subscription) && events.length < limit) await setImmediate();
      let reached = later(position, events.at(-1)?.position ?? position);
      // All that came before the checkpoint was taken in this very turn. Its second half may be zero: before the last event.
      if (events.length < limit) reached = later(reached, checkpoint);
      if (reached > position) {
        position = reached;
        yield { events, position };
      } else if (failure !== undefined) throw failure;
      else if (!(await cameWithin(QUIET_MS, news.promise))) return;
    }
  } finally {
    stop.removeEventListener('abort', wake);
    leave(subscription);
  }
}

/** Whether there was anything. */
function takeInto(events: StoredEvent[], limit: number, subscription: AllStreamSubscription): boolean {
  const before = events.length;
  while (events.length < limit) {
    const resolved = subscription.read() as AllStreamResolvedEvent | null;
    if (resolved === null) break;
    const { event } = toLogEntry(resolved);
    if (event !== undefined) events.push(event);
  }
  return events.length > before;
}

async function cameWithin(ms: number, news: Promise<void>): Promise<boolean> {
  const quiet = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => quiet.resolve(false), ms);
  const came = await Promise.race([quiet.promise, news.then(() => true)]);
  clearTimeout(timer);
  return came;
}

/** Ends the call too, which the client leaves open. Its listener for errors stays: one may still come. */
function leave(subscription: AllStreamSubscription): void {
  subscription.unsubscribe().catch(() => undefined);
  subscription.destroy();
}
