import { Unavailable, originFields } from '@tracking/ports';
import type {
  Clock,
  DocumentStore,
  EventBatch,
  EventStore,
  Lease,
  Leases,
  Logger,
  Position,
  StoredEvent,
} from '@tracking/ports';
import { CHECKPOINTS, Checkpoint } from './checkpoint.ts';
import type { CheckpointDocument } from './checkpoint.ts';
import { PARKED, ParkedStreams, describe } from './parked-streams.ts';
import type { ParkedStream } from './parked-streams.ts';
import { persistently } from './persistently.ts';
import type { Failure, Partition, Subscriber, SubscriptionListener, SubscriptionMetrics, Work } from './subscriber.ts';

export interface RunnerParts {
  readonly subscriber: Subscriber;
  /**
   * A turn begins: nothing that the work remembers outlives the lease.
   * @param lost aborts when somebody else may be at work on the partition: stop at once
   */
  readonly begin: (lost: AbortSignal) => Promise<Work>;
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: SubscriptionMetrics;
  readonly listener?: SubscriptionListener;
  /** From one write of the checkpoint to the next, in milliseconds; none by default. */
  readonly checkpointRestMs?: number;
}

interface Turn {
  readonly checkpoint: Checkpoint;
  readonly work: Work;
  readonly parked: ParkedStreams;
  readonly ending: AbortSignal;
}

/**
 * Handles one partition whenever its lease is this process's, for as long as the process lives. Engines that do not
 * answer are waited for with the checkpoint unmoved; what cannot be handled is parked.
 */
export class PartitionRunner {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private turn: Turn | undefined;
  /** Batches and retries, one after another. */
  private work: Promise<void> = Promise.resolve();
  private waitingSince: number | undefined;

  constructor(
    private readonly parts: RunnerParts,
    private readonly partition: Partition,
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

  /** Everything up to here is done, in this process; undefined where the partition is not in its hands. */
  get position(): Position | undefined {
    return this.turn?.checkpoint.position;
  }

  get key(): string {
    return this.partition.key;
  }

  parkedCount(): number {
    return this.turn?.parked.count ?? 0;
  }

  /** Tries these parked streams again, those of them that are in this runner's hands. Never rejects. */
  async retry(documents: readonly ParkedStream[]): Promise<void> {
    for (const { stream } of documents) {
      await this.exclusively(async () => {
        const document = this.turn?.parked.get(stream);
        if (this.turn === undefined || document === undefined) return;
        const released = await this.retryOne(document, this.turn);
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
    const { name, generation } = this.parts.subscriber;
    const lease = await this.parts.leases.acquire(`${name}.g${generation}.${this.partition.key}`, signal);
    try {
      await this.hold(lease);
    } finally {
      this.waitingSince = undefined;
      this.parts.listener?.released(this.partition.key);
      await lease.release();
    }
  }

  private async hold(lease: Lease): Promise<void> {
    const { eventStore, documentStore, clock, begin, listener, checkpointRestMs } = this.parts;
    const stopping = this.stopping.signal;
    const checkpoints = await documentStore.collection<CheckpointDocument>(CHECKPOINTS);
    const of = { ...this.named, epoch: lease.epoch };
    const patience = AbortSignal.any([stopping, lease.lost]);
    const checkpoint = await Checkpoint.claim(checkpoints, of, patience, this.failed, checkpointRestMs);
    const lost = AbortSignal.any([lease.lost, checkpoint.superseded]);
    const ending = AbortSignal.any([stopping, lost]);
    const parked = await ParkedStreams.load(await documentStore.collection<ParkedStream>(PARKED), this.named, clock);
    const turn: Turn = { checkpoint, work: await begin(lost), parked, ending };
    const goal = checkpoint.complete ? undefined : await eventStore.head();

    this.turn = turn;
    listener?.held(this.partition.key, checkpoint.position);
    // What was parked by other code may well be handled by this one.
    const retries = this.retry(parked.all());
    try {
      const isEmpty = !checkpoint.complete && goal === undefined;
      if (isEmpty) await this.move(checkpoint, undefined, true);
      const { streamPrefixes } = this.partition;
      for await (const batch of eventStore.catchUp({ after: checkpoint.position, streamPrefixes, signal: ending })) {
        if (batch.events.length > 0) await this.handle(batch, turn);
        listener?.advanced(this.partition.key, batch.position);
        await this.move(checkpoint, batch.position, batch.caughtUp || (goal !== undefined && batch.position >= goal));
      }
      if (!ending.aborted) throw new Unavailable('event store', 'the catch-up ended');
    } finally {
      this.turn = undefined;
      await Promise.all([checkpoint.flush(), retries]);
    }
  }

  /** Resolves when everything is done for the events, and the streams that failed are parked. */
  private async handle(batch: EventBatch, { work, parked, ending }: Turn): Promise<void> {
    const started = performance.now();
    const attempt = async () => {
      const waiting = batch.events.filter((event) => parked.get(event.stream) === undefined);
      for (const failure of await work.handle(waiting, ending)) {
        await parked.park(failure, 1);
        this.tellParked(failure);
      }
    };
    this.waitingSince = recordedAt(batch.events[0]);
    await this.exclusively(() => persistently(attempt, ending, this.failed));
    this.waitingSince = batch.caughtUp ? undefined : recordedAt(batch.events[batch.events.length - 1]);
    this.parts.metrics.handled(batch.events.length, (performance.now() - started) / 1_000);
  }

  private tellParked({ event: { stream, revision, metadata }, error }: Failure): void {
    const about = { ...this.named, ...originFields(metadata), stream, revision };
    this.parts.logger.error({ ...about, error: describe(error) }, 'a stream was parked: its later events wait');
  }

  /**
   * The stream's events from the one that failed to its end as it is now; those that the catch-up still holds are
   * recognised by the work.
   */
  private async retryOne(document: ParkedStream, { work, parked, ending }: Turn): Promise<boolean> {
    const events = await this.parts.eventStore.read(document.stream, { from: document.revision });
    const [failure] = await work.handle(events, ending);
    if (failure) await parked.park(failure, document.attempts + 1);
    else await parked.release(document);
    return !failure;
  }

  /** Behind the work, but for the one move by which the partition becomes complete. */
  private async move(checkpoint: Checkpoint, position: Position | undefined, complete: boolean): Promise<void> {
    const completes = complete && !checkpoint.complete;
    const written = checkpoint.move(position, complete || checkpoint.complete);
    if (!completes) return;
    await written;
    this.parts.listener?.completed(this.partition.key);
  }

  private exclusively(action: () => Promise<void>): Promise<void> {
    const done = this.work.then(action);
    this.work = done.catch(() => undefined);
    return done;
  }

  private get named() {
    const { name, generation } = this.parts.subscriber;
    return { subscriber: name, generation, partition: this.partition.key };
  }

  private readonly failed = (error: unknown): void => {
    if (this.stopping.signal.aborted) return;
    this.parts.metrics.failed();
    this.parts.logger.warn({ ...this.named, error: describe(error) }, 'a subscriber waits, then tries again');
  };
}

function recordedAt(event: StoredEvent | undefined): number | undefined {
  const at = Date.parse(String(event?.metadata['recorded_at']));
  return Number.isNaN(at) ? undefined : at;
}
