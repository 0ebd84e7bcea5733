import type { Collection, CollectionSpec, Document, DocumentStore } from '@tracking/ports';

/** Collections opened once, at first use: a store that is not up yet delays the first use, never the start. */
export class Collections {
  private readonly opened = new Map<string, Promise<Collection<Document>>>();

  constructor(readonly store: DocumentStore) {}

  open<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const known = this.opened.get(spec.name);
    // One name holds one type of document: the specs are constants of the modules that own the types.
    if (known) return known as unknown as Promise<Collection<T>>;
    const opening = this.store.collection<T>(spec);
    this.opened.set(spec.name, opening as unknown as Promise<Collection<Document>>);
    opening.catch(() => this.opened.delete(spec.name));
    return opening;
  }

  async drop(name: string, ending?: AbortSignal): Promise<void> {
    this.opened.delete(name);
    await this.store.dropCollection(name, ending);
  }
}
