import type { Collection, CollectionSpec, Document } from '@tracking/ports';

/** A stream that waits, for one generation of one read model, because an event of it could not be applied. */
export interface ParkedStream extends Document {
  readonly read_model: string;
  readonly generation: number;
  readonly partition: string;
  readonly stream: string;
  /** Of the event that could not be applied; the later ones of the stream wait behind it. */
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
  name: 'parked',
  indexes: [
    { name: 'by_partition', fields: ['read_model', 'generation', 'partition', 'id'] },
    { name: 'by_retry', fields: ['read_model', 'retry'] },
  ],
  derived: true,
};

const PAGE = 500;

/** The parked streams of one partition, in memory as in the store. */
export class ParkedStreams {
  private readonly byStream = new Map<string, ParkedStream>();

  private constructor(private readonly documents: Collection<ParkedStream>) {}

  /** @throws Unavailable */
  static async load(
    documents: Collection<ParkedStream>,
    of: Pick<ParkedStream, 'read_model' | 'generation' | 'partition'>,
  ): Promise<ParkedStreams> {
    const parked = new ParkedStreams(documents);
    const filter = { read_model: of.read_model, generation: of.generation, partition: of.partition };
    const sort = { fields: ['id'] };
    for (let page = await documents.find({ filter, sort, limit: PAGE }); page.length > 0;) {
      for (const document of page) parked.byStream.set(document.stream, document);
      page = await documents.find({ filter, sort, limit: PAGE, after: [page[page.length - 1]?.id ?? ''] });
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

  async park(document: ParkedStream): Promise<void> {
    await this.documents.upsert(document);
    this.byStream.set(document.stream, document);
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
