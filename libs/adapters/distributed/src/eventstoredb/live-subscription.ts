import type { AllStreamSubscription } from '@eventstore/db-client';
import type { Position } from '@tracking/ports';
import { pauseFor, retry } from '@tracking/resilience';
import { LiveEventBuffer } from './live-event-buffer.ts';
import {
  type NodeCallTarget,
  type EventStoreDbConnections,
  describeEventStoreFailure,
  type RetryTelemetry,
  retryUntilStopped,
} from './node-client.ts';
import { createNodeTimeoutError } from './node-connection.ts';
import {
  START_POSITION,
  decodeEventLogPosition,
  type EventLogEntry,
  readLastLogPosition,
  convertToEventLogEntry,
} from './log-reads.ts';

const RETRY_BACKOFF_LIMITS = { firstPauseMs: 50, maxPauseMs: 2_000 };
/** Milliseconds between two checks whether the subscription is behind. */
export const LAG_CHECK_INTERVAL_MS = 250;
/** Milliseconds for which a node that may be a follower may deliver nothing while it is behind. */
const MAX_SILENCE_OF_LAGGING_NODE_MS = 1_000;

interface LiveSubscriptionOptions extends RetryTelemetry {
  readonly node: EventStoreDbConnections;
  /** Minimum number of newest events in the buffer. */
  readonly capacity: number;
  readonly timeoutMs: number;
  /** Signal that ends the subscription. */
  readonly closing: AbortSignal;
}

/**
 * The single subscription of a process to new events. It is unfiltered, so that readers learn their position even if no
 * event matches their filter; a filtered subscription reports the position only occasionally. A follower may serve it.
 * If the follower is behind, the leader does.
 */
export class LiveSubscription {
  private buffer: Promise<LiveEventBuffer> | undefined;
  private isLost = false;
  /** True if the next subscription must be at the leader, because a follower was behind or did not respond. */
  private needsLeader = false;

  constructor(private readonly options: LiveSubscriptionOptions) {}

  /**
   * Starts the subscription at the head of the log as soon as a node is available. The first reader calls this method.
   */
  openLiveEventBuffer(): Promise<LiveEventBuffer> {
    return (this.buffer ??= this.startBufferingLiveEvents());
  }

  private async startBufferingLiveEvents(): Promise<LiveEventBuffer> {
    const { node, capacity, timeoutMs, closing } = this.options;
    const head = await retryUntilStopped(closing, this.options, () => readLastLogPosition(node, timeoutMs));
    const buffer = new LiveEventBuffer(head ?? START_POSITION, capacity);
    void this.fillBufferFromSubscription(buffer);
    return buffer;
  }

  /**
   * Renews the subscription after failures, because the client does not. The pauses between attempts start from the
   * shortest again after a confirmed subscription.
   */
  private async fillBufferFromSubscription(buffer: LiveEventBuffer): Promise<void> {
    const { closing } = this.options;
    while (!closing.aborted) {
      // The promise rejects only if `closing` aborts.
      await retry(() => this.runSubscriptionUntilLost(buffer), { ...RETRY_BACKOFF_LIMITS, signal: closing }).catch(
        () => undefined,
      );
      await pauseFor(RETRY_BACKOFF_LIMITS.firstPauseMs, closing);
    }
  }

  /**
   * Resolves when a confirmed subscription is lost.
   * @throws the client's error if the node did not confirm the subscription
   */
  private async runSubscriptionUntilLost(buffer: LiveEventBuffer): Promise<void> {
    const { node, closing, logger, countRetry } = this.options;
    const { needsLeader } = this;
    this.needsLeader = false;
    let isConfirmed = false;
    const onConfirmed = () => {
      isConfirmed = true;
      if (this.isLost) logger.info({}, 'event store: the live subscription works again');
      this.isLost = false;
    };
    const behind = new AbortController();
    const lag = this.abortWhenSubscriptionLags(buffer, needsLeader, behind);
    const reason = await subscribeToLog(needsLeader ? node.leader : node.anyNode, {
      after: buffer.last,
      stop: AbortSignal.any([closing, behind.signal]),
      onConfirmed,
      onEntry: (entry) => buffer.bufferLiveEventLogEntry(entry),
    });
    clearInterval(lag);
    if (closing.aborted) return;
    countRetry('subscribing to new events');
    this.needsLeader = behind.signal.aborted || (!isConfirmed && !needsLeader);
    if (!this.isLost)
      logger.warn(
        { reason: behind.signal.aborted ? 'the node is behind' : describeEventStoreFailure(reason) },
        'event store: the connection of the live subscription was lost; subscribing again',
      );
    this.isLost = true;
    if (!isConfirmed) throw reason ?? createNodeTimeoutError();
  }

