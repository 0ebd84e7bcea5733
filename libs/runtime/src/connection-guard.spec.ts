import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import { eventually, noMetrics } from '@tracking/testing';
import { HttpConnectionLimiter, type ConnectionLimits, handleRequestsInOrder } from './connection-guard.ts';

const opened: Socket[] = [];
let server: Server;
afterEach(async () => {
  jest.useRealTimers();
  for (const socket of opened.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function listen(handle: RequestListener): Promise<void> {
  server = createServer(handleRequestsInOrder(handle));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** @param from address of the client: 127.0.0.1 to 127.0.0.255 are different networks here */
async function open(from = '127.0.0.1'): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  opened.push(socket);
  await once(socket, 'connect');
  return socket;
}

const isClosed = (socket: Socket) => socket.destroyed || socket.readableEnded;

async function responses(socket: Socket, count: number): Promise<string[]> {
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await eventually(() => expect(text.split('HTTP/1.1 200').length - 1).toBe(count));
  return [...text.matchAll(/\/(\d+)/g)].map(([, n]) => n ?? '').filter((n) => n !== '1');
}

describe('connections', () => {
  const guarded = async (limits: Partial<ConnectionLimits>, handle?: RequestListener) => {
    await listen(handle ?? ((_request, response) => response.end('ok')));
    new HttpConnectionLimiter({
      metrics: noMetrics,
      networkOf: (address) => (address === '127.0.0.9' ? undefined : address),
      ...limits,
    }).guardServerConnections(server);
  };

  it('of one network are bounded, those of a proxy are not', async () => {
    await guarded({ maxPerNetwork: 2 });
    const [first, second, third] = [await open(), await open(), await open()];
    await eventually(() => expect([first, second, third].map(isClosed)).toEqual([false, false, true]));
    const other = await open('127.0.0.2');
    const proxied = [await open('127.0.0.9'), await open('127.0.0.9'), await open('127.0.0.9')];
    other.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await responses(other, 1);
    expect(proxied.some(isClosed)).toBe(false);
  });

  it('beyond the maximum replace the oldest idle one of the largest network', async () => {
    const held: (() => void)[] = [];
    await guarded({ maxConnections: 4 }, (_request, response) => void held.push(() => response.end('ok')));
    const busy = await open();
    busy.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(1));
    const [idle, later, other] = [await open(), await open(), await open('127.0.0.2')];
    const newcomer = await open('127.0.0.3');
    await eventually(() => expect(isClosed(idle)).toBe(true));
    expect([busy, later, other, newcomer].some(isClosed)).toBe(false);
    held[0]?.();
    await responses(busy, 1);
  });

  it('are refused to the network that has the most itself', async () => {
    await guarded({ maxConnections: 3 });
    const [first, second, other] = [await open(), await open(), await open('127.0.0.2')];
    const newcomer = await open();
    await eventually(() => expect(isClosed(newcomer)).toBe(true));
    expect([first, second, other].some(isClosed)).toBe(false);
  });

  it('are admitted for each new network while a few connections of many networks reach the maximum', async () => {
    await guarded({ maxConnections: 48 });
    const networks = Array.from({ length: 12 }, (_, n) => `127.0.1.${n}`);
    const attack = () => Promise.all(networks.flatMap((from) => Array.from({ length: 5 }, () => open(from))));
    const attackers = await attack();
    for (const socket of attackers) socket.resume();
    await eventually(() => expect(attackers.filter(isClosed)).toHaveLength(60 - 48));
    const clients = [await open('127.0.0.2'), await open('127.0.0.3'), await open('127.0.0.3')];
    for (const socket of await attack()) socket.resume();
    for (const socket of clients) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all(clients.map((socket) => responses(socket, 1)));
    expect(clients.some(isClosed)).toBe(false);
  });

  it('are refused while each of many networks holds one and they reach the maximum', async () => {
    await guarded({ maxConnections: 3 });
    const holders = [await open('127.0.0.1'), await open('127.0.0.2'), await open('127.0.0.3')];
    const refused = await open('127.0.0.4');
    refused.resume();
    await eventually(() => expect(isClosed(refused)).toBe(true));
    expect(holders.some(isClosed)).toBe(false);
    holders[0]?.destroy();
    await eventually(async () => {
      const admitted = await open('127.0.0.4');
      admitted.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      const [bytes] = (await Promise.race([once(admitted, 'data'), once(admitted, 'close')])) as unknown[];
      expect(String(bytes)).toContain('HTTP/1.1 200');
    });
  });

  it('stay open while a pipelined request is in its handler', async () => {
    const held: (() => void)[] = [];
    await guarded({ stalledMs: 200 }, (request, response) => void held.push(() => response.end(`path ${request.url}`)));
    const socket = await open();
    const answered = responses(socket, 2);
    socket.write(['/11', '/12'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.();
    await eventually(() => expect(held).toHaveLength(2));
    await once(server, 'timeout');
    held[1]?.();
    expect(await answered).toEqual(['11', '12']);
  });

  it('end when their client reads nothing of a response', async () => {
    const large = Buffer.alloc(64 * 1024 * 1024);
    await guarded({ stalledMs: 500 }, (_request, response) => response.end(large));
    const [stalled, reading] = [await open(), await open()];
    stalled.pause();
    let bytes = 0;
    reading.on('data', (piece: Buffer) => (bytes += piece.length));
    for (const socket of [stalled, reading]) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(bytes).toBeGreaterThan(large.length));
    await eventually(async () => {
      const count = await new Promise((resolve) => server.getConnections((_error, n) => resolve(n)));
      expect(count).toBe(1);
    });
  });
});

describe('requests of one connection', () => {
  it('do not begin after a response that announces the end of the connection', async () => {
    const begun: string[] = [];
    await listen((request, response) => {
      begun.push(request.url ?? '');
      response.setHeader('Connection', 'close').end('ok');
    });
    const socket = await open();
    socket.resume();
    socket.write(['/11', '/12'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    await once(socket, 'close');
    expect(begun).toEqual(['/11']);
  });

  it('begin one after another, in their order', async () => {
    const begun: string[] = [];
    const held: (() => void)[] = [];
    await listen((request, response) => {
      begun.push(request.url ?? '');
      held.push(() => response.end(`path ${request.url}`));
    });
    const socket = await open();
    socket.write(['/11', '/12', '/13'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    await eventually(() => expect(begun).toEqual(['/11']));
    held.shift()?.();
    await eventually(() => expect(begun).toEqual(['/11', '/12']));
    held.shift()?.();
    await eventually(() => expect(begun).toEqual(['/11', '/12', '/13']));
    const answered = responses(socket, 3);
    held.shift()?.();
    await answered;
  });

  it('with bodies are read one after another', async () => {
    await listen((request, response) => {
      let text = '';
      request.on('data', (bytes: Buffer) => (text += bytes.toString()));
      request.on('end', () => response.end(`path /${text}`));
    });
    const socket = await open();
    const answered = responses(socket, 3);
    const bodies = ['21', '22', '23'];
    for (const body of bodies) socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n${body}`);
    expect(await answered).toEqual(bodies);
  });

  it('end the connection when more than 100 wait', async () => {
    await listen(() => undefined);
    const socket = await open();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(102));
    await eventually(() => expect(isClosed(socket)).toBe(true));
  });
});
