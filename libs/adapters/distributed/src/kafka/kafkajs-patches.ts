import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { retry } from '@tracking/resilience';

const SIZE_BYTES = 4;
/** Event of a socket that broke, with the number of responses that were awaited on it. */
export const RESPONSES_LOST = 'responses lost';
/** Events of a socket that kafkajs listens to. */
const LISTENED_TO = ['data', 'end', 'error', 'timeout'] as const;
const JOIN_ATTEMPTS = 5;
const JOIN_PAUSES = { firstPauseMs: 200, longestPauseMs: 1_600 };

/** A connection of kafkajs 2.2.4: one way to a broker, over one socket after another. */
interface KafkaJsConnection {
  socket?: Socket;
  /** Parts of an incomplete response, and the number of bytes to await before it is read. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
  readonly requestQueue: { readonly inflight: ReadonlyMap<number, unknown> };
  isConnected(): boolean;
  connect(): Promise<boolean>;
  disconnect(): Promise<boolean>;
  processData(data: Buffer): void;
  rejectRequests(error: Error): void;
}

let areConnectionsPatched = false;

/**
 * A connection of kafkajs outlives its sockets. Cut in the middle of a response, it takes the next socket's bytes for the
 * rest of that response: it reads sizes where there are none, and then either waits for a response for ever or throws
 * where nobody catches it, which ends the process. So each socket begins with empty buffers, and without the listeners of
 * the one before, whose late events would close the new one; only one is opened at a time, and a `disconnect` after a
 * break does not close the one that is being opened; and bytes that cannot be read cost their socket only.
 */
export function patchConnections(): void {
  if (areConnectionsPatched) return;
  areConnectionsPatched = true;
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/connection.js') as { readonly prototype: KafkaJsConnection };
  const { connect, disconnect, processData, rejectRequests } = prototype;
  const opening = new WeakMap<KafkaJsConnection, Promise<boolean>>();
  prototype.connect = function () {
    const underWay = opening.get(this);
    if (underWay !== undefined) return underWay;
    if (this.isConnected()) return Promise.resolve(true);
    reset(this);
    const connecting = connect
      .call(this)
      .catch((error: unknown) => {
        reset(this);
        throw error;
      })
      .finally(() => opening.delete(this));
    opening.set(this, connecting);
    return connecting;
  };
  prototype.disconnect = function () {
    if (this.isConnected()) return disconnect.call(this);
    // A socket that another caller is opening stays.
    if (!opening.has(this)) reset(this);
    return Promise.resolve(true);
  };
  prototype.processData = function (data) {
    try {
      processData.call(this, data);
    } catch (error) {
      this.socket?.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };
  prototype.rejectRequests = function (error) {
    const { size } = this.requestQueue.inflight;
    if (size > 0) this.socket?.emit(RESPONSES_LOST, size);
    rejectRequests.call(this, error);
  };
}

function reset(connection: KafkaJsConnection): void {
  connection.chunks = [];
  connection.bytesBuffered = 0;
  connection.bytesNeeded = SIZE_BYTES;
  const { socket } = connection;
  if (socket === undefined) return;
  for (const event of LISTENED_TO) socket.removeAllListeners(event);
  socket.on('error', () => undefined).destroy();
}

/** The consumer group of kafkajs 2.2.4: the membership of one consumer. */
interface KafkaJsConsumerGroup {
  readonly cluster: object;
  memberId: string | null;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
}

/** The place in a group that one consumer after another takes. */
export interface MemberIdentity {
  /** The member id that the group gave it; empty until then. */
  id: string;
  /** Whether a consumer that ends leaves the group; where it does not, the next one takes its place. */
  leaves: boolean;
}

interface Joining {
  readonly identity: MemberIdentity;
  /** Aborts when nobody wants it to join any more. */
  readonly ended: AbortSignal;
}

/** By the kafkajs cluster object of the consumer. */
const joinings = new WeakMap<object, Joining>();

/**
 * Has a consumer join its group under the member id of the one it replaces, which the group has not missed yet. With an id
 * of its own it would wait until the session of the old one has lapsed, and the whole group with it.
 * @param identity kept up to date from here on
 * @param cluster of the consumer
 * @param ended ends joining, whose pauses would go on for seconds after its client was destroyed
 */
export function joinAs(identity: MemberIdentity, cluster: object, ended: AbortSignal): void {
  joinings.set(cluster, { identity, ended });
}

/**
 * kafkajs has no setting for the member id, and leaves the group when it crashes. And where it has joined but did not get
 * its partitions, as when the response to SyncGroup is lost, it goes on: it fetches the partitions it had before, which may
 * be another's, and its commits are refused for ever while its heartbeats are taken. So joining is tried again at once, on
 * the connections there are; after the last attempt the consumer crashes, and another one takes its place.
 */
export function patchConsumerGroups(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as {
    readonly prototype: KafkaJsConsumerGroup;
  };
  const { joinAndSync, leave } = prototype;
  prototype.joinAndSync = async function () {
    const { identity, ended } = joinings.get(this.cluster) ?? {};
    // Where the group does not know the id any more, kafkajs asks for another.
    this.memberId ??= identity?.id ?? null;
    let attempts = 0;
    const join = async () => {
      attempts += 1;
      try {
        await joinAndSync.call(this);
      } finally {
        if (identity !== undefined) identity.id = this.memberId ?? '';
      }
    };
    const until = { ...JOIN_PAUSES, ...(ended && { signal: ended }), isTransient: () => attempts < JOIN_ATTEMPTS };
    await retry(join, until).catch((error: unknown) => {
      throw error instanceof Error ? Object.assign(error, { retriable: false }) : error;
    });
  };
  prototype.leave = async function () {
    if (joinings.get(this.cluster)?.identity.leaves !== false) await leave.call(this);
  };
}

/** The request queue of kafkajs 2.2.4, one for each connection: requests that wait for room, or for a throttling broker. */
interface KafkaJsRequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

let areQueuesPatched = false;

/**
 * From its first answer on, a connection of kafkajs looks every millisecond, for ever, whether a request waits
 * (tulios/kafkajs#1704), which costs a few percent of a core for each. So it looks only while one does.
 */
export function patchRequestQueues(): void {
  if (areQueuesPatched) return;
  areQueuesPatched = true;
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/requestQueue/index.js') as {
    readonly prototype: KafkaJsRequestQueue;
  };
  const { scheduleCheckPendingRequests } = prototype;
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
}
