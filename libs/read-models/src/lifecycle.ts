import type { Clock, EventStore, LeaseSource, Logger } from '@tracking/ports';
import { runAtTicks } from '@tracking/resilience';
import { SHIPMENT_STREAM_PREFIX } from '@tracking/shipments-domain';
import {
  CatchUpSubscription,
  type CheckpointWriter,
  createPartitionOfStreamPrefixes,
  describeError,
  type EventHandler,
  type HandledPosition,
  PartitionedSubscription,
  type PartitionProgressListener,
} from '@tracking/subscriptions';
import type { ActiveGenerationSelector } from './active-rows.ts';
import type { LazilyOpenedCollections, ReadModelRow } from './read-model.ts';
import { type Generations, type GenerationsDocument, getNewestGeneration } from './generations.ts';
import type { ProgressOfProjectedPartitions } from './projected-partitions.ts';
import { BatchProjector, type ProjectionMetrics, type WorkspaceScopeOfStreamCache } from './batch-projector.ts';
import { RowCache } from './row-cache.ts';
import { RowWriter } from './row-writer.ts';

/** Partitions of projections whose number operators can change. */
export interface ProjectionPartitionSettings {
  /** Number of partitions until an operator requests another number, equal in every process. */
  readonly count: number;
  /** See `PartitionedSubscriptionOptions`. */
  readonly canLeaveSinglePartition?: () => boolean;
  /** Milliseconds between reads of the number of partitions; 1,000 by default. */
  readonly pollMs?: number;
}

export interface ReadModelLifecycleOptions {
  /** By default, there is one partition, and operators cannot change the number. */
  readonly partitions?: ProjectionPartitionSettings;
  /** Writes the checkpoints of all read models; absent with one partition. */
  readonly checkpointWriter?: CheckpointWriter;
  readonly collections: LazilyOpenedCollections;
  readonly generations: Generations;
  readonly eventStore: EventStore;
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly metrics: ProjectionMetrics;
  readonly clock: Clock;
  /** Maximum number of cached rows of each generation over all partitions, for rows of ordinary size. */
  readonly cachedRows: number;
  /** Scopes of streams. All read models of the process share them, because the scope of a stream never changes. */
  readonly scopes: WorkspaceScopeOfStreamCache;
  /** Receives the progress of all partitions that this process projects. */
  readonly projected: ProgressOfProjectedPartitions;
  /** Milliseconds for which a replaced generation is still projected. */
  readonly graceMs: number;
  readonly checkpointIntervalMs?: number;
  readonly batchingDelayMs?: number;
}

/** Milliseconds between steps. Within this time, a process notices requests of other processes. */
const READ_MODEL_LIFECYCLE_STEP_INTERVAL_MS = 1_000;
const LIFECYCLE_STEPS_PER_SWEEP = 60;

/**
 * Runs the projections of one read model in one process. Each step reads the generation pointer and then starts or
 * stops projections, activates a built generation, or drops old generations. Any number of processes can run steps
 * concurrently, because every change of the pointer is a guarded write. After a crash, the next step continues from the
 * stored pointer.
 */
export class ReadModelLifecycle {
  private readonly projections = new Map<number, CatchUpSubscription | PartitionedSubscription>();
  private readonly replaced = new Map<number, number>();
  private stopTicks: (() => void) | undefined;
  private stepping: Promise<void> | undefined;
  private sweeping: Promise<void> | undefined;
  private readonly ending = new AbortController();
  private again = false;
  private steps = 0;
  private sweptVersion = 0;
  private stopped = false;
  private isReady = false;
  private isOutdated = false;
  private readonly startedAt = performance.now();
  private readonly ready = Promise.withResolvers<void>();

  constructor(
    private readonly active: ActiveGenerationSelector<ReadModelRow>,
    private readonly parts: ReadModelLifecycleOptions,
  ) {}

  /** Resolves when the queried generation has contained all stored events once. */
  startReadModelLifecycle(): Promise<void> {
    this.runReadModelLifecycleStep();
    // Metrics are recorded outside of steps, because a step can wait for the document store.
    // All read models of the process read their pointers at the same times, with one read.
    this.stopTicks = runAtTicks(READ_MODEL_LIFECYCLE_STEP_INTERVAL_MS, () => {
      this.recordLagAndParkedStreamMetrics();
      this.runReadModelLifecycleStep();
    });
    return this.ready.promise;
  }