  /**
   * Aborts `behind` if the node of the subscription does not deliver what this process knows to be stored. A node does
   * not end subscriptions when it stops being the leader, and a follower may lag.
   */
  private abortWhenSubscriptionLags(
    buffer: LiveEventBuffer,
    isAtLeader: boolean,
    behind: AbortController,
  ): NodeJS.Timeout {
    const { node, timeoutMs } = this.options;
    const detector = new SubscriptionLagDetector(
      isAtLeader ? timeoutMs : Math.min(MAX_SILENCE_OF_LAGGING_NODE_MS, timeoutMs),
      timeoutMs,
    );
    return setInterval(() => {
      if (detector.isSubscriptionBehind(buffer.last, node.stored.highest)) behind.abort();
    }, LAG_CHECK_INTERVAL_MS).unref();
  }
}

/** Detects that a subscription does not reach a stored position. Counts checks, because a busy process checks late. */
export class SubscriptionLagDetector {
  private awaited: Position | undefined;
  private last: Position = START_POSITION;
  private silentChecks = 0;
  private checks = 0;

  /**
   * @param maxSilentMs milliseconds for which nothing may arrive while a stored position was not reached
   * @param maxLagMs milliseconds after which a stored position must be reached
   */
  constructor(
    private readonly maxSilentMs: number,
    private readonly maxLagMs: number,
  ) {}

  /**
   * Call it every {@link LAG_CHECK_INTERVAL_MS}.
   * @param last position that the subscription has reached
   * @param stored position that is known to be stored
   */
  isSubscriptionBehind(last: Position, stored: Position): boolean {
    if (this.awaited === undefined || last >= this.awaited) {
      this.awaited = stored > last ? stored : undefined;
      this.checks = 0;
      this.silentChecks = 0;
    } else {
      this.checks += 1;
      this.silentChecks = last === this.last ? this.silentChecks + 1 : 0;
    }
    this.last = last;
    return (
      this.silentChecks * LAG_CHECK_INTERVAL_MS >= this.maxSilentMs ||
      this.checks * LAG_CHECK_INTERVAL_MS >= this.maxLagMs
    );
  }
}

interface LogFollowerOptions {
  readonly after: Position;
  readonly stop: AbortSignal;
  /** Callback that runs when the node has confirmed the subscription. */
  onConfirmed(): void;
  onEntry(entry: EventLogEntry): void;
}

/**
 * Delivers new entries of the log as they arrive.
 * @returns the reason why the subscription was lost; undefined if `stop` aborted
 */
async function subscribeToLog(
  { client, callOptions }: NodeCallTarget,
  { after, stop, onConfirmed, onEntry }: LogFollowerOptions,
): Promise<unknown> {
  const over = Promise.withResolvers<unknown>();
  const end = () => over.resolve(undefined);
  const subscription = client.subscribeToAll({ ...callOptions, fromPosition: decodeEventLogPosition(after) });
  subscription.on('confirmation', onConfirmed).on('data', (resolved) => onEntry(convertToEventLogEntry(resolved)));
  subscription.on('error', over.resolve).on('close', end);
  stop.addEventListener('abort', end);
  if (stop.aborted) end();
  const reason = await over.promise;
  stop.removeEventListener('abort', end);
  endSubscription(subscription);
  return reason;
}

/** Ends the subscription and its call, which the client leaves open. The error listener is kept for late errors. */
export function endSubscription(subscription: AllStreamSubscription): void {
  subscription.unsubscribe().catch(() => undefined);
  subscription.destroy();
}
