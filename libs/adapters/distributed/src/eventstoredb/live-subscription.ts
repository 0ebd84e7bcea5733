import type { AllStreamSubscription } from '@eventstore/db-client';
import { bytesOf, type Position, type StoredEvent } from '@tracking/ports';
import { pause, retry } from '@tracking/resilience';
import { type NodeClient, reasonOf, type RetryTelemetry, retryUntilStopped } from './node-client.ts';
import {
  BEGINNING,
  fromPosition,
  later,
  type LogEntry,
  type LogSlice,
  matches,
  readHead,
  toLogEntry,
} from './log-reads.ts';

const PAUSES = { firstPauseMs: 50, longestPauseMs: 2_000 };
/** Most bytes of events kept, as JSON. */
const MAX_BYTES = 32 * 1_048_576;

interface LiveSubscriptionOptions extends RetryTelemetry {
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

/** The newest events of the log, kept in memory so that all live readers of the process take them from one subscription. */
export class LiveEventBuffer {
  private events: StoredEvent[] = [];
  /** Size of each of the events. */
  private sizes: number[] = [];
  private bytes = 0;
  private end: Position;
  private wake!: () => void;
  private isWaking = false;
  /** Resolves when something was added, or `notify` called. */
  changed!: Promise<void>;

  /**
   * @param start everything after it will be added
   * @param capacity most events kept, at least, unless they are too large; up to twice as many
   * @param maxBytes most bytes kept; the newest half stays when they are exceeded
   */
  constructor(
    private start: Position,
    private readonly capacity: number,
    private readonly maxBytes = MAX_BYTES,
  ) {
    this.end = start;
    this.notify();
  }

  /** Position of the last entry of the log that was added. */
  get last(): Position {
    return this.end;
  }

  /** Adds what follows in the log; what was added before is left out. */
  push({ position, event }: LogEntry): void {
    if (position <= this.end) return;
    this.end = position;
    if (event !== undefined) this.add(event);
    // Readers are woken once for all that one piece of the network's data brings.
    if (!this.isWaking) setImmediate(() => this.notify());
    this.isWaking = true;
  }

  /** Whether everything after this position is here. */
  covers(position: Position): boolean {
    return position >= this.start;
  }

  /** The events after a position that `covers` confirmed, at most `limit` of those that match, and how far that reaches. */
  after(position: Position, prefixes: readonly string[], limit: number): LogSlice {
    const matching: StoredEvent[] = [];
    for (let at = this.indexAfter(position); at < this.events.length; at += 1) {
      const event = this.events[at];
      if (event === undefined || !matches(event, prefixes)) continue;
      matching.push(event);
      if (matching.length >= limit) return { events: matching, position: event.position };
    }
    return { events: matching, position: later(position, this.end) };
  }

  notify(): void {
    this.isWaking = false;
    this.wake?.();
    this.changed = new Promise((resolve) => (this.wake = resolve));
  }

  private add(event: StoredEvent): void {
    const size = bytesOf(event);
    this.events.push(event);
    this.sizes.push(size);
    this.bytes += size;
    if (this.events.length < 2 * this.capacity && this.bytes <= this.maxBytes) return;
    // In large steps: each moves what stays.
    let surplus = Math.max(0, this.events.length - this.capacity);
    let left = this.bytes - sum(this.sizes.slice(0, surplus));
    for (; left > this.maxBytes / 2; surplus += 1) left -= this.sizes[surplus] ?? left;
    this.start = this.events.splice(0, surplus).at(-1)?.position ?? this.start;
    this.sizes.splice(0, surplus);
    this.bytes = left;
  }

  private indexAfter(position: Position): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle]?.position ?? '') > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

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
async function followLog(
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

/** Ends the call too, which the client leaves open. Its listener for errors stays: one may still come. */
export function endSubscription(subscription: AllStreamSubscription): void {
  subscription.unsubscribe().catch(() => undefined);
  subscription.destroy();
}
