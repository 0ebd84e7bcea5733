import type { EventStoreDBClient } from '@eventstore/db-client';
import {
  EngineAccessRefusedError,
  AppendTooLargeError,
  type CountRetry,
  type Logger,
  type Position,
  UnavailableError,
  VersionConflictError,
} from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import {
  type ConnectionStringParts,
  type EventStoreUserCredentials,
  formatConnectionString,
  parseConnectionString,
} from './connection-string.ts';
import { BatchAppendSender } from './batch-append.ts';
import { ENGINE_NAME, EventStoreDbNodeConnection } from './node-connection.ts';

export const DEFAULT_EVENTSTOREDB_LIMITS: EventStoreDbLimits = {
  operationTimeoutMs: 5_000,
  maxAppends: 10_000,
  maxAppendingBytes: 64 * 1_048_576,
  liveEvents: 2_000,
};
const RETRY_BACKOFF_LIMITS = { firstPauseMs: 50, maxPauseMs: 1_000 };
/**
 * Part of the timeout of an operation after which a node that answers nothing counts as lost. The rest is for the
 * search for the new leader and the repeated append.
 */
const NODE_SILENCE_FRACTION_OF_TIMEOUT = 0.4;
/** gRPC status of a request with a wrong user name or password. */
const UNAUTHENTICATED_STATUS = 16;

/** Addresses, credentials and limits of the client. */
export interface EventStoreDbOptions {
  /**
   * Connection string, such as `esdb://user:password@host:2113?tls=true&tlsCaFile=…`; several hosts or
   * `esdb+discover://` for a cluster. TLS and its certificates are options in the URL.
   */
  readonly url: string;
  /** Credentials that replace the ones in the URL. The client does not send them to a node without TLS. */
  readonly credentials?: EventStoreUserCredentials;
  readonly limits?: Partial<EventStoreDbLimits>;
}

export interface EventStoreDbLimits {
  /**
   * Milliseconds after which an operation fails with `UnavailableError`. Until then the store retries the operation. A
   * read may take longer while the node keeps sending data within this interval.
   */
  readonly operationTimeoutMs: number;
  /** Maximum number of concurrent appends. Further appends throw `BusyError`. */
  readonly maxAppends: number;
  /** Maximum bytes of the events of concurrent appends. A single append may exceed it. */
  readonly maxAppendingBytes: number;
  /** Minimum number of newest events in memory for live readers; at most twice as many, and fewer above 32 MiB. */
  readonly liveEvents: number;
}

/** Options that every call to a target receives. */
interface NodeCallOptions {
  /**
   * True if only the leader may answer, because only the leader has all acknowledged events. A follower may be behind.
   */
  readonly requiresLeader: boolean;
  readonly credentials?: EventStoreUserCredentials;
}

/** The target of calls: a connection, and the options that select the nodes that may answer. */
export interface NodeCallTarget {
  readonly client: EventStoreDBClient;
  readonly callOptions: NodeCallOptions;
  readonly connection: Pick<
    EventStoreDbNodeConnection,
    'recordTimeOfNodeAnswer' | 'giveUpNodeIfUnresponsive' | 'awaitAnswerWithTimeout'
  >;
}

/** The connections of a process to a node or to the nodes of a cluster. */
export interface EventStoreDbConnections {
  /** Only the leader answers: results contain every acknowledged event. */
  readonly leader: NodeCallTarget;
  /**
   * A follower may answer: results can end before the last acknowledged event. The node is chosen by `nodePreference` of
   * the connection string.
   */
  readonly anyNode: NodeCallTarget;
  /** Appends to the leader over one long call. */
  readonly batchAppends: BatchAppendSender;
  /** Highest position that this process wrote or read from the leader. */
  readonly stored: HighestKnownPosition;
  readonly connectionString: ConnectionStringParts;
  /** Ends all calls and the connections. */
  close(): Promise<void>;
}

/** The highest position that a process knows to be stored. */
export class HighestKnownPosition {
  private position: Position = '';

  get highest(): Position {
    return this.position;
  }

  recordStoredPosition(position: Position): void {
    if (position > this.position) this.position = position;
  }
}

/**
 * Creates a client that connects with the first call, and reconnects when needed.
 * @throws TypeError if the URL is invalid; the message does not contain it
 */
