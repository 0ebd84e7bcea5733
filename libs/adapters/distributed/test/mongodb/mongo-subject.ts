import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { itWhere, noMetrics, type AdapterSubject } from '@tracking/testing';
import { GridfsObjectStore } from '../../src/mongodb/gridfs-object-store.ts';
import { MongoConnection } from '../../src/mongodb/mongo-connection.ts';
import { MongoDocumentStore } from '../../src/mongodb/mongo-document-store.ts';
import { MongoEngine } from './mongo-engine.ts';

const { MONGODB_URL, ENGINES_DIR } = process.env;
/** An engine starts in some seconds, on a busy machine. */
const TIMEOUT_MS = 60_000;

/** Defines the tests where there is a MongoDB to run them on; where there is none one test is skipped, with the reason. */
export function whereMongo(title: string, define: () => void): void {
  jest.setTimeout(TIMEOUT_MS);
  if (MONGODB_URL !== undefined || ENGINES_DIR !== undefined) define();
  else itWhere(false, 'neither MONGODB_URL nor ENGINES_DIR is set')(title, () => Promise.resolve());
}

/** The same where the tests need an engine that they can kill. */
export function whereEngine(title: string, define: (enginesDir: string) => void): void {
  jest.setTimeout(TIMEOUT_MS);
  if (ENGINES_DIR !== undefined) define(ENGINES_DIR);
  else itWhere(false, 'ENGINES_DIR is not set: no engine to kill')(title, () => Promise.resolve());
}

/** A port on the document store. */
export function mongoSubject<P extends { close(): Promise<void> }>(
  port: (store: MongoDocumentStore) => P,
): AdapterSubject<P> {
  return subjectOn(
    (connection) => port(new MongoDocumentStore(connection)),
    (one) => one.close(),
  );
}

/** What ports stand on. */
export function connectionSubject(): AdapterSubject<MongoConnection> {
  return subjectOn(
    (connection) => connection,
    () => Promise.resolve(),
  );
}

export function gridfsSubject(): AdapterSubject<GridfsObjectStore> {
  return subjectOn(
    (connection) => new GridfsObjectStore(connection),
    () => Promise.resolve(),
  );
}

/**
 * A port on a database of its own, of the MongoDB at `MONGODB_URL` or else of an engine started from `ENGINES_DIR`.
 * Each one opened has a connection of its own, as another process would.
 */
function subjectOn<P>(open: (connection: MongoConnection) => P, close: (port: P) => Promise<void>): AdapterSubject<P> {
  const opened: { readonly port: P; readonly connection: MongoConnection }[] = [];
  const database = `test-${randomUUID()}`;
  let engine: MongoEngine | undefined;
  const url = () => engine?.url(database) ?? inDatabase(MONGODB_URL ?? '', database);

  function openAgain(): Promise<P> {
    const connection = new MongoConnection({ url: url(), metrics: noMetrics });
    const one = { connection, port: open(connection) };
    opened.push(one);
    return Promise.resolve(one.port);
  }

  const subject: AdapterSubject<P> = {
    async open() {
      if (MONGODB_URL === undefined) {
        engine = await MongoEngine.create(ENGINES_DIR ?? '');
        await engine.run();
      }
      return openAgain();
    },
    async reopen() {
      const last = opened.pop();
      if (last !== undefined) await close(last.port);
      await last?.connection.close();
      return openAgain();
    },
    another: openAgain,
    async close() {
      for (const { port: one, connection } of opened.splice(0)) {
        await close(one);
        await connection.close();
      }
      if (engine !== undefined) return engine.remove();
      const connection = new MongoConnection({ url: url(), metrics: noMetrics });
      await connection.run((own) => own.dropDatabase());
      await connection.close();
    },
  };
  if (MONGODB_URL !== undefined) return subject;
  /** Kills the engine, and the process too as far as it can be: what it has open is connected to nothing any more. */
  const crash = async () => {
    await engine?.kill();
    await Promise.all(opened.map(({ connection }) => connection.close()));
    await engine?.run();
    return openAgain();
  };
  return { ...subject, crash };
}

/** @param url `mongodb://hosts/database?options`, both optional */
function inDatabase(url: string, database: string): string {
  const [, hosts = '', options = ''] = /^([^/]+\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(url) ?? [];
  return `${hosts}/${database}${options}`;
}
