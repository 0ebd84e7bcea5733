import { setTimeout as after } from 'node:timers/promises';
import { type ClientSession, type ClusterTime, type Db, MongoClient, type Timestamp } from 'mongodb';
import { limitDatabaseCallTimes, computeSocketTimeoutMs } from './bounded-database.ts';
import { ENGINE_NAME } from './mongo-errors.ts';

/** Milliseconds after which an unused connection is closed, less than the limits of common load balancers. */
const MAX_IDLE_CONNECTION_MS = 60_000;
/**
 * Milliseconds between two searches of a pool for unused connections. The driver's own value, 100, wakes an idle process
 * ten times a second.
 */
const POOL_CHECK_INTERVAL_MS = 2_000;
/**
 * Deadlines after which a client is replaced, counted from the start of an operation that is stuck, or of the first of
 * several operations without any answer.
 */
const DEADLINES_BEFORE_CLIENT_REPLACEMENT = 2.5;
/** Milliseconds after which an unused session is ended, far below the 30 minutes after which servers end it. */
const MAX_IDLE_MONGO_SESSION_MS = 60_000;
/** Number of unused sessions that are kept: as many as a pool has connections by default. */
const MAX_IDLE_DRIVER_SESSIONS = 100;
/** Database if the path of the connection string names none. */
const DEFAULT_DATABASE = 'tracking';

/** A session that one operation at a time uses, with the database whose calls are part of it. */
interface OpenMongoSession {
  readonly session: ClientSession;
  readonly database: Db;
  /** Monotonic time at which the session was last used. */
  usedAt: number;
}

/**
 * A client of the driver with its running operations. The driver sometimes waits forever for a closed socket: a stuck
 * operation then keeps its connection, and a stuck monitor leaves the client without a server. Such a client must be
 * replaced.
 */
export class MongoDriverClient {
  readonly running = new Set<Promise<unknown>>();
  private readonly client: MongoClient;
  private connecting: Promise<MongoClient> | undefined;
  /** Sessions that no operation uses. The most recently used session is the last. */
  private readonly idleSessions: OpenMongoSession[] = [];
  /** Monotonic time of the latest answer of the server. */
  private answeredAt = -Infinity;
  /** Monotonic time since when no operation got an answer; undefined if the latest one did. */
  private unansweredSince: number | undefined;
  /** Milliseconds after which an operation that still runs is stuck. */
  readonly replacementMs: number;

  /** @throws TypeError if the connection string is invalid */
  constructor(
    private readonly url: string,
    private readonly deadlineMs: number,
  ) {
    this.replacementMs = DEADLINES_BEFORE_CLIENT_REPLACEMENT * deadlineMs;
    this.client = createMongoClient(url, deadlineMs);
  }

  /** True if the running operations may use all connections to a server, so that a further operation would wait. */
  get mayUseAllConnections(): boolean {
    const { maxPoolSize } = this.client.options;
    return maxPoolSize > 0 && this.running.size >= maxPoolSize;
  }

  /**
   * Runs an operation in a session that no other operation uses at the same time. After a success, a later operation uses
   * the session again, because the driver's own pool checks the age of all its sessions whenever one is returned. After
   * an error, the session is ended, because the server may still perform the operation.
   */
  async runInSession<R>(
    operation: (database: Db) => Promise<R>,
    maxTimeMS: number,
    causalTime: LatestSeenMongoTime,
  ): Promise<R> {
    const connected = await this.connectToMongoOnce();
    const used = this.takeIdleSession(connected);
    const { session } = used;
    let isReusable = false;
    try {
      causalTime.advanceMongoSessionToSeenTime(session);
      const database =
        maxTimeMS === this.deadlineMs
          ? used.database
          : limitDatabaseCallTimes(this.getMongoDatabase(connected), session, maxTimeMS);
      const result = await operation(database);
      // A session is dirty after a lost connection, even if the operation was repeated with success.
      isReusable = !session.serverSession.isDirty;
      return result;
    } finally {
      causalTime.updateLatestMongoClusterTimes(session);
      if (isReusable && this.idleSessions.length < MAX_IDLE_DRIVER_SESSIONS) this.returnIdleSession(used);
      else await session.endSession();
    }
  }

  private takeIdleSession(connected: MongoClient): OpenMongoSession {
    const last = this.idleSessions.pop();
    const now = performance.now();
    if (last !== undefined && now - last.usedAt <= MAX_IDLE_MONGO_SESSION_MS) return last;
    // All other sessions have been idle for longer.
    for (const { session } of [...this.idleSessions.splice(0), ...(last ? [last] : [])]) void session.endSession();
    const session = connected.startSession({ causalConsistency: true });
    return {
      session,
      database: limitDatabaseCallTimes(this.getMongoDatabase(connected), session, this.deadlineMs),
      usedAt: now,
    };
  }

