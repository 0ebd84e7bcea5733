import { UnavailableError, toOriginLogFields } from '@tracking/ports';
import type { EventBatch, EventStore, Lease, Position, StoredEvent } from '@tracking/ports';
import { pauseFor, retry } from '@tracking/resilience';
import { Checkpoint, CHECKPOINTS_COLLECTION_SPEC } from './checkpoint.ts';
import type { CheckpointDocument, HandledPosition } from './checkpoint.ts';
import { describeError, PARKED_STREAMS_COLLECTION_SPEC, ParkedStreamsOfPartition } from './parked-streams.ts';
import type { ParkedStream } from './parked-streams.ts';
import { mayPartitionBeReplaced } from './partition-layout.ts';
import {
  type EventFailure,
  type EventHandler,
  type HandledEvent,
  type StreamPartition,
  type PartitionRunnerOptions,
  formatPartitionLeaseName,
} from './subscriber.ts';

/** Number of events in a batch at which the runner waits for more events, because events arrive quickly. */
const MIN_EVENTS_OF_BUSY_BATCH = 8;

/** Maximum number of events of a parked stream that are in memory together. An event can have up to 1 MB. */
const PARKED_EVENTS_PER_READ = 32;

/** State of the partition while this process has its lease. */
interface LeasedPartition {
  readonly lease: Lease;
  readonly checkpoint: Checkpoint;
  readonly handler: EventHandler;
  readonly parked: ParkedStreamsOfPartition;
  /** Streams that were parked at the start of the lease. */
  readonly parkedBefore: readonly ParkedStream[];
  /** Retries of these streams; undefined until they begin. */
  retries?: Promise<void>;
  /** True if all events that were stored at the start of the lease are handled. No reader can have read further. */
  hasReachedStart: boolean;
  /** Aborts when the process stops, or the lease is lost or requested by another process. */
  readonly ending: AbortSignal;
  /** True if `ending` has aborted. Reading the signal itself for each event would take longer. */
  hasEnded: boolean;
}

/**
 * Handles one partition whenever this process has its lease. While an engine is unavailable, the runner waits and does
 * not move the checkpoint. It parks events that cannot be handled.
 */
export class PartitionRunner {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private held: LeasedPartition | undefined;
  /** Resolves when the last queued batch or retry ends. Batches and retries run one after another. */
  private queue: Promise<void> = Promise.resolve();
  /** Number of queued and running batches and retries. */
  private queued = 0;
  private waitingSince: number | undefined;

  constructor(
    private readonly parts: PartitionRunnerOptions,
    private readonly partition: StreamPartition,
    /** Reads the events until the partition has once handled all stored ones. */
    private readonly firstReads: Pick<EventStore, 'catchUp'>,
  ) {}

  start(): void {
    this.running ??= this.runPartitionUntilStopped();
  }

  /** Finishes the current batch, writes the checkpoint and releases the lease. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Returns the milliseconds since the oldest known waiting event was recorded; 0 if none waits. */
  computeLagMs(): number {
    return this.waitingSince === undefined ? 0 : Math.max(0, this.parts.clock().getTime() - this.waitingSince);
  }

  /** Position up to which this process has handled all events; undefined while it does not have the lease. */
  get position(): Position | undefined {
    return this.held?.checkpoint.position;
  }

  get key(): string {
    return this.partition.key;
  }

  countParkedStreams(): number {
    return this.held?.parked.count ?? 0;
  }

  /** Retries the parked streams if this runner has the lease of their partition. Never rejects. */
  async retryParkedStreams(documents: readonly ParkedStream[]): Promise<void> {
    for (const { stream } of documents) {
      await this.runExclusively(async () => {
        const document = this.held?.parked.findParkedStream(stream);
        // Before that point, readers may have read past the late positions of the events. The caller retries later.
        if (!this.held?.hasReachedStart || document === undefined) return;
        const released = await this.retryParkedStream(document, this.held);
        this.parts.logger.info({ ...this.logFields, stream, released }, 'a parked stream was retried');
      }).catch(this.failed);
    }
  }

