import type { AllStreamSubscription } from '@eventstore/db-client';
import { eventSizeBytes, type Position, type StoredEvent } from '@tracking/ports';
import { pause, retry } from '@tracking/resilience';
import { type NodeClient, describeReason, type RetryTelemetry, retryUntilStopped } from './node-client.ts';
import {
  START_POSITION,
  decodePosition,
  maxPosition,
  type LogEntry,
  type LogSlice,
  matchesPrefix,
  readHead,
  toLogEntry,
} from './log-reads.ts';

const RETRY_PAUSE_OPTIONS = { firstPauseMs: 50, maxPauseMs: 2_000 };
/** Maximum size of the buffered events, in bytes of JSON. */
const MAX_BUFFER_BYTES = 32 * 1_048_576;

interface LiveSubscriptionOptions extends RetryTelemetry {
  readonly node: NodeClient;
  /** Minimum number of newest events in the buffer. */
  readonly capacity: number;
  readonly timeoutMs: number;
  /** Signal that ends the subscription. */
  readonly closing: AbortSignal;
}

/**
 * The single subscription of a process to new events. It is unfiltered, so that readers learn their position even if no
 * event matches their filter; a filtered subscription reports the position only occasionally.
 */
export class LiveSubscription {
  private buffer: Promise<LiveEventBuffer> | undefined;
  private isLost = false;

  constructor(private readonly options: LiveSubscriptionOptions) {}

  /**
   * Starts the subscription at the head of the log as soon as a node is available. The first reader calls this method.
   */
  open(): Promise<LiveEventBuffer> {
    return (this.buffer ??= this.startBuffering());
  }

  private async startBuffering(): Promise<LiveEventBuffer> {
    const { node, capacity, timeoutMs, closing } = this.options;
    const head = await retryUntilStopped(closing, this.options, () => readHead(node, timeoutMs));
    const buffer = new LiveEventBuffer(head ?? START_POSITION, capacity);
    void this.fillBuffer(buffer);
    return buffer;
  }

  /**
   * Renews the subscription after failures, because the client does not. The pauses between attempts start from the
   * shortest again after a confirmed subscription.
   */
  private async fillBuffer(buffer: LiveEventBuffer): Promise<void> {
    const { closing } = this.options;
    while (!closing.aborted) {
      // The promise rejects only if `closing` aborts.
      await retry(() => this.subscribe(buffer), { ...RETRY_PAUSE_OPTIONS, signal: closing }).catch(() => undefined);
      await pause(RETRY_PAUSE_OPTIONS.firstPauseMs, closing);
    }
  }

  /**
   * Resolves when a confirmed subscription is lost.
   * @throws the client's error if the node did not confirm the subscription
   */
  private async subscribe(buffer: LiveEventBuffer): Promise<void> {
    const { node, closing, logger, countRetry } = this.options;
    let isConfirmed = false;
    const onConfirmed = () => {
      isConfirmed = true;
      if (this.isLost) logger.info({}, 'event store: the live subscription works again');
      this.isLost = false;
    };
    const reason = await followLog(node, {
      after: buffer.last,
      stop: closing,
      onConfirmed,
      onEntry: (entry) => buffer.push(entry),
    });
    if (closing.aborted) return;
    countRetry('subscribing to new events');
    if (!this.isLost)
      logger.warn(
        { reason: describeReason(reason) },
        'event store: the connection of the live subscription was lost; subscribing again',
      );
    this.isLost = true;
    if (!isConfirmed) throw reason;
  }
}

/** The newest events of the log in memory, so that all live readers of the process share one subscription. */
export class LiveEventBuffer {
  private events: StoredEvent[] = [];
  /** Size in bytes of each buffered event, in the order of the buffer. */
  private sizes: number[] = [];
  private bytes = 0;
  private end: Position;
  private wake!: () => void;
  private isWaking = false;
  /** Resolves when an entry is added or `notify` is called. */
  changed!: Promise<void>;

  /**
   * @param start position after which all entries will be added
   * @param capacity minimum number of kept events, unless they are too large; the maximum is twice as many
   * @param maxBytes maximum size of kept events; when it is exceeded, the newest half stays
   */
  constructor(
    private start: Position,
    private readonly capacity: number,
    private readonly maxBytes = MAX_BUFFER_BYTES,
  ) {
    this.end = start;
    this.notify();
  }

  /** Position of the last entry of the log that was added. */
  get last(): Position {
    return this.end;
  }

  /** Adds the next entry of the log. Entries that were added before are ignored. */
  push({ position, event }: LogEntry): void {
    if (position <= this.end) return;
    this.end = position;
    if (event !== undefined) this.add(event);
    // The buffer wakes its readers once for all entries that arrive together.
    if (!this.isWaking) setImmediate(() => this.notify());
    this.isWaking = true;
  }

  /** Returns true if the buffer has all entries after the position. */
  containsAllAfter(position: Position): boolean {
    return position >= this.start;
  }

  /** Returns up to `limit` matching events after a covered position, and the position that they reach. */
  after(position: Position, prefixes: readonly string[], limit: number): LogSlice {
    const matching: StoredEvent[] = [];
    for (let at = this.findIndexAfter(position); at < this.events.length; at += 1) {
      const event = this.events[at];
      if (event === undefined || !matchesPrefix(event, prefixes)) continue;
      matching.push(event);
      if (matching.length >= limit) return { events: matching, position: event.position };
    }
    return { events: matching, position: maxPosition(position, this.end) };
  }

  notify(): void {
    this.isWaking = false;
    this.wake?.();
    this.changed = new Promise((resolve) => (this.wake = resolve));
  }

  private add(event: StoredEvent): void {
    const size = eventSizeBytes(event);
    this.events.push(event);
    this.sizes.push(size);
    this.bytes += size;
    if (this.events.length < 2 * this.capacity && this.bytes <= this.maxBytes) return;
    // The buffer removes many events at once, because each removal moves the remaining events in memory.
    let surplus = Math.max(0, this.events.length - this.capacity);
    let left = this.bytes - sum(this.sizes.slice(0, surplus));
    for (; left > this.maxBytes / 2; surplus += 1) left -= this.sizes[surplus] ?? left;
    this.start = this.events.splice(0, surplus).at(-1)?.position ?? this.start;
    this.sizes.splice(0, surplus);
    this.bytes = left;
  }

  private findIndexAfter(position: Position): number {
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

interface LogFollower {
  readonly after: Position;
  readonly stop: AbortSignal;
  /** Callback that runs when the node has confirmed the subscription. */
  onConfirmed(): void;
  onEntry(entry: LogEntry): void;
}

/**
 * Delivers new entries of the log as they arrive.
 * @returns the reason why the subscription was lost; undefined if `stop` aborted
 */
async function followLog(
  { client, callOptions }: NodeClient,
  { after, stop, onConfirmed, onEntry }: LogFollower,
): Promise<unknown> {
  const over = Promise.withResolvers<unknown>();
  const end = () => over.resolve(undefined);
  const subscription = client.subscribeToAll({ ...callOptions, fromPosition: decodePosition(after) });
  subscription.on('confirmation', onConfirmed).on('data', (resolved) => onEntry(toLogEntry(resolved)));
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
