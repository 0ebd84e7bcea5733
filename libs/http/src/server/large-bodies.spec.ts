import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Busy } from '@tracking/ports';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { JSON_KIND, json } from './json-body.ts';
import { boundLargeBodies } from './large-bodies.ts';
import { readRouteBodies } from './route-bodies.ts';
import { MIB } from './sizes.ts';

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
  boundLargeBodies(server, 10 * MIB);
  readRouteBodies(server, [JSON_KIND]);
  server.setErrorHandler((error, _request, reply) => reply.code(error instanceof Busy ? 503 : 500).send());
  server.post('/large', { config: { body: json(10 * MIB) } }, async () => {
    await new Promise<void>((resolve) => release.push(resolve));
    return {};
  });
  server.post('/large-answer', { config: { body: json(10 * MIB) } }, () => 'x'.repeat(32 * MIB));
});
afterEach(() => server.close());

const send = (bytes: number, workspace = 'a') =>
  server.inject({
    method: 'POST',
    url: '/large',
    payload: JSON.stringify('x'.repeat(bytes - 2)),
    headers: { 'content-type': 'application/json', workspace },
  });
/** Begins so many; answers what comes of them once all are let go. */
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

it('takes large bodies of one workspace up to its share, and usual ones always', async () => {
  const end = await begin(2 * MIB, 3 * MIB, 2 * MIB, MIB, 100);
  expect(await end()).toEqual([200, 200, 503, 200, 200]);
});

it('takes others when those are answered', async () => {
  expect(await (await begin(5 * MIB))()).toEqual([200]);
  expect(await (await begin(5 * MIB, 5 * MIB))()).toEqual([200, 503]);
  expect(await (await begin(5 * MIB))()).toEqual([200]);
});

it('takes those of others while one workspace holds its share, up to a bound', async () => {
  const of = (workspace: string, size: number): [number, string] => [size * MIB, workspace];
  const end = await beginAll([of('a', 5), of('a', 2), of('b', 3), of('c', 2), of('d', 2), of('a', 1)]);
  expect(await end()).toEqual([200, 503, 200, 200, 503, 200]);
});

it('takes others when a client has reset its connection before it has the whole answer', async () => {
  await server.listen({ port: 0, host: '127.0.0.1' });
  const gone = new Promise((resolve) => server.server.once('connection', (socket) => socket.once('close', resolve)));
  const { port } = server.server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  const body = JSON.stringify('x'.repeat(5 * MIB - 2));
  const headers = ['Host: x', 'Workspace: a', 'Content-Type: application/json', `Content-Length: ${body.length}`];
  client.write(`POST /large-answer HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  await once(client, 'readable');
  client.resetAndDestroy();
  await gone;

  expect(await (await begin(5 * MIB))()).toEqual([200]);
});
