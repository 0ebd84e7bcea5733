import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from './eventstoredb-errors.ts';
import { LiveTail } from './live-tail.ts';
import { readHead } from './log-reads.ts';
import { follow } from './log-subscriptions.ts';
import type { NodeClient } from './node-client.ts';
import { patiently, type Complaints } from './patience.ts';
import { BEGINNING } from './stored-event.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export interface FeedOptions extends Complaints {
  readonly node: NodeClient;
  readonly capacity: number;
  readonly timeoutMs: number;
  /** Ends it. */
  readonly closing: AbortSignal;
}

/**
 * The one subscription of a process to what comes, unfiltered: it sees every entry of the log, so that each reader knows
 * how far it is although nothing of its own came. A filtered one tells that only now and then.
 */
export class LiveFeed {
  private tail: Promise<LiveTail> | undefined;

  constructor(private readonly options: FeedOptions) {}

  /** Begins with the first reader, at the head of the log, as soon as there is a node. */
  open(): Promise<LiveTail> {
    return (this.tail ??= this.begin());
  }

  private async begin(): Promise<LiveTail> {
    const { node, capacity, timeoutMs, closing } = this.options;
    const head = await patiently(closing, this.options, () => readHead(node, timeoutMs));
    const tail = new LiveTail(head ?? BEGINNING, capacity);
    void this.feed(tail);
    return tail;
  }

  /** The client never subscribes again by itself. */
  private async feed(tail: LiveTail): Promise<void> {
    const { node, closing, logger, countRetry } = this.options;
    let wait = FIRST_PAUSE_MS;
    let isLost = false;
    const began = () => {
      wait = FIRST_PAUSE_MS;
      if (isLost) logger.info({}, 'event store: the live subscription is back');
      isLost = false;
    };
    while (!closing.aborted) {
      const reason = await follow(node, tail.last, closing, began, (entry) => tail.push(entry));
      if (closing.aborted) return;
      countRetry('following the log');
      if (!isLost) logger.warn({ reason: reasonOf(reason) }, 'event store: the live subscription is lost');
      isLost = true;
      await pause(wait, undefined, { signal: closing }).catch(() => undefined);
      wait = Math.min(2 * wait, LONGEST_PAUSE_MS);
    }
  }
}
