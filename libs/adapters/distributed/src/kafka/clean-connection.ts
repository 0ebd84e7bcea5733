import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

const SIZE_BYTES = 4;
/** Tells a socket how many answers it took with it when it broke. */
export const ANSWERS_LOST = 'answers lost';
/** What kafkajs listens to on a socket. */
const LISTENED_TO = ['data', 'end', 'error', 'timeout'] as const;

/** Of kafkajs 2.2.4: one way to a broker, over one socket after another. */
interface Connection {
  socket?: Socket;
  /** Of an answer that is not whole yet, and how many bytes are awaited before looking at them. */
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

/**
 * A connection of kafkajs outlives its sockets. Cut in the middle of an answer, it takes the next socket's bytes for the
 * rest of that answer: it reads sizes where there are none, and then either waits for an answer without end or throws
 * where nobody catches it, which ends the process. So each socket begins clean, with nothing left of the one before, whose
 * late events would close the new one; only one is opened at a time, and whoever saw the last one break does not close it
 * meanwhile; and bytes that cannot be read cost their socket only.
 */
export function letConnectionsBeginClean(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/connection.js') as { readonly prototype: Connection };
  const { connect, disconnect, processData, rejectRequests } = prototype;
  const opening = new WeakMap<Connection, Promise<boolean>>();
  prototype.connect = function () {
    const underWay = opening.get(this);
    if (underWay !== undefined) return underWay;
    if (this.isConnected()) return Promise.resolve(true);
    forget(this);
    const connecting = connect
      .call(this)
      .catch((error: unknown) => {
        forget(this);
        throw error;
      })
      .finally(() => opening.delete(this));
    opening.set(this, connecting);
    return connecting;
  };
  prototype.disconnect = function () {
    if (this.isConnected()) return disconnect.call(this);
    // While another one opens a socket, that is not this one's to close.
    if (!opening.has(this)) forget(this);
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
    if (size > 0) this.socket?.emit(ANSWERS_LOST, size);
    rejectRequests.call(this, error);
  };
}

function forget(connection: Connection): void {
  connection.chunks = [];
  connection.bytesBuffered = 0;
  connection.bytesNeeded = SIZE_BYTES;
  const { socket } = connection;
  if (socket === undefined) return;
  for (const event of LISTENED_TO) socket.removeAllListeners(event);
  socket.on('error', () => undefined).destroy();
}