  private returnIdleSession(used: OpenMongoSession): void {
    used.usedAt = performance.now();
    this.idleSessions.push(used);
  }

  private getMongoDatabase(connected: MongoClient): Db {
    return connected.db(/^[^/]+\/\/[^/]*\/[^?]/.test(this.url) ? undefined : DEFAULT_DATABASE);
  }

  /**
   * Connects with the first call. After a failed first connection, the driver recovers only if the code calls `connect`
   * again.
   */
  async connectToMongoOnce(): Promise<MongoClient> {
    this.connecting ??= this.client.connect();
    try {
      return await this.connecting;
    } catch (error) {
      this.connecting = undefined;
      throw error;
    }
  }

  /** Records that an operation succeeded, or failed with an answer of the server. */
  recordServerAnswer(): void {
    this.answeredAt = performance.now();
    this.unansweredSince = undefined;
  }

  /** Records that an operation got no answer of the server. @param startedAt monotonic time of its start */
  recordMissingAnswer(startedAt: number): void {
    this.unansweredSince ??= Math.max(startedAt, this.answeredAt);
  }

  /** Returns true if no operation got an answer for so long that the client itself may be the cause. */
  hasNoAnswerForTooLong(): boolean {
    const { unansweredSince = Infinity } = this;
    return performance.now() - unansweredSince >= this.replacementMs;
  }

  /** Waits for running operations, at most one operation deadline, then disconnects. */
  async closeDriverClient(): Promise<void> {
    await Promise.race([Promise.allSettled(this.running), this.waitForDeadline()]);
    // The driver may wait forever here too.
    await Promise.race([this.client.close(), this.waitForDeadline()]);
  }

  private waitForDeadline(): Promise<void> {
    return after(this.deadlineMs, undefined, { ref: false });
  }
}

/**
 * The driver has no deadline for a whole operation. These options limit its steps, so that abandoned operations end
 * soon. `retryWrites` is not among them, because a connection string may turn it off.
 */
function createMongoClient(url: string, deadlineMs: number): MongoClient {
  try {
    const client = new MongoClient(url, {
      appName: 'tracking',
      serverSelectionTimeoutMS: deadlineMs,
      connectTimeoutMS: deadlineMs,
      waitQueueTimeoutMS: deadlineMs,
      socketTimeoutMS: computeSocketTimeoutMs(deadlineMs),
      maxIdleTimeMS: MAX_IDLE_CONNECTION_MS,
      // If the server does not respond to this ping either, the driver closes the connection with all operations that
      // wait for it.
      heartbeatFrequencyMS: Math.max(500, deadlineMs),
      retryReads: true,
      readPreference: 'primary',
      ignoreUndefined: true,
    });
    // The driver passes all options to its pools, but its constructor does not accept this one.
    Object.assign(client.options, { minPoolSizeCheckFrequencyMS: POOL_CHECK_INTERVAL_MS });
    return client;
  } catch {
    // The driver's message may contain the whole URL with its password.
    throw new TypeError(`${ENGINE_NAME}: the MongoDB connection string is invalid or has unknown options`);
  }
}

/**
 * Latest time in the log of the replica set that this process has seen. Operations that begin after that time see
 * everything that it wrote, even on a new primary (https://www.mongodb.com/docs/manual/core/causal-consistency-read-write-concerns/).
 */
export class LatestSeenMongoTime {
  private operationTime: Timestamp | undefined;
  private clusterTime: ClusterTime | undefined;

  /** Makes operations of the session wait for everything that this process has seen. */
  advanceMongoSessionToSeenTime(session: ClientSession): void {
    if (this.clusterTime !== undefined) session.advanceClusterTime(this.clusterTime);
    if (this.operationTime !== undefined) session.advanceOperationTime(this.operationTime);
  }

  /** Records what the session has seen. Engines without these times report none. */
  updateLatestMongoClusterTimes({ operationTime, clusterTime }: ClientSession): void {
    if (operationTime !== undefined && !(this.operationTime?.greaterThanOrEqual(operationTime) ?? false))
      this.operationTime = operationTime;
    if (
      clusterTime !== undefined &&
      !(this.clusterTime?.clusterTime.greaterThanOrEqual(clusterTime.clusterTime) ?? false)
    )
      this.clusterTime = clusterTime;
  }
}
