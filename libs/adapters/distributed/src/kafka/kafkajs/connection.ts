import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

const SIZE_BYTES = 4;
/** Event of a socket that broke, with the number of responses that were awaited on it. */
export const RESPONSES_LOST = 'responses lost';
/** What kafkajs listens to on a socket. */
const LISTENED_TO = ['data', 'end', 'error', 'timeout'] as const;

/** Of kafkajs 2.2.4: one way to a broker, over one socket after another. */
interface KafkaJsConnection {
  socket?: Socket;
  /** Of a response that is not complete yet, and how many bytes are awaited before reading it. */
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

let isPatched = false;

/**
 * A connection of kafkajs outlives its sockets. Cut in the middle of a response, it takes the next socket's bytes for the
 * rest of that response: it reads sizes where there are none, and then either waits for a response for ever or throws
 * where nobody catches it, which ends the process. So each socket begins with empty buffers, and without the listeners of
 * the one before, whose late events would close the new one; only one is opened at a time, and a `disconnect` after a
 * break does not close the one that is being opened; and bytes that cannot be read cost their socket only.
 */
export function patchConnections(): void {
  if (isPatched) return;
  isPatched = true;
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
