import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { drainConnectionsWhenClosing, closeConnectionsWhenServerCloses } from './closing.ts';

/** Response body in bytes, larger than the socket buffers. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

let server: FastifyInstance;
let letGo: () => void;
/** Resolves when a response is about to be written. */
let sending: PromiseWithResolvers<void>;
beforeEach(async () => {
  jest.useFakeTimers({
    doNotFake: ['setInterval', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date', 'performance'],
  });
  sending = Promise.withResolvers();
  const held = new Promise<void>((resolve) => (letGo = resolve));
  server = fastify({ return503OnClosing: false });
  closeConnectionsWhenServerCloses(server);
  drainConnectionsWhenClosing(server, 3_000);
  server.addHook('onSend', (_request, _reply, _payload, done) => {
    sending.resolve();
    done();
  });
  server.post('/', async () => 'whole');
  server.get('/idle', async () => 'now');
  server.get('/', async () => {
    await held;
    return 'done';
  });
  server.get('/large', async () => {
    await held;
    return LARGE;
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(() => void jest.useRealTimers());

/** Resolves when the server has started to process the request. */
async function send(text: string): Promise<Socket> {
  const begun = once(server.server, 'request');
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text);
  await begun;
  return socket;
}
const preClosed = () => new Promise(setImmediate);

it('answers requests in progress and closes their connections', async () => {
  const socket = await send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const closing = server.close();
  await preClosed();
  letGo();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 [^]*connection: close/);
  await closing;
  expect(server.server.listening).toBe(false);
});

it('waits for a slow client, but not forever', async () => {
  // The head and one of the two bytes of the body have arrived.
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

it('waits for requests in their handlers, but not for idle connections', async () => {
  const socket = await send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const connected = once(server.server, 'connection');
  const silent = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  silent.on('error', () => undefined).write('GET / HTTP/1.1\r\n');
  await connected;
  const closing = server.close();
  await preClosed();
  const cut = new Promise((resolve) => silent.once('close', resolve));
  jest.advanceTimersByTime(9_000);
  await cut;
  expect(socket.destroyed).toBe(false);
  letGo();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
  await closing;
});

it.each([
  ['in time', 0],
  ['late', 9_000],
])('disconnects a client that does not read its response %s', async (_when, answeredAfter) => {
  const socket = await send('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.pause();
  const closing = server.close();
  await preClosed();
  jest.advanceTimersByTime(answeredAfter);
  letGo();
  await sending.promise;
  await preClosed();
  jest.advanceTimersByTime(8_000);
  await closing;
  expect(server.server.listening).toBe(false);
});

describe('an idle connection', () => {
  const REQUEST = 'GET /idle HTTP/1.1\r\nHost: a\r\n\r\n';
  const read = async (socket: Socket) => String((await once(socket, 'data')) as unknown as [Buffer]);

  it('gets a response during the drain time, which announces its end', async () => {
    const sockets = [await send(REQUEST), await send(REQUEST)] as const;
    for (const socket of sockets) await read(socket);
    const { port } = server.server.address() as AddressInfo;
    const closing = server.close();
    await preClosed();
    const refused = connect(port, '127.0.0.1');
    expect(await once(refused, 'error')).toEqual([expect.objectContaining({ code: 'ECONNREFUSED' })]);
    for (const socket of sockets) {
      const ended = once(socket, 'close');
      socket.write(REQUEST);
      expect(await read(socket)).toMatch(/^HTTP\/1.1 200 [^]*connection: close[^]*now$/i);
      await ended;
    }
    // No connection is left, so the rest of the drain time is not needed.
    await closing;
  });

  it('is closed after the drain time', async () => {
    const socket = await send(REQUEST);
    await read(socket);
    const ended = once(socket, 'close');
    const closing = server.close();
    await preClosed();
    jest.advanceTimersByTime(2_900);
    await preClosed();
    expect(socket.readyState).toBe('open');
    jest.advanceTimersByTime(200);
    await Promise.all([ended, closing]);
  });
});
