import { Unavailable } from '@tracking/ports';
import type { Clock, EventBatch, EventStore, Lease, Leases, Logger, Position, StoredEvent } from '@tracking/ports';
import type { Collections } from '../collections.ts';
import { rowsOf } from '../read-model.ts';
import type { Partition, ReadModel, Row } from '../read-model.ts';
import { BatchProjector } from './batch-projector.ts';
import { CHECKPOINTS, Checkpoint } from './checkpoint.ts';
import type { CheckpointDocument } from './checkpoint.ts';
import { PARKED, ParkedStreams, describe } from './parked-streams.ts';
import type { ParkedStream } from './parked-streams.ts';
import { persistently } from './persistently.ts';
import type { ProjectionMetrics } from './projection-metrics.ts';
import { RowCache } from './row-cache.ts';
import { StreamScopes } from './stream-scopes.ts';

export interface RunnerParts {
  readonly model: ReadModel;
  readonly generation: number;
  readonly partition: Partition;
  readonly eventStore: EventStore;
  readonly leases: Leases;
  readonly collections: Collections;
  readonly logger: Logger;
  readonly metrics: ProjectionMetrics;
  readonly clock: Clock;
  /** How many ordinary rows the cache holds. */
  readonly cachedRows: number;
}

/** Told as it happens, in this process. */
export interface RunnerListener {
  /** The partition is projected here from now on; everything up to the position is in the rows. */
  held(position: Position | undefined): void;
  /** Everything up to the position is in the rows, and reads see it. */
  advanced(position: Position): void;
  /** For the first time everything that there was is in the rows, and the checkpoint says so. */
  completed(): void;
  /** Whoever projects the partition now, it is not this process. */
  released(): void;
}

/**
 * Projects one partition of one generation whenever its lease is this process's, for as long as the process lives.
 * Engines that do not answer are waited for with the checkpoint unmoved; what cannot be applied is parked.
 */
export class PartitionRunner {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private holding: { readonly projector: BatchProjector; readonly parked: ParkedStreams } | undefined;
  /** Batches and retries, one after another. */
  private work: Promise<void> = Promise.resolve();
  private waitingSince: number | undefined;

  constructor(
    private readonly parts: RunnerParts,
    private readonly listener: RunnerListener,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Finishes the batch in hand, writes the checkpoint, hands the lease over. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Milliseconds since the oldest event known to be waiting was recorded; 0 when none is. */
  lagMs(): number {
    return this.waitingSince === undefined ? 0 : Math.max(0, this.parts.clock().getTime() - this.waitingSince);
  }

  parkedCount(): number {
    return this.holding?.parked.count ?? 0;
  }

  /** Tries these parked streams again, those of them that are in this runner's hands. Never rejects. */
  async retry(documents: readonly ParkedStream[]): Promise<void> {
    for (const { stream } of documents) {
      await this.exclusively(async () => {
        const { projector, parked } = this.holding ?? {};
        const document = parked?.get(stream);
        if (!projector || !document) return;
        const events = await this.parts.eventStore.read(stream, { from: document.revision });
        const released = await projector.retry(document, events);
        this.parts.logger.info({ ...this.named, stream, released }, 'parked stream tried again');
      }).catch(this.failed);
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // A turn ends without an error when the lease is lost, and with whatever was the last one when stopping.
      await persistently(() => this.takeTurn(signal), signal, this.failed).catch(() => undefined);
    }
  }

  private async takeTurn(signal: AbortSignal): Promise<void> {
    const { model, generation, partition, leases } = this.parts;
    const lease = await leases.acquire(`read-model.${model.name}.g${generation}.${partition.key}`, signal);
    try {
      await this.hold(lease);
    } finally {
      this.waitingSince = undefined;
      this.listener.released();
      await lease.release();
    }
  }

  private async hold(lease: Lease): Promise<void> {
    const { model, generation, partition, eventStore, collections, clock } = this.parts;
    const of = { read_model: model.name, generation, partition: partition.key };
    const ending = AbortSignal.any([this.stopping.signal, lease.lost]);
    const rows = await collections.open<Row>(rowsOf(model, generation));
    const checkpoints = await collections.open<CheckpointDocument>(CHECKPOINTS);
    const checkpoint = await Checkpoint.claim(checkpoints, { ...of, epoch: lease.epoch }, ending, this.failed);
    const parked = await ParkedStreams.load(await collections.open<ParkedStream>(PARKED), of);
    const cache = new RowCache<Row>(this.parts.cachedRows, (row) => model.weight?.(row) ?? 1);
    const scopes = new StreamScopes(eventStore);
    const projector = new BatchProjector({ model, ...of, rows, cache, parked, scopes, clock });
    const goal = checkpoint.complete ? undefined : await eventStore.head();

    this.holding = { projector, parked };
    this.listener.held(checkpoint.position);
    // What was parked by other code may well be applied by this one.
    const retries = this.retry(parked.all());
    try {
      const isEmpty = !checkpoint.complete && goal === undefined;
      if (isEmpty) await this.move(checkpoint, undefined, true);
      const signal = AbortSignal.any([ending, checkpoint.superseded]);
      const { streamPrefixes } = partition;
      for await (const batch of eventStore.catchUp({ after: checkpoint.position, streamPrefixes, signal })) {
        if (batch.events.length > 0) await this.project(batch, projector, signal);
        this.listener.advanced(batch.position);
        await this.move(checkpoint, batch.position, batch.caughtUp || (goal !== undefined && batch.position >= goal));
      }
      if (!signal.aborted) throw new Unavailable('event store', 'the catch-up ended');
    } finally {
      this.holding = undefined;
      await Promise.all([checkpoint.flush(), retries]);
    }
  }

  private async project(batch: EventBatch, projector: BatchProjector, signal: AbortSignal): Promise<void> {
    const { metrics, model } = this.parts;
    const labels = { read_model: model.name };
    const started = performance.now();
    this.waitingSince = recordedAt(batch.events[0]);
    await this.exclusively(() => persistently(() => projector.project(batch.events), signal, this.failed));
    this.waitingSince = batch.caughtUp ? undefined : recordedAt(batch.events[batch.events.length - 1]);
    metrics.projected.add(batch.events.length, labels);
    metrics.batch.observe((performance.now() - started) / 1_000, labels);
  }

  /** Behind the work, but for the one move by which the partition becomes complete. */
  private async move(checkpoint: Checkpoint, position: Position | undefined, complete: boolean): Promise<void> {
    const completes = complete && !checkpoint.complete;
    const written = checkpoint.move(position, complete || checkpoint.complete);
    if (!completes) return;
    await written;
    this.listener.completed();
  }

  private exclusively(action: () => Promise<void>): Promise<void> {
    const done = this.work.then(action);
    this.work = done.catch(() => undefined);
    return done;
  }

  private get named(): object {
    const { model, generation, partition } = this.parts;
    return { read_model: model.name, generation, partition: partition.key };
  }

  private readonly failed = (error: unknown): void => {
    if (this.stopping.signal.aborted) return;
    this.parts.metrics.failures.add(1, { read_model: this.parts.model.name });
    this.parts.logger.warn({ ...this.named, error: describe(error) }, 'projection waits, then tries again');
  };
}

function recordedAt(event: StoredEvent | undefined): number | undefined {
  const at = Date.parse(String(event?.metadata['recorded_at']));
  return Number.isNaN(at) ? undefined : at;
}
