import { setImmediate } from 'node:timers/promises';
import { streamNameFilter, type AllStreamResolvedEvent, type AllStreamSubscription } from '@eventstore/db-client';
import { bytesOf, type Position, type StoredEvent } from '@tracking/ports';
import { WakeUp, monotonicMs } from '@tracking/resilience';
import type { NodeClient } from './node-client.ts';
import { fromPosition, later, toLogEntry, toPosition, type LogEntry, type LogSlice } from './stored-event.ts';

/** Entries that the node looks at before it tells how far it is, where nothing matches. */
const SEARCH_WINDOW = 500;
/** A slice ends once its events have so many bytes. */
const MAX_SLICE_BYTES = 16 * 1_048_576;
/** Entries that are held in memory before they are asked for. */
const MAX_AHEAD = 64;
/** After so long without news a subscription has probably handed over all that was stored: it does not say so. */
const QUIET_MS = 200;

interface Following {
  readonly after: Position;
  readonly stop: AbortSignal;
  /** When the node has confirmed the subscription. */
  onConfirmed(): void;
  onEntry(entry: LogEntry): void;
}

/**
 * Hands over all that follows in the log, as it comes.
 * @returns why the subscription is lost; undefined on `stop`
 */
export async function followLog(
  { client, callOptions }: NodeClient,
  { after, stop, onConfirmed, onEntry }: Following,
): Promise<unknown> {
  const over = Promise.withResolvers<unknown>();
  const end = () => over.resolve(undefined);
  const subscription = client.subscribeToAll({ ...callOptions, fromPosition: fromPosition(after) });
  subscription.on('confirmation', onConfirmed).on('data', (resolved) => onEntry(toLogEntry(resolved)));
  subscription.on('error', over.resolve).on('close', end);
  stop.addEventListener('abort', end);
  if (stop.aborted) end();
  const reason = await over.promise;
  stop.removeEventListener('abort', end);
  endSubscription(subscription);
  return reason;
}

interface Search {
  readonly after: Position;
  readonly prefixes: readonly string[];
  /** Most events of a slice. */
  readonly limit: number;
  readonly stop: AbortSignal;
}

/**
 * What is stored after a position, as the node finds it, until nothing more comes for a while. A node that drops who is
 * too slow is left with what it sent before.
 * @throws the client's error when the subscription is lost
 */
export async function* findStored(
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

/** Ends the call too, which the client leaves open. Its listener for errors stays: one may still come. */
function endSubscription(subscription: AllStreamSubscription): void {
  subscription.unsubscribe().catch(() => undefined);
  subscription.destroy();
}
