import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTestEngine } from '@tracking/embedded/testing';
import type { Collection, Document, DocumentStore } from '@tracking/ports';
import { createTempFolder } from '@tracking/testing';

/** The embedded engine in its own folder. */
export interface TestStorage {
  readonly documentStore: DocumentStore;
  /** Returns every byte stored on disk. */
  readAllFilesOfStorageFolder(): Promise<string>;
  close(): Promise<void>;
}

export async function openTestStorage(): Promise<TestStorage> {
  const folder = await createTempFolder();
  const engine = await openTestEngine(folder.path);
  return {
    documentStore: engine.documentStore,
    async readAllFilesOfStorageFolder() {
      const files = await readdir(folder.path, { recursive: true, withFileTypes: true });
      const contents = files
        .filter((file) => file.isFile())
        .map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
      return (await Promise.all(contents)).join('\n');
    },
    async close() {
      await engine.closeEngine();
      await folder.remove();
    },
  };
}

/** Wraps the store so that results of these collection methods arrive only after `gate` opens. */
export function delayStoreResults(
  gate: () => Promise<void>,
  store: DocumentStore,
  methods: readonly (keyof Collection<Document>)[] = ['find'],
): DocumentStore {
  const late = <T extends Document>(collection: Collection<T>): Collection<T> =>
    new Proxy(collection, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...values: unknown[]) => {
          const result: unknown = await Reflect.apply(member, target, values);
          if (methods.some((method) => method === name)) await gate();
          return result;
        };
      },
    });
  return {
    collection: async <T extends Document>(spec: Parameters<DocumentStore['collection']>[0]) =>
      late(await store.collection<T>(spec)),
    listCollectionNames: (prefix) => store.listCollectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => store.close(),
  };
}
