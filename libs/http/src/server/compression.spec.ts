import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { compressResponses } from './compression.ts';

const LARGE = { text: 'shipment '.repeat(500) };
const FILE = Buffer.from('script '.repeat(500));

let server: FastifyInstance;
beforeEach(() => {
  server = Fastify();
  compressResponses(server);
  server.get('/small', () => ({ text: 'x'.repeat(1_000) }));
  server.get('/large', (_request, reply) => reply.header('ETag', '"3"').send(LARGE));
  server.get('/huge', () => ({ text: 'shipment '.repeat(100_000) }));
  server.get('/varied', (_request, reply) => reply.header('Vary', 'Accept').send(LARGE));
  server.get('/file', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(FILE));
  server.get('/picture', (_request, reply) => reply.type('image/png').send(FILE));
  server.get('/stream', (_request, reply) => reply.type('text/plain').send(Readable.from([FILE])));
});
afterEach(() => server.close());

const get = (url: string, encoding?: string, method: 'GET' | 'HEAD' = 'GET') =>
  server.inject({ method, url, headers: encoding === undefined ? {} : { 'accept-encoding': encoding } });

it.each(['gzip', 'gzip, deflate, br, zstd', 'identity;q=0.5, gzip', '*'])(
  'compresses a text for Accept-Encoding: %s',
  async (encoding) => {
    const { headers, rawPayload } = await get('/large', encoding);
    expect(headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(rawPayload.length),
      'content-type': 'application/json; charset=utf-8',
      vary: 'Accept-Encoding',
      etag: '"3"',
    });
    expect(JSON.parse(gunzipSync(rawPayload).toString())).toEqual(LARGE);
  },
);

it.each([undefined, '', 'identity', 'gzip;q=0', 'br', 'deflate'])(
  'sends a text as it is for Accept-Encoding: %s',
  async (encoding) => {
    const answer = await get('/large', encoding);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers.vary).toBe('Accept-Encoding');
    expect(answer.json()).toEqual(LARGE);
  },
);

it('compresses a long text completely', async () => {
  const { rawPayload } = await get('/huge', 'gzip');
  expect(gunzipSync(rawPayload)).toHaveLength(900_011);
});

it('compresses a file once, with the better encoding, into one buffer that all connections share', async () => {
  const sent: unknown[] = [];
  server.addHook('onSend', (_request, _reply, payload, done) => {
    sent.push(payload);
    done(null, payload);
  });
  const answers = await Promise.all([1, 2, 3].map(() => get('/file', 'gzip, br')));
  for (const { headers, rawPayload } of answers) {
    expect(headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(rawPayload)).toEqual(FILE);
  }
  expect([sent.length, new Set(sent).size]).toEqual([3, 1]);
  const { headers, rawPayload } = await get('/file', 'gzip');
  expect(headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(rawPayload)).toEqual(FILE);
});

it('describes the compressed body in the response to HEAD', async () => {
  const [head, { rawPayload }] = await Promise.all([get('/large', 'gzip', 'HEAD'), get('/large', 'gzip')]);
  expect(head.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(rawPayload.length) });
  expect(head.rawPayload).toHaveLength(0);
});

it.each(['/small', '/picture', '/stream'])('does not compress %s', async (url) => {
  const { headers } = await get(url, 'gzip');
  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined]);
});

it('adds to the other headers that a response depends on', async () => {
  expect((await get('/varied', 'gzip')).headers.vary).toBe('Accept, Accept-Encoding');
});
