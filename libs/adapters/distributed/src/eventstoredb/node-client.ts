import { setImmediate } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Channel } from '@grpc/grpc-js';
import { AppendTooLarge, type CountRetry, type Logger, Unavailable, VersionConflict } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';

export const DEFAULT_LIMITS: EventStoreDbLimits = {
  operationTimeoutMs: 5_000,
  maxAppends: 10_000,
  liveEvents: 2_000,
};
/** As the client itself takes it apart. */
const URL_PARTS = /^([^:]+:\/\/)(?:([^:]+):([^@]+)@)?(.*)$/;
/** Which engine, as operators know it. */
export const ENGINE = 'event store';
const RETRY_PAUSES = { firstPauseMs: 50, longestPauseMs: 1_000 };

/** Where the nodes are, how to be let in, and how long to wait for them. */
export interface EventStoreDbOptions {
  /**
   * As operators write it: `esdb://user:password@host:2113?tls=true&tlsCAFile=…`, several hosts or `esdb+discover://` for
   * a cluster. TLS and its certificates are options of it.
   */
  readonly url: string;
  /** In the place of those in the URL. A node without TLS is told none. */
  readonly credentials?: EventStoreDbCredentials;
  readonly limits?: Partial<EventStoreDbLimits>;
}

interface EventStoreDbCredentials {
  readonly username: string;
  readonly password: string;
}

export interface EventStoreDbLimits {
  /**
   * From the call of an operation to `Unavailable`; until then it is repeated. A read may take longer, as long as the node
   * is never silent for this time.
   */
  readonly operationTimeoutMs: number;
  /** Most appends that the node has not answered; beyond, `Busy`. */
  readonly maxAppends: number;
  /** Newest events kept in memory for live readers, at least, up to twice as many; fewer if they exceed 32 MiB. */
  readonly liveEvents: number;
}

/** Private members of the client that the adapter changes. */
interface ClientInternals {
  readonly handleError: (...failure: readonly unknown[]) => Promise<void>;
  readonly getChannel: () => Promise<Channel>;
}

/** Options of every call. */
interface CallOptions {
  /** A follower answers from what it has by then; only the leader has everything acknowledged. */
  readonly requiresLeader: true;
  readonly credentials?: EventStoreDbCredentials;
}

/** The client as the adapter uses it. */
export interface NodeClient {
  readonly client: EventStoreDBClient;
  readonly callOptions: CallOptions;
  /** Ends every call and the connection. */
  close(): Promise<void>;
}

/**
 * Connects with the first call, and again whenever it has to.
 * @throws TypeError where the URL is none, without a word of it
 */
export function openClient({ url, credentials }: EventStoreDbOptions): NodeClient {
  let client: EventStoreDBClient;
  let known: EventStoreDbCredentials | undefined;
  try {
    // The client prints the URL when it does not know one of its options: it is never told who logs in.
    const [, scheme = '', username, password, rest = ''] = URL_PARTS.exec(url) ?? [];
    known = username === undefined || password === undefined ? undefined : decoded({ username, password });
    client = EventStoreDBClient.connectionString(scheme + rest);
  } catch {
    throw new TypeError(`${ENGINE}: not an EventStoreDB connection string, or a certificate it names is not there`);
  }
  const { getChannel } = patchClient(client);
  const login = credentials ?? known;
  return {
    client,
    callOptions: { requiresLeader: true, ...(login && { credentials: login }) },
    async close() {
      await client.dispose();
      // Not waited for: while no node is to be found there is nothing to disconnect from either.
      getChannel().then(
        (channel) => channel.close(),
        () => undefined,
      );
    },
  };
}

function decoded({ username, password }: EventStoreDbCredentials): EventStoreDbCredentials {
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/**
 * Three things of the client that would lose appends of others or end the process:
 * - Appends that share one long call (`BatchAppend`) are kept in one map for all clients of the process: an error of any
 *   call rejects them all, and an answer that comes afterwards is an uncaught `TypeError`; a write that waits for room is
 *   rejected where nobody can catch it. So every append is a call of its own, as with servers that know no other.
 * - After an error it closes its channel in the middle of the turn, under an append that is just being started, whose
 *   failure nobody can catch; and it rejects unheard where meanwhile no node is found. So that happens in its own turn.
 * - With `throwOnAppendFailure=false` in the URL a refused append would look like one that was stored.
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

/** As far as the client's and gRPC's errors go; some have a `type`, some a `code` only. */
interface ClientError {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
}

/** The failure as one word, such as `unavailable`: messages of the client contain addresses and names. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unavailable) return error.message;
  const { type, code, name }: ClientError = error ?? { type: 'ended' };
  if (typeof type === 'string') return type;
  return typeof code === 'number' ? `gRPC status ${code}` : String(name);
}

function isOfType(error: unknown, type: string): boolean {
  return (error as ClientError).type === type;
}

/**
 * The client's errors as the port's: what the node refuses for ever as plain errors, everything else as `Unavailable`.
 * Nothing of their text is kept, nor they as a cause.
 */
function portError(error: unknown): Error {
  if (error instanceof Unavailable || error instanceof VersionConflict || error instanceof TypeError) return error;
  if (isOfType(error, 'maximum-append-size-exceeded')) return new AppendTooLarge();
  if (isOfType(error, 'stream-deleted')) return new Error(`${ENGINE}: the stream was deleted for ever`);
  return new Unavailable(ENGINE, `does not answer (${reasonOf(error)})`);
}

export function timedOut(): Unavailable {
  return new Unavailable(ENGINE, 'does not answer in time');
}

/**
 * Repeats an operation that the node does not answer, until its time is over. What was given up may still happen.
 * @param attempt is told how many milliseconds it has
 * @throws Unavailable, VersionConflict, or why the node refuses
 */
export function retryWithin<T>(timeoutMs: number, attempt: (leftMs: number) => Promise<T>): Promise<T> {
  const deadline = monotonicMs() + timeoutMs;
  const once = async () => {
    try {
      return await attempt(Math.max(deadline - monotonicMs(), 1));
    } catch (error) {
      throw portError(error);
    }
  };
  return retry(once, { ...RETRY_PAUSES, deadline, isTransient: (error) => error instanceof Unavailable });
}

/** Told of every try that failed. */
export interface RetryTelemetry {
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

/** Repeats a read for those who follow the log until the node answers; undefined where `stop` comes first. */
export async function retryUntilStopped<T>(
  stop: AbortSignal,
  { logger, countRetry }: RetryTelemetry,
  attempt: () => Promise<T>,
): Promise<T | undefined> {
  if (stop.aborted) return undefined;
  const onFailure = (error: unknown) => {
    countRetry('catching up');
    logger.warn({ reason: reasonOf(error) }, 'event store: catching up is tried again');
  };
  // Without a deadline it fails on `stop` only.
  const answer = retry(() => unlessAborted(stop, attempt()), { ...RETRY_PAUSES, signal: stop, onFailure });
  return answer.catch(() => undefined);
}

/** Resolves as the promise does, or with undefined if `stop` aborts first. */
export async function unlessAborted<T>(stop: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
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