  /** Runs a step now. If a step is already running, another step follows it. */
  runReadModelLifecycleStep(): void {
    this.again = true;
    this.stepping ??= this.maintainGenerationsUntilNoneRequested().finally(() => {
      this.stepping = undefined;
      if (this.again && !this.stopped) this.runReadModelLifecycleStep();
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.stopTicks?.();
    this.ending.abort();
    await this.stepping;
    await this.sweeping;
    await Promise.all([...this.projections.keys()].map((generation) => this.stopProjecting(generation)));
  }

  /** Retries the parked streams for which an operator requested a retry. */
  retryRequestedParkedStreams(): void {
    for (const projection of this.projections.values()) projection.retryRequestedParkedStreams();
  }

  private async maintainGenerationsUntilNoneRequested(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        await this.maintainGenerations();
      } catch (error) {
        this.logFailedLifecycleStep(error);
      }
    }
  }

  /** Reports a failed step. The store is probably unavailable; the next step repeats the work. */
  private logFailedLifecycleStep(error: unknown): void {
    const { name } = this.active.model;
    this.parts.metrics.createSubscriptionMetrics(name).recordFailure();
    this.parts.logger.warn(
      { read_model: name, error: describeError(error) },
      'read model maintenance failed; retrying within a second',
    );
  }

  private async maintainGenerations(): Promise<void> {
    const now = await this.active.refreshGenerationPointer();
    const living = this.listProjectableGenerations(now);
    for (const generation of living) if (!this.projections.has(generation)) this.startProjecting(generation);
    for (const generation of [...this.projections.keys()]) {
      if (!living.includes(generation)) await this.stopProjecting(generation);
    }
    if (await this.parts.generations.replaceOutdatedGeneration(this.active.model, now)) this.again = true;
    await this.activateGenerationIfCaughtUp(now);
    await this.retireGenerationIfDue(now);
    this.dropOldGenerationsAfterChangeOrMinute(now);
    if (!this.isReady && (await this.active.isGenerationComplete(now.active))) {
      this.isReady = true;
      this.ready.resolve();
    }
  }

  /**
   * Returns the generations in use that this version can project. Processes of a later version project the generations
   * of that version.
   */
  private listProjectableGenerations(now: GenerationsDocument): readonly number[] {
    const living = [now.active, now.building, now.retiring].filter((generation) => generation !== null);
    if (now.model_version <= this.active.model.version) return living;
    if (!this.isOutdated) {
      const advice =
        'a later version of the program built this read model; to use this version, rebuild the read model';
      this.parts.logger.warn({ read_model: now.id }, advice);
    }
    this.isOutdated = true;
    return living.filter((generation) => generation !== getNewestGeneration(now));
  }

  /**
   * Activates the built generation once it is complete. While a previous generation is retiring, the built one waits.
   */
  private async activateGenerationIfCaughtUp(now: GenerationsDocument): Promise<void> {
    if (now.building === null || now.retiring !== null || !(await this.active.isGenerationComplete(now.building)))
      return;
    if (await this.parts.generations.activateBuiltGeneration(now)) {
      this.parts.logger.info(
        { read_model: now.id, generation: now.building },
        'the new generation of the read model is active',
      );
    }
    this.again = true;
  }

  private async retireGenerationIfDue(now: GenerationsDocument): Promise<void> {
    if (now.retiring === null) return;
    const since = this.replaced.get(now.retiring) ?? performance.now();
    this.replaced.set(now.retiring, since);
    const left = since + this.parts.graceMs - performance.now();
    if (left > 0) {
      if (left < READ_MODEL_LIFECYCLE_STEP_INTERVAL_MS)
        setTimeout(() => this.runReadModelLifecycleStep(), left).unref();
      return;
    }
    if (await this.parts.generations.clearRetiringGenerationInPointer(now)) this.replaced.delete(now.retiring);
    this.again = true;
  }

  /**
   * Drops old generations after every change of the pointer and once a minute, because a runner in another process may
   * write a row after a drop.
   */
  private dropOldGenerationsAfterChangeOrMinute(now: GenerationsDocument): void {
    this.steps += 1;
    if (now.version === this.sweptVersion && this.steps % LIFECYCLE_STEPS_PER_SWEEP !== 0) return;
    // Dropping runs outside of steps, because a large generation takes long and other steps are due meanwhile.
    this.sweeping ??= this.dropUnusedModelGenerations(now).finally(() => (this.sweeping = undefined));
  }

