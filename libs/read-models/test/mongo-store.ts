import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { MongoConnection, MongoDocumentStore } from '@tracking/distributed';
import type { DocumentStore } from '@tracking/ports';
import { ManagedProcess, freePort, noMetrics, tempFolder } from '@tracking/testing';

const { MONGODB_URL, ENGINES_DIR } = process.env;

/** Whether there is an engine of MongoDB's protocol to test on. */
export const hasMongo = MONGODB_URL !== undefined || ENGINES_DIR !== undefined;

/** A database of its own, of the MongoDB at `MONGODB_URL` or else of an engine started from `ENGINES_DIR`. */
export async function openMongoStore(): Promise<{ readonly store: DocumentStore; close(): Promise<void> }> {
  const database = `lists-${randomUUID()}`;
  const { url, remove } = MONGODB_URL === undefined ? await engine() : { url: MONGODB_URL, remove: undefined };
  const [, hosts = '', options = ''] = /^([^/]+\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(url) ?? [];
  const connection = new MongoConnection({ url: `${hosts}/${database}${options}`, metrics: noMetrics });
  return {
    store: new MongoDocumentStore(connection),
    async close() {
      if (remove === undefined) await connection.run((own) => own.dropDatabase());
      await connection.close();
      await remove?.();
    },
  };
}

async function engine() {
  const folder = await tempFolder();
  const port = await freePort();
  const started = new ManagedProcess({
    name: 'the engine',
    command: join(ENGINES_DIR ?? '', 'mongo-java-server', 'start'),
    args: [folder.path, String(port)],
    ready: /ready on/,
    logFile: join(folder.path, 'mongodb.log'),
  });
  await started.run();
  const remove = async () => {
    await started.kill();
    await folder.remove();
  };
  return { url: `mongodb://127.0.0.1:${port}`, remove };
}
