import type { Clock, Collection, CollectionSpec, Document, DocumentStore } from '@tracking/ports';
import { monotonicMs, pauseFor } from '@tracking/resilience';
import { CheckpointSupersededError } from './checkpoint.ts';
import type { EventFailure, StreamPartition } from './subscriber.ts';

export const PARKED_STREAMS_COLLECTION_SPEC: CollectionSpec = {
  name: 'parked_streams',
  indexes: [
    { name: 'by_subscriber', fields: ['subscriber', 'id'] },
    { name: 'by_retry', fields: ['subscriber', 'generation', 'retry'] },
  ],
  durability: 'derived',
};
const MAX_LISTED_PARKED_STREAMS = 1_000;
const POLL_INTERVAL_MS = 50;
const RETRY_TIMEOUT_MS = 10_000;
const PAGE_SIZE = 500;

/** A parked stream: one of its events could not be handled by one generation of a subscriber. */
export interface ParkedStream extends Document {
  readonly subscriber: string;
  readonly generation: number;
  /**
   * Partition that parked or loaded the stream last, possibly of a replaced layout. Processes of the previous release
   * find the stream by it.
   */
  readonly partition: string;
  readonly stream: string;
  /** Revision of the event that could not be handled. Later events of the stream wait for this event. */
  readonly revision: number;
  readonly event_type: string;
  /** Error message, without the event's data. */
  readonly error: string;
  readonly parked_at: string;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** True if an operator requested a retry. */
  readonly retry: boolean;
  /** Lease term that wrote the document last, see `Checkpoint.leaseTerm`; absent if an earlier version wrote it. */
  readonly lease_term?: number;
}

/** Returns an error's name and message, which never contain the event's data. */
export function describeError(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 300);
}

/**
 * Result of a requested retry. `applied`: the stream is no longer parked. `parked`: the retry failed. `requested`: the
 * process that handles the stream has not retried it yet. `not_found`: the id does not exist.
 */
export type RetryOutcome = 'applied' | 'parked' | 'requested' | 'not_found';

/** Parked streams of all subscribers and processes, for operators. */
export class ParkedStreams {
  constructor(
    private readonly store: DocumentStore,
    /** Wakes the subscriber if it runs in this process, so that the retry starts immediately. */
    private readonly wake: (subscriber: string) => void,
  ) {}

  /** Lists the first 1,000 parked streams by id, of all subscribers or one. @throws UnavailableError */
  async listParkedStreams(subscriber?: string): Promise<readonly ParkedStream[]> {
    const filter = subscriber === undefined ? {} : { subscriber };
    return (await this.openParkedStreamCollection()).find({
      filter,
      sort: { fields: ['id'] },
      limit: MAX_LISTED_PARKED_STREAMS,
    });
  }

  /** Counts the parked streams of a generation. @throws UnavailableError */
  async countParkedStreamsOfGeneration(subscriber: string, generation: number): Promise<number> {
    return (await this.openParkedStreamCollection()).count({ subscriber, generation });
  }

  /** Requests a retry of the stream and waits a few seconds for the result. @throws UnavailableError */
  async retry(id: string): Promise<RetryOutcome> {
    const documents = await this.openParkedStreamCollection();
    const before = await documents.get(id);
    if (!before) return 'not_found';
    // Changes only this field, because the stream may move to another partition at the same time.
    await documents.claim({ filter: { id, attempts: before.attempts } }, { retry: true });
    this.wake(before.subscriber);
    for (
      const deadline = monotonicMs() + RETRY_TIMEOUT_MS;
      monotonicMs() < deadline;
      await pauseFor(POLL_INTERVAL_MS)
    ) {
      const now = await documents.get(id);
      if (!now) return 'applied';
      if (now.attempts > before.attempts) return 'parked';
    }
    return 'requested';
  }

  private openParkedStreamCollection(): Promise<Collection<ParkedStream>> {
    return this.store.collection<ParkedStream>(PARKED_STREAMS_COLLECTION_SPEC);
  }
}

/** Character after all characters of stream names. */
const LAST_CHARACTER = '\uffff';

function createParkedStreamId({ subscriber, generation }: Omit<PartitionRef, 'partition'>, stream: string): string {
  return `${subscriber}.${generation}.${stream}`;
}

