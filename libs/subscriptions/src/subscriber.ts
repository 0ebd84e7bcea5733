import type { StoredEvent } from '@tracking/ports';
import type { HandledPosition } from './checkpoint.ts';

/** A reader of all events. Its name and generation identify its leases, checkpoints and parked streams. */
export interface Subscriber {
  /** Name of the subscriber for operators, `[a-z_]+`. */
  readonly name: string;
  /** Generation of the subscriber. A new generation starts at the first event. */
  readonly generation: number;
}

/**
 * A subset of all streams, handled by one process at a time. The key names its checkpoint: changed prefixes make a new
 * partition, which starts at the beginning.
 */
export interface Partition {
  readonly key: string;
  readonly streamPrefixes: readonly string[];
}

export function createPartition(streamPrefixes: readonly string[]): Partition {
  return { key: [...streamPrefixes].sort().join(','), streamPrefixes };
}

/** An event that could not be handled (a poison message) because of the code, not of an engine. */
export interface EventFailure {
  readonly event: StoredEvent;
  readonly error: unknown;
}

/** An event as a subscriber receives it. */
export interface HandledEvent extends StoredEvent {
  /** Late position of an event that waited in a parked stream; other events use their log position. */
  readonly handledPosition?: HandledPosition;
}

/** Handles the events of a partition for as long as a subscriber holds its lease. */
export interface EventHandler {
  /**
   * Handles a batch of events. Resolves when the checkpoint may pass all of them, with the first failure of each
   * stream; later events of a failed stream are skipped. Events are in order per stream, and can be repeated.
   * @param ending aborts when the process stops or the partition is lost: finish without waiting
   * @throws Unavailable; then called again with the same events
   */
  handle(events: readonly HandledEvent[], ending: AbortSignal): Promise<readonly EventFailure[]>;
}

/** Receives progress of the partitions that this process handles. */
export interface SubscriptionListener {
  /** This process now handles the partition. All events up to the position are handled. */
  onAcquired(partition: string, place: HandledPosition | undefined): void;
  /** All events up to the position are handled. */
  onAdvanced(partition: string, place: HandledPosition): void;
  /** All stored events are handled for the first time, and the checkpoint is written. */
  onCompleted(partition: string): void;
  /** This process no longer handles the partition. */
  onReleased(partition: string): void;
}

/** Metrics of a subscriber. */
export interface SubscriptionMetrics {
  /** Counts a handled batch. @param seconds from receiving the batch to its completion */
  recordBatch(events: number, seconds: number): void;
  /** Counts an attempt that is repeated after an engine failure. */
  recordFailure(): void;
}
