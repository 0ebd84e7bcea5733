import type { CollectionSpec, DocumentStore, MessageBroker } from '@tracking/ports';

interface PublishedLogDocument {
  /** The topic. */
  readonly id: string;
  /** Of the publisher: another one publishes everything again, from the first event. */
  readonly generation: number;
  /** What the broker was last seen to have been given, see `MessageBroker.produced`. */
  readonly produced: readonly number[];
}

/** Derived, as the checkpoints beside it are: never newer than they. */
const PUBLISHED_LOG: CollectionSpec = { name: 'published_log', indexes: [], durability: 'derived' };

/** What the publisher remembers of the broker's log: one that is shorter has lost what was published, or all of it. */
export class PublishedLog {
  constructor(
    private readonly store: DocumentStore,
    private readonly broker: MessageBroker,
    private readonly topic: string,
  ) {}

  /** The generation to publish in. @throws Unavailable */
  async generation(): Promise<number> {
    return (await this.remembered()).generation;
  }

  /**
   * Looks at the log: the generation to publish in from now on. Another process that found the same at the same time, or
   * one that knows less, changes nothing.
   * @throws Unavailable
   */
  async look(): Promise<number> {
    const before = await this.remembered();
    const produced = await this.broker.produced(this.topic);
    const isShorter = before.produced.some((count, at) => (produced[at] ?? 0) < count);
    if (!isShorter && String(produced) === String(before.produced)) return before.generation;
    const generation = before.generation + (isShorter ? 1 : 0);
    const isWritten = await (
      await this.documents()
    ).upsert({ id: this.topic, generation, produced }, { generation: before.generation });
    return isWritten ? generation : before.generation;
  }

  private async remembered(): Promise<PublishedLogDocument> {
    const documents = await this.documents();
    return (await documents.get(this.topic)) ?? { id: this.topic, generation: 1, produced: [] };
  }

  private documents() {
    return this.store.collection<PublishedLogDocument>(PUBLISHED_LOG);
  }
}
