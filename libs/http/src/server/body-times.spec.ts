import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { jest } from '@jest/globals';
import { boundBodyTimes } from './body-times.ts';
import { JSON_KIND, json } from './json-body.ts';
import { readRouteBodies } from './route-bodies.ts';
import { FILE_KIND, incoming } from './streamed-bodies.ts';
import { RequestError } from '../errors/request-error.ts';

let server: FastifyInstance;
let lateOnes: number;
let came: () => Promise<unknown>;
let letGo: () => void;
beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date'] });
  lateOnes = 0;
  const arrivals: (() => void)[] = [];
  came = () => new Promise<void>((resolve) => arrivals.push(resolve));
  const held = new Promise<void>((resolve) => (letGo = resolve));
  server = fastify();
  readRouteBodies(server, [JSON_KIND, FILE_KIND]);
  boundBodyTimes(server, (socket) => {
    lateOnes += 1;
    socket.destroy();
  });
  const config = { body: json(1_000) };
  server.post('/whole', { config, preHandler: async () => arrivals.shift()?.() }, async () => {
    await held;
    return 'done';
  });
  server.post('/coming', { config, onRequest: async () => arrivals.shift()?.() }, async () => 'done');
  // Answers before the body is there.
  server.post('/refused', { config, onRequest: async (_request, reply) => reply.code(403).send('no') }, async () => '');
  const streamed = { body: { kind: FILE_KIND, limit: 1_000 } };
  server.post('/streamed', { config: streamed }, async (request, reply) => {
    const bytes = incoming(request, { idleMs: 10, overallMs: 60_000 });
    const failure = await bytes
      .next()
      .then(() => bytes.next())
      .catch((error: unknown) => error);
    return reply.code(failure instanceof RequestError && failure.code === 'request_timeout' ? 408 : 200).send('');
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  jest.useRealTimers();
  letGo();
  await server.close();
});

/** Sends the head of a request that promises two bytes, and so many of them. */
function begin(path: string, sent: string): Socket {
  const { port } = server.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', 'Content-Length: 2'];
  socket.write(`${head.join('\r\n')}\r\n\r\n${sent}`);
  return socket;
}

it('waits a minute for a body, no longer', async () => {
  const coming = came();
  const socket = begin('/coming', '{');
  await coming;
  jest.advanceTimersByTime(59_000);
  expect(lateOnes).toBe(0);
  const closed = once(socket, 'close');
  jest.advanceTimersByTime(2_000);
  await closed;
  expect(lateOnes).toBe(1);
});

it('asks nothing of what is worked on, however long', async () => {
  const whole = came();
  const socket = begin('/whole', '{}');
  await whole;
  jest.advanceTimersByTime(300_000);
  letGo();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
  expect(lateOnes).toBe(0);
  socket.destroy();
});

it('ends the connection of one that was answered and still does not send the rest', async () => {
  const socket = begin('/refused', '{');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 403 /);
  const closed = once(socket, 'close');
  jest.advanceTimersByTime(61_000);
  await closed;
  // No second answer.
  expect(lateOnes).toBe(0);
});

it('looks no more at one whose client went away', async () => {
  const connected = once(server.server, 'connection');
  const coming = came();
  const socket = begin('/coming', '{');
  const [connection] = (await connected) as [Socket];
  await coming;
  const gone = new Promise((resolve) => connection.once('close', resolve));
  socket.destroy();
  await gone;
  jest.advanceTimersByTime(61_000);
  expect(lateOnes).toBe(0);
});

it('ends the connection with the answer to one that is streamed and stops coming', async () => {
  const socket = begin('/streamed', '{');
  const answer: Buffer[] = [];
  socket.on('data', (data: Buffer) => answer.push(data));
  await once(socket, 'close');
  expect(String(Buffer.concat(answer))).toMatch(/^HTTP\/1.1 408 [^]*connection: close/i);
});
