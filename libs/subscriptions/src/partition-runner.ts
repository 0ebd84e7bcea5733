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
import { pause, retry } from '@tracking/resilience';
import { Checkpoint, type CheckpointDocument, CHECKPOINTS } from './checkpoint.ts';
import { describeError, PARKED, ParkedPartition, type ParkedStream } from './parked-streams.ts';
import type {
  EventFailure,
  EventHandler,
  HandledEvent,
  Partition,
  Subscriber,
  SubscriptionListener,
  SubscriptionMetrics,
} from './subscriber.ts';

export interface PartitionRunnerOptions {
  readonly subscriber: Subscriber;
  /**
   * Makes the handler for one term of the lease: nothing that it remembers outlives that.
   * @param lost aborts when another process may handle the partition: stop at once
   */
  readonly createHandler: (lost: AbortSignal) => Promise<EventHandler>;
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: SubscriptionMetrics;
  readonly listener?: SubscriptionListener;
  /** From one write of the checkpoint to the next, in milliseconds; none by default. */
  readonly checkpointIntervalMs?: number;
  /**
   * While events come in quickly, how long it lets more of them come before it goes on, in milliseconds; none by default.
   * Many events in a batch cost less each (ADR 0003).
   */
  readonly batchingDelayMs?: number;
}

/** Events that came while the batch before them was handled, from which on they come quickly. */
const BUSY_BATCH_SIZE = 8;

/** Events of a parked stream in memory at once. An event has up to 1 MB. */
const PARKED_EVENTS_PER_READ = 32;

/** The partition while this process holds its lease. */
interface HeldPartition {
  readonly checkpoint: Checkpoint;
  readonly handler: EventHandler;
  readonly parked: ParkedPartition;
  /** True once everything is handled that was stored when the lease began. No reader is further than that. */
  hasReachedStart: boolean;
  /** Aborts when the process stops or the lease is lost. */
  readonly ending: AbortSignal;
}

/**
 * Handles one partition whenever its lease is this process's, for as long as the process lives. Engines that do not
 * answer are waited for with the checkpoint unmoved; what cannot be handled is parked.
 */
export class PartitionRunner {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private held: HeldPartition | undefined;
  /** Ends when the last batch or retry that was asked for has: they run one after another. */
  private queue: Promise<void> = Promise.resolve();
  private waitingSince: number | undefined;

  constructor(
    private readonly parts: PartitionRunnerOptions,
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
    return this.held?.checkpoint.position;
  }

  get key(): string {
    return this.partition.key;
  }

  parkedCount(): number {
    return this.held?.parked.count ?? 0;
  }

  /** Tries these parked streams again, those of them that are in this runner's hands. Never rejects. */
  async retry(documents: readonly ParkedStream[]): Promise<void> {
    for (const { stream } of documents) {
      await this.runExclusively(async () => {
        const document = this.held?.parked.get(stream);
        // Before that, readers may be ahead of the place that its events would get. The caller asks again.
        if (!this.held?.hasReachedStart || document === undefined) return;
        const released = await this.retryParkedStream(document, this.held);
        this.parts.logger.info({ ...this.logFields, stream, released }, 'parked stream retried');
      }).catch(this.failed);
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // Resolves when the lease is lost. Rejects only when stopping, with the last failure, which is told already.
      await retry(() => this.runUnderLease(signal), { signal, onFailure: this.failed }).catch(() => undefined);
    }
  }

  private async runUnderLease(signal: AbortSignal): Promise<void> {
    const { name, generation } = this.parts.subscriber;
    const lease = await this.parts.leases.acquire(`${name}.g${generation}.${this.partition.key}`, signal);
    try {
      await this.handlePartition(lease);
    } finally {
      this.waitingSince = undefined;
      this.parts.listener?.onReleased(this.partition.key);
      await lease.release();
    }
  }

  private async handlePartition(lease: Lease): Promise<void> {
    const { eventStore, documentStore, clock, createHandler, listener, checkpointIntervalMs } = this.parts;
    const stopping = this.stopping.signal;
    const checkpoints = await documentStore.collection<CheckpointDocument>(CHECKPOINTS);
    const of = { ...this.logFields, epoch: lease.epoch };
    const checkpoint = await Checkpoint.claim(checkpoints, of, {
      signal: AbortSignal.any([stopping, lease.lost]),
      onFailure: this.failed,
      intervalMs: checkpointIntervalMs,
    });
    const lost = AbortSignal.any([lease.lost, checkpoint.superseded]);
    const ending = AbortSignal.any([stopping, lost]);
    const parked = await ParkedPartition.load(
      await documentStore.collection<ParkedStream>(PARKED),
      this.logFields,
      clock,
    );
    const held: HeldPartition = {
      checkpoint,
      handler: await createHandler(lost),
      parked,
      ending,
      hasReachedStart: false,
    };
    const end = await eventStore.head();

    this.held = held;
    listener?.onAcquired(this.partition.key, checkpoint.handledPosition);
    const parkedBefore = parked.all();
    let retries: Promise<void> | undefined;
    try {
      const isEmpty = !checkpoint.complete && end === undefined;
      if (isEmpty) await this.move(checkpoint, undefined, true);
      const { streamPrefixes } = this.partition;
      for await (const batch of eventStore.catchUp({ after: checkpoint.position, streamPrefixes, signal: ending })) {
        await this.runExclusively(() => this.advance(batch, held, end));
        // A newer version of the code may handle what an older one parked.
        if (held.hasReachedStart) retries ??= this.retry(parkedBefore);
        await this.waitForMoreEvents(batch, ending);
      }
      if (!ending.aborted) throw new Unavailable('event store', 'the catch-up ended');
    } finally {
      this.held = undefined;
      await Promise.all([checkpoint.flush(), retries]);
    }
  }

