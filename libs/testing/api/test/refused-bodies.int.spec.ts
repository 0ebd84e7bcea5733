import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import axios from 'axios';
import { type Api, startApi } from './start-api.ts';

const MB = 1_000_000;

let api: Api;
let key: string;
beforeAll(async () => {
  api = await startApi({ settings: { rateLimitPerMinute: 60 } });
  key = await api.key('operator');
});
afterAll(() => api.stop());

interface RefusedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const json = { 'content-type': 'application/json' };
const asKey = () => ({ authorization: `Bearer ${key}` });
/** A request for each status with which the service refuses a body before it is complete. */
const REFUSED: Readonly<Record<number, () => RefusedRequest>> = {
  401: () => ({ method: 'POST', path: '/v1/shipments', headers: json }),
  404: () => ({ method: 'POST', path: '/v1/nothing', headers: { ...json, ...asKey() } }),
  405: () => ({ method: 'PUT', path: '/v1/shipments', headers: { ...json, ...asKey() } }),
  413: () => ({ method: 'POST', path: '/v1/shipments', headers: { ...json, ...asKey() } }),
  415: () => ({ method: 'POST', path: '/v1/shipments', headers: { 'content-type': 'text/plain', ...asKey() } }),
};

function open(): Socket {
  const { hostname, port } = new URL(api.url);
  return connect(Number(port), hostname);
}

function formatHead({ method, path, headers }: RefusedRequest, framing: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, 'host: a', ...lines, framing, '', ''].join('\r\n');
}

/** Sends the request with a body of this size like a client that reads only after it has sent everything. */
async function sendThenRead(request: RefusedRequest, bytes: number, chunked = false): Promise<string> {
  const socket = open();
  socket.on('error', () => undefined).pause();
  const piece = Buffer.alloc(100_000, ' ');
  const framed = chunked ? Buffer.concat([Buffer.from('186a0\r\n'), piece, Buffer.from('\r\n')]) : piece;
  socket.write(formatHead(request, chunked ? 'transfer-encoding: chunked' : `content-length: ${bytes}`));
  for (let sent = 0; sent < bytes; sent += piece.length) if (!socket.write(framed)) await once(socket, 'drain');
  if (chunked) socket.write('0\r\n\r\n');
  const answered = once(socket, 'data') as Promise<[Buffer]>;
  socket.resume();
  const [answer] = await answered;
  socket.destroy();
  return String(answer);
}

describe.each([5, 30])('a body of %i MB', (mb) => {
  const body = Buffer.alloc(mb * MB, ' ');

  it.each(Object.entries(REFUSED))(
    'is refused with %s for a client that first sends everything',
    async (status, request) => {
      expect(await sendThenRead(request(), body.length)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    },
  );

  it('is refused with 413 if its length is not declared', async () => {
    const request = REFUSED[413]?.() as RefusedRequest;
    expect(await sendThenRead(request, body.length, true)).toMatch(/^HTTP\/1.1 413 /);
  });

  it.each(Object.entries(REFUSED))('is refused with %s for fetch and axios', async (status, request) => {
    const { method, path, headers } = request();
    const response = await fetch(`${api.url}${path}`, { method, headers, body });
    expect(response.status).toBe(Number(status));
    expect(await response.json()).toMatchObject({ error: { type: expect.any(String) as string } });
    const options = { method, headers, data: body, validateStatus: () => true, proxy: false, maxBodyLength: Infinity };
    expect((await axios(`${api.url}${path}`, { ...options, maxRedirects: 0 } as object)).status).toBe(Number(status));
  });
});

it.each<[number, RefusedRequest]>([
  [401, { method: 'POST', path: '/v1/shipments', headers: json }],
  [404, { method: 'POST', path: '/nothing', headers: json }],
  [404, { method: 'POST', path: '/v1/nothing', headers: json }],
  [405, { method: 'POST', path: '/health/live', headers: json }],
  [405, { method: 'PUT', path: '/v1/shipments', headers: json }],
])('%i is sent before the body arrives: %j', async (status, request) => {
  const socket = open();
  const answered = once(socket, 'data') as Promise<[Buffer]>;
  socket.write(`${formatHead(request, `content-length: ${2 ** 20}`)}{`);
  const [answer] = await answered;
  socket.destroy();
  expect(String(answer)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

it('is refused with 429 for a client that first sends everything', async () => {
  const spent = await api.key('viewer');
  const request = { method: 'POST', path: '/v1/shipments', headers: { ...json, authorization: `Bearer ${spent}` } };
  for (let n = 0; n < 60; n += 1) await api.call('GET', '/v1/milestone_codes', { key: spent });
  expect(await sendThenRead(request, 5 * MB)).toMatch(/^HTTP\/1.1 429 /);
});

it('answers the next request on the connection of a refused body', async () => {
  const socket = open();
  const answers: Buffer[] = [];
  socket.on('data', (data: Buffer) => answers.push(data));
  socket.write(formatHead(REFUSED[413]?.() as RefusedRequest, `content-length: ${5 * MB}`));
  socket.write(Buffer.alloc(5 * MB, ' '));
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  expect(String(Buffer.concat(answers)).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});

it.each(['HTTP/1.1', 'HTTP/1.0'])(
  'closes the connection of a %s client that asks for it after the body',
  async (version) => {
    for (const [status, request] of Object.entries(REFUSED)) {
      const socket = open();
      const closed = once(socket, 'close');
      socket.pause();
      const head = formatHead(request(), `connection: close\r\ncontent-length: ${5 * MB}`);
      socket.write(head.replace('HTTP/1.1', version));
      for (let sent = 0; sent < 5 * MB; sent += MB)
        if (!socket.write(Buffer.alloc(MB, ' '))) await once(socket, 'drain');
      const answers: Buffer[] = [];
      socket.on('data', (data: Buffer) => answers.push(data)).resume();
      await closed;
      const answer = String(Buffer.concat(answers));
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).not.toMatch(/^connection: keep-alive/im);
    }
  },
);

it('closes the connection of a refused body after 64 MiB', async () => {
  const socket = open();
  socket.on('error', () => undefined).resume();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(formatHead(REFUSED[413]?.() as RefusedRequest, `content-length: ${1_000 * MB}`));
  let sent = 0;
  while (!socket.destroyed && sent < 1_000 * MB) {
    sent += MB;
    if (!socket.write(Buffer.alloc(MB, ' ')))
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  await closed;
  expect(sent).toBeGreaterThan(60 * MB);
  expect(sent).toBeLessThan(100 * MB);
});
