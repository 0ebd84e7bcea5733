import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import { BusyError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import { limitBodyReceiveTimes, limitLargeBodies } from './body-limits.ts';
import { createJsonBodyRule, JSON_BODY_KIND } from './json-body.ts';
import { BYTES_PER_MIB, addRouteBodyParsers } from './route-bodies.ts';
import { FILE_BODY_KIND, readBodyChunks } from './streamed-bodies.ts';

let server: FastifyInstance;
let release: (() => void)[];
beforeEach(() => {
  release = [];
  server = fastify();
  server.addHook('onRequest', (request, _reply, done) => {
    const workspace_id = String(request.headers['workspace']);
    Object.assign(request, { principal: { workspace_id } });
    done();
  });
  limitLargeBodies(server, 10 * BYTES_PER_MIB);
  addRouteBodyParsers(server, [JSON_BODY_KIND]);
  server.setErrorHandler((error, _request, reply) => reply.code(error instanceof BusyError ? 503 : 500).send());
  server.post('/large', { config: { body: createJsonBodyRule(10 * BYTES_PER_MIB) } }, async () => {
    await new Promise<void>((resolve) => release.push(resolve));
    return {};
  });
  server.post('/large-answer', { config: { body: createJsonBodyRule(10 * BYTES_PER_MIB) } }, () =>
    'x'.repeat(32 * BYTES_PER_MIB),
  );
});
afterEach(() => server.close());

const send = (bytes: number, workspace = 'a') =>
  server.inject({
    method: 'POST',
    url: '/large',
    payload: JSON.stringify('x'.repeat(bytes - 2)),
    headers: { 'content-type': 'application/json', workspace },
  });
/** Starts the given number of requests. Returns their outcomes after all are released. */
async function begin(...sizes: readonly number[]): Promise<() => Promise<number[]>> {
  return beginAll(sizes.map((bytes) => [bytes]));
}
async function beginAll(bodies: readonly Parameters<typeof send>[]): Promise<() => Promise<number[]>> {
  const answers = bodies.map((body) => send(...body));
  await new Promise(setImmediate);
  return async () => {
    const all = Promise.all(answers);
    let isOver = false;
    void all.finally(() => (isOver = true));
    while (!isOver) {
      for (const letGo of release.splice(0)) letGo();
      await new Promise(setImmediate);
    }
    return (await all).map(({ statusCode }) => statusCode);
  };
}

it('accepts large bodies of one workspace up to its share, and small bodies always', async () => {
  const end = await begin(2 * BYTES_PER_MIB, 3 * BYTES_PER_MIB, 2 * BYTES_PER_MIB, BYTES_PER_MIB, 100);
  expect(await end()).toEqual([200, 200, 503, 200, 200]);
});

it('accepts other bodies after these requests are answered', async () => {
  expect(await (await begin(5 * BYTES_PER_MIB))()).toEqual([200]);
  expect(await (await begin(5 * BYTES_PER_MIB, 5 * BYTES_PER_MIB))()).toEqual([200, 503]);
  expect(await (await begin(5 * BYTES_PER_MIB))()).toEqual([200]);
});

it('accepts bodies of other workspaces while one workspace holds its share, up to a limit', async () => {
  const of = (workspace: string, size: number): [number, string] => [size * BYTES_PER_MIB, workspace];
  const end = await beginAll([of('a', 5), of('a', 2), of('b', 3), of('c', 2), of('d', 2), of('a', 1)]);
  expect(await end()).toEqual([200, 503, 200, 200, 503, 200]);
});

it('accepts other bodies after a client has reset its connection before the whole response is sent', async () => {
  await server.listen({ port: 0, host: '127.0.0.1' });
  const gone = new Promise((resolve) => server.server.once('connection', (socket) => socket.once('close', resolve)));
  const { port } = server.server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  const body = JSON.stringify('x'.repeat(5 * BYTES_PER_MIB - 2));
  const headers = ['Host: x', 'Workspace: a', 'Content-Type: application/json', `Content-Length: ${body.length}`];
  client.write(`POST /large-answer HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  await once(client, 'readable');
  client.resetAndDestroy();
  await gone;

  expect(await (await begin(5 * BYTES_PER_MIB))()).toEqual([200]);
});

let timedServer: FastifyInstance;
let lateOnes: number;
let came: () => Promise<unknown>;
let letGo: () => void;
beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date'] });
  lateOnes = 0;
  const arrivals: (() => void)[] = [];
  came = () => new Promise<void>((resolve) => arrivals.push(resolve));
  const held = new Promise<void>((resolve) => (letGo = resolve));
  timedServer = fastify();
  addRouteBodyParsers(timedServer, [JSON_BODY_KIND, FILE_BODY_KIND]);
  limitBodyReceiveTimes(timedServer, (socket) => {
    lateOnes += 1;
    socket.destroy();
  });
  const config = { body: createJsonBodyRule(1_000) };
  timedServer.post('/whole', { config, preHandler: async () => arrivals.shift()?.() }, async () => {
    await held;
    return 'done';
  });
  timedServer.post('/coming', { config, onRequest: async () => arrivals.shift()?.() }, async () => 'done');
  // The handler responds before the body has arrived.
  timedServer.post(
    '/refused',
    { config, onRequest: async (_request, reply) => reply.code(403).send('no') },
    async () => '',
  );
  const streamed = { body: { kind: FILE_BODY_KIND, limit: 1_000 } };
  timedServer.post('/streamed', { config: streamed }, async (request, reply) => {
    const bytes = readBodyChunks(request, { idleMs: 10, overallMs: 60_000 });
    const failure = await bytes
      .next()
      .then(() => bytes.next())
      .catch((error: unknown) => error);
    return reply.code(failure instanceof RequestError && failure.code === 'request_timeout' ? 408 : 200).send('');
  });
  await timedServer.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  jest.useRealTimers();
  letGo();
  await timedServer.close();
});

/** Sends the head of a request that declares this length, and the beginning of its body. */
function beginSlowly(path: string, sent: string, length = 2): Socket {
  const { port } = timedServer.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', `Content-Length: ${length}`];
  socket.write(`${head.join('\r\n')}\r\n\r\n${sent}`);
  return socket;
}

it('ends a body after 15 s without a byte', async () => {
  const coming = came();
  const socket = beginSlowly('/coming', '{');
  await coming;
  jest.advanceTimersByTime(14_000);
  expect(lateOnes).toBe(0);
  const closed = once(socket, 'close');
  jest.advanceTimersByTime(2_000);
  await closed;
  expect(lateOnes).toBe(1);
});

it('ends a body after a minute, although bytes keep arriving', async () => {
  const connected = once(timedServer.server, 'connection') as Promise<[Socket]>;
  const coming = came();
  const socket = beginSlowly('/coming', '{', 100);
  await coming;
  const [received] = await connected;
  const closed = once(socket, 'close');
  for (let seconds = 0; seconds < 50; seconds += 10) {
    const before = received.bytesRead;
    socket.write(' ');
    while (received.bytesRead === before) await new Promise(setImmediate);
    jest.advanceTimersByTime(10_000);
  }
  expect(lateOnes).toBe(0);
  jest.advanceTimersByTime(11_000);
  await closed;
  expect(lateOnes).toBe(1);
});

it('does not limit the time of a request that its handler is processing', async () => {
  const whole = came();
  const socket = beginSlowly('/whole', '{}');
  await whole;
  jest.advanceTimersByTime(300_000);
  letGo();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
  expect(lateOnes).toBe(0);
  socket.destroy();
});

it('closes the connection of a client that has its response but does not send the rest of the body', async () => {
  const socket = beginSlowly('/refused', '{');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 403 /);
  const closed = once(socket, 'close');
  jest.advanceTimersByTime(61_000);
  await closed;
  // No second response is sent.
  expect(lateOnes).toBe(0);
});

it('keeps nothing of the rest of bodies in chunks, however many arrive', async () => {
  const requests: IncomingMessage[] = [];
  timedServer.server.on('request', (request: IncomingMessage) => requests.push(request));
  const { port } = timedServer.server.address() as AddressInfo;
  const head =
    'POST /refused HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const chunks = '1\r\n \r\n'.repeat(2_000);
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  for (const socket of sockets) socket.write(head);
  // The responses are sent before the rest of the bodies.
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  for (const socket of sockets) socket.write(chunks);
  await eventually(() => {
    expect(requests.map(({ socket }) => socket.bytesRead)).toEqual(sockets.map(() => head.length + chunks.length));
    expect(requests.map(({ readableLength }) => readableLength)).toEqual(sockets.map(() => 0));
  });
  for (const socket of sockets) socket.destroy();
});

it('stops tracking a body when its client disconnects', async () => {
  const connected = once(timedServer.server, 'connection');
  const coming = came();
  const socket = beginSlowly('/coming', '{');
  const [connection] = (await connected) as [Socket];
  await coming;
  const gone = new Promise((resolve) => connection.once('close', resolve));
  socket.destroy();
  await gone;
  jest.advanceTimersByTime(61_000);
  expect(lateOnes).toBe(0);
});

it('closes the connection after the response to a streamed body that stalled', async () => {
  const socket = beginSlowly('/streamed', '{');
  const answer: Buffer[] = [];
  socket.on('data', (data: Buffer) => answer.push(data));
  await once(socket, 'close');
  expect(String(Buffer.concat(answer))).toMatch(/^HTTP\/1.1 408 [^]*connection: close/i);
});
