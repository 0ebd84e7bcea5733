import type { Clock, DocumentStore, EventStore, LeaseSource, Logger, Position, StoredEvent } from '@tracking/ports';
import type { CheckpointWriter } from './checkpoint-writer.ts';
import type { HandledPosition } from './checkpoint.ts';

/**
 * A subscriber that reads all events. Its leases, checkpoints and parked streams are stored under its name and
 * generation.
 */
export interface SubscriberNameAndGeneration {
  /** Name of the subscriber for operators, `[a-z_]+`. */
  readonly name: string;
  /** Generation of the subscriber. A new generation starts with the first event of the store. */
  readonly generation: number;
}

/**
 * A set of streams that one process handles at a time. Its checkpoint is stored under `key`: changed prefixes make a
 * new partition, which starts with the first event.
 */
export interface StreamPartition {
  readonly key: string;
  readonly streamPrefixes: readonly string[];
}

export function createPartitionOfStreamPrefixes(streamPrefixes: readonly string[]): StreamPartition {
  return { key: [...streamPrefixes].sort().join(','), streamPrefixes };
}

/** Returns the name of the lease under which a process handles the partition. */
export function formatPartitionLeaseName(
  { name, generation }: SubscriberNameAndGeneration,
  { key }: StreamPartition,
): string {
  return `${name}.g${generation}.${key}`;
}

/** A poison message: an event that could not be handled because of the code, not because an engine failed. */
export interface EventFailure {
  readonly event: StoredEvent;
  readonly error: unknown;
}

/** An event as a subscriber receives it. */
export interface HandledEvent extends StoredEvent {
  /** Late position of an event that waited in a parked stream; absent for other events. */
  readonly handledPosition?: HandledPosition;
}

/** Handles the events of a partition during one lease term of a subscriber. */
export interface EventHandler {
  /**
   * Handles a batch of events. Resolves with the first failure of each stream when the checkpoint may pass all events;
   * later events of a failed stream are skipped. Events are in order per stream, and can be repeated.
   * @param ending aborts when the process stops or the lease is lost: finish without waiting
   * @throws UnavailableError; the method is then called again with the same events
   */
  handleEventBatchOfPartition(events: readonly HandledEvent[], ending: AbortSignal): Promise<readonly EventFailure[]>;
}

/** Listener for the progress of the partitions that this process handles. */
export interface PartitionProgressListener {
  /** This process has started to handle the partition. All events up to the position were handled before. */
  onAcquired(partition: string, place: HandledPosition | undefined): void;
  /** The partition handles events up to the position of the log. Readers may see what they change from now on. */
  onHandling(partition: string, position: Position): void;
  /**
   * The partition has handled all events up to the position.
   * @param isIdle true if only streams of other partitions have changed
   */
  onAdvanced(partition: string, place: HandledPosition, isIdle: boolean): void;
  /** The partition has handled all stored events for the first time, and the checkpoint is written. */
  onCompleted(partition: string): void;
  /** This process has stopped handling the partition. */
  onReleased(partition: string): void;
}

/** Metrics of a subscriber. */
export interface SubscriptionMetrics {
  /**
   * Counts a handled batch.
   * @param seconds duration from receiving the batch to its completion
   */
  observeBatchDuration(events: number, seconds: number): void;
  /** Counts a failure of an engine, after which the attempt is repeated. */
  recordFailure(): void;
}

/** Engines and settings with which a process handles partitions of a subscriber. */
export interface PartitionRunnerOptions {
  readonly subscriber: SubscriberNameAndGeneration;
  /**
   * Creates the handler for one lease term. The handler's state must not outlive the term.
   * @param lost aborts when another process may handle the partition; the handler must then stop immediately
   */
  readonly createHandler: (lost: AbortSignal) => Promise<EventHandler>;
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: SubscriptionMetrics;
  readonly listener?: PartitionProgressListener;
  /** Milliseconds between writes of the checkpoint; 0 by default, and ignored with a common writer. */
  readonly checkpointIntervalMs?: number;
  /** Writes the checkpoints of all partitions of the process together. Use it with many partitions. */
  readonly checkpointWriter?: CheckpointWriter;
  /**
   * Milliseconds to wait for more events while many events arrive; 0 by default. Larger batches cost less per event
   * (ADR 0003).
   */
  readonly batchingDelayMs?: number;
}
