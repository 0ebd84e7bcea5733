import type { Clock, Collection, CollectionSpec, Document } from '@tracking/ports';
import type { Failure } from './subscriber.ts';

/** A stream that waits, for one generation of one subscriber, because an event of it could not be handled. */
export interface ParkedStream extends Document {
  readonly subscriber: string;
  readonly generation: number;
  readonly partition: string;
  readonly stream: string;
  /** Of the event that could not be handled; the later ones of the stream wait behind it. */
  readonly revision: number;
  readonly event_type: string;
  /** What it threw, without the event's data. */
  readonly error: string;
  readonly parked_at: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Whether another attempt was asked for. */
  readonly retry: boolean;
}

export const PARKED: CollectionSpec = {
  name: 'parked_streams',
  indexes: [
    { name: 'by_partition', fields: ['subscriber', 'generation', 'partition', 'id'] },
    { name: 'by_subscriber', fields: ['subscriber', 'id'] },
    { name: 'by_retry', fields: ['subscriber', 'generation', 'retry'] },
  ],
  durability: 'derived',
};

type Holder = Pick<ParkedStream, 'subscriber' | 'generation' | 'partition'>;

const PAGE = 500;

/** The parked streams of one partition, in memory as in the store. */
export class ParkedStreams {
  private readonly byStream = new Map<string, ParkedStream>();

  private constructor(
    private readonly documents: Collection<ParkedStream>,
    private readonly of: Holder,
    private readonly clock: Clock,
  ) {}

  /** @throws Unavailable */
  static async load(documents: Collection<ParkedStream>, of: Holder, clock: Clock): Promise<ParkedStreams> {
    const parked = new ParkedStreams(documents, of, clock);
    const query = { filter: { ...of }, sort: { fields: ['id'] }, limit: PAGE };
    for (let page = await documents.find(query); page.length > 0;) {
      for (const document of page) parked.byStream.set(document.stream, document);
      page = await documents.find({ ...query, after: [page[page.length - 1]?.id ?? ''] });
    }
    return parked;
  }

  get count(): number {
    return this.byStream.size;
  }

  all(): readonly ParkedStream[] {
    return [...this.byStream.values()];
  }

  get(stream: string): ParkedStream | undefined {
    return this.byStream.get(stream);
  }

  /** @param attempts how often the event was tried by now */
  async park({ event, error }: Failure, attempts: number): Promise<void> {
    const { stream, revision, type } = event;
    const document: ParkedStream = {
      id: `${this.of.subscriber}.${this.of.generation}.${stream}`,
      ...this.of,
      stream,
      revision,
      event_type: type,
      error: describe(error),
      parked_at: this.clock().toISOString(),
      attempts,
      retry: false,
    };
    await this.documents.upsert(document);
    this.byStream.set(stream, document);
  }

  async release(document: ParkedStream): Promise<void> {
    await this.documents.delete(document.id);
    this.byStream.delete(document.stream);
  }
}

/** The error's name and message: of programming and of the domain, never the event's data. */
export function describe(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 300);
}
