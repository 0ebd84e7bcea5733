import { currentRequest } from '@tracking/http';
import type { Collection, Document, DocumentStore } from '@tracking/ports';

const WRITES: ReadonlySet<string> = new Set(['insert', 'replace', 'upsert', 'delete', 'writeMany', 'claim']);

interface Write {
  /** Request and collection. */
  readonly of: string;
  readonly method: string;
  readonly values: readonly unknown[];
  readonly outcome: unknown;
}

/** What was written on behalf of requests: as it adds up, for what is made ahead of a change and withdrawn is none. */
export class Written {
  private readonly documents = new Map<string, 'made' | 'changed'>();

  forget(): void {
    this.documents.clear();
  }

  /** Collections in which the request left something otherwise than it was. */
  by(requestId: string): readonly string[] {
    const names = [...this.documents.keys()].map((name) => name.split(' '));
    return [...new Set(names.flatMap(([id, collection = '']) => (id === requestId ? [collection] : [])))];
  }

  note({ of, method, values: [first], outcome }: Write): void {
    const id = typeof first === 'object' && first !== null && 'id' in first ? first.id : first;
    const name = `${of} ${typeof id === 'string' ? id : ''}`;
    // A `claim` has no outcome where it did nothing; `writeMany` does not say.
    if (outcome === false || (method === 'claim' && outcome === undefined)) return;
    const made = this.documents.get(name) === 'made';
    if (method === 'delete' && made) this.documents.delete(name);
    else if (!made) this.documents.set(name, method === 'insert' ? 'made' : 'changed');
  }
}

/** The store, whose writes on behalf of requests are noted. */
export function watchedStore(store: DocumentStore, written: Written): DocumentStore {
  const watched = <T extends Document>(name: string, collection: Collection<T>): Collection<T> =>
    new Proxy(collection, {
      get(target, member) {
        const method: unknown = Reflect.get(target, member);
        if (typeof method !== 'function') return method;
        if (!WRITES.has(String(member))) return method.bind(target) as unknown;
        return async (...values: unknown[]) => {
          const request = currentRequest();
          const outcome: unknown = await Reflect.apply(method, target, values);
          if (request) written.note({ of: `${request.request_id} ${name}`, method: String(member), values, outcome });
          return outcome;
        };
      },
    });
  return {
    collection: async (spec) => watched(spec.name, await store.collection(spec)),
    collectionNames: (prefix) => store.collectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => store.close(),
  };
}
