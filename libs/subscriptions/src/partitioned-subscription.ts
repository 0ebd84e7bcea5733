import type { Lease } from '@tracking/ports';
import { pauseUntilNextTick, retry } from '@tracking/resilience';
import { CatchUpSubscription } from './catch-up-subscription.ts';
import { describeError } from './parked-streams.ts';
import { type PartitionLayout, PartitionLayoutStore } from './partition-layout.ts';
import { type EventHandler, formatPartitionLeaseName, type PartitionRunnerOptions } from './subscriber.ts';

const POLL_INTERVAL_MS = 1_000;

export interface PartitionedSubscriptionOptions extends Omit<PartitionRunnerOptions, 'createHandler'> {
  /**
   * Creates the handler of one partition for one lease term, as in {@link PartitionRunnerOptions}.
   * @param partitions number of partitions
   */
  readonly createHandler: (lost: AbortSignal, partitions: number) => Promise<EventHandler>;
  /** Prefix of all streams that the subscriber handles. */
  readonly streamPrefix: string;
  /** Number of partitions until an operator requests another number. */
  readonly defaultPartitions: number;
  /** Milliseconds between reads of the layout, and of requests of operators; 1,000 by default. */
  readonly pollMs?: number;
  /**
   * Returns false while processes of releases without layouts need the single partition. It is then kept. By default,
   * it can be replaced at any time.
   */
  readonly canLeaveSinglePartition?: () => boolean;
}

/**
 * Follows the event store for one subscriber, in a number of partitions that can change while it runs. All processes
 * stop when another number is requested. One of them then replaces the layout, and all continue with the new
 * partitions. No event is lost or handled again.
 */
export class PartitionedSubscription {
  private readonly stopping = new AbortController();
  private readonly stored: PartitionLayoutStore;
  private running: Promise<void> | undefined;
  private current: CatchUpSubscription | undefined;
  private pausedAt = performance.now();
  /** Lease of the single partition of releases without layouts, held so that their processes wait for it. */
  private formerLease: Lease | undefined;

  constructor(private readonly parts: PartitionedSubscriptionOptions) {
    const { documentStore, subscriber, streamPrefix, defaultPartitions } = parts;
    this.stored = new PartitionLayoutStore(documentStore, subscriber, streamPrefix, defaultPartitions);
  }

  start(): void {
    this.running ??= this.runPartitionsUntilStopped();
  }

  /** Finishes current batches, writes the checkpoints and releases the leases. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.releaseLeaseOfFormerPartitions();
  }

  /** Returns the lag as {@link CatchUpSubscription} does. While the partitions change, it grows. */
  computeLagMs(): number {
    return this.current?.computeLagMs() ?? performance.now() - this.pausedAt;
  }

  countParkedStreams(): number {
    return this.current?.countParkedStreams() ?? 0;
  }

  retryRequestedParkedStreams(): void {
    this.current?.retryRequestedParkedStreams();
  }

