import type {
  Collection,
  CollectionSpec,
  Document,
  DocumentStore,
  Position,
  DocumentReplacement,
  StoredEvent,
} from '@tracking/ports';
import { pauseFor, retry } from '@tracking/resilience';

/** Collection of checkpoints. Its durability is `derived`, because losing the latest checkpoint only repeats work. */
export const CHECKPOINTS_COLLECTION_SPEC: CollectionSpec = {
  name: 'subscription_checkpoints',
  indexes: [{ name: 'by_subscriber', fields: ['subscriber', 'generation'] }],
  durability: 'derived',
};
const CHECKPOINT_KEY_SEPARATOR = '.';
const LEASE_EPOCH_DIGITS = String(Number.MAX_SAFE_INTEGER).length;
const LATE_POSITION_NUMBER_DIGITS = 10;
/** A layout has fewer lease epochs than this number. */
const MAX_LEASE_EPOCHS_PER_LAYOUT = 1_000_000_000;
const DELETE_BATCH_SIZE = 500;

/** Checkpoint of one partition, for one generation of a subscriber. */
export interface CheckpointDocument extends Document {
  readonly subscriber: string;
  readonly generation: number;
  readonly partition: string;
  /** Position up to which all events are handled. */
  readonly position: Position | null;
  /**
   * Last late position that an event of a parked stream received since the checkpoint reached `position`; absent if
   * none did.
   */
  readonly late?: HandledPosition;
  /** True if the partition has once handled all events that were stored at that time. */
  readonly complete: boolean;
  /**
   * Epoch of the lease under which the checkpoint was written; {@link RETIRED_CHECKPOINT_EPOCH} after a change of the
   * partitions.
   */
  readonly epoch: number;
  /** Version of the partition layout that created the checkpoint; absent if no layout did. */
  readonly layout?: number;
  /**
   * Positions after `position` up to which the events of some streams are handled, because an earlier partition had
   * handled them; absent if there are none.
   */
  readonly ahead?: readonly HandledPositionOfPrefix[];
}

/** Position up to which the events of all streams with the prefix are handled. */
export interface HandledPositionOfPrefix {
  readonly prefix: string;
  readonly position: Position;
}

/** Epoch of a checkpoint that cannot be claimed any longer, because other partitions have replaced its partition. */
export const RETIRED_CHECKPOINT_EPOCH = Number.MAX_SAFE_INTEGER;

export function createCheckpointId(subscriber: string, generation: number, partition: string): string {
  return `${subscriber}/${generation}/${partition}`;
}

/** Returns true if the key of a partition contains the version of its layout, so that no other layout uses the key. */
export function doesPartitionKeyContainLayoutVersion(partition: string): boolean {
  return /^v\d+\./.test(partition);
}

/**
 * Replaces a stored checkpoint. Never creates it: a checkpoint that was deleted belongs to a replaced partition.
 * @returns false if a newer lease owner has claimed the checkpoint, or another layout has replaced or deleted it
 * @throws UnavailableError
 */
export function replaceCheckpoint(
  documents: Collection<CheckpointDocument>,
  document: CheckpointDocument,
): Promise<boolean> {
  const replacement = createCheckpointReplacement(document);
  return documents.replace(document, replacement.guard);
}

/** Returns the replacement of {@link replaceCheckpoint}. The document matches its guard. */
export function createCheckpointReplacement(document: CheckpointDocument): DocumentReplacement<CheckpointDocument> {
  const { epoch, layout = { exists: false } } = document;
  return { document, guard: { epoch: { lte: epoch }, layout } };
}

/** Returns the position up to which all events are handled; undefined before the first event. */
export function toHandledPosition({
  position,
  late,
}: Pick<CheckpointDocument, 'position' | 'late'>): HandledPosition | undefined {
  // A process of the previous version keeps `late` when it advances the position.
  return late !== undefined && late > (position ?? '') ? late : (position ?? undefined);
}

/** Error for a checkpoint that a process with a newer lease has claimed. */
export class CheckpointSupersededError extends Error {
  override readonly name = 'Superseded';
}

/** Writes the checkpoints of all partitions of a process together. */
interface CheckpointWriterOfAllPartitions {
  /** Replaces the stored checkpoint like {@link replaceCheckpoint}. @throws UnavailableError */
  replaceStoredCheckpoint(document: CheckpointDocument): Promise<boolean>;
  /** Calls the function at the next time at which moved checkpoints are written. */
  scheduleCheckpointWrite(write: () => void): void;
}

interface CheckpointOptions {
  /** Aborts the retries while an engine is unavailable. */
  readonly signal: AbortSignal;
  /** Receives the error of every failed write. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Milliseconds between writes; 0 by default, and ignored with a common writer. After a crash, the work since the last
   * write is repeated.
   */
  readonly intervalMs?: number | undefined;
  /** Writes the moves of many checkpoints together, every few seconds; by default, each is written by itself. */
  readonly writer?: CheckpointWriterOfAllPartitions | undefined;
}

