import type { Clock, Collection, CollectionSpec, Document, DocumentStore } from '@tracking/ports';
import { monotonicMs, pause } from '@tracking/resilience';
import type { EventFailure } from './subscriber.ts';

export const PARKED: CollectionSpec = {
  name: 'parked_streams',
  indexes: [
    { name: 'by_partition', fields: ['subscriber', 'generation', 'partition', 'id'] },
    { name: 'by_subscriber', fields: ['subscriber', 'id'] },
    { name: 'by_retry', fields: ['subscriber', 'generation', 'retry'] },
  ],
  durability: 'derived',
};
const MAX_LISTED = 1_000;
const POLL_MS = 50;
const RETRY_TIMEOUT_MS = 10_000;
const PAGE_SIZE = 500;

/** A stream that waits, for one generation of one subscriber, because an event of it could not be handled. */
export interface ParkedStream extends Document {
  readonly subscriber: string;
  readonly generation: number;
  readonly partition: string;
  readonly stream: string;
  /** Revision of the event that could not be handled; later events of the stream wait behind it. */
  readonly revision: number;
  readonly event_type: string;
  /** The error, without the event's data. */
  readonly error: string;
  readonly parked_at: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Whether another attempt was asked for. */
  readonly retry: boolean;
}

/** The error's name and message: of programming and of the domain, never the event's data. */
export function describeError(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 300);
}

/**
 * Result of a requested retry: `applied`, nothing waits any more; `parked`, it failed again; `requested`,
 * whoever handles the stream has not got to it yet; `not_found`, no such id.
 */
export type RetryOutcome = 'applied' | 'parked' | 'requested' | 'not_found';

/** The streams that wait, as operators see them: of every subscriber, whichever process it runs in. */
export class ParkedStreams {
  constructor(
    private readonly store: DocumentStore,
    /** Lets the subscriber look at once, where it runs in this process. */
    private readonly wake: (subscriber: string) => void,
  ) {}

  /** The first thousand, by id; of all subscribers, or of one. @throws Unavailable */
  async list(subscriber?: string): Promise<readonly ParkedStream[]> {
    const filter = subscriber === undefined ? {} : { subscriber };
    return (await this.documents()).find({ filter, sort: { fields: ['id'] }, limit: MAX_LISTED });
  }

  /** How many streams wait in a generation. @throws Unavailable */
  async count(subscriber: string, generation: number): Promise<number> {
    return (await this.documents()).count({ subscriber, generation });
  }

  /** Asks whoever handles the stream to try it again, and waits some seconds for what comes of it. @throws Unavailable */
  async retry(id: string): Promise<RetryOutcome> {
    const documents = await this.documents();
    const before = await documents.get(id);
    if (!before) return 'not_found';
    await documents.replace({ ...before, retry: true }, { attempts: before.attempts });
    this.wake(before.subscriber);
    for (const deadline = monotonicMs() + RETRY_TIMEOUT_MS; monotonicMs() < deadline; await pause(POLL_MS)) {
      const now = await documents.get(id);
      if (!now) return 'applied';
      if (now.attempts > before.attempts) return 'parked';
    }
    return 'requested';
  }

  private documents(): Promise<Collection<ParkedStream>> {
    return this.store.collection<ParkedStream>(PARKED);
  }
}

type PartitionRef = Pick<ParkedStream, 'subscriber' | 'generation' | 'partition'>;

/** The parked streams of one partition, in memory as in the store. */
export class ParkedPartition {
  private readonly parkedByStream = new Map<string, ParkedStream>();

  private constructor(
    private readonly documents: Collection<ParkedStream>,
    private readonly of: PartitionRef,
    private readonly clock: Clock,
  ) {}

  /** @throws Unavailable */
  static async load(documents: Collection<ParkedStream>, of: PartitionRef, clock: Clock): Promise<ParkedPartition> {
    const parked = new ParkedPartition(documents, of, clock);
    const query = { filter: { ...of }, sort: { fields: ['id'] }, limit: PAGE_SIZE };
    for (let page = await documents.find(query); page.length > 0;) {
      for (const document of page) parked.parkedByStream.set(document.stream, document);
      page = await documents.find({ ...query, after: [page[page.length - 1]?.id ?? ''] });
    }
    return parked;
  }

  get count(): number {
    return this.parkedByStream.size;
  }

  all(): readonly ParkedStream[] {
    return [...this.parkedByStream.values()];
  }

  get(stream: string): ParkedStream | undefined {
    return this.parkedByStream.get(stream);
  }

  /** @param attempts how often the event was tried by now */
  async park({ event, error }: EventFailure, attempts: number): Promise<void> {
    const { stream, revision, type } = event;
    const document: ParkedStream = {
      id: `${this.of.subscriber}.${this.of.generation}.${stream}`,
      ...this.of,
      stream,
      revision,
      event_type: type,
      error: describeError(error),
      parked_at: this.clock().toISOString(),
      attempts,
      retry: false,
    };
    await this.documents.upsert(document);
    this.parkedByStream.set(stream, document);
  }

  async release(document: ParkedStream): Promise<void> {
    await this.documents.delete(document.id);
    this.parkedByStream.delete(document.stream);
  }
}
