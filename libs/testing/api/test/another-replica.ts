import { randomBytes } from 'node:crypto';
import { createHttpApi } from '@tracking/http';
import { IdentityServices } from '@tracking/identity';
import type { Collection, Document, DocumentStore } from '@tracking/ports';
import { silentLogger } from '@tracking/testing';
import type { InjectOptions } from 'fastify';
import { TESTED_HTTP_MODULES } from './features.ts';
import type { Api } from './start-api.ts';

/** Delays a call of the document store, either before the call or before its result is returned. */
export type Gate = (moment: 'asked' | 'answered') => Promise<void>;
const DOCUMENT_STORE_GATE_WITHOUT_DELAY: Gate = () => Promise.resolve();

/**
 * Opens another gateway on the same stores. The gateway notices changes only by reading, and its clock advances only on
 * request.
 */
export async function openAnotherGateway(api: Api) {
  let elapsedMs = 0;
  let gate = DOCUMENT_STORE_GATE_WITHOUT_DELAY;
  const identity = await IdentityServices.openIdentity({
    documentStore: addGateToStore((moment) => gate(moment), api.storage.documentStore),
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
    TESTED_HTTP_MODULES,
  );
  return {
    inject: (request: InjectOptions) => app.inject(request),
    /** Advances the clock by this many milliseconds. */
    after: (milliseconds: number) => (elapsedMs += milliseconds),
    /** Sets the gate that every call of the document store waits for. If the gate rejects, the call fails. */
    gate: (next: Gate) => (gate = next),
    open: () => (gate = DOCUMENT_STORE_GATE_WITHOUT_DELAY),
    close: async () => {
      gate = DOCUMENT_STORE_GATE_WITHOUT_DELAY;
      await app.close();
      await identity.closeIdentityAfterPendingWrites();
    },
  };
}
export type Replica = Awaited<ReturnType<typeof openAnotherGateway>>;

/** Returns the store with a gate before and after each call. */
function addGateToStore(gate: Gate, store: DocumentStore): DocumentStore {
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
    listCollectionNames: (prefix) => store.listCollectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => store.close(),
  };
}
