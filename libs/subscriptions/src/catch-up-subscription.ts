import type { Position } from '@tracking/ports';
import { runAtTicks } from '@tracking/resilience';
import { type CheckpointDocument, createCheckpointId, CHECKPOINTS_COLLECTION_SPEC } from './checkpoint.ts';
import { describeError, PARKED_STREAMS_COLLECTION_SPEC, type ParkedStream } from './parked-streams.ts';
import { PartitionRunner } from './partition-runner.ts';
import { SharedPartitionCatchUp } from './shared-catch-up.ts';
import type { StreamPartition, PartitionRunnerOptions } from './subscriber.ts';

const POLL_INTERVAL_MS = 1_000;
const PARKED_STREAMS_PER_RETRY = 100;
/** Maximum age in milliseconds of an observation. After that, the lag is unknown and grows from its last value. */
const MAX_LAG_OBSERVATION_AGE_MS = 5_000;
const MAX_OBSERVED_LOG_HEADS = 1_000;

export interface CatchUpSubscriptionOptions extends PartitionRunnerOptions {
  /** Partitions of the streams, equal in every process. Each stream belongs to exactly one partition. */
  readonly partitions: readonly StreamPartition[];
  /** Milliseconds between reads of retry requests and checkpoints of other processes; 1,000 by default. */
  readonly pollMs?: number;
}

/** Follows the event store for one subscriber in this process. It handles all partitions, from `start` to `stop`. */
export class CatchUpSubscription {
  private readonly runners: readonly PartitionRunner[];
  private stopTicks: (() => void) | undefined;
  private retrying: Promise<void> | undefined;
  private measuring: Promise<void> | undefined;
  private readonly lag = new SubscriptionLagMeter();

  constructor(private readonly parts: CatchUpSubscriptionOptions) {
    const { partitions, eventStore } = parts;
    const firstReads = partitions.length > 1 ? new SharedPartitionCatchUp(eventStore) : eventStore;
    this.runners = partitions.map((partition) => new PartitionRunner(parts, partition, firstReads));
  }

  start(): void {
    for (const runner of this.runners) runner.start();
    this.startLagMeasurementIfNoneRuns();
    this.stopTicks ??= runAtTicks(this.parts.pollMs ?? POLL_INTERVAL_MS, () => {
      this.retryRequestedParkedStreams();
      this.startLagMeasurementIfNoneRuns();
    });
  }

  /** Finishes current batches, writes the checkpoints and releases the leases. */
  async stop(): Promise<void> {
    this.stopTicks?.();
    await Promise.all([...this.runners.map((runner) => runner.stop()), this.retrying]);
  }

  /**
   * Returns the milliseconds since the oldest unhandled event was recorded or first observed. Also counts events that
   * another process should handle.
   */
  computeLagMs(): number {
    // The process reads its own progress from memory, because its checkpoints may not be stored yet.
    this.lag.recordHandledPosition(getMinPosition(this.readOwnPartitionPositions()));
    return Math.max(this.lag.computeLagMs(), ...this.runners.map((runner) => runner.computeLagMs()));
  }

  /** Returns the number of parked streams in the partitions of this process. */
  countParkedStreams(): number {
    return this.runners.reduce((sum, runner) => sum + runner.countParkedStreams(), 0);
  }

  /** Retries streams with a requested retry now. Otherwise they are retried within a second. */
  retryRequestedParkedStreams(): void {
    this.retrying ??= this.runRequestedParkedStreamRetries().finally(() => (this.retrying = undefined));
  }

  private startLagMeasurementIfNoneRuns(): void {
    this.measuring ??= this.measureLag().finally(() => (this.measuring = undefined));
  }

  private async measureLag(): Promise<void> {
    const at = performance.now();
    try {
      const head = await this.parts.eventStore.head();
      this.lag.recordLagObservation(at, head, await this.readPositionHandledByAllPartitions());
    } catch (error) {
      this.parts.logger.debug(
        { ...this.parts.subscriber, error: describeError(error) },
        'the lag of a subscriber could not be measured; retrying',
      );
    }
  }

  /**
   * Returns the position up to which all partitions are handled, in any process; undefined if a partition has handled
   * no event.
   */
  private async readPositionHandledByAllPartitions(): Promise<Position | undefined> {
    return getMinPosition(this.readOwnPartitionPositions()) ?? getMinPosition(await this.readCheckpointPositions());
  }

  private readOwnPartitionPositions(): readonly (Position | undefined)[] {
    return this.runners.map((runner) => runner.position);
  }

  private async readCheckpointPositions(): Promise<readonly (Position | undefined)[]> {
    const { subscriber, documentStore, partitions } = this.parts;
    const { name, generation } = subscriber;
    const documents = await documentStore.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC);
    const found = await documents.getMany(partitions.map(({ key }) => createCheckpointId(name, generation, key)));
    const stored = new Map(found.map(({ partition, position }) => [partition, position ?? undefined]));
    return this.runners.map((runner) => runner.position ?? stored.get(runner.key));
  }

  private async runRequestedParkedStreamRetries(): Promise<void> {
    // Only the process that has the lease of a parked stream's partition can retry it.
    if (this.countParkedStreams() === 0) return;
    const { subscriber, documentStore, logger, metrics } = this.parts;
    const { name, generation } = subscriber;
    try {
      const documents = await documentStore.collection<ParkedStream>(PARKED_STREAMS_COLLECTION_SPEC);
      const filter = { subscriber: name, generation, retry: true };
      const requested = await documents.find({ filter, limit: PARKED_STREAMS_PER_RETRY });
      if (requested.length > 0) await Promise.all(this.runners.map((runner) => runner.retryParkedStreams(requested)));
    } catch (error) {
      metrics.recordFailure();
      logger.warn({ subscriber: name, error: describeError(error) }, 'parked streams could not be read; retrying');
    }
  }
}

/** Returns the smallest position; undefined if one of the positions is undefined. */
function getMinPosition(positions: readonly (Position | undefined)[]): Position | undefined {
  return positions.includes(undefined) ? undefined : positions.toSorted()[0];
}

/**
 * Measures how long the oldest unhandled event has waited. Observes the end of the log and the checkpoint repeatedly.
 * The lag grows whichever process should handle the event, and for whatever reason.
 */
export class SubscriptionLagMeter {
  /** Observed last positions of the log that the checkpoint has not reached. */
  private heads: { readonly position: Position; readonly at: number }[] = [];
  private observedAt: number;

  /** @param now returns milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.observedAt = now();
  }

  /**
   * Records an observation.
   * @param at start of the observation, by the clock `now`
   * @param head last position of the log
   * @param done position up to which all events are handled
   */
  recordLagObservation(at: number, head: Position | undefined, done: Position | undefined): void {
    this.observedAt = at;
    const last = this.heads.at(-1)?.position;
    if (head !== undefined && (last === undefined || head > last)) this.heads.push({ position: head, at });
    if (this.heads.length > MAX_OBSERVED_LOG_HEADS) this.heads = this.heads.filter((_, index) => index % 2 === 0);
    this.recordHandledPosition(done);
  }

  /** Records the position up to which all events are handled. */
  recordHandledPosition(done: Position | undefined): void {
    const first = this.heads.findIndex(({ position }) => done === undefined || position > done);
    this.heads.splice(0, first < 0 ? this.heads.length : first);
  }

  computeLagMs(): number {
    const now = this.now();
    const hasObservation = now - this.observedAt <= MAX_LAG_OBSERVATION_AGE_MS;
    return now - (this.heads[0]?.at ?? (hasObservation ? now : this.observedAt));
  }
}
