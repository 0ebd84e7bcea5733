import { pause, retry } from '@tracking/resilience';
import { reasonOf } from './eventstoredb-errors.ts';
import { LiveEventBuffer } from './live-event-buffer.ts';
import { readHead } from './log-reads.ts';
import { followLog } from './log-subscriptions.ts';
import type { NodeClient } from './node-client.ts';
import { retryUntilStopped, type RetryTelemetry } from './node-retries.ts';
import { BEGINNING } from './stored-event.ts';

const PAUSES = { firstPauseMs: 50, longestPauseMs: 2_000 };

export interface LiveSubscriptionOptions extends RetryTelemetry {
  readonly node: NodeClient;
  /** Newest events that its buffer keeps, at least. */
  readonly capacity: number;
  readonly timeoutMs: number;
  /** Ends it. */
  readonly closing: AbortSignal;
}

/**
 * The one subscription of a process to what comes, unfiltered: it sees every entry of the log, so that each reader knows
 * how far it is although nothing of its own came. A filtered one tells that only now and then.
 */
export class LiveSubscription {
  private buffer: Promise<LiveEventBuffer> | undefined;
  private isLost = false;

  constructor(private readonly options: LiveSubscriptionOptions) {}

  /** Begins with the first reader, at the head of the log, as soon as there is a node. */
  open(): Promise<LiveEventBuffer> {
    return (this.buffer ??= this.begin());
  }

  private async begin(): Promise<LiveEventBuffer> {
    const { node, capacity, timeoutMs, closing } = this.options;
    const head = await retryUntilStopped(closing, this.options, () => readHead(node, timeoutMs));
    const buffer = new LiveEventBuffer(head ?? BEGINNING, capacity);
    void this.fill(buffer);
    return buffer;
  }

  /** The client never subscribes again by itself. Once the node has confirmed a subscription, pauses are short again. */
  private async fill(buffer: LiveEventBuffer): Promise<void> {
    const { closing } = this.options;
    while (!closing.aborted) {
      // Fails on `closing` only.
      await retry(() => this.subscribe(buffer), { ...PAUSES, signal: closing }).catch(() => undefined);
      await pause(PAUSES.firstPauseMs, closing);
    }
  }

  /**
   * Resolves when a subscription that the node had confirmed is lost.
   * @throws the client's error where the node did not confirm it
   */
  private async subscribe(buffer: LiveEventBuffer): Promise<void> {
    const { node, closing, logger, countRetry } = this.options;
    let isConfirmed = false;
    const onConfirmed = () => {
      isConfirmed = true;
      if (this.isLost) logger.info({}, 'event store: the live subscription is back');
      this.isLost = false;
    };
    const reason = await followLog(node, {
      after: buffer.last,
      stop: closing,
      onConfirmed,
      onEntry: (entry) => buffer.push(entry),
    });
    if (closing.aborted) return;
    countRetry('following the log');
    if (!this.isLost) logger.warn({ reason: reasonOf(reason) }, 'event store: the live subscription is lost');
    this.isLost = true;
    if (!isConfirmed) throw reason;
  }
}
