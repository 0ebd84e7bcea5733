import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { retry } from '@tracking/resilience';

const LENGTH_PREFIX_BYTES = 4;
/** Name of the event that a broken socket emits with the number of its lost responses. */
export const RESPONSES_LOST_SOCKET_EVENT = 'responses lost';
/** Names of the socket events that kafkajs listens to. */
const SOCKET_EVENT_NAMES = ['data', 'end', 'error', 'timeout'] as const;
const MAX_GROUP_JOIN_ATTEMPTS = 5;
const JOIN_PAUSE_OPTIONS = { firstPauseMs: 200, maxPauseMs: 1_600 };

/** Connection of kafkajs 2.2.4 to a broker. It uses a new socket after the previous one broke. */
interface KafkaJsConnectionInternals {
  socket?: Socket;
  /** Received parts of an incomplete response, and the number of bytes needed to read it. */
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

let areKafkaJsConnectionsPatched = false;

/**
 * Makes connections of kafkajs survive broken sockets. If a socket breaks in the middle of a response, kafkajs reads
 * the bytes of the next socket as the rest of that response. It then waits without end, or throws an uncaught error,
 * which ends the process. With the patch, each socket starts with empty buffers and without the listeners of the
 * previous one, whose late events would close the new socket. Only one socket is opened at a time, and a `disconnect`
 * after a break does not close a socket that is being opened. Bytes that cannot be parsed close only their own socket.
 */
export function patchKafkaConnections(): void {
  if (areKafkaJsConnectionsPatched) return;
  areKafkaJsConnectionsPatched = true;
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/connection.js') as {
    readonly prototype: KafkaJsConnectionInternals;
  };
  const { connect, disconnect, processData, rejectRequests } = prototype;
  const opening = new WeakMap<KafkaJsConnectionInternals, Promise<boolean>>();
  prototype.connect = function () {
    const underWay = opening.get(this);
    if (underWay !== undefined) return underWay;
    if (this.isConnected()) return Promise.resolve(true);
    destroyKafkaSocketAndClearBuffer(this);
    const connecting = connect
      .call(this)
      .catch((error: unknown) => {
        destroyKafkaSocketAndClearBuffer(this);
        throw error;
      })
      .finally(() => opening.delete(this));
    opening.set(this, connecting);
    return connecting;
  };
  prototype.disconnect = function () {
    if (this.isConnected()) return disconnect.call(this);
    // The patch keeps a socket that another caller is opening.
    if (!opening.has(this)) destroyKafkaSocketAndClearBuffer(this);
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
    if (size > 0) this.socket?.emit(RESPONSES_LOST_SOCKET_EVENT, size);
    rejectRequests.call(this, error);
  };
}

function destroyKafkaSocketAndClearBuffer(connection: KafkaJsConnectionInternals): void {
  connection.chunks = [];
  connection.bytesBuffered = 0;
  connection.bytesNeeded = LENGTH_PREFIX_BYTES;
  const { socket } = connection;
  if (socket === undefined) return;
  for (const event of SOCKET_EVENT_NAMES) socket.removeAllListeners(event);
  socket.on('error', () => undefined).destroy();
}

/** Consumer group of kafkajs 2.2.4: the membership of one consumer in a group. */
interface KafkaJsConsumerGroupInternals {
  readonly cluster: object;
  memberId: string | null;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
}

/** Runner of kafkajs 2.2.4: the loop that fetches the messages of one consumer. */
interface KafkaJsRunner {
  readonly running: boolean;
  readonly consumerGroup: { commitOffsets(offsets: unknown): Promise<void> };
  commitOffsets(offsets: unknown): Promise<void>;
}

/** Group membership that one consumer takes over from the previous one. */
export interface KafkaMemberIdentity {
  /** Member id assigned by the group; empty before the first join. */
  id: string;
  /** True if a consumer leaves the group when it ends; otherwise the next consumer continues its membership. */
  leaves: boolean;
}

interface PendingGroupJoin {
  readonly identity: KafkaMemberIdentity;
  /** Signal that aborts joining. */
  readonly ended: AbortSignal;
}

/** Identity of each consumer and the signal that aborts its joins, by the kafkajs cluster object of the consumer. */
const pendingGroupJoinsByCluster = new WeakMap<object, PendingGroupJoin>();

