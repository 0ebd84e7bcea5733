import type { Collection, Document, DocumentStore } from '@tracking/ports';

/** How far a job has come; a document each, under its name. */
interface StoredPlace<T> extends Document {
  readonly place: T;
}

/** The place of one job, which it goes on from after whatever happens. */
export class JobPlace<T> {
  private constructor(
    private readonly places: Collection<StoredPlace<T>>,
    private readonly name: string,
  ) {}

  /** @throws Unavailable */
  static async open<T>(documentStore: DocumentStore, name: string): Promise<JobPlace<T>> {
    return new JobPlace<T>(await documentStore.collection({ name: 'document_jobs', indexes: [] }), name);
  }

  /** Undefined before the first. @throws Unavailable */
  async read(): Promise<T | undefined> {
    return (await this.places.get(this.name))?.place;
  }

  /** @throws Unavailable */
  async moveTo(place: T): Promise<void> {
    await this.places.upsert({ id: this.name, place });
  }
}
