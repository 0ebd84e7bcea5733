import { setTimeout as after } from 'node:timers/promises';
import {
  type Db,
  MongoBulkWriteError,
  MongoClient,
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
} from 'mongodb';
import { Busy, type Metrics, Unavailable } from '@tracking/ports';

/** Name of the engine for operators. */
export const ENGINE_NAME = 'document store';
/** MongoDB's name of the index of `_id`. */
export const ID_INDEX = '_id_';
const NAMESPACE_NOT_FOUND = 26;
const NAMESPACE_EXISTS = 48;
const INDEX_OPTIONS_CONFLICT = 85;
const INDEX_KEY_SPECS_CONFLICT = 86;
const DUPLICATE_KEY = 11_000;
/**
 * Codes of requests that MongoDB permanently refuses: BadValue, FailedToParse, TypeMismatch, Overflow,
 * CannotIndexParallelArrays, BSONObjectTooLarge, and nesting or sizes that its parser refuses.
 */
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([2, 9, 14, 15, 171, 10_334, 17_280, 17_419, 17_420]);
/**
 * Pattern of the names of errors for documents that the driver cannot encode. The code compares names, because the
 * JavaScript engine throws such errors too.
 */
const ENCODING_ERROR_NAME_PATTERN = /^(RangeError|BSON\w*Error)$/;

interface MongoOptions {
  /** Connection string with credentials and options. Its path names the database, `tracking` by default. */
  readonly url: string;
  readonly metrics: Metrics;
  /** Milliseconds after which an operation is abandoned with an unknown outcome. Defaults to 5,000. */
  readonly deadlineMs?: number;
  /**
   * Maximum number of operations running or waiting for a connection; further ones throw `Busy`. Defaults to 10,000.
   */
  readonly maxOperations?: number;
}

/** Shared MongoDB client of a process. Connects with the first operation, and reconnects when needed. Logs nothing. */
export class MongoConnection {
  private readonly client: MongoClient;
  private readonly database: Db;
  private readonly underWay = new Set<Promise<unknown>>();
  readonly deadlineMs: number;
  private readonly maxOperations: number;
  private connecting: Promise<MongoClient> | undefined;
  private closing: Promise<void> | undefined;

  constructor({ url, metrics, deadlineMs = 5_000, maxOperations = 10_000 }: MongoOptions) {
    this.client = createClient(url, deadlineMs);
    this.database = this.client.db(/^[^/]+\/\/[^/]*\/[^?]/.test(url) ? undefined : 'tracking');
    this.deadlineMs = deadlineMs;
    this.maxOperations = maxOperations;
    const help = 'Operations of the document store that run or wait for a connection.';
    metrics.gauge('document_store_operations', help, [], () => this.underWay.size);
  }

  /**
   * Runs an operation and abandons it after the deadline. The driver may still perform an abandoned operation.
   * @throws Unavailable, Busy, and errors of the operation itself
   */
  async run<R>(operation: (database: Db) => Promise<R>, deadlineMs = this.deadlineMs): Promise<R> {
    if (this.closing !== undefined) throw new Unavailable(ENGINE_NAME, 'closed');
    if (this.underWay.size >= this.maxOperations)
      throw new Busy(ENGINE_NAME, 'too many operations are waiting for the document store; retry later');
    const running = this.connectOnce().then(operation);
    this.underWay.add(running);
    return new Promise<R>((resolve, reject) => {
      const giveUp = () => reject(new Unavailable(ENGINE_NAME, `the server did not respond within ${deadlineMs} ms`));
      const deadline = setTimeout(giveUp, deadlineMs);
      const settle = () => {
        clearTimeout(deadline);
        this.underWay.delete(running);
      };
      running.then(resolve, (error: unknown) => reject(toPortError(error) as Error)).finally(settle);
    });
  }

  /** Checks the connection. @throws Unavailable if the server does not respond */
  async ping(): Promise<void> {
    await this.run((database) => database.command({ ping: 1 }));
  }

