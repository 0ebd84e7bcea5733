import type { Collection, CollectionSpec, Document, DocumentStore, Position } from '@tracking/ports';
import { pause, retry } from '@tracking/resilience';

/** Derived durability, because losing the latest checkpoint only repeats work. */
export const CHECKPOINTS: CollectionSpec = {
  name: 'subscription_checkpoints',
  indexes: [{ name: 'by_subscriber', fields: ['subscriber', 'generation'] }],
  durability: 'derived',
};
const KEY_SEPARATOR = '.';
const EPOCH_DIGITS = String(Number.MAX_SAFE_INTEGER).length;
const LATE_NUMBER_DIGITS = 10;
const DELETE_BATCH_SIZE = 500;

/** Progress of one partition of one generation of a subscriber. */
export interface CheckpointDocument extends Document {
  readonly subscriber: string;
  readonly generation: number;
  readonly partition: string;
  /** Position up to which all events are handled. */
  readonly position: Position | null;
  /** Last late position assigned to an event of a parked stream since `position` was reached; absent if none. */
  readonly late?: HandledPosition;
  /** True if all events stored at some time have been handled once. */
  readonly complete: boolean;
  /** Epoch of the lease under which the checkpoint was written. */
  readonly epoch: number;
}

export function checkpointId(subscriber: string, generation: number, partition: string): string {
  return `${subscriber}/${generation}/${partition}`;
}

/** Returns the position up to which all events are handled; undefined before the first event. */
export function toHandledPosition({
  position,
  late,
}: Pick<CheckpointDocument, 'position' | 'late'>): HandledPosition | undefined {
  // A process of the previous version keeps `late` when it advances the position.
  return late !== undefined && late > (position ?? '') ? late : (position ?? undefined);
}

/** A newer holder of the lease has claimed the checkpoint. */
export class CheckpointSuperseded extends Error {
  override readonly name = 'CheckpointSuperseded';
}

interface CheckpointOptions {
  /** Ends the retries with an unavailable engine. */
  readonly signal: AbortSignal;
  /** Called for every failed write. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds between writes; 0 by default. A crash repeats the work of this time. */
  readonly intervalMs?: number | undefined;
}

/**
 * The checkpoint of one lease holder. After `claim`, moves of earlier holders are refused, and after a newer claim also
 * those of this one. Moves are written in the background, one at a time, and only the newest position. An outdated
 * checkpoint only repeats work after a crash.
 */
export class Checkpoint {
  private wanted: CheckpointDocument | undefined;
  private written: Promise<void> | undefined;
  private lateCount = 0;
  private readonly lost = new AbortController();
  private readonly flushing = new AbortController();

  private constructor(
    private readonly documents: Collection<CheckpointDocument>,
    private document: CheckpointDocument,
    private readonly writing: CheckpointOptions,
  ) {}

  /** Claims the checkpoint for a new lease holder. @throws CheckpointSuperseded, Unavailable */
  static async claim(
    documents: Collection<CheckpointDocument>,
    of: Pick<CheckpointDocument, 'subscriber' | 'generation' | 'partition' | 'epoch'>,
    writing: CheckpointOptions,
  ): Promise<Checkpoint> {
    const id = checkpointId(of.subscriber, of.generation, of.partition);
    await documents.insert({ id, ...of, position: null, complete: false });
    const claimed = await documents.claim({ filter: { id, epoch: { lte: of.epoch } } }, { epoch: of.epoch });
    if (!claimed)
      throw new CheckpointSuperseded(
        `${id}: epoch ${of.epoch} is not the newest; a newer lease holder has claimed the checkpoint`,
      );
    return new Checkpoint(documents, claimed, writing);
  }

  get position(): Position | undefined {
    return (this.wanted ?? this.document).position ?? undefined;
  }

  /** Position up to which all events are handled. */
  get handledPosition(): HandledPosition | undefined {
    return toHandledPosition(this.wanted ?? this.document);
  }

  get complete(): boolean {
    return (this.wanted ?? this.document).complete;
  }