  private async dropUnusedModelGenerations(now: GenerationsDocument): Promise<void> {
    const { signal } = this.ending;
    try {
      await this.parts.generations.dropUnusedModelGenerations(this.active.model, now, signal);
      if (!signal.aborted) this.sweptVersion = now.version;
    } catch (error) {
      this.logFailedLifecycleStep(error);
    }
  }

  private recordLagAndParkedStreamMetrics(): void {
    const { metrics } = this.parts;
    const labels = { read_model: this.active.model.name };
    const { generation } = this.active.progress;
    const unknownForMs = generation === undefined ? performance.now() - this.startedAt : 0;
    const lagMs = this.projections.get(generation ?? 0)?.computeLagMs() ?? unknownForMs;
    metrics.lag.set(lagMs / 1_000, labels);
    const parked = [...this.projections.values()].reduce((sum, projection) => sum + projection.countParkedStreams(), 0);
    metrics.parked.set(parked, labels);
  }

  private startProjecting(generation: number): void {
    const projection = this.createSubscription(generation);
    this.projections.set(generation, projection);
    projection.start();
  }

  private createSubscription(generation: number): CatchUpSubscription | PartitionedSubscription {
    const { metrics, collections, partitions, ...parts } = this.parts;
    const { model } = this.active;
    const options = {
      ...parts,
      documentStore: collections.store,
      subscriber: { name: model.name, generation },
      metrics: metrics.createSubscriptionMetrics(model.name),
      listener: this.createSubscriptionListener(generation),
    };
    const cache = new RowCache(model, this.parts.cachedRows);
    if (partitions === undefined) {
      const createHandler = () => this.createProjector(generation, { cache });
      return new CatchUpSubscription({
        ...options,
        createHandler,
        partitions: [createPartitionOfStreamPrefixes([SHIPMENT_STREAM_PREFIX])],
      });
    }
    const { count, pollMs, canLeaveSinglePartition } = partitions;
    const writer = new RowWriter(() => this.active.openRowCollectionOfGeneration(generation));
    return new PartitionedSubscription({
      ...options,
      ...(pollMs !== undefined && { pollMs }),
      ...(canLeaveSinglePartition !== undefined && { canLeaveSinglePartition }),
      streamPrefix: SHIPMENT_STREAM_PREFIX,
      defaultPartitions: count,
      createHandler: () => this.createProjector(generation, { cache, writer }),
    });
  }

  private createSubscriptionListener(generation: number): PartitionProgressListener {
    const { projected } = this.parts;
    const { model, progress } = this.active;
    const describe = (partition: string, position: HandledPosition | undefined, held = true) => {
      return { read_model: model.name, generation, partition, position: position ?? null, held };
    };
    return {
      onAcquired: (partition, position) => {
        progress.addLocalPartition(generation, partition, position);
        projected.updatePartitionProgressAndNotifyFollowers(describe(partition, position));
      },
      onHandling: (partition, position) => {
        progress.recordPositionOfRowsBeingWritten(generation, partition, position);
        projected.recordStartOfEventHandling({ read_model: model.name, generation, partition });
      },
      onAdvanced: (partition, position, isIdle) => {
        progress.recordHandledPosition(generation, partition, position);
        if (isIdle) projected.recordProgressPastOtherPartitionsEvents(describe(partition, position));
        else projected.updatePartitionProgressAndNotifyFollowers(describe(partition, position));
      },
      onReleased: (partition) => {
        progress.removeLocalPartitionProgress(generation, partition);
        projected.updatePartitionProgressAndNotifyFollowers(describe(partition, undefined, false));
      },
      onCompleted: () => this.runReadModelLifecycleStep(),
    };
  }

  /** @param shared row cache and writer that all partitions of the generation share */
  private async createProjector(
    generation: number,
    shared: { readonly cache: RowCache; readonly writer?: RowWriter },
  ): Promise<EventHandler> {
    const { scopes } = this.parts;
    const { model } = this.active;
    const rows = await this.active.openRowCollectionOfGeneration(generation);
    const cache = shared.cache.createRowCacheOfLeaseTerm();
    const retainedSince = () => this.active.getRetentionStart();
    return new BatchProjector({ ...shared, model, rows, cache, scopes, retainedSince });
  }

  private async stopProjecting(generation: number): Promise<void> {
    const projection = this.projections.get(generation);
    this.projections.delete(generation);
    await projection?.stop();
  }
}
