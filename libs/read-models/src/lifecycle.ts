import type { Clock, EventStore, Leases, Logger } from '@tracking/ports';
import { CatchUpSubscription, type EventHandler, type Partition, describeError } from '@tracking/subscriptions';
import { LRUCache } from 'lru-cache';
import type { ActiveRows } from './active-rows.ts';
import type { Collections, ReadModelRow } from './read-model.ts';
import { type Generations, type GenerationsDocument, newestGeneration } from './generations.ts';
import { BatchProjector, type ProjectionMetrics, type StreamScopes } from './batch-projector.ts';

export interface LifecycleOptions {
  readonly partitions: readonly Partition[];
  readonly collections: Collections;
  readonly generations: Generations;
  readonly eventStore: EventStore;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly metrics: ProjectionMetrics;
  readonly clock: Clock;
  /** Ordinary rows that are kept in memory for each partition. */
  readonly cachedRows: number;
  /** Of all read models of the process: whose a stream is never changes. */
  readonly scopes: StreamScopes;
  /** How long a replaced generation is projected on. */
  readonly graceMs: number;
  readonly checkpointIntervalMs?: number;
  readonly gatherMs?: number;
}

/** What another process asked for is noticed within this time. */
const STEP_INTERVAL_MS = 1_000;
const STEPS_PER_SWEEP = 60;

/**
 * The projecting of one read model in one process. Each step looks at the pointer and does what is due: starts and stops
 * projecting generations, swaps, drops. Any number of processes step side by side, since every change is a guarded write,
 * and after a crash the next step goes on from what is stored.
 */