  /** Waits for running operations, at most one operation deadline, then disconnects. */
  close(): Promise<void> {
    return (this.closing ??= this.disconnect());
  }

  /** After a failed first connection, the driver recovers only if the code calls `connect` again. */
  private async connectOnce(): Promise<Db> {
    this.connecting ??= this.client.connect();
    try {
      await this.connecting;
    } catch (error) {
      this.connecting = undefined;
      throw error;
    }
    return this.database;
  }

  private async disconnect(): Promise<void> {
    const patience = after(this.deadlineMs, undefined, { ref: false });
    await Promise.race([Promise.allSettled(this.underWay), patience]);
    await this.client.close();
  }
}

/**
 * The driver has no deadline for a whole operation. These options limit its steps, so that abandoned operations end
 * soon.
 */
function createClient(url: string, deadlineMs: number): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'tracking',
      serverSelectionTimeoutMS: deadlineMs,
      connectTimeoutMS: deadlineMs,
      waitQueueTimeoutMS: deadlineMs,
      // If the server does not respond to this ping either, the driver closes the connection with all operations that
      // wait for it.
      heartbeatFrequencyMS: Math.max(500, deadlineMs),
      retryReads: true,
      retryWrites: true,
      readPreference: 'primary',
      ignoreUndefined: true,
    });
  } catch {
    // The driver's message may contain the whole URL with its password.
    throw new TypeError(`${ENGINE_NAME}: the MongoDB connection string is invalid or has unknown options`);
  }
}

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof MongoServerError && codes.includes(Number(error.code));
}

export const isNoSuchCollection = (error: unknown) => hasCode(error, NAMESPACE_NOT_FOUND);
export const isCollectionConflict = (error: unknown) => hasCode(error, NAMESPACE_EXISTS);
export const isIndexConflict = (error: unknown) => hasCode(error, INDEX_OPTIONS_CONFLICT, INDEX_KEY_SPECS_CONFLICT);

/** Returns the name of the unique index that refused the write; undefined for other errors. */
export function findViolatedIndex(error: unknown): string | undefined {
  return hasCode(error, DUPLICATE_KEY) ? parseIndexName((error as MongoServerError).message) : undefined;
}

/**
 * Returns the writes of an unordered bulk that unique indexes refused. All other writes were performed.
 * @throws the error if it has another cause
 */
export function listRefusedWrites(error: unknown): readonly { readonly at: number; readonly index: string }[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const refused = [error.writeErrors].flat();
  // Refusals can hide a failed write concern, in which case the writes may be rolled back.
  const complete = error.result.getWriteConcernError() === undefined && refused.length > 0;
  if (!complete || refused.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return refused.map(({ index: at, errmsg }) => ({ at, index: parseIndexName(errmsg ?? '') }));
}

/**
 * Reads the index name. @param message `E11000 duplicate key error collection: tracking.keys index: by_hash dup key: {
 * hash: "…" }`
 */
function parseIndexName(message: string): string {
  return / index: (\S+) dup key/.exec(message)?.[1] ?? ID_INDEX;
}

/**
 * Maps errors of the driver to errors of the port. The new error contains neither the text nor the original error,
 * because these contain addresses, user names and parts of documents.
 */
function toPortError(error: unknown): unknown {
  const { name } = error as { readonly name: string };
  if (ENCODING_ERROR_NAME_PATTERN.test(name)) return new Error(`${ENGINE_NAME}: refused (${name})`);
  if (!(error instanceof MongoError)) return error;
  const codeName: unknown = error instanceof MongoServerError ? error.codeName : undefined;
  const what = typeof codeName === 'string' ? `${name}, ${codeName}` : name;
  const refused = error instanceof MongoInvalidArgumentError || REFUSAL_CODES.has(error.code);
  return refused
    ? new Error(`${ENGINE_NAME}: refused (${what})`)
    : new Unavailable(ENGINE_NAME, `the server does not respond (${what})`);
}
