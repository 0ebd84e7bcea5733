import { getCurrentRequestOrigin } from '@tracking/http';
import type { Collection, Document, DocumentStore } from '@tracking/ports';

const COLLECTION_WRITE_METHODS: ReadonlySet<string> = new Set<keyof Collection<Document>>([
  ...(['insert', 'replace', 'replaceMany', 'upsert', 'delete', 'writeMany', 'claim'] as const),
]);

interface RecordedWrite {
  /** Id of the request and name of the collection. */
  readonly of: string;
  readonly method: string;
  readonly values: readonly unknown[];
  readonly outcome: unknown;
}

/** Records the net effect of writes by request: a document that is created and then removed does not count. */
export class RecordedWrites {
  private readonly documents = new Map<string, 'made' | 'changed'>();

  clearWrites(): void {
    this.documents.clear();
  }

  /** Returns the collections that the request changed. */
  listCollectionsWrittenByRequest(requestId: string): readonly string[] {
    const names = [...this.documents.keys()].map((name) => name.split(' '));
    return [...new Set(names.flatMap(([id, collection = '']) => (id === requestId ? [collection] : [])))];
  }

  recordDocumentWriteByRequest({ of, method, values: [first], outcome }: RecordedWrite): void {
    // A replay stores its progress in the background; a request may wake it, even a refused one.
    if (method === 'replace' && of.endsWith(' webhook_replays')) return;
    const id = typeof first === 'object' && first !== null && 'id' in first ? first.id : first;
    const name = `${of} ${typeof id === 'string' ? id : ''}`;
    // A `claim` that changes nothing returns no document; `writeMany` does not report which writes took effect.
    if (outcome === false || (method === 'claim' && outcome === undefined)) return;
    const made = this.documents.get(name) === 'made';
    if (method === 'delete' && made) this.documents.delete(name);
    else if (!made) this.documents.set(name, method === 'insert' ? 'made' : 'changed');
  }
}

/** Returns the store with all writes of requests recorded. */
export function wrapStoreToRecordWrites(store: DocumentStore, written: RecordedWrites): DocumentStore {
  const watched = <T extends Document>(name: string, collection: Collection<T>): Collection<T> =>
    new Proxy(collection, {
      get(target, member) {
        const method: unknown = Reflect.get(target, member);
        if (typeof method !== 'function') return method;
        if (!COLLECTION_WRITE_METHODS.has(String(member))) return method.bind(target) as unknown;
        return async (...values: unknown[]) => {
          const request = getCurrentRequestOrigin();
          const outcome: unknown = await Reflect.apply(method, target, values);
          if (request)
            written.recordDocumentWriteByRequest({
              of: `${request.request_id} ${name}`,
              method: String(member),
              values,
              outcome,
            });
          return outcome;
        };
      },
    });
  return {
    collection: async (spec) => watched(spec.name, await store.collection(spec)),
    listCollectionNames: (prefix) => store.listCollectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => store.close(),
  };
}