/**
 * The checkpoint of one lease owner. {@link claimCheckpoint} makes the store refuse moves of earlier lease owners.
 * Moves are written in the background, one at a time; only the newest position is written. An outdated checkpoint only
 * causes repeated work after a crash.
 */
export class Checkpoint {
  private wanted: CheckpointDocument | undefined;
  /** Position of the newest move that the common writer will write later. */
  private scheduledTo: Position | undefined;
  private written: Promise<void> | undefined;
  private lateCount = 0;
  private readonly lost = new AbortController();
  private readonly flushing = new AbortController();
  /** Ends pauses between writes. One signal serves all pauses, because Node 20 keeps every result of `any`. */
  private readonly pauseEnd: AbortSignal;

  private constructor(
    private readonly documents: Collection<CheckpointDocument>,
    private document: CheckpointDocument,
    private readonly writing: CheckpointOptions,
  ) {
    this.pauseEnd = AbortSignal.any([this.flushing.signal, writing.signal]);
  }

  /** Claims the checkpoint for a new lease owner. @throws CheckpointSupersededError, UnavailableError */
  static async claimCheckpoint(
    documents: Collection<CheckpointDocument>,
    of: Pick<CheckpointDocument, 'subscriber' | 'generation' | 'partition' | 'epoch'>,
    writing: CheckpointOptions,
  ): Promise<Checkpoint> {
    const id = createCheckpointId(of.subscriber, of.generation, of.partition);
    // A layout creates the checkpoints of its partitions. A missing one was deleted, because others have replaced it.
    if (!doesPartitionKeyContainLayoutVersion(of.partition))
      await documents.insert({ id, ...of, position: null, complete: false });
    const claimed = await documents.claim({ filter: { id, epoch: { lte: of.epoch } } }, { epoch: of.epoch });
    if (!claimed)
      throw new CheckpointSupersededError(
        `${id}: epoch ${of.epoch} is not the newest; a newer lease holder has claimed the checkpoint`,
      );
    return new Checkpoint(documents, claimed, writing);
  }

  /** Number of the owner's lease term. Terms of later leases, and of leases of newer layouts, are greater. */
  get leaseTerm(): number {
    return computeLeaseTerm(this.document.layout, this.document.epoch);
  }

  get position(): Position | undefined {
    return this.scheduledTo ?? (this.wanted ?? this.document).position ?? undefined;
  }

  /** Position up to which all events are handled. */
  get handledPosition(): HandledPosition | undefined {
    return toHandledPosition(this.applyScheduledCheckpointMove());
  }

  get complete(): boolean {
    return (this.wanted ?? this.document).complete;
  }