export function createEventStoreDbNodeClient({
  url,
  credentials,
  limits,
}: EventStoreDbOptions): EventStoreDbConnections {
  const { operationTimeoutMs } = { ...DEFAULT_EVENTSTOREDB_LIMITS, ...limits };
  const silenceMs = operationTimeoutMs * NODE_SILENCE_FRACTION_OF_TIMEOUT;
  let connectionString: ConnectionStringParts;
  let toLeader: EventStoreDbNodeConnection;
  let toAnyNode: EventStoreDbNodeConnection;
  try {
    connectionString = parseConnectionString(url);
    const { nodePreference } = connectionString;
    toLeader = new EventStoreDbNodeConnection(formatConnectionString(connectionString, 'leader'), silenceMs);
    toAnyNode =
      nodePreference === 'leader'
        ? toLeader
        : new EventStoreDbNodeConnection(formatConnectionString(connectionString, nodePreference), silenceMs);
  } catch {
    throw new TypeError(
      `${ENGINE_NAME}: the connection string is invalid, or a certificate that it names does not exist`,
    );
  }
  const login = credentials ?? connectionString.credentials;
  const createTarget = (connection: EventStoreDbNodeConnection, requiresLeader: boolean): NodeCallTarget => ({
    client: connection.client,
    callOptions: { requiresLeader, ...(login && { credentials: login }) },
    connection,
  });
  const leader = createTarget(toLeader, true);
  const batchAppends = new BatchAppendSender(toLeader, leader.callOptions);
  return {
    leader,
    batchAppends,
    anyNode: createTarget(toAnyNode, false),
    stored: new HighestKnownPosition(),
    connectionString,
    close: async () => {
      batchAppends.endCalls();
      await Promise.all([...new Set([toLeader, toAnyNode])].map((one) => one.closeNodeConnection()));
    },
  };
}

/** Error of the client or of gRPC. Client errors have a `type`; gRPC errors have a `code`. */
interface EventStoreClientError {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
}

/**
 * Returns the failure as one word, such as `unavailable`, because messages of the client contain addresses and names.
 */
export function describeEventStoreFailure(error: unknown): string {
  if (error instanceof UnavailableError) return error.message;
  const { type, code, name }: EventStoreClientError = error ?? { type: 'ended' };
  if (typeof type === 'string') return type;
  return typeof code === 'number' ? `gRPC status ${code}` : String(name);
}

function hasErrorType(error: unknown, type: string): boolean {
  return (error as EventStoreClientError).type === type;
}

/**
 * Maps errors of the client to errors of the port: permanent refusals to plain errors, all others to
 * `UnavailableError`. The new error contains neither the text nor the original error as its cause.
 */
function convertEventStoreDbError(error: unknown): Error {
  if (error instanceof UnavailableError || error instanceof VersionConflictError || error instanceof TypeError)
    return error;
  if (hasErrorType(error, 'access-denied'))
    return new EngineAccessRefusedError(ENGINE_NAME, describeNodeRefusal(error));
  if (hasErrorType(error, 'maximum-append-size-exceeded')) return new AppendTooLargeError();
  if (hasErrorType(error, 'stream-deleted')) return new Error(`${ENGINE_NAME}: the stream was permanently deleted`);
  return new UnavailableError(ENGINE_NAME, `the node does not respond (${describeEventStoreFailure(error)})`);
}

function describeNodeRefusal(error: unknown): string {
  return (error as EventStoreClientError).code === UNAUTHENTICATED_STATUS
    ? 'the node refuses the user name or the password'
    : 'the user has no permission, or the connection string names no user';
}

/**
 * Retries an operation without a response until its time is over. An abandoned attempt may still be carried out.
 * @param attempt receives the milliseconds that are left
 * @throws UnavailableError, VersionConflictError, or the refusal of the node
 */
export function retryUntilTimeout<T>(timeoutMs: number, attempt: (leftMs: number) => Promise<T>): Promise<T> {
  const deadline = monotonicMs() + timeoutMs;
  const once = async () => {
    try {
      return await attempt(Math.max(deadline - monotonicMs(), 1));
    } catch (error) {
      throw convertEventStoreDbError(error);
    }
  };
  return retry(once, { ...RETRY_BACKOFF_LIMITS, deadline, isTransient: isWorthRetrying });
}

function isWorthRetrying(error: unknown): boolean {
  return error instanceof UnavailableError && !(error instanceof EngineAccessRefusedError);
}

/** Logger and counter of failed attempts. */
export interface RetryTelemetry {
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

/** Retries a read for followers of the log until it succeeds. Returns undefined if `stop` aborts first. */
export async function retryUntilStopped<T>(
  stop: AbortSignal,
  { logger, countRetry }: RetryTelemetry,
  attempt: () => Promise<T>,
): Promise<T | undefined> {
  if (stop.aborted) return undefined;
  const onFailure = (error: unknown) => {
    countRetry('catching up');
    logger.warn({ reason: describeEventStoreFailure(error) }, 'event store: a read for a catch-up failed; retrying');
  };
  // The promise has no deadline and rejects only if `stop` aborts.
  const answer = retry(() => resolveOrStopOnAbort(stop, attempt()), {
    ...RETRY_BACKOFF_LIMITS,
    signal: stop,
    onFailure,
  });
  return answer.catch(() => undefined);
}

/** Settles like the promise, or resolves with undefined if `stop` aborts first. */
export async function resolveOrStopOnAbort<T>(stop: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  const stopped = Promise.withResolvers<undefined>();
  const giveUp = () => stopped.resolve(undefined);
  stop.addEventListener('abort', giveUp);
  if (stop.aborted) giveUp();
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    stop.removeEventListener('abort', giveUp);
  }
}
