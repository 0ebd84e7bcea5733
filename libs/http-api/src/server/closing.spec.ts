import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { endConnectionsWhenClosing } from './closing.ts';

let server: FastifyInstance;
let letGo: () => void;
beforeEach(async () => {
  jest.useFakeTimers({
    doNotFake: ['setInterval', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date', 'performance'],
  });
  const held = new Promise<void>((resolve) => (letGo = resolve));
  server = fastify();
  endConnectionsWhenClosing(server);
  server.post('/', async () => 'whole');
  server.get('/', async () => {
    await held;
    return 'done';
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(() => void jest.useRealTimers());

/** Resolves when the server has begun with it. */
async function send(text: string): Promise<Socket> {
  const begun = once(server.server, 'request');
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text);
  await begun;
  return socket;
}
const preClosed = () => new Promise(setImmediate);

it('answers what is in flight, and ends its connection', async () => {
  const socket = await send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const closing = server.close();
  await preClosed();
  letGo();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 [^]*connection: close/);
  await closing;
  expect(server.server.listening).toBe(false);
});

it('waits for a client that is slow, not for ever', async () => {
  // The head came, and one byte of two.
  const socket = await send('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nx');
  let isOver = false;
  const closing = server.close().then(() => (isOver = true));
  await preClosed();
  jest.advanceTimersByTime(7_000);
  await preClosed();
  expect([isOver, socket.destroyed]).toEqual([false, false]);
  jest.advanceTimersByTime(2_000);
  await closing;
  expect(isOver).toBe(true);
});
