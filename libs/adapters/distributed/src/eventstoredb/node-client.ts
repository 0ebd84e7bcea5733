import { setImmediate } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Channel } from '@grpc/grpc-js';
import { AppendTooLarge, type CountRetry, type Logger, Unavailable, VersionConflict } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';

export const DEFAULT_EVENTSTOREDB_LIMITS: EventStoreDbLimits = {
  operationTimeoutMs: 5_000,
  maxAppends: 10_000,
  liveEvents: 2_000,
};
/** Matches the parts of a connection string like the client does: protocol, user, password and rest. */
const URL_PATTERN = /^([^:]+:\/\/)(?:([^:]+):([^@]+)@)?(.*)$/;
/** Name of the engine for operators. */
export const ENGINE_NAME = 'event store';
const RETRY_PAUSE_OPTIONS = { firstPauseMs: 50, maxPauseMs: 1_000 };

/** Addresses, credentials and limits of the client. */
export interface EventStoreDbOptions {
  /**
   * Connection string, such as `esdb://user:password@host:2113?tls=true&tlsCAFile=…`; several hosts or
   * `esdb+discover://` for a cluster. TLS and its certificates are options in the URL.
   */
  readonly url: string;
  /** Credentials that replace the ones in the URL. The client does not send them to a node without TLS. */
  readonly credentials?: EventStoreDbCredentials;
  readonly limits?: Partial<EventStoreDbLimits>;
}

interface EventStoreDbCredentials {
  readonly username: string;
  readonly password: string;
}

export interface EventStoreDbLimits {
  /**
   * Milliseconds after which an operation fails with `Unavailable`. Until then the store retries the operation. A read
   * may take longer while the node keeps sending data within this interval.
   */
  readonly operationTimeoutMs: number;
  /** Maximum number of concurrent appends. Further appends throw `Busy`. */
  readonly maxAppends: number;
  /** Minimum number of newest events in memory for live readers; at most twice as many, and fewer above 32 MiB. */
  readonly liveEvents: number;
}

/** Private members of the client that the adapter changes. */
interface ClientInternals {
  readonly handleError: (...failure: readonly unknown[]) => Promise<void>;
  readonly getChannel: () => Promise<Channel>;
}

/** Options that every call receives. */
interface CallOptions {
  /** Calls go to the leader, because only the leader has all acknowledged events. A follower may lag behind. */
  readonly requiresLeader: true;
  readonly credentials?: EventStoreDbCredentials;
}

/** The client with the options of the adapter. */
export interface NodeClient {
  readonly client: EventStoreDBClient;
  readonly callOptions: CallOptions;
  /** Ends all calls and the connection. */
  close(): Promise<void>;
}

/**
 * Creates a client that connects with the first call, and reconnects when needed.
 * @throws TypeError if the URL is invalid; the message does not contain it
 */
export function openClient({ url, credentials }: EventStoreDbOptions): NodeClient {
  let client: EventStoreDBClient;
  let known: EventStoreDbCredentials | undefined;
  try {
    // Removes credentials from the URL, because the client prints the URL if it contains an unknown option.
    const [, scheme = '', username, password, rest = ''] = URL_PATTERN.exec(url) ?? [];
    known = username === undefined || password === undefined ? undefined : decodeCredentials({ username, password });
    client = EventStoreDBClient.connectionString(scheme + rest);
  } catch {
    throw new TypeError(
      `${ENGINE_NAME}: the connection string is invalid, or a certificate that it names does not exist`,
    );
  }
  const { getChannel } = patchClient(client);
  const login = credentials ?? known;
  return {
    client,
    callOptions: { requiresLeader: true, ...(login && { credentials: login }) },
    async close() {
      await client.dispose();
      // The code does not await the promise, because it does not settle while no node is found.
      getChannel().then(
        (channel) => channel.close(),
        () => undefined,
      );
    },
  };
}

function decodeCredentials({ username, password }: EventStoreDbCredentials): EventStoreDbCredentials {
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/**
 * Changes three behaviors of the client that would lose concurrent appends or end the process: - Appends that share one
 * long call (`BatchAppend`) are in one map for all clients of the process. An error of any call rejects them all, a
 * later response causes an uncaught `TypeError`, and the error of a write that waits for capacity is uncaught too. So
 * each append uses its own call, as with servers without `BatchAppend`. - After an error, the client closes its channel
 * immediately. An append that is being started then fails with an uncaught error. If no node is found meanwhile, there
 * is an unhandled rejection. So the channel is closed in a turn of its own. - With `throwOnAppendFailure=false` in the
 * URL, a refused append would look like a stored one.
 */
function patchClient(client: EventStoreDBClient): ClientInternals {
  const internals = client as unknown as ClientInternals;
  const { handleError } = internals;
  Object.defineProperties(client, {
    supports: { value: () => Promise.resolve(false) },
    handleError: {
      value: async (...failure: readonly unknown[]) => {
        await setImmediate();
        await handleError(...failure).catch(() => undefined);
      },
    },
    throwOnAppendFailure: { value: true },
  });
  return internals;
}

/** Error of the client or of gRPC. Client errors have a `type`; gRPC errors have a `code`. */
interface ClientError {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
}

/**
 * Returns the failure as one word, such as `unavailable`, because messages of the client contain addresses and names.
 */
export function describeReason(error: unknown): string {
  if (error instanceof Unavailable) return error.message;
  const { type, code, name }: ClientError = error ?? { type: 'ended' };
  if (typeof type === 'string') return type;
  return typeof code === 'number' ? `gRPC status ${code}` : String(name);
}

function hasErrorType(error: unknown, type: string): boolean {
  return (error as ClientError).type === type;
}

/**
 * Maps errors of the client to errors of the port: permanent refusals to plain errors, all others to `Unavailable`. The
 * new error contains neither the text nor the original error as its cause.
 */
function toPortError(error: unknown): Error {
  if (error instanceof Unavailable || error instanceof VersionConflict || error instanceof TypeError) return error;
  if (hasErrorType(error, 'maximum-append-size-exceeded')) return new AppendTooLarge();
  if (hasErrorType(error, 'stream-deleted')) return new Error(`${ENGINE_NAME}: the stream was permanently deleted`);
  return new Unavailable(ENGINE_NAME, `the node does not respond (${describeReason(error)})`);
}

export function createTimeoutError(): Unavailable {
  return new Unavailable(ENGINE_NAME, 'the node did not respond in time');
}

/**
 * Retries an operation without a response until its time is over. An abandoned attempt may still be carried out.
 * @param attempt receives the milliseconds that are left
 * @throws Unavailable, VersionConflict, or the refusal of the node
 */
export function retryWithin<T>(timeoutMs: number, attempt: (leftMs: number) => Promise<T>): Promise<T> {
  const deadline = monotonicMs() + timeoutMs;
  const once = async () => {
    try {
      return await attempt(Math.max(deadline - monotonicMs(), 1));
    } catch (error) {
      throw toPortError(error);
    }
  };
  return retry(once, { ...RETRY_PAUSE_OPTIONS, deadline, isTransient: (error) => error instanceof Unavailable });
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
    logger.warn({ reason: describeReason(error) }, 'event store: a read for a catch-up failed; retrying');
  };
  // The promise has no deadline and rejects only if `stop` aborts.
  const answer = retry(() => resolveUnlessAborted(stop, attempt()), {
    ...RETRY_PAUSE_OPTIONS,
    signal: stop,
    onFailure,
  });
  return answer.catch(() => undefined);
}

/** Settles like the promise, or resolves with undefined if `stop` aborts first. */
export async function resolveUnlessAborted<T>(stop: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
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
