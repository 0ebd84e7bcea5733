import { randomBytes } from 'node:crypto';
import { createHttpApi } from '@tracking/http';
import { Identity } from '@tracking/identity';
import type { Collection, Document, DocumentStore } from '@tracking/ports';
import { silentLogger } from '@tracking/testing';
import type { InjectOptions } from 'fastify';
import { FEATURES } from './features.ts';
import type { Api } from './start-api.ts';

/** When a question to a document store is held up: before it is looked at, or with its answer. */
export type Gate = (moment: 'asked' | 'answered') => Promise<void>;
const OPEN: Gate = () => Promise.resolve();

/** Another gateway on the same stores, which knows of changes what it reads, by a clock that stands still unless moved. */
export async function openReplica(api: Api) {
  let elapsedMs = 0;
  let gate = OPEN;
  const identity = await Identity.open({
    documentStore: behind((moment) => gate(moment), api.storage.documentStore),
    clock: api.dependencies.clock,
    logger: silentLogger,
    secret: randomBytes(32),
    elapsed: () => elapsedMs,
  });
  const app = await createHttpApi(
    {
      ...api.dependencies,
      identity,
      authenticateKey: (key) => identity.authenticateKey(key),
    },
    FEATURES,
  );
  return {
    inject: (request: InjectOptions) => app.inject(request),
    /** Lets so many milliseconds go by. */
    after: (milliseconds: number) => (elapsedMs += milliseconds),
    /** What each question to its document store waits for from now on, or fails with. */
    gate: (next: Gate) => (gate = next),
    open: () => (gate = OPEN),
    close: async () => {
      gate = OPEN;
      await app.close();
      await identity.close();
    },
  };
}
export type Replica = Awaited<ReturnType<typeof openReplica>>;

/** The store, but whatever it is asked waits at a gate. */
function behind(gate: Gate, store: DocumentStore): DocumentStore {
  const gated = <T extends Document>(collection: Collection<T>): Collection<T> =>
    new Proxy(collection, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...values: unknown[]) => {
          await gate('asked');
          const answer: unknown = await Reflect.apply(member, target, values);
          await gate('answered');
          return answer;
        };
      },
    });
  return {
    collection: async (spec) => gated(await store.collection(spec)),
    collectionNames: (prefix) => store.collectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => store.close(),
  };
}