export class Lifecycle {
  private readonly projections = new Map<number, CatchUpSubscription>();
  private readonly replaced = new Map<number, number>();
  private timer: NodeJS.Timeout | undefined;
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
    private readonly active: ActiveRows<ReadModelRow>,
    private readonly parts: LifecycleOptions,
  ) {}

  /** Resolves when what is queried has once been complete. */
  start(): Promise<void> {
    this.wake();
    // Not in a step, which may wait for its store.
    this.timer = setInterval(() => {
      this.measure();
      this.wake();
    }, STEP_INTERVAL_MS);
    return this.ready.promise;
  }

  /** Does what is due now, and once more if asked meanwhile. */
  wake(): void {
    this.again = true;
    this.stepping ??= this.stepUntilIdle().finally(() => {
      this.stepping = undefined;
      if (this.again && !this.stopped) this.wake();
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    this.ending.abort();
    await this.stepping;
    await this.sweeping;
    await Promise.all([...this.projections.keys()].map((generation) => this.stopProjecting(generation)));
  }

  /** Parked streams of which another attempt was asked for are tried now. */
  retryParked(): void {
    for (const projection of this.projections.values()) projection.retryParked();
  }

  private async stepUntilIdle(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        await this.step();
      } catch (error) {
        this.reportFailure(error);
      }
    }
  }

  /** The store is away: everything is still due at the next step. */
  private reportFailure(error: unknown): void {
    const { name } = this.active.model;
    this.parts.metrics.of(name).recordFailure();
    this.parts.logger.warn({ read_model: name, error: describeError(error) }, 'read model step failed');
  }

  private async step(): Promise<void> {
    const now = await this.active.refresh();
    const living = this.projectableGenerations(now);
    for (const generation of living) if (!this.projections.has(generation)) this.startProjecting(generation);
    for (const generation of [...this.projections.keys()]) {
      if (!living.includes(generation)) await this.stopProjecting(generation);
    }
    if (await this.parts.generations.renew(this.active.model, now)) this.again = true;
    await this.swapIfDue(now);
    await this.retireIfDue(now);
    this.sweepIfDue(now);
    if (!this.isReady && (await this.active.isComplete(now.active))) {
      this.isReady = true;
      this.ready.resolve();
    }
  }

  /** What this version of the code must leave alone, processes of a later one project. */
  private projectableGenerations(now: GenerationsDocument): readonly number[] {
    const living = [now.active, now.building, now.retiring].filter((generation) => generation !== null);
    if (now.model_version <= this.active.model.version) return living;
    if (!this.isOutdated) {
      const advice = 'this read model is made by a later version of the program; to go back to this one, rebuild it';
      this.parts.logger.warn({ read_model: now.id }, advice);
    }
    this.isOutdated = true;
    return living.filter((generation) => generation !== newestGeneration(now));
  }

  /** One at a time: while a generation retires, the built one waits. */
  private async swapIfDue(now: GenerationsDocument): Promise<void> {
    if (now.building === null || now.retiring !== null || !(await this.active.isComplete(now.building))) return;
    if (await this.parts.generations.swap(now)) {
      this.parts.logger.info({ read_model: now.id, generation: now.building }, 'read model generation swapped');
    }
    this.again = true;
  }

  private async retireIfDue(now: GenerationsDocument): Promise<void> {
    if (now.retiring === null) return;
    const since = this.replaced.get(now.retiring) ?? performance.now();
    this.replaced.set(now.retiring, since);
    const left = since + this.parts.graceMs - performance.now();
    if (left > 0) {
      if (left < STEP_INTERVAL_MS) setTimeout(() => this.wake(), left).unref();
      return;
    }
    if (await this.parts.generations.retire(now)) this.replaced.delete(now.retiring);
    this.again = true;
  }

  /** After every change of the pointer, and now and then: a runner elsewhere may have written a last row after a drop. */
  private sweepIfDue(now: GenerationsDocument): void {
    this.steps += 1;
    if (now.version === this.sweptVersion && this.steps % STEPS_PER_SWEEP !== 0) return;
    // Not part of the step: other steps are due while a large generation is dropped in pieces.
    this.sweeping ??= this.sweep(now).finally(() => (this.sweeping = undefined));
  }

  private async sweep(now: GenerationsDocument): Promise<void> {
    const { signal } = this.ending;
    try {
      await this.parts.generations.sweep(this.active.model, now, signal);
      if (!signal.aborted) this.sweptVersion = now.version;
    } catch (error) {
      this.reportFailure(error);
    }
  }

  private measure(): void {
    const { metrics } = this.parts;
    const labels = { read_model: this.active.model.name };
    const { generation } = this.active.progress;
    const unknownForMs = generation === undefined ? performance.now() - this.startedAt : 0;
    const lagMs = this.projections.get(generation ?? 0)?.lagMs() ?? unknownForMs;
    metrics.lag.set(lagMs / 1_000, labels);
    const parked = [...this.projections.values()].reduce((sum, projection) => sum + projection.parkedCount(), 0);
    metrics.parked.set(parked, labels);
  }

  private startProjecting(generation: number): void {
    const { metrics, collections } = this.parts;
    const { model, progress } = this.active;
    const projection = new CatchUpSubscription({
      ...this.parts,
      documentStore: collections.store,
      subscriber: { name: model.name, generation },
      createHandler: () => this.createProjector(generation),
      metrics: metrics.of(model.name),
      listener: {
        onAcquired: (partition, position) => progress.addLocalPartition(generation, partition, position),
        onAdvanced: (partition, position) => progress.advance(generation, partition, position),
        onReleased: (partition) => progress.removeLocalPartition(generation, partition),
        onCompleted: () => this.wake(),
      },
    });
    this.projections.set(generation, projection);
    projection.start();
  }

  private async createProjector(generation: number): Promise<EventHandler> {
    const { scopes, cachedRows } = this.parts;
    const { model } = this.active;
    const rows = await this.active.rowsOfGeneration(generation);
    const sizeCalculation = (row: ReadModelRow) => model.weight?.(row) ?? 1;
    const cache = new LRUCache<string, ReadModelRow>({ maxSize: cachedRows, sizeCalculation });
    const keptSince = () => this.active.keptSince();
    return new BatchProjector({ model, rows, cache, scopes, keptSince });
  }

  private async stopProjecting(generation: number): Promise<void> {
    const projection = this.projections.get(generation);
    this.projections.delete(generation);
    await projection?.stop();
  }
}
