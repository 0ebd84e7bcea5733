import type { Clock, Collection } from '@tracking/ports';
import { type ParkedStream, describe } from './parked-stream.ts';
import type { EventFailure } from './subscriber.ts';

type Holder = Pick<ParkedStream, 'subscriber' | 'generation' | 'partition'>;

const PAGE = 500;

/** The parked streams of one partition, in memory as in the store. */
export class ParkedPartition {
  private readonly byStream = new Map<string, ParkedStream>();

  private constructor(
    private readonly documents: Collection<ParkedStream>,
    private readonly of: Holder,
    private readonly clock: Clock,
  ) {}

  /** @throws Unavailable */
  static async load(documents: Collection<ParkedStream>, of: Holder, clock: Clock): Promise<ParkedPartition> {
    const parked = new ParkedPartition(documents, of, clock);
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
  async park({ event, error }: EventFailure, attempts: number): Promise<void> {
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