  private async runPartitionUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // Resolves when the lease is lost. Rejects only while the runner stops; nothing then depends on the error.
      await retry(() => this.runPartitionUnderLease(signal), { signal, onFailure: this.failed }).catch(() => undefined);
    }
  }

  private async runPartitionUnderLease(signal: AbortSignal): Promise<void> {
    const leaseName = formatPartitionLeaseName(this.parts.subscriber, this.partition);
    const lease = await this.parts.leases.acquireLease(leaseName, signal);
    try {
      await this.handleEventsOfPartition(lease);
    } finally {
      this.waitingSince = undefined;
      this.parts.listener?.onReleased(this.partition.key);
      await lease.releaseLease();
    }
  }

  private async handleEventsOfPartition(lease: Lease): Promise<void> {
    const { eventStore, documentStore, clock, createHandler, listener } = this.parts;
    const stopping = this.stopping.signal;
    const checkpoints = await documentStore.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC);
    const of = { ...this.logFields, epoch: lease.epoch };
    const checkpoint = await Checkpoint.claimCheckpoint(checkpoints, of, {
      signal: AbortSignal.any([stopping, lease.lost]),
      onFailure: this.failed,
      intervalMs: this.parts.checkpointIntervalMs,
      writer: this.parts.checkpointWriter,
    });
    const lost = AbortSignal.any([lease.lost, checkpoint.superseded]);
    const ending = AbortSignal.any([stopping, lost, lease.handOverRequested]);
    const parked = await ParkedStreamsOfPartition.loadParkedStreamsOfPartition(
      await documentStore.collection<ParkedStream>(PARKED_STREAMS_COLLECTION_SPEC),
      { ...this.logFields, leaseTerm: checkpoint.leaseTerm, streamPrefixes: this.partition.streamPrefixes },
      clock,
    );
    const handler = await createHandler(lost);
    const parkedBefore = parked.listParkedStreams();
    const state = { hasReachedStart: false, hasEnded: ending.aborted };
    const held: LeasedPartition = { lease, checkpoint, handler, parked, parkedBefore, ending, ...state };
    ending.addEventListener('abort', () => (held.hasEnded = true), { once: true });
    const end = await eventStore.head();

    this.held = held;
    listener?.onAcquired(this.partition.key, checkpoint.handledPosition);
    try {
      if (!checkpoint.complete && end === undefined) await this.moveCheckpoint(checkpoint, undefined, true);
      const { streamPrefixes } = this.partition;
      const onSkipped = (position: Position) => this.moveCheckpointTo(position, held, end);
      const following = { after: checkpoint.position, streamPrefixes, signal: ending, onSkipped };
      const source = checkpoint.complete ? eventStore : this.firstReads;
      for await (const batch of source.catchUp(following)) {
        await this.runExclusively(() => this.handleBatchAndMoveCheckpoint(batch, held, end));
        await this.pauseToCollectEvents(batch, ending);
      }
      if (!ending.aborted) throw new UnavailableError('event store', 'the catch-up ended unexpectedly');
    } catch (error) {
      // The next owner handles a batch that a hand-over interrupts.
      if (!lease.handOverRequested.aborted) throw error;
    } finally {
      this.held = undefined;
      // The next owner of the lease must find the result of a retry that is still running.
      await Promise.all([this.queue, held.retries]);
      await checkpoint.waitForWrites();
    }
  }

  /** Moves the checkpoint over events of other partitions, but not while a retry determines late positions. */
  private moveCheckpointTo(position: Position, held: LeasedPartition, end: Position | undefined): void {
    if (this.held !== held || held.hasEnded) return;
    // The reader has handled all earlier batches, and knows no further event.
    this.waitingSince = undefined;
    if (this.queued === 0 && held.hasReachedStart && held.checkpoint.complete) {
      this.reportHandledPosition(held, position, true);
      void held.checkpoint.moveCheckpointTo(position, true);
    } else {
      const batch = { events: [], position, caughtUp: false };
      void this.runExclusively(() => this.handleBatchAndMoveCheckpoint(batch, held, end)).catch(this.failed);
    }
  }

  /** Handles the batch and moves the checkpoint before any retry runs. */
  private async handleBatchAndMoveCheckpoint(
    batch: EventBatch,
    held: LeasedPartition,
    end: Position | undefined,
  ): Promise<void> {
    if (batch.events.length > 0) await this.handleEventsOrParkFailedStreams(batch, held);
    else if (batch.caughtUp) this.waitingSince = undefined;
    held.hasReachedStart ||= batch.caughtUp || (end !== undefined && batch.position >= end);
    const { checkpoint, hasReachedStart, parkedBefore } = held;
    this.reportHandledPosition(held, batch.position, batch.events.length === 0);
    await this.moveCheckpoint(checkpoint, batch.position, hasReachedStart);
    // A newer version of the code may be able to handle streams that an older version parked.
    if (held.hasReachedStart) held.retries ??= this.retryParkedStreams(parkedBefore);
  }

  /** Resolves when all events are handled and failed streams are parked. */
  private async handleEventsOrParkFailedStreams(
    batch: EventBatch,
    { handler, parked, checkpoint, ending }: LeasedPartition,
  ): Promise<void> {
    const started = performance.now();
    const last = batch.events.at(-1);
    if (last !== undefined) this.parts.listener?.onHandling(this.partition.key, last.position);
    const attempt = async () => {
      const isWaiting = (event: StoredEvent) =>
        !parked.findParkedStream(event.stream) && !checkpoint.wasEventHandledBeforePartitionCreation(event);
      const waiting = batch.events.filter(isWaiting);
      for (const failure of await handler.handleEventBatchOfPartition(waiting, ending)) {
        await parked.parkStream(failure, 1);
        this.logParkedStream(failure);
      }
    };
    this.waitingSince = parseRecordedTime(batch.events[0]);
    await retry(attempt, { signal: ending, onFailure: (error) => (ending.aborted ? undefined : this.failed(error)) });
    this.waitingSince = batch.caughtUp ? undefined : parseRecordedTime(last);
    this.parts.metrics.observeBatchDuration(batch.events.length, (performance.now() - started) / 1_000);
  }

  private async pauseToCollectEvents({ events, caughtUp }: EventBatch, ending: AbortSignal): Promise<void> {
    const { batchingDelayMs = 0 } = this.parts;
    if (batchingDelayMs > 0 && caughtUp && events.length >= MIN_EVENTS_OF_BUSY_BATCH)
      await pauseFor(batchingDelayMs, ending);
  }

  private logParkedStream({ event: { stream, revision, metadata }, error }: EventFailure): void {
    const about = { ...this.logFields, ...toOriginLogFields(metadata), stream, revision };
    this.parts.logger.error(
      { ...about, error: describeError(error) },
      'a stream was parked after an event failed; fix the cause and retry the stream',
    );
  }

  /**
   * Handles the skipped events of a stream that is no longer parked. They get positions after all handled events. If an
   * engine is unavailable, the method waits for it, so that a pending write cannot arrive behind readers.
   */
  private async retryParkedStream(document: ParkedStream, held: LeasedPartition): Promise<boolean> {
    const { parked, ending, checkpoint } = held;
    const isTransient = (error: unknown) => error instanceof UnavailableError;
    for (let from = document.revision; ; from += PARKED_EVENTS_PER_READ) {
      const read = () => this.parts.eventStore.read(document.stream, { from, to: from + PARKED_EVENTS_PER_READ - 1 });
      const stored = await retry(read, { signal: ending, onFailure: this.failed, isTransient });
      const leftOut = stored.filter(({ position }) => position <= (checkpoint.position ?? ''));
      const events = leftOut.map((event) => ({
        ...event,
        handledPosition: checkpoint.createPositionAfterHandledEvents(),
      }));
      const isLast = events.length < PARKED_EVENTS_PER_READ;
      const attempt = async () => {
        const failure = await this.retrySkippedEventsOfParkedStream(events, held);
        if (failure) await parked.parkStream(failure, document.attempts + 1);
        else if (isLast) await parked.releaseParkedStream(document);
        return failure;
      };
      const failure = await retry(attempt, { signal: ending, onFailure: this.failed, isTransient });
      if (failure !== undefined || isLast) return failure === undefined;
    }
  }

  private async retrySkippedEventsOfParkedStream(
    events: readonly HandledEvent[],
    held: LeasedPartition,
  ): Promise<EventFailure | undefined> {
    const { handler, ending, checkpoint } = held;
    const [failure] = await handler.handleEventBatchOfPartition(events, ending);
    const handledPosition = events.at(-1)?.handledPosition;
    if (handledPosition !== undefined) {
      void checkpoint.moveCheckpointToRetriedEvent(handledPosition);
      this.reportHandledPosition(held, handledPosition, false);
    }
    return failure;
  }

  /**
   * Reports the position to the listener, unless another process may have the lease after a pause of this process. That
   * process may give events of parked streams earlier positions, which readers at this position would miss.
   */
  private reportHandledPosition({ lease, checkpoint }: LeasedPartition, place: HandledPosition, isIdle: boolean): void {
    // At the position of the checkpoint, events of parked streams may have later positions.
    if (place !== checkpoint.position && lease.isLeaseHeld())
      this.parts.listener?.onAdvanced(this.partition.key, place, isIdle);
  }

  /** Checkpoint moves are written in the background, except for the move that completes the partition. */
  private async moveCheckpoint(
    checkpoint: Checkpoint,
    position: Position | undefined,
    complete: boolean,
  ): Promise<void> {
    const completes = complete && !checkpoint.complete;
    const written = checkpoint.moveCheckpointTo(position, complete || checkpoint.complete);
    if (!completes) return;
    await written;
    this.parts.listener?.onCompleted(this.partition.key);
  }

  private runExclusively(action: () => Promise<void>): Promise<void> {
    this.queued += 1;
    const done = this.queue.then(action).finally(() => (this.queued -= 1));
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
    const level = mayPartitionBeReplaced(this.partition, error) ? 'info' : 'warn';
    const about = { ...this.logFields, error: describeError(error) };
    this.parts.logger[level](about, 'a subscriber cannot continue because of an error; retrying');
  };
}

function parseRecordedTime(event: StoredEvent | undefined): number | undefined {
  const at = Date.parse(String(event?.metadata['recorded_at']));
  // An imported event may be stored long after this time.
  return Number.isNaN(at) || event?.metadata['imported'] === true ? undefined : at;
}
