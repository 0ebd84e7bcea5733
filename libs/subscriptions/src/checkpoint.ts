import type { Collection, CollectionSpec, Document, DocumentStore, Position } from '@tracking/ports';
import { pause, retry } from '@tracking/resilience';

/** Derived: one that is lost with the latest work costs that work again, nothing else. */
export const CHECKPOINTS: CollectionSpec = {
  name: 'subscription_checkpoints',
  indexes: [{ name: 'by_subscriber', fields: ['subscriber', 'generation'] }],
  durability: 'derived',
};
const SEPARATOR = '.';
const EPOCH_DIGITS = String(Number.MAX_SAFE_INTEGER).length;
const NUMBER_DIGITS = 10;
const DELETE_BATCH_SIZE = 500;

/** How far one partition of one generation of a subscriber is. */
export interface CheckpointDocument extends Document {
  readonly subscriber: string;
  readonly generation: number;
  readonly partition: string;
  /** Everything up to here is done. */
  readonly position: Position | null;
  /** Last place given to events of parked streams that were handled since the position was reached; absent if none. */
  readonly late?: HandledPosition;
  /** Whether everything that there was has once been done. */
  readonly complete: boolean;
  /** Epoch of the lease under which it was written. */
  readonly epoch: number;
}

export function checkpointId(subscriber: string, generation: number, partition: string): string {
  return `${subscriber}/${generation}/${partition}`;
}

/** Everything up to this place is done; undefined before the first event. */
export function handledPositionOf({
  position,
  late,
}: Pick<CheckpointDocument, 'position' | 'late'>): HandledPosition | undefined {
  // A process of the version before keeps `late` when it moves the position on.
  return late !== undefined && late > (position ?? '') ? late : (position ?? undefined);
}

/** A newer holder of the lease has taken the checkpoint over. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

interface CheckpointOptions {
  /** Ends the retries with an engine that does not answer. */
  readonly signal: AbortSignal;
  /** Told of every write that failed. */
  readonly onFailure: (error: unknown) => void;
  /** From one write to the next, in milliseconds: so much more work is repeated after a crash. None by default. */
  readonly intervalMs?: number | undefined;
}

/**
 * The checkpoint in the hands of one lease holder. From `claim` on every older holder's moves are refused, and so are
 * this one's once a newer one has claimed. Moves are written behind the work, one at a time, the newest position only:
 * a checkpoint that lags costs repeated work after a crash, nothing else.
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

  /** @throws Superseded, Unavailable */
  static async claim(
    documents: Collection<CheckpointDocument>,
    of: Pick<CheckpointDocument, 'subscriber' | 'generation' | 'partition' | 'epoch'>,
    writing: CheckpointOptions,
  ): Promise<Checkpoint> {
    const id = checkpointId(of.subscriber, of.generation, of.partition);
    await documents.insert({ id, ...of, position: null, complete: false });
    const claimed = await documents.claim({ filter: { id, epoch: { lte: of.epoch } } }, { epoch: of.epoch });
    if (!claimed) throw new Superseded(`${id}: epoch ${of.epoch} is not the newest`);
    return new Checkpoint(documents, claimed, writing);
  }

  get position(): Position | undefined {
    return (this.wanted ?? this.document).position ?? undefined;
  }

  /** Everything up to here is done. */
  get handledPosition(): HandledPosition | undefined {
    return handledPositionOf(this.wanted ?? this.document);
  }

  get complete(): boolean {
    return (this.wanted ?? this.document).complete;
  }

  /** Aborts when a move was refused: a newer holder is at work. */
  get superseded(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * Call it only when everything up to the position is done.
   * @returns resolves when this move or a later one is written, or all are given up; need not be awaited
   */
  move(position: Position | undefined, complete: boolean): Promise<void> {
    const { late: _, ...rest } = this.document;
    return this.requestWrite({ ...rest, position: position ?? null, complete });
  }

  /** A place behind everything that is done, for the next event of a parked stream. */
  nextLatePosition(): HandledPosition {
    this.lateCount += 1;
    return handledPositionAfter(this.position ?? '', this.document.epoch, this.lateCount);
  }

  /** Call it only when everything up to a place of `nextPlace` is done. Otherwise as `move`. */
  moveToLatePosition(late: HandledPosition): Promise<void> {
    return this.requestWrite({ ...(this.wanted ?? this.document), late });
  }

  private requestWrite(document: CheckpointDocument): Promise<void> {
    if (this.lost.signal.aborted) return Promise.resolve();
    this.wanted = document;
    return (this.written ??= this.write());
  }

  /** All moves are written or given up; from now on without an interval between them. */
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
      // In the same turn as the last look at `wanted`: a move that comes later begins a write of its own.
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
 * Place of an event in the order in which a subscriber handles events: its position. An event that waited in a parked
 * stream gets a place behind everything that was handled before it, so that readers who are further by then still come to
 * it. Places compare as strings, among each other and with positions.
 */
export type HandledPosition = string;

/**
 * A place behind the event at the position, and before the next position.
 * @param epoch of the lease: later holders get later places
 * @param number grows within the epoch
 */
function handledPositionAfter(position: Position, epoch: number, number: number): HandledPosition {
  const suffix = [String(epoch).padStart(EPOCH_DIGITS, '0'), String(number).padStart(NUMBER_DIGITS, '0')];
  return [position, ...suffix].join(SEPARATOR);
}

/** The last position of the log that is not behind the place. */
export function logPositionOf(place: HandledPosition): Position {
  const [position = place] = place.split(SEPARATOR, 1);
  return position;
}

/** A place that is not before any place behind the position, but before the next position. */
export function lastHandledPositionOf(position: Position): HandledPosition {
  return `${logPositionOf(position)}${SEPARATOR}~`;
}

/**
 * Deletes what a subscriber's generations before this one left in a collection: nobody goes on with it.
 * @param spec of `CHECKPOINTS` or `PARKED`
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