type PartitionRef = Pick<ParkedStream, 'subscriber' | 'generation' | 'partition'>;
type LeasedPartitionRef = PartitionRef & Pick<StreamPartition, 'streamPrefixes'> & { readonly leaseTerm: number };

/** Parked streams of one partition, in memory and in the store. */
export class ParkedStreamsOfPartition {
  private readonly parkedByStream = new Map<string, ParkedStream>();

  private constructor(
    private readonly documents: Collection<ParkedStream>,
    private readonly of: PartitionRef,
    private readonly leaseTerm: number,
    private readonly clock: Clock,
  ) {}

  /**
   * Loads the parked streams for a new lease owner, and makes the store refuse later writes of earlier owners. Finds
   * them by their names, because a former owner can have stored a partition of a replaced layout.
   * @throws CheckpointSupersededError, UnavailableError
   */
  static async loadParkedStreamsOfPartition(
    documents: Collection<ParkedStream>,
    { leaseTerm, streamPrefixes, ...of }: LeasedPartitionRef,
    clock: Clock,
  ): Promise<ParkedStreamsOfPartition> {
    const parked = new ParkedStreamsOfPartition(documents, of, leaseTerm, clock);
    for (const prefix of streamPrefixes) await parked.loadParkedStreamsWithPrefix(prefix);
    return parked;
  }

  get count(): number {
    return this.parkedByStream.size;
  }

  listParkedStreams(): readonly ParkedStream[] {
    return [...this.parkedByStream.values()];
  }

  findParkedStream(stream: string): ParkedStream | undefined {
    return this.parkedByStream.get(stream);
  }

  /** Parks a stream. @param attempts number of attempts so far */
  async parkStream({ event, error }: EventFailure, attempts: number): Promise<void> {
    const { stream, revision, type } = event;
    const document: ParkedStream = {
      id: createParkedStreamId(this.of, stream),
      ...this.of,
      stream,
      revision,
      event_type: type,
      error: describeError(error),
      parked_at: this.clock().toISOString(),
      attempts,
      retry: false,
      lease_term: this.leaseTerm,
    };
    for (const lease_term of this.earlierLeaseTerms) {
      if (!(await this.documents.upsert(document, { lease_term }))) continue;
      this.parkedByStream.set(stream, document);
      return;
    }
    throw createSupersededError(document.id);
  }

  /** Does not delete a document that a newer owner has claimed, because that owner skips events of the stream. */
  async releaseParkedStream(document: ParkedStream): Promise<void> {
    await this.documents.delete(document.id, { lease_term: this.leaseTerm });
    this.parkedByStream.delete(document.stream);
  }

  /** Conditions for the lease terms whose documents this owner may change. Earlier versions store no term. */
  private get earlierLeaseTerms() {
    return [{ lte: this.leaseTerm }, { exists: false }] as const;
  }

  private async loadParkedStreamsWithPrefix(prefix: string): Promise<void> {
    const from = createParkedStreamId(this.of, prefix);
    const filter = { subscriber: this.of.subscriber, id: { gte: from, lt: `${from}${LAST_CHARACTER}` } };
    const query = { filter, index: 'by_subscriber', sort: { fields: ['id'] }, limit: PAGE_SIZE };
    for (let page = await this.documents.find(query); page.length > 0;) {
      for (const document of await Promise.all(page.map(({ id }) => this.claimParkedStream(id))))
        if (document !== undefined) this.parkedByStream.set(document.stream, document);
      page = await this.documents.find({ ...query, after: [page[page.length - 1]?.id ?? ''] });
    }
  }

  /** Returns undefined if an earlier owner has just released the stream. */
  private async claimParkedStream(id: string): Promise<ParkedStream | undefined> {
    for (const lease_term of this.earlierLeaseTerms) {
      const set = { partition: this.of.partition, lease_term: this.leaseTerm };
      const claimed = await this.documents.claim({ filter: { id, lease_term } }, set);
      if (claimed !== undefined) return claimed;
    }
    if ((await this.documents.get(id)) !== undefined) throw createSupersededError(id);
    return undefined;
  }
}

function createSupersededError(id: string): CheckpointSupersededError {
  return new CheckpointSupersededError(`${id}: a newer lease holder has claimed the parked stream`);
}
