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

/** Which engine, as operators know it. */
export const ENGINE = 'document store';
/** The name that MongoDB gives the index of `_id`. */
export const ID_INDEX = '_id_';
const NAMESPACE_NOT_FOUND = 26;
const NAMESPACE_EXISTS = 48;
const INDEX_OPTIONS_CONFLICT = 85;
const INDEX_KEY_SPECS_CONFLICT = 86;
const DUPLICATE_KEY = 11_000;
/**
 * Codes of requests that MongoDB refuses, and would refuse again: BadValue, FailedToParse, TypeMismatch, Overflow,
 * CannotIndexParallelArrays, BSONObjectTooLarge, and a nesting or size that its parser refuses.
 */
const REFUSED: ReadonlySet<unknown> = new Set([2, 9, 14, 15, 171, 10_334, 17_280, 17_419, 17_420]);
/** Names of the errors for documents that the driver cannot encode. By name, since the platform throws them too. */
const UNWRITABLE = /^(RangeError|BSON\w*Error)$/;

interface MongoOptions {
  /** As operators write it, with credentials and options. The database is the one in its path, `tracking` without one. */
  readonly url: string;
  readonly metrics: Metrics;
  /** Milliseconds after which an operation is given up, its outcome unknown; 5,000 by default. */
  readonly deadlineMs?: number;
  /** Most operations under way or waiting for a connection; beyond, `Busy`. 10,000 by default. */
  readonly maxOperations?: number;
}

/**
 * One client per process, for all that keeps something in MongoDB. Connects with the first operation, and again whenever
 * it has to. Logs nothing.
 */
export class MongoConnection {
  private readonly client: MongoClient;
  private readonly database: Db;
  private readonly underWay = new Set<Promise<unknown>>();
  readonly deadlineMs: number;
  private readonly maxOperations: number;
  private connecting: Promise<MongoClient> | undefined;
  private closing: Promise<void> | undefined;

  constructor({ url, metrics, deadlineMs = 5_000, maxOperations = 10_000 }: MongoOptions) {
    this.client = clientOf(url, deadlineMs);
    this.database = this.client.db(/^[^/]+\/\/[^/]*\/[^?]/.test(url) ? undefined : 'tracking');
    this.deadlineMs = deadlineMs;
    this.maxOperations = maxOperations;
    const help = 'Operations of the document store under way or waiting for a connection';
    metrics.gauge('document_store_operations', help, [], () => this.underWay.size);
  }

  /**
   * Gives an operation up after its deadline; the driver may still do it then.
   * @throws Unavailable, Busy, and what the operation throws that is no error of the driver
   */
  async run<R>(operation: (database: Db) => Promise<R>, deadlineMs = this.deadlineMs): Promise<R> {
    if (this.closing !== undefined) throw new Unavailable(ENGINE, 'closed');
    if (this.underWay.size >= this.maxOperations) throw new Busy(ENGINE, 'too many operations are waiting');
    const running = this.connected().then(operation);
    this.underWay.add(running);
    return new Promise<R>((resolve, reject) => {
      const giveUp = () => reject(new Unavailable(ENGINE, `does not answer (within ${deadlineMs} ms)`));
      const deadline = setTimeout(giveUp, deadlineMs);
      const settle = () => {
        clearTimeout(deadline);
        this.underWay.delete(running);
      };
      running.then(resolve, (error: unknown) => reject(portError(error) as Error)).finally(settle);
    });
  }

  /** @throws Unavailable where the server does not answer */
  async ping(): Promise<void> {
    await this.run((database) => database.command({ ping: 1 }));
  }

  /** Lets what is under way finish, for as long as an operation may take, then disconnects. */
  close(): Promise<void> {
    return (this.closing ??= this.disconnect());
  }

  /** The driver does not get over a first connection that failed, unless it is told to connect again. */
  private async connected(): Promise<Db> {
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

/** The driver has no deadline for a whole operation: these are for its parts, so that what is given up ends soon. */
function clientOf(url: string, deadlineMs: number): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'tracking',
      serverSelectionTimeoutMS: deadlineMs,
      connectTimeoutMS: deadlineMs,
      waitQueueTimeoutMS: deadlineMs,
      // A server that does not answer this either is cut off, with all that waits for it.
      heartbeatFrequencyMS: Math.max(500, deadlineMs),
      retryReads: true,
      retryWrites: true,
      readPreference: 'primary',
      ignoreUndefined: true,
    });
  } catch {
    // Its message may quote the whole URL, password included.
    throw new TypeError(`${ENGINE}: not a MongoDB connection string, or with options that are not known`);
  }
}

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof MongoServerError && codes.includes(Number(error.code));
}

export const isNoSuchCollection = (error: unknown) => hasCode(error, NAMESPACE_NOT_FOUND);
export const isCollectionThere = (error: unknown) => hasCode(error, NAMESPACE_EXISTS);
export const isIndexConflict = (error: unknown) => hasCode(error, INDEX_OPTIONS_CONFLICT, INDEX_KEY_SPECS_CONFLICT);

/** The name of the unique index that refused the write; undefined where something else went wrong. */
export function violatedIndex(error: unknown): string | undefined {
  return hasCode(error, DUPLICATE_KEY) ? indexIn((error as MongoServerError).message) : undefined;
}

/**
 * The writes of an unordered bulk that unique indexes refused, all others having been done.
 * @throws the error where it says anything else
 */
export function refusedWrites(error: unknown): readonly { readonly at: number; readonly index: string }[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const refused = [error.writeErrors].flat();
  // A write concern that failed as well is hidden behind the refusals: what was written may then be taken back.
  const complete = error.result.getWriteConcernError() === undefined && refused.length > 0;
  if (!complete || refused.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return refused.map(({ index: at, errmsg }) => ({ at, index: indexIn(errmsg ?? '') }));
}

/** @param message `E11000 duplicate key error collection: tracking.keys index: by_hash dup key: { hash: "…" }` */
function indexIn(message: string): string {
  return / index: (\S+) dup key/.exec(message)?.[1] ?? ID_INDEX;
}

/**
 * The driver's errors as the port's. Nothing of their text is kept, nor they as a cause: it holds addresses, names of
 * users and parts of documents.
 */
function portError(error: unknown): unknown {
  const { name } = error as { readonly name: string };
  if (UNWRITABLE.test(name)) return new Error(`${ENGINE}: refused (${name})`);
  if (!(error instanceof MongoError)) return error;
  const codeName: unknown = error instanceof MongoServerError ? error.codeName : undefined;
  const what = typeof codeName === 'string' ? `${name}, ${codeName}` : name;
  const refused = error instanceof MongoInvalidArgumentError || REFUSED.has(error.code);
  return refused ? new Error(`${ENGINE}: refused (${what})`) : new Unavailable(ENGINE, `does not answer (${what})`);
}