  private async runPartitionsUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // The wait rejects only when the subscription stops, with a reported failure.
      await retry(() => this.handleEventsUntilLayoutChanges(signal), { signal, onFailure: this.failed }).catch(
        () => undefined,
      );
    }
  }

  /** Handles events until another layout is stored or requested, or replaces a layout that should change. */
  private async handleEventsUntilLayoutChanges(signal: AbortSignal): Promise<void> {
    const { layout, requested } = await this.stored.readPartitionLayout();
    if (this.canReplacePartitionLayout(layout, requested))
      return this.replaceLayoutWithAllLeasesHeld(layout, requested, signal);
    // Only the first layout follows a release without layouts.
    if (layout.version > 1) await this.releaseLeaseOfFormerPartitions();
    const { createHandler } = this.parts;
    const subscription = new CatchUpSubscription({
      ...this.parts,
      partitions: this.stored.listStreamPartitionsOfLayout(layout),
      createHandler: (lost) => createHandler(lost, layout.partitions),
    });
    this.current = subscription;
    subscription.start();
    try {
      await this.waitForNewStoredOrRequestedLayout(layout, requested, signal);
    } finally {
      this.pausedAt = performance.now();
      this.current = undefined;
      await subscription.stop();
    }
  }

  private canReplacePartitionLayout({ partitions, version, next }: PartitionLayout, requested: number): boolean {
    const { canLeaveSinglePartition = () => true } = this.parts;
    return partitions !== requested && (version > 0 || next !== undefined || canLeaveSinglePartition());
  }

  /** Resolves when another layout is stored or requested, a requested one becomes possible, or the signal aborts. */
  private async waitForNewStoredOrRequestedLayout(
    layout: PartitionLayout,
    requested: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { pollMs = POLL_INTERVAL_MS } = this.parts;
    const couldReplace = this.canReplacePartitionLayout(layout, requested);
    for (;;) {
      // All subscriptions of the process read their layouts at the same times, with one read.
      await pauseUntilNextTick(pollMs, signal);
      if (signal.aborted) return;
      try {
        const now = await this.stored.readPartitionLayout();
        if (now.layout.version !== layout.version || now.requested !== requested) return;
        if (this.canReplacePartitionLayout(layout, requested) !== couldReplace) return;
      } catch (error) {
        this.parts.logger.debug(
          { ...this.parts.subscriber, error: describeError(error) },
          'the number of partitions could not be read; retrying',
        );
      }
    }
  }

  /** Waits until this process holds all leases of the layout, and replaces it unless another process does so first. */
  private async replaceLayoutWithAllLeasesHeld(
    layout: PartitionLayout,
    partitions: number,
    signal: AbortSignal,
  ): Promise<void> {
    const over = new AbortController();
    const stop = () => over.abort();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const leases: Lease[] = [];
    const watching = this.waitForNewStoredOrRequestedLayout(layout, partitions, over.signal).finally(stop);
    try {
      await this.acquireLeasesOfAllPartitions(layout, over.signal, leases);
      const { layout: now, requested } = await this.stored.readPartitionLayout();
      if (now.version !== layout.version || requested !== partitions) return;
      const isFormerReleaseUsed = await this.stored.replacePartitionLayout(layout, partitions, () => {
        if (!leases.every((lease) => lease.isLeaseHeld()))
          throw new Error('a lease was lost while the partitions changed');
      });
      if (isFormerReleaseUsed) this.formerLease = leases.pop();
      this.parts.logger.info(
        { ...this.parts.subscriber, partitions },
        'the number of partitions of a subscriber has changed',
      );
    } catch (error) {
      if (!over.signal.aborted) throw error;
    } finally {
      stop();
      signal.removeEventListener('abort', stop);
      await Promise.all([watching, ...leases.map((lease) => lease.releaseLease())]);
    }
  }

  /**
   * Acquires the leases of all partitions of a layout. Processes that do so concurrently wait at the first lease, so that
   * none of them holds a lease for which another one waits.
   */
  private async acquireLeasesOfAllPartitions(
    layout: PartitionLayout,
    signal: AbortSignal,
    leases: Lease[],
  ): Promise<void> {
    const [first, ...others] = this.stored
      .listStreamPartitionsOfLayout(layout)
      .map((partition) => formatPartitionLeaseName(this.parts.subscriber, partition));
    const acquire = async (name: string) => void leases.push(await this.parts.leases.acquireLease(name, signal));
    if (first !== undefined) await acquire(first);
    const outcomes = await Promise.allSettled(others.map(acquire));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  private async releaseLeaseOfFormerPartitions(): Promise<void> {
    await this.formerLease?.releaseLease();
    this.formerLease = undefined;
  }

  private readonly failed = (error: unknown): void => {
    if (this.stopping.signal.aborted) return;
    this.parts.metrics.recordFailure();
    this.parts.logger.warn(
      { ...this.parts.subscriber, error: describeError(error) },
      'the partitions of a subscriber could not be read or changed; retrying',
    );
  };
}
