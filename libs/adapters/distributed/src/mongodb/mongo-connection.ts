import type { Db } from 'mongodb';
import { BusyError, type Counter, type Metrics, UnavailableError } from '@tracking/ports';
import { LatestSeenMongoTime, MongoDriverClient } from './driver-client.ts';
import { ENGINE_NAME, isErrorFromServer, convertMongoError } from './mongo-errors.ts';
import { MongoServerSilenceMonitor } from './silence-monitor.ts';

interface MongoConnectionOptions {
  /** Connection string with credentials and options. Its path names the database, `tracking` by default. */
  readonly url: string;
  readonly metrics: Metrics;
  /** Milliseconds after which an operation is abandoned with an unknown outcome. Defaults to 5,000. */
  readonly deadlineMs?: number;
  /**
   * Maximum number of operations running or waiting for a connection; further operations throw `BusyError`. Defaults to
   * 10,000.
   */
  readonly maxOperations?: number;
  /** True to fail all operations within 2.1 s when the server answers nothing. False by default. */
  readonly failsFast?: boolean;
}

/**
 * Shared MongoDB client of a process. Connects with the first operation, reconnects when needed, and replaces a client
 * of the driver that is stuck. Logs nothing.
 */
export class MongoConnection {
  readonly deadlineMs: number;
  private readonly url: string;
  private readonly maxOperations: number;
  private readonly replacements: Counter;
  private readonly causalTime = new LatestSeenMongoTime();
  private readonly silence: MongoServerSilenceMonitor | undefined;
  private client: MongoDriverClient;
  private closing: Promise<void> | undefined;

  constructor({ url, metrics, deadlineMs = 5_000, maxOperations = 10_000, failsFast = false }: MongoConnectionOptions) {
    this.url = url;
    this.deadlineMs = deadlineMs;
    this.maxOperations = maxOperations;
    this.client = new MongoDriverClient(url, deadlineMs);
    if (failsFast) {
      const silences = metrics.createCounter(
        'document_store_silences_total',
        'Times at which the document store answered neither operations nor pings, so that operations failed early.',
      );
      this.silence = new MongoServerSilenceMonitor(
        () => this.pingAnyMember(),
        () => silences.add(),
      );
    }
    const help = 'Operations of the document store that run or wait for a connection.';
    metrics.createGauge('document_store_operations', help, [], () => this.client.running.size);
    this.replacements = metrics.createCounter(
      'document_store_client_replacements_total',
      'Clients of the document store that were replaced because operations were stuck or got no answer.',
    );
  }

  /**
   * Runs an operation and abandons it after the deadline, or earlier if the server is silent. The driver may still
   * perform an abandoned operation. The operation sees all writes that resolved before in this process, even on a new
   * primary.
   * @throws UnavailableError, BusyError, and errors of the operation itself
   */
  async runOnDatabase<R>(operation: (database: Db) => Promise<R>, deadlineMs = this.deadlineMs): Promise<R> {
    if (this.closing !== undefined) throw new UnavailableError(ENGINE_NAME, 'closed');
    if (this.client.running.size >= this.maxOperations)
      throw new BusyError(ENGINE_NAME, 'too many operations are waiting for the document store; retry later');
    this.silence?.throwIfServerIsSilent();
    const performed = this.performWithDeadline(operation, deadlineMs);
    return this.silence === undefined ? performed : this.silence.rejectCallIfSilent(performed);
  }

  private performWithDeadline<R>(
    operation: (database: Db) => Promise<R>,
    deadlineMs: number,
    client = this.client,
  ): Promise<R> {
    const startedAt = performance.now();
    const running = client.runInSession(operation, deadlineMs, this.causalTime);
    client.running.add(running);
    return new Promise<R>((resolve, reject) => {
      const giveUp = () => {
        this.recordMissingAnswerAndReplaceClient(client, startedAt);
        reject(new UnavailableError(ENGINE_NAME, `the server did not respond within ${deadlineMs} ms`));
        const leftMs = client.replacementMs - this.deadlineMs;
        timer = setTimeout(() => this.replaceDriverClient(client), leftMs).unref();
      };
      let timer = setTimeout(giveUp, deadlineMs);
      const settle = () => {
        clearTimeout(timer);
        client.running.delete(running);
      };
      const fail = (error: unknown) => {
        if (isErrorFromServer(error)) this.recordTimeOfMongoServerAnswer(client);
        else this.recordMissingAnswerAndReplaceClient(client, startedAt);
        reject(convertMongoError(error) as Error);
      };
      running.finally(settle).then((result) => {
        this.recordTimeOfMongoServerAnswer(client);
        resolve(result);
      }, fail);
    });
  }

  /** Checks the connection. @throws UnavailableError if the server does not respond */
  async pingDatabase(): Promise<void> {
    await this.runOnDatabase((database) => database.command({ ping: 1 }));
  }

  /** Waits for running operations, at most one operation deadline, then disconnects. */
  closeConnection(): Promise<void> {
    return (this.closing ??= this.client.closeDriverClient());
  }

  /**
   * Also succeeds while a replica set elects a primary, because operations wait for the election. If operations may use
   * all connections, the ping has its own client. Otherwise, it would wait for the slow operations.
   */
  private async pingAnyMember(): Promise<void> {
    if (this.closing !== undefined) return;
    const own = this.client.mayUseAllConnections ? new MongoDriverClient(this.url, this.deadlineMs) : undefined;
    const ping = (database: Db) => database.command({ ping: 1 }, { readPreference: 'nearest' });
    try {
      await this.performWithDeadline(ping, this.deadlineMs, own);
    } finally {
      void own?.closeDriverClient().catch(() => undefined);
    }
  }

  private recordTimeOfMongoServerAnswer(client: MongoDriverClient): void {
    client.recordServerAnswer();
    this.silence?.recordServerAnswer();
  }

  private recordMissingAnswerAndReplaceClient(client: MongoDriverClient, startedAt: number): void {
    client.recordMissingAnswer(startedAt);
    if (client.hasNoAnswerForTooLong()) this.replaceDriverClient(client);
  }

  /** Later operations use a new client. The old one ends when its operations have ended, or after a deadline. */
  private replaceDriverClient(client: MongoDriverClient): void {
    if (this.client !== client || this.closing !== undefined) return;
    this.client = new MongoDriverClient(this.url, this.deadlineMs);
    this.replacements.add();
    void client.closeDriverClient().catch(() => undefined);
  }
}
