import type { StoredEvent } from '@tracking/ports';
import type { HandledPosition } from './checkpoint.ts';

/** A reader of all events. Its name and generation identify its leases, checkpoints and parked streams. */
export interface Subscriber {
  /** `[a-z_]+`; as operators know it. */
  readonly name: string;
  /** Another generation begins again at the first event. */
  readonly generation: number;
}

/**
 * A share of all streams, handled by one process at a time. The key names its checkpoint: other prefixes are another
 * partition, which starts from the beginning.
 */
export interface Partition {
  readonly key: string;
  readonly streamPrefixes: readonly string[];
}

export function partition(streamPrefixes: readonly string[]): Partition {
  return { key: [...streamPrefixes].sort().join(','), streamPrefixes };
}

/** An event that could not be handled (a poison message): by a fault of the code, not of an engine. */
export interface EventFailure {
  readonly event: StoredEvent;
  readonly error: unknown;
}

/** An event as a subscriber is given it. */
export interface HandledEvent extends StoredEvent {
  /** Set for an event that waited in a parked stream; the place of any other is its position. */
  readonly handledPosition?: HandledPosition;
}

/** Handles the events of a partition for as long as a subscriber holds its lease. */
export interface EventHandler {
  /**
   * Resolves when everything is done for these events, so that a checkpoint may pass them; answers the first failure of
   * each stream, whose later events it left out. Events are in order, each stream's after what it was given before; the
   * same ones may come again.
   * @param ending aborts when the process stops or the partition is lost: finish, but wait for nothing
   * @throws Unavailable; is then given the same events again
   */
  handle(events: readonly HandledEvent[], ending: AbortSignal): Promise<readonly EventFailure[]>;
}

/** Told as it happens, in this process. */
export interface SubscriptionListener {
  /** The partition is handled here from now on; everything up to the place is done. */
  onAcquired(partition: string, place: HandledPosition | undefined): void;
  /** Everything up to the place is done. */
  onAdvanced(partition: string, place: HandledPosition): void;
  /** For the first time everything that there was is done, and the checkpoint says so. */
  onCompleted(partition: string): void;
  /** This process no longer handles the partition. */
  onReleased(partition: string): void;
}

/** The subscriber's metrics. */
export interface SubscriptionMetrics {
  /** @param seconds from a batch in hand to everything done */
  recordBatch(events: number, seconds: number): void;
  /** An attempt is repeated because an engine failed. */
  recordFailure(): void;
}
