import type { Clock, EventStore, Leases, Logger, Position } from '@tracking/ports';
import type { ActiveRows } from './active-rows.ts';
import type { Collections } from './collections.ts';
import type { Generations, GenerationsDocument } from './generations.ts';
import { PARKED, describe } from './projection/parked-streams.ts';
import type { ParkedStream } from './projection/parked-streams.ts';
import { PartitionRunner } from './projection/partition-runner.ts';
import type { ProjectionMetrics } from './projection/projection-metrics.ts';
import type { Partition, Row } from './read-model.ts';

export interface LifecycleParts {
  readonly partitions: readonly Partition[];
  readonly collections: Collections;
  readonly generations: Generations;
  readonly eventStore: EventStore;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly metrics: ProjectionMetrics;
  readonly clock: Clock;
  /** Rows that each partition's runner keeps in memory. */
  readonly cachedRows: number;
  /** How long a replaced generation is projected on. */
  readonly graceMs: number;
}

/** What another process asked for is noticed within this time. */
const STEP_MS = 1_000;
const STEPS_PER_SWEEP = 60;
const RETRIES_AT_ONCE = 100;

/**
 * The projecting of one read model in one process. Each step looks at the pointer and does what is due: starts and stops
 * runners, swaps, drops. Any number of processes step side by side, since every change is a guarded write, and after a
 * crash the next step goes on from what is stored.
 */
export class Lifecycle {
  private readonly runners = new Map<number, readonly PartitionRunner[]>();
  private readonly replaced = new Map<number, number>();
  private timer: NodeJS.Timeout | undefined;
  private stepping: Promise<void> | undefined;
  private again = false;
  private steps = 0;
  private sweptVersion = 0;
  private retrying: Promise<unknown> | undefined;
  private stopped = false;
  private isReady = false;
  private readonly ready = Promise.withResolvers<void>();

  constructor(
    private readonly active: ActiveRows<Row>,
    private readonly parts: LifecycleParts,
  ) {}

  /** Resolves when what is queried has once been complete. */
  start(): Promise<void> {
    this.nudge();
    this.timer = setInterval(() => this.nudge(), STEP_MS);
    return this.ready.promise;
  }

  /** Does what is due now, and once more if asked meanwhile. */
  nudge(): void {
    this.again = true;
    this.stepping ??= this.stepWhileAsked().finally(() => {
      this.stepping = undefined;
      if (this.again && !this.stopped) this.nudge();
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.stepping;
    await Promise.all([...this.runners.keys()].map((generation) => this.stopRunners(generation)));
  }

  private async stepWhileAsked(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      this.measure();
      try {
        await this.step();
      } catch (error) {
        // The store is away: everything is still due at the next step.
        this.parts.logger.warn(
          { read_model: this.active.model.name, error: describe(error) },
          'read model step failed',
        );
      }
    }
  }

  private async step(): Promise<void> {
    const now = await this.active.refresh();
    const living = [now.active, now.building, now.retiring].filter((generation) => generation !== null);
    for (const generation of living) if (!this.runners.has(generation)) this.startRunners(generation);
    for (const generation of [...this.runners.keys()]) {
      if (!living.includes(generation)) await this.stopRunners(generation);
    }
    await this.swapIfDue(now);
    await this.retireIfDue(now);
    await this.sweepIfDue(now);
    await this.retryParked();
    if (!this.isReady && (await this.active.isComplete(now.active))) {
      this.isReady = true;
      this.ready.resolve();
    }
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
      if (left < STEP_MS) setTimeout(() => this.nudge(), left).unref();
      return;
    }
    if (await this.parts.generations.retire(now)) this.replaced.delete(now.retiring);
    this.again = true;
  }

  /** After every change of the pointer, and now and then: a runner elsewhere may have written a last row after a drop. */
  private async sweepIfDue(now: GenerationsDocument): Promise<void> {
    this.steps += 1;
    if (now.version === this.sweptVersion && this.steps % STEPS_PER_SWEEP !== 0) return;
    await this.parts.generations.sweep(this.active.model, now);
    this.sweptVersion = now.version;
  }

  /** Those that were asked for; the runner that holds the stream does it, behind the step. */
  private async retryParked(): Promise<void> {
    if (this.retrying) return;
    const documents = await this.parts.collections.open<ParkedStream>(PARKED);
    const filter = { read_model: this.active.model.name, retry: true };
    const asked = await documents.find({ filter, limit: RETRIES_AT_ONCE });
    if (asked.length === 0) return;
    const runners = [...this.runners].flatMap(([generation, ofGeneration]) => {
      const theirs = asked.filter((document) => document.generation === generation);
      return ofGeneration.map((runner) => runner.retry(theirs));
    });
    this.retrying = Promise.all(runners).finally(() => (this.retrying = undefined));
  }

  private measure(): void {
    const labels = { read_model: this.active.model.name };
    const queried = this.runners.get(this.active.progress.generation ?? 0) ?? [];
    this.parts.metrics.lag.set(Math.max(0, ...queried.map((runner) => runner.lagMs())) / 1_000, labels);
    const parked = [...this.runners.values()].flat().map((runner) => runner.parkedCount());
    this.parts.metrics.parked.set(
      parked.reduce((sum, count) => sum + count, 0),
      labels,
    );
  }

  private startRunners(generation: number): void {
    const { partitions } = this.parts;
    const { model, progress } = this.active;
    const runners = partitions.map((partition) => {
      const { key } = partition;
      return new PartitionRunner(
        { ...this.parts, model, generation, partition },
        {
          held: (position: Position | undefined) => progress.held(generation, key, position),
          advanced: (position: Position) => progress.advanced(generation, key, position),
          released: () => progress.released(generation, key),
          completed: () => this.nudge(),
        },
      );
    });
    this.runners.set(generation, runners);
    for (const runner of runners) runner.start();
  }

  private async stopRunners(generation: number): Promise<void> {
    const runners = this.runners.get(generation) ?? [];
    this.runners.delete(generation);
    await Promise.all(runners.map((runner) => runner.stop()));
  }
}
