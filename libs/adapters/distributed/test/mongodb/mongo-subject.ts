import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { testIfSupported, noMetrics, replaceDatabaseInMongoUrl, type TestedAdapter } from '@tracking/testing';
import { GridfsObjectStore } from '../../src/mongodb/gridfs-object-store.ts';
import { MongoConnection } from '../../src/mongodb/mongo-connection.ts';
import { MongoDocumentStore } from '../../src/mongodb/mongo-document-store.ts';
import { KillableMongoServer, NOT_KILLABLE_REASON } from './mongo-engine.ts';

const { MONGODB_URL, ENGINES_DIR } = process.env;
/** Timeout in milliseconds. On a busy machine, an engine needs some seconds to start. */
const CONNECTION_TIMEOUT_MS = 60_000;

/** Defines tests that need a MongoDB. Without one, a skipped test states the reason. */
export function describeWithMongo(title: string, define: () => void): void {
  jest.setTimeout(CONNECTION_TIMEOUT_MS);
  if (MONGODB_URL !== undefined || ENGINES_DIR !== undefined) define();
  else testIfSupported(false, 'neither MONGODB_URL nor ENGINES_DIR is set')(title, () => Promise.resolve());
}

/** Defines tests that need an engine that they can kill. */
export function describeWithKillableMongoEngine(title: string, define: (enginesDir: string) => void): void {
  jest.setTimeout(CONNECTION_TIMEOUT_MS);
  if (NOT_KILLABLE_REASON === undefined) define(ENGINES_DIR ?? '');
  else testIfSupported(false, NOT_KILLABLE_REASON)(title, () => Promise.resolve());
}

/** A port of the document store adapter under test. The store may change indexes, as in the set-up. */
export function createMongoSubject<P extends { close(): Promise<void> }>(
  port: (store: MongoDocumentStore) => P,
): TestedAdapter<P> {
  return createTestedMongoAdapter(
    (connection) => port(new MongoDocumentStore(connection, { canChangeIndexes: true })),
    (one) => one.close(),
  );
}

/** Connection and store that the ports use. */
export function createMongoConnectionSubject(): TestedAdapter<MongoConnection> {
  return createTestedMongoAdapter(
    (connection) => connection,
    () => Promise.resolve(),
  );
}

export function createGridfsStoreForTest(): TestedAdapter<GridfsObjectStore> {
  return createTestedMongoAdapter(
    (connection) => new GridfsObjectStore(connection),
    () => Promise.resolve(),
  );
}

/**
 * A port on its own database, of the server at `MONGODB_URL` or of an engine started from `ENGINES_DIR`. Each opened port
 * has its own connection, like a separate process.
 */
function createTestedMongoAdapter<P>(
  open: (connection: MongoConnection) => P,
  close: (port: P) => Promise<void>,
): TestedAdapter<P> {
  const opened: { readonly port: P; readonly connection: MongoConnection }[] = [];
  const database = `test-${randomUUID()}`;
  let engine: KillableMongoServer | undefined;
  const url = () => engine?.createDatabaseUrl(database) ?? getTestDatabaseUrl(database);

  function openNewAdapterOnSameData(): Promise<P> {
    const connection = new MongoConnection({ url: url(), metrics: noMetrics });
    const one = { connection, port: open(connection) };
    opened.push(one);
    return Promise.resolve(one.port);
  }

  const subject: TestedAdapter<P> = {
    async openTestedAdapter() {
      if (NOT_KILLABLE_REASON === undefined) {
        engine = await KillableMongoServer.createMongoServerForTest(ENGINES_DIR ?? '');
        await engine.startEngine();
      }
      return openNewAdapterOnSameData();
    },
    async closeAndReopenAdapter() {
      const last = opened.pop();
      if (last !== undefined) await close(last.port);
      await last?.connection.closeConnection();
      return openNewAdapterOnSameData();
    },
    openSecond: openNewAdapterOnSameData,
    async close() {
      for (const { port: one, connection } of opened.splice(0)) {
        await close(one);
        await connection.closeConnection();
      }
      if (MONGODB_URL !== undefined) {
        const connection = new MongoConnection({ url: url(), metrics: noMetrics });
        await connection.runOnDatabase((own) => own.dropDatabase());
        await connection.closeConnection();
      }
      await engine?.killEngineAndDeleteFolder();
    },
  };
  if (NOT_KILLABLE_REASON !== undefined) return subject;
  /** Kills the engine, and simulates the end of the process: its open objects are no longer connected. */
  const crash = async () => {
    await engine?.killEngine();
    await Promise.all(opened.map(({ connection }) => connection.closeConnection()));
    await engine?.startEngine();
    return openNewAdapterOnSameData();
  };
  return { ...subject, simulateCrash: crash };
}

/** Returns the connection string of a database on the server of `MONGODB_URL`. */
export function getTestDatabaseUrl(database: string): string {
  return replaceDatabaseInMongoUrl(MONGODB_URL ?? '', database);
}
