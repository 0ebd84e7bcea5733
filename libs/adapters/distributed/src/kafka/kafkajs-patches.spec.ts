import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { eventually } from '@tracking/testing';
import {
  makeConsumerReuseMemberId,
  patchKafkaConnections,
  patchKafkaConsumerGroups,
  patchKafkaRequestQueues,
  RESPONSES_LOST_SOCKET_EVENT,
} from './kafkajs-patches.ts';

interface TestedConnection {
  connect(): Promise<boolean>;
  disconnect(): Promise<boolean>;
  isConnected(): boolean;
  send(request: object): Promise<unknown>;
}
type ConnectionClass = new (options: object) => TestedConnection;

const silent = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => silent };
const require = createRequire(import.meta.url);
const Encoder = require('kafkajs/src/protocol/encoder.js') as new () => object;
const question = {
  request: { apiKey: 18, apiName: 'ApiVersions', apiVersion: 0, encode: async () => new Encoder() },
  response: { decode: async (payload: Buffer) => payload.toString(), parse: async (text: string) => text },
};

/** A response with its length prefix. */
function answer(correlationId: number, text: string): Buffer {
  const frame = Buffer.alloc(8 + text.length);
  frame.writeInt32BE(4 + text.length, 0);
  frame.writeInt32BE(correlationId, 4);
  frame.write(text, 8);
  return frame;
}

describe('a connection of kafkajs', () => {
  let server: Server;
  let connection: TestedConnection;
  /** The server's side of each opened socket. */
  let accepted: Socket[];
  let lost: number;

  beforeAll(() => {
    patchKafkaConnections();
    patchKafkaRequestQueues();
  });
  beforeEach(async () => {
    accepted = [];
    lost = 0;
    server = createServer((socket) => void accepted.push(socket.on('error', () => undefined)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    connection = new (require('kafkajs/src/network/connection.js') as ConnectionClass)({
      host: '127.0.0.1',
      port,
      logger: silent,
      requestTimeout: 5_000,
      connectionTimeout: 1_000,
      socketFactory: ({ onConnect }: { onConnect: () => void }) =>
        connect(port, '127.0.0.1', onConnect).on(RESPONSES_LOST_SOCKET_EVENT, (count: number) => (lost += count)),
    });
  });
  afterEach(async () => {
    for (const socket of accepted) socket.destroy();
    await connection.disconnect();
    server.close();
  });

  const nth = (n: number) =>
    eventually(() => {
      const socket = accepted[n];
      if (socket === undefined) throw new Error('not opened yet');
      return socket;
    });

  it.each([1, 3, 6, 11])('reads the next response although the previous one was cut after %d bytes', async (bytes) => {
    await connection.connect();
    const first = connection.send(question);
    (await nth(0)).once('data', () => accepted[0]?.end(answer(0, 'an answer').subarray(0, bytes)));
    await expect(first).rejects.toThrow('Closed connection');
    expect(lost).toBe(1);
    await eventually(() => expect(connection.isConnected()).toBe(false));
    await connection.connect();
    const second = connection.send(question);
    (await nth(1)).once('data', () => accepted[1]?.write(answer(1, 'the answer')));
    expect(await second).toBe('the answer');
  });

  it('opens one socket for concurrent callers', async () => {
    await Promise.all([connection.connect(), connection.connect(), connection.connect()]);
    await connection.connect();
    await nth(0);
    expect(accepted).toHaveLength(1);
  });

  it('is not closed by a caller that saw the last socket break while the next one is opened', async () => {
    const connecting = connection.connect();
    await connection.disconnect();
    await connecting;
    const asked = connection.send(question);
    (await nth(0)).once('data', () => accepted[0]?.write(answer(0, 'the answer')));
    expect(await asked).toBe('the answer');
  });

  it('breaks alone on bytes that are not a response', async () => {
    await connection.connect();
    const asked = connection.send(question);
    (await nth(0)).once('data', () => accepted[0]?.write(Buffer.from([0, 0, 0, 2, 1, 2])));
    await expect(asked).rejects.toThrow('Connection error');
    await eventually(() => expect(connection.isConnected()).toBe(false));
  });
});

interface Joinable {
  joinAndSync(): Promise<void>;
}
const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as { readonly prototype: Joinable };

describe('joining a group', () => {
  const original = prototype.joinAndSync;
  let attempts: number;
  /** Called at each attempt. All attempts fail. */
  let attempted: () => void;
  beforeAll(() => {
    prototype.joinAndSync = () => {
      attempts += 1;
      attempted();
      return Promise.reject(new Error('no answer'));
    };
    patchKafkaConsumerGroups();
  });
  afterAll(() => {
    prototype.joinAndSync = original;
  });
  beforeEach(() => {
    attempts = 0;
    attempted = () => undefined;
  });

  const join = (ended: AbortSignal) => {
    const cluster = {};
    makeConsumerReuseMemberId({ id: 'member', leaves: false }, cluster, ended);
    return prototype.joinAndSync.call(Object.assign(Object.create(prototype) as Joinable, { cluster, memberId: null }));
  };

  it('is tried five times', async () => {
    await expect(join(new AbortController().signal)).rejects.toMatchObject({ message: 'no answer', retriable: false });
    expect(attempts).toBe(5);
  });

  it('ends with its client, whatever attempts are left', async () => {
    const client = new AbortController();
    attempted = () => client.abort();
    await expect(join(client.signal)).rejects.toMatchObject({ message: 'no answer', retriable: false });
    expect(attempts).toBe(1);
  });
});

interface Queue {
  readonly pending: unknown[];
  readonly throttleCheckTimeoutId: NodeJS.Timeout | null;
  readonly inflight: Map<number, { sentAt: number; requestTimeout: number; timeoutRequest(): void }>;
  checkPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}
type QueueClass = new (options: object) => Queue;

const NO_ROOM = {
  maxInFlightRequests: 0,
  requestTimeout: 1_000,
  enforceRequestTimeout: true,
  isConnected: () => true,
  clientId: 'c',
  broker: 'b',
  logger: {},
};

describe('a queue of requests of kafkajs', () => {
  let queue: Queue;
  beforeEach(() => {
    patchKafkaRequestQueues();
    const require = createRequire(import.meta.url);
    queue = new (require('kafkajs/src/network/requestQueue/index.js') as QueueClass)(NO_ROOM);
  });
  afterEach(() => queue.destroy());

  it('is idle while it is empty', () => {
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId ?? undefined).toBeUndefined();
  });

  it('is polled again while a request waits', () => {
    queue.pending.push({});
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId ?? undefined).toBeDefined();
  });

  it('reports a request without a response soon after its timeout, and no earlier', () => {
    jest.useFakeTimers();
    try {
      queue.scheduleRequestTimeoutCheck();
      const timeoutRequest = jest.fn();
      queue.inflight.set(1, { sentAt: Date.now(), requestTimeout: 1_000, timeoutRequest });
      jest.advanceTimersByTime(1_000);
      expect(timeoutRequest).not.toHaveBeenCalled();
      jest.advanceTimersByTime(100);
      expect(timeoutRequest).toHaveBeenCalledTimes(1);
      queue.destroy();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
