import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { BusyError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { ResponseBudget, waitForResponseBudget } from './response-budget.ts';
import { BYTES_PER_MIB } from './route-bodies.ts';

const STATIC_FILE = Buffer.alloc(20 * BYTES_PER_MIB);

let server: FastifyInstance;
/** Page reads in progress, by workspace. Calling one ends it. */
let reading: { readonly workspace: string; readonly end: () => void }[];
const open = async (atOnce: number, longestWaitMs = 60_000) => {
  const answers = new ResponseBudget(atOnce, longestWaitMs);
  reading = [];
  server = fastify();
  server.addHook('onRequest', (request, _reply, done) => {
    Object.assign(request, {
      principal: { workspace_id: String(request.headers['workspace'] ?? 'a') },
    });
    done();
  });
  answers.addHooksThatCountResponseBytes(server);
  server.setErrorHandler((error, _request, reply) => reply.code(error instanceof BusyError ? 503 : 500).send());
  server.get('/page', async (request) => {
    await waitForResponseBudget(request);
    const workspace = String(request.headers['workspace'] ?? 'a');
    await new Promise<void>((resolve) => reading.push({ workspace, end: resolve }));
    return { workspace };
  });
  server.get('/large', () => 'x'.repeat(12 * BYTES_PER_MIB));
  server.get('/static-file', (_request, reply) => reply.send(STATIC_FILE));
  server.get('/large-page', async (request) => {
    await waitForResponseBudget(request);
    await new Promise<void>((resolve) => reading.push({ workspace: 'a', end: resolve }));
    return 'x'.repeat(12 * BYTES_PER_MIB);
  });
  await server.ready();
};
afterEach(() => server.close());

// `inject` starts a request only when its result is awaited.
const page = async (workspace = 'a') => await server.inject({ url: '/page', headers: { workspace } });
/** Enough turns of the event loop for a request that waits for nothing. */
const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
};
const workspaces = () => reading.map(({ workspace }) => workspace);

it('reads as many pages at once as have room, and queues the others', async () => {
  await open(32 * BYTES_PER_MIB);
  const answers = [page(), page(), page(), page()];
  await turns();
  expect(workspaces()).toEqual(['a', 'a']);
  for (let ended = 0; ended < 4; ended += 1) {
    reading.shift()?.end();
    await turns();
  }
  expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
});

it('leaves room for other workspaces', async () => {
  await open(32 * BYTES_PER_MIB);
  const answers = [page('a'), page('a'), page('a'), page('b')];
  await turns();
  expect(workspaces()).toEqual(['a', 'a', 'b']);
  while (reading.length > 0) {
    for (const { end } of reading.splice(0)) end();
    await turns();
  }
  expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
});

it('reads more pages of a list at once if its pages were small', async () => {
  await open(32 * BYTES_PER_MIB);
  const first = page();
  await turns();
  reading.shift()?.end();
  await first;
  const answers = [page(), page(), page(), page(), page()];
  await turns();
  expect(workspaces()).toEqual(['a', 'a', 'a', 'a']);
  while (reading.length > 0) {
    for (const { end } of reading.splice(0)) end();
    await turns();
  }
  expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
});

it('reads fewer pages of a list at once after a large page', async () => {
  await open(32 * BYTES_PER_MIB);
  const large = async () => await server.inject('/large-page');
  const first = large();
  await turns();
  reading.shift()?.end();
  await first;
  const answers = [large(), large(), large()];
  await turns();
  expect(reading).toHaveLength(2);
  while (reading.length > 0) {
    for (const { end } of reading.splice(0)) end();
    await turns();
  }
  expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
});

it('refuses a page that waits too long', async () => {
  await open(16 * BYTES_PER_MIB, 1);
  const first = page();
  await turns();
  expect((await page()).statusCode).toBe(503);
  reading[0]?.end();
  expect((await first).statusCode).toBe(200);
});

it('counts a response until the client has received it or disconnected', async () => {
  await open(32 * BYTES_PER_MIB);
  await server.listen({ port: 0, host: '127.0.0.1' });
  const slow = await ask('/large');
  const waits = page();
  await turns();
  expect(reading).toEqual([]);
  slow.destroy();
  await eventually(() => Promise.resolve(expect(reading).toHaveLength(1)));
  reading[0]?.end();
  expect((await waits).statusCode).toBe(200);
});

it('does not count static files, whose memory all responses share', async () => {
  await open(16 * BYTES_PER_MIB);
  await server.listen({ port: 0, host: '127.0.0.1' });
  const slow = await ask('/static-file');
  const answer = page();
  await eventually(() => Promise.resolve(expect(reading).toHaveLength(1)));
  reading[0]?.end();
  expect((await answer).statusCode).toBe(200);
  slow.destroy();
});

it('counts a page while it is read, and no longer if the client has disconnected', async () => {
  await open(16 * BYTES_PER_MIB);
  await server.listen({ port: 0, host: '127.0.0.1' });
  const gone = new Promise((resolve) => server.server.once('connection', (socket) => socket.once('close', resolve)));
  const client = send('/large-page');
  await eventually(() => Promise.resolve(expect(reading).toHaveLength(1)));
  client.destroy();
  await gone;

  const waits = page();
  await turns();
  expect(reading).toHaveLength(1);
  reading.shift()?.end();
  await eventually(() => Promise.resolve(expect(reading).toHaveLength(1)));
  reading.shift()?.end();
  expect((await waits).statusCode).toBe(200);
});

/** Sends a request and reads only the beginning of the response. */
async function ask(path: string): Promise<Socket> {
  const socket = send(path);
  await once(socket, 'readable');
  return socket;
}

function send(path: string): Socket {
  const { port } = server.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}