/**
 * Makes a consumer join its group with the member id of the consumer that it replaces. With another id, the whole group
 * would wait until the session of the previous consumer times out.
 * @param identity updated by this function and later joins
 * @param cluster of the consumer
 * @param ended stops joining, whose pauses would last for seconds after its client was destroyed
 */
export function makeConsumerReuseMemberId(identity: KafkaMemberIdentity, cluster: object, ended: AbortSignal): void {
  pendingGroupJoinsByCluster.set(cluster, { identity, ended });
}

/**
 * Lets consumers choose their member id and keep their membership after a crash, for which kafkajs has no settings.
 * Also repeats joins without an assignment. If the response to SyncGroup is lost, kafkajs would fetch its previous
 * partitions, which other members may own. Its heartbeats would succeed, but no commit. So the join is repeated
 * immediately on the existing connections. After the last attempt the consumer crashes and is replaced.
 *
 * Makes one attempt of each commit. kafkajs would repeat a failed commit even after its caller has stopped waiting, so
 * that an earlier offset could replace a later one.
 */
export function patchKafkaConsumerGroups(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as {
    readonly prototype: KafkaJsConsumerGroupInternals;
  };
  const runner = require('kafkajs/src/consumer/runner.js') as { readonly prototype: KafkaJsRunner };
  const { joinAndSync, leave } = prototype;
  prototype.joinAndSync = async function () {
    const { identity, ended } = pendingGroupJoinsByCluster.get(this.cluster) ?? {};
    // If the group no longer knows the member id, kafkajs requests a new one.
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
    const until = {
      ...JOIN_PAUSE_OPTIONS,
      ...(ended && { signal: ended }),
      isTransient: () => attempts < MAX_GROUP_JOIN_ATTEMPTS,
    };
    await retry(join, until).catch((error: unknown) => {
      throw error instanceof Error ? Object.assign(error, { retriable: false }) : error;
    });
  };
  prototype.leave = async function () {
    if (pendingGroupJoinsByCluster.get(this.cluster)?.identity.leaves !== false) await leave.call(this);
  };
  runner.prototype.commitOffsets = async function (offsets) {
    if (this.running) await this.consumerGroup.commitOffsets(offsets);
  };
}

/** The request queue of a connection of kafkajs 2.2.4: requests that wait for capacity or for a throttling broker. */
interface KafkaJsRequestQueue {
  readonly pending: readonly unknown[];
  /** Requests without a response. */
  readonly inflight: ReadonlyMap<number, KafkaJsRequest>;
  readonly enforceRequestTimeout: boolean;
  readonly requestTimeout: number;
  requestTimeoutIntervalId: NodeJS.Timeout | null;
  isConnected(): boolean;
  /** Stops the check of timeouts. */
  destroy(): void;
  scheduleRequestTimeoutCheck(): void;
  scheduleCheckPendingRequests(): void;
}

interface KafkaJsRequest {
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

/** Interval between two checks whether a request has timed out, as a fraction of the timeout. */
const TIMEOUT_CHECK_FRACTION = 1 / 10;
let areKafkaRequestQueuesPatched = false;

/**
 * Stops the polling of request queues. After its first response, each connection of kafkajs checks its queue every
 * millisecond (tulios/kafkajs#1704), which takes a few percent of a core. With the patch, it does so only if a request
 * waits. Each connection also checks every 100 ms whether a request has timed out. With the patch, it does so ten times
 * per timeout.
 */
export function patchKafkaRequestQueues(): void {
  if (areKafkaRequestQueuesPatched) return;
  areKafkaRequestQueuesPatched = true;
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/requestQueue/index.js') as {
    readonly prototype: KafkaJsRequestQueue;
  };
  const { scheduleCheckPendingRequests } = prototype;
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
  prototype.scheduleRequestTimeoutCheck = function () {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    const check = () => {
      const now = Date.now();
      for (const request of this.inflight.values())
        if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
      if (!this.isConnected()) this.destroy();
    };
    this.requestTimeoutIntervalId = setInterval(check, TIMEOUT_CHECK_FRACTION * this.requestTimeout);
  };
}