  /** Handles the batch and moves on behind it, before any retry has its turn. */
  private async advance(batch: EventBatch, held: HeldPartition, end: Position | undefined): Promise<void> {
    if (batch.events.length > 0) await this.handle(batch, held);
    held.hasReachedStart ||= batch.caughtUp || (end !== undefined && batch.position >= end);
    this.parts.listener?.onAdvanced(this.partition.key, batch.position);
    await this.move(held.checkpoint, batch.position, held.hasReachedStart);
  }

  /** Resolves when everything is done for the events, and the streams that failed are parked. */
  private async handle(batch: EventBatch, { handler, parked, ending }: HeldPartition): Promise<void> {
    const started = performance.now();
    const attempt = async () => {
      const waiting = batch.events.filter((event) => parked.get(event.stream) === undefined);
      for (const failure of await handler.handle(waiting, ending)) {
        await parked.park(failure, 1);
        this.logParked(failure);
      }
    };
    this.waitingSince = recordedAt(batch.events[0]);
    await retry(attempt, { signal: ending, onFailure: this.failed });
    this.waitingSince = batch.caughtUp ? undefined : recordedAt(batch.events[batch.events.length - 1]);
    this.parts.metrics.recordBatch(batch.events.length, (performance.now() - started) / 1_000);
  }

  private async waitForMoreEvents({ events, caughtUp }: EventBatch, ending: AbortSignal): Promise<void> {
    const { batchingDelayMs = 0 } = this.parts;
    if (batchingDelayMs > 0 && caughtUp && events.length >= BUSY_BATCH_SIZE) await pause(batchingDelayMs, ending);
  }

  private logParked({ event: { stream, revision, metadata }, error }: EventFailure): void {
    const about = { ...this.logFields, ...originFields(metadata), stream, revision };
    this.parts.logger.error({ ...about, error: describeError(error) }, 'a stream was parked: its later events wait');
  }

  /**
   * Handles the events of the stream that were left out so far, in places behind everything that was handled. An engine
   * that does not answer is waited for: its writes may still arrive, and must not do so behind readers.
   */
  private async retryParkedStream(document: ParkedStream, held: HeldPartition): Promise<boolean> {
    const { parked, ending, checkpoint } = held;
    const onFailure = this.failed;
    const isTransient = (error: unknown) => error instanceof Unavailable;
    for (let from = document.revision; ; from += PARKED_EVENTS_PER_READ) {
      const range = { from, to: from + PARKED_EVENTS_PER_READ - 1 };
      const read = () => this.parts.eventStore.read(document.stream, range);
      const stored = await retry(read, { signal: ending, onFailure, isTransient });
      const leftOut = stored.filter(({ position }) => position <= (checkpoint.position ?? ''));
      const events = leftOut.map((event) => ({ ...event, place: checkpoint.nextLatePosition() }));
      const isLast = events.length < PARKED_EVENTS_PER_READ;
      const attempt = async () => {
        const failure = await this.handleSkippedEvents(events, held);
        if (failure) await parked.park(failure, document.attempts + 1);
        else if (isLast) await parked.release(document);
        return failure;
      };
      const failure = await retry(attempt, { signal: ending, onFailure, isTransient });
      if (failure !== undefined || isLast) return failure === undefined;
    }
  }

  private async handleSkippedEvents(
    events: readonly HandledEvent[],
    held: HeldPartition,
  ): Promise<EventFailure | undefined> {
    const { handler, ending, checkpoint } = held;
    const [failure] = await handler.handle(events, ending);
    const handledPosition = events.at(-1)?.handledPosition;
    if (handledPosition !== undefined) {
      void checkpoint.moveToLatePosition(handledPosition);
      this.parts.listener?.onAdvanced(this.partition.key, handledPosition);
    }
    return failure;
  }

  /** Behind the work, but for the one move by which the partition becomes complete. */
  private async move(checkpoint: Checkpoint, position: Position | undefined, complete: boolean): Promise<void> {
    const completes = complete && !checkpoint.complete;
    const written = checkpoint.move(position, complete || checkpoint.complete);
    if (!completes) return;
    await written;
    this.parts.listener?.onCompleted(this.partition.key);
  }

  private runExclusively(action: () => Promise<void>): Promise<void> {
    const done = this.queue.then(action);
    this.queue = done.catch(() => undefined);
    return done;
  }

  private get logFields() {
    const { name, generation } = this.parts.subscriber;
    return { subscriber: name, generation, partition: this.partition.key };
  }

  private readonly failed = (error: unknown): void => {
    if (this.stopping.signal.aborted) return;
    this.parts.metrics.recordFailure();
    this.parts.logger.warn({ ...this.logFields, error: describeError(error) }, 'a subscriber waits, then tries again');
  };
}

function recordedAt(event: StoredEvent | undefined): number | undefined {
  const at = Date.parse(String(event?.metadata['recorded_at']));
  return Number.isNaN(at) ? undefined : at;
}