  /** Aborts when the store refuses a move because a newer lease owner exists. */
  get superseded(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * Moves the checkpoint to a position. Call the method only when all events up to the position are handled. The
   * promise need not be awaited. A common writer writes the move later, unless it completes the partition.
   * @returns resolves when this or a later move is written or scheduled, or when writing has ended
   */
  moveCheckpointTo(position: Position | undefined, complete: boolean): Promise<void> {
    const { writer } = this.writing;
    if (writer === undefined || position === undefined || complete !== this.complete)
      return this.requestCheckpointWrite(this.createMovedCheckpointDocument(position, complete));
    if (this.lost.signal.aborted) return Promise.resolve();
    this.scheduledTo = position;
    writer.scheduleCheckpointWrite(this.writeWanted);
    return Promise.resolve();
  }

  /** Returns true if the event was handled before its partition was created. */
  wasEventHandledBeforePartitionCreation({ stream, position }: Pick<StoredEvent, 'stream' | 'position'>): boolean {
    const { ahead = [] } = this.document;
    return ahead.some((handled) => stream.startsWith(handled.prefix) && position <= handled.position);
  }

  private createMovedCheckpointDocument(position: Position | undefined, complete: boolean): CheckpointDocument {
    const { late = '', ahead = [], ...rest } = this.wanted ?? this.document;
    const left = ahead.filter((handled) => handled.position > (position ?? ''));
    const remaining = { ...(late > (position ?? '') && { late }), ...(left.length > 0 && { ahead: left }) };
    return { ...rest, position: position ?? null, complete, ...remaining };
  }

  private readonly writeWanted = (): void => {
    this.applyScheduledCheckpointMove();
    if (this.wanted !== undefined) void this.requestCheckpointWrite(this.wanted);
  };

  /** Returns the present document, with the scheduled move. */
  private applyScheduledCheckpointMove(): CheckpointDocument {
    if (this.scheduledTo !== undefined)
      this.wanted = this.createMovedCheckpointDocument(this.scheduledTo, this.complete);
    this.scheduledTo = undefined;
    return this.wanted ?? this.document;
  }

  /** Returns a position after all handled events, for the next event of a parked stream. */
  createPositionAfterHandledEvents(): HandledPosition {
    this.lateCount += 1;
    const { layout, partition } = this.document;
    const position = createPositionBetweenLogPositions(this.position ?? '', this.leaseTerm, this.lateCount);
    // Partitions of one layout can have the same position and epoch.
    return layout === undefined ? position : [position, partition].join(CHECKPOINT_KEY_SEPARATOR);
  }

  /**
   * Moves the checkpoint to a position from `createPositionAfterHandledEvents`, under the same conditions as
   * `moveCheckpointTo`.
   */
  moveCheckpointToRetriedEvent(late: HandledPosition): Promise<void> {
    return this.requestCheckpointWrite({ ...this.applyScheduledCheckpointMove(), late });
  }

  private requestCheckpointWrite(document: CheckpointDocument): Promise<void> {
    if (this.lost.signal.aborted) return Promise.resolve();
    this.wanted = document;
    this.scheduledTo = undefined;
    return (this.written ??= this.writeCheckpointDocument());
  }

  /** Resolves when all moves are written or writing has ended. Later moves are written without a pause. */
  async waitForWrites(): Promise<void> {
    this.flushing.abort();
    this.writeWanted();
    await this.written;
  }

  private async writeCheckpointDocument(): Promise<void> {
    try {
      while (this.wanted !== undefined && !this.lost.signal.aborted) await this.writeNextCheckpoint(this.wanted);
    } catch {
      // The engine is away and the work ends: the next holder repeats what was done since the checkpoint.
    } finally {
      // The reset directly follows the last check of `wanted`, so that a later move starts a new write.
      this.written = undefined;
    }
  }

  private async writeNextCheckpoint(next: CheckpointDocument): Promise<void> {
    const { intervalMs = 0, writer } = this.writing;
    const write = () => writer?.replaceStoredCheckpoint(next) ?? replaceCheckpoint(this.documents, next);
    if (!(await retry(write, this.writing))) return this.lost.abort();
    // The partition waits for the write that completes it.
    const isAwaited = next.complete && !this.document.complete;
    this.document = next;
    if (this.wanted === next) this.wanted = undefined;
    if (writer === undefined && intervalMs > 0 && !isAwaited) await pauseFor(intervalMs, this.pauseEnd);
  }
}

/**
 * Position of an event in the order in which a subscriber handled the events. It usually equals the log position. An
 * event of a parked stream has a position after all events handled before it, so that readers that are further ahead
 * still receive it. Handled positions compare as strings, also with log positions.
 */
export type HandledPosition = string;

/** Returns the number of a lease term. @param layout version of the partition layout; undefined if there is none */
export function computeLeaseTerm(layout: number | undefined, epoch: number): number {
  return (layout ?? 0) * MAX_LEASE_EPOCHS_PER_LAYOUT + epoch;
}

/**
 * Creates a late position between the log position and the next one.
 * @param leaseTerm later lease terms get later positions
 * @param number increases within the lease term
 */
function createPositionBetweenLogPositions(position: Position, leaseTerm: number, number: number): HandledPosition {
  const suffix = [
    String(leaseTerm).padStart(LEASE_EPOCH_DIGITS, '0'),
    String(number).padStart(LATE_POSITION_NUMBER_DIGITS, '0'),
  ];
  return [position, ...suffix].join(CHECKPOINT_KEY_SEPARATOR);
}

/** Returns the last log position that is not after the handled position. */
export function toLogPosition(place: HandledPosition): Position {
  const [position = place] = place.split(CHECKPOINT_KEY_SEPARATOR, 1);
  return position;
}

/** Returns a position at or after every late position of the log position, and before the next log position. */
export function toHandledPositionAfterLateEvents(position: Position): HandledPosition {
  return `${toLogPosition(position)}${CHECKPOINT_KEY_SEPARATOR}~`;
}

/**
 * Deletes the documents of earlier generations of a subscriber. No process uses these generations any longer.
 * @param spec `CHECKPOINTS_COLLECTION_SPEC` or `PARKED_STREAMS_COLLECTION_SPEC`
 * @throws UnavailableError
 */
export async function deleteEarlierGenerations(
  store: DocumentStore,
  spec: CollectionSpec,
  subscriber: string,
  generation: number,
): Promise<void> {
  const documents = await store.collection(spec);
  const earlier = { filter: { subscriber, generation: { lt: generation } }, limit: DELETE_BATCH_SIZE };
  for (let found = await documents.find(earlier); found.length > 0; found = await documents.find(earlier))
    await documents.writeMany(found.map(({ id }) => ({ kind: 'delete', id })));
}