  /** Aborts when a move was refused because a newer holder exists. */
  get superseded(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * Moves the checkpoint to a position. Call it only when everything up to the position is handled.
   * @returns resolves when this or a later move is written, or writing has ended; need not be awaited
   */
  moveTo(position: Position | undefined, complete: boolean): Promise<void> {
    const { late: _, ...rest } = this.document;
    return this.requestWrite({ ...rest, position: position ?? null, complete });
  }

  /** Returns a position after all handled events, for the next event of a parked stream. */
  nextLatePosition(): HandledPosition {
    this.lateCount += 1;
    return createLatePosition(this.position ?? '', this.document.epoch, this.lateCount);
  }

  /** Moves the checkpoint to a position of `nextLatePosition`, with the conditions of `move`. */
  moveToLatePosition(late: HandledPosition): Promise<void> {
    return this.requestWrite({ ...(this.wanted ?? this.document), late });
  }

  private requestWrite(document: CheckpointDocument): Promise<void> {
    if (this.lost.signal.aborted) return Promise.resolve();
    this.wanted = document;
    return (this.written ??= this.write());
  }

  /** Resolves when all moves are written or writing has ended. Later moves are written without an interval. */
  async flush(): Promise<void> {
    this.flushing.abort();
    await this.written;
  }

  private async write(): Promise<void> {
    try {
      while (this.wanted !== undefined && !this.lost.signal.aborted) await this.writeNext(this.wanted);
    } catch {
      // The engine is away and the work ends: the next holder repeats what was done since the checkpoint.
    } finally {
      // Reset in the same turn as the last check of `wanted`, so that a later move starts a new write.
      this.written = undefined;
    }
  }

  private async writeNext(next: CheckpointDocument): Promise<void> {
    const { intervalMs = 0, signal } = this.writing;
    const write = () => this.documents.replace(next, { epoch: { lte: next.epoch } });
    if (!(await retry(write, this.writing))) return this.lost.abort();
    this.document = next;
    if (this.wanted === next) this.wanted = undefined;
    if (intervalMs > 0) await pause(intervalMs, AbortSignal.any([this.flushing.signal, signal]));
  }
}

/**
 * Position of an event in the order in which a subscriber handled events. It equals the log position, except for events
 * of parked streams: these get a position after all events handled before, so that readers further ahead still receive
 * them. Compares as a string, also with log positions.
 */
export type HandledPosition = string;

/**
 * Returns a late position after the event at the log position and before the next one.
 * @param epoch epoch of the lease: later holders get later positions
 * @param number increases within the epoch
 */
function createLatePosition(position: Position, epoch: number, number: number): HandledPosition {
  const suffix = [String(epoch).padStart(EPOCH_DIGITS, '0'), String(number).padStart(LATE_NUMBER_DIGITS, '0')];
  return [position, ...suffix].join(KEY_SEPARATOR);
}

/** Returns the last log position that is not after the handled position. */
export function toLogPosition(place: HandledPosition): Position {
  const [position = place] = place.split(KEY_SEPARATOR, 1);
  return position;
}

/** Returns a position at or after every late position of the log position, and before the next log position. */
export function toLastHandledPosition(position: Position): HandledPosition {
  return `${toLogPosition(position)}${KEY_SEPARATOR}~`;
}

/**
 * Deletes the documents of earlier generations of a subscriber, which no process uses any longer.
 * @param spec `CHECKPOINTS` or `PARKED_STREAMS`
 * @throws Unavailable
 */
export async function deleteEarlierGenerations(
  store: DocumentStore,
  spec: CollectionSpec,
  subscriber: string,
  generation: number,
): Promise<void> {
  const documents = await store.collection(spec);
  const earlier = { filter: { subscriber, generation: { lt: generation } }, limit: DELETE_BATCH_SIZE };
  for (let found = await documents.find(earlier); found.length > 0; found = await documents.find(earlier)) {
    await documents.writeMany(found.map(({ id }) => ({ kind: 'delete', id })));
  }
}
