import { setImmediate } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Channel } from '@grpc/grpc-js';
import { ENGINE } from './eventstoredb-errors.ts';
import type { EventStoreDbCredentials, EventStoreDbOptions } from './eventstoredb-options.ts';

/** What the client keeps to itself, as far as the adapter changes it. */
interface ClientInternals {
  readonly handleError: (...failure: readonly unknown[]) => Promise<void>;
  readonly getChannel: () => Promise<Channel>;
}

/** What every call is told. */
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
    const [, scheme = '', username, password, rest = ''] = PARTS.exec(url) ?? [];
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

/** As the client itself takes it apart. */
const PARTS = /^([^:]+:\/\/)(?:([^:]+):([^@]+)@)?(.*)$/;

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
