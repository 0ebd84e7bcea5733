import { setTimeout as after } from 'node:timers/promises';
import { Busy, Unavailable, type Metrics } from '@tracking/ports';
import { MongoClient, type Db } from 'mongodb';
import { ENGINE, portError } from './mongo-errors.ts';

export interface MongoOptions {
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
