import type { OutboundRequestFailure, OutboundHttp, OutboundRequest, OutboundResponse } from '@tracking/ports';
import {
  endlessResponses,
  eventually,
  RecordedMetrics,
  hostileReceiverBehaviours,
  startReceiver,
  type RawBehaviour,
  type HttpTestReceiver,
  type ReceiverOptions,
} from '@tracking/testing';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createOutboundHttp, type OutboundHttpOptions } from './undici-outbound-http.ts';

const kept = 16 * 1024;
/** Far above what a timeout may take on a busy machine, far below waiting for a receiver. */
const soonMs = 3000;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function client(options: Partial<OutboundHttpOptions> = {}): OutboundHttp {
  const http = createOutboundHttp({ allowedCidrs: ['127.0.0.0/8', '::1/128'], allowHttp: true, ...options });
  cleanups.push(() => http.closeOutboundHttp());
  return http;
}
async function receiver(behaviour: RawBehaviour, options?: ReceiverOptions): Promise<HttpTestReceiver> {
  const started = await startReceiver(behaviour, options);
  cleanups.push(() => started.close());
  return started;
}
function to(url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: '{"id":"evt_1"}', timeoutMs: 5000, ...rest };
}
async function answerTo(behaviour: RawBehaviour, rest: Partial<OutboundRequest> = {}): Promise<OutboundResponse> {
  const outcome = await client().post(to((await receiver(behaviour)).origin, rest));
  if (outcome.kind === 'failure') throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome;
}
async function failureOf(
  behaviour: RawBehaviour,
  rest: Partial<OutboundRequest> = {},
): Promise<OutboundRequestFailure> {
  const outcome = await client().post(to((await receiver(behaviour)).origin, rest));
  if (outcome.kind === 'response') throw new Error(`answered ${outcome.statusCode}`);
  expect(outcome.message).toMatch(/^[^\r\n]{5,200}$/);
  return outcome;
}
describe('the request', () => {
  test('is a POST of exactly these bytes, with the headers given', async () => {
    const body = new Uint8Array([0, 1, 2, 0xff, 0x0d, 0x0a]);
    const target = await receiver(hostileReceiverBehaviours.answers());
    await client({ userAgent: 'tracker/9' }).post(
      to(`${target.origin}/in?x=1`, { headers: { 'Service-Event-Id': 'evt_1', 'content-type': 'text/x' }, body }),
    );
    expect(target.requests).toHaveLength(1);
    expect(target.requests[0]).toMatchObject({ method: 'POST', path: '/in?x=1' });
    expect([...(target.requests[0]?.body ?? [])]).toEqual([...body]);
    expect(target.requests[0]?.headers).toEqual({
      host: `127.0.0.1:${target.port}`,
      connection: 'keep-alive',
      'service-event-id': 'evt_1',
      'content-type': 'text/x',
      'user-agent': 'tracker/9',
      accept: '*/*',
      'accept-encoding': 'identity',
      'content-length': '6',
    });
  });

  test('text goes out as UTF-8, an empty body as an empty body', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const http = client();
    await http.post(to(target.origin, { body: 'Zürich ✓' }));
    await http.post(to(target.origin, { body: '' }));
    expect(target.requests.map(({ body }) => body.toString())).toEqual(['Zürich ✓', '']);
    expect(target.requests[1]?.headers['content-length']).toBe('0');
  });

  test('prevents callers from setting framing, host and connection headers', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const outcome = await client().post(
      to(target.origin, {
        headers: {
          Host: 'bank.example',
          'Content-Length': '3',
          'Transfer-Encoding': 'chunked',
          Connection: 'close',
          Expect: '100-continue',
          'User-Agent': 'mine',
        },
      }),
    );
    expect(outcome).toMatchObject({ kind: 'response', statusCode: 200 });
    expect(target.requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${target.port}`,
      'content-length': '14',
      connection: 'keep-alive',
      'user-agent': 'mine',
    });
    expect(target.requests[0]?.headers).not.toHaveProperty('expect');
    expect(target.requests[0]?.headers).not.toHaveProperty('transfer-encoding');
  });

  test('a header with a line break is a failure, and nothing is sent', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const http = client();
    for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x\r\nx-c': 'd' }, { 'x-a': 'čeština' }])
      expect(await http.post(to(target.origin, { headers }))).toMatchObject({
        kind: 'failure',
        code: 'connection_failed',
      });
    expect(target.requests).toHaveLength(0);
    expect(await http.post(to(target.origin))).toMatchObject({ kind: 'response' });
  });

  test('reaches IPv6 loopback', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers(), { host: '::1' });
    expect(await client().post(to(target.origin))).toMatchObject({ statusCode: 200 });
    expect(target.requests[0]?.headers['host']).toBe(`[::1]:${target.port}`);
  });
});

describe('the answer', () => {
  test.each([200, 201, 204, 299, 400, 404, 410, 429, 500, 503, 599])('%i is an answer', async (status) => {
    expect(await answerTo(hostileReceiverBehaviours.answers(status, status === 204 ? '' : 'body'))).toMatchObject({
      statusCode: status,
      body: status === 204 ? '' : 'body',
    });
  });

  test('headers have lower-case names, and multiple values are joined', async () => {
    const { headers } = await answerTo(
      hostileReceiverBehaviours.says(
        'HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nX-A: 1\r\nx-a: 2\r\n__proto__: x\r\nconstructor: y\r\nContent-Length: 0\r\n\r\n',
      ),
    );
    expect(Object.entries(headers)).toEqual([
      ['retry-after', '7'],
      ['x-a', '1, 2'],
      ['__proto__', 'x'],
      ['constructor', 'y'],
      ['content-length', '0'],
    ]);
  });

  test('a redirect is an answer and is not followed', async () => {
    const elsewhere = await receiver(hostileReceiverBehaviours.answers());
    for (const status of [301, 302, 303, 307, 308])
      expect(await answerTo(hostileReceiverBehaviours.redirects(elsewhere.origin, status))).toMatchObject({
        statusCode: status,
        headers: { location: elsewhere.origin },
      });
    expect(elsewhere.connections).toBe(0);
  });

  test('informational answers before it are skipped', async () => {
    expect(await answerTo(hostileReceiverBehaviours.informsFirst(103))).toMatchObject({ statusCode: 200, body: 'ok' });
    expect(await answerTo(hostileReceiverBehaviours.informsFirst(102))).toMatchObject({ statusCode: 200, body: 'ok' });
  });

  test.each([
    [
      'an unasked 100 Continue',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      200,
      'ok',
    ],
    ['the same length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nContent-Length: 2\r\n\r\nok', 200, 'ok'],
    ['a 204 with the length 0', 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n', 204, ''],
  ])('with %s is an answer, and the connection is used again', async (_what, says, statusCode, body) => {
    const target = await receiver(hostileReceiverBehaviours.says(says));
    const http = client();
    for (let n = 0; n < 3; n += 1) expect(await http.post(to(target.origin))).toMatchObject({ statusCode, body });
    expect(target.connections).toBe(1);
  });

  test.each([
    ['a 204 with a body', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok', 204, ''],
    ['a 204 that announces a body', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n', 204, ''],
    [
      'a 204 whose body looks like an answer',
      'HTTP/1.1 204 No Content\r\ncontent-length: 24\r\n\r\nHTTP/1.1 500 Stolen\r\n\r\n',
      204,
      '',
    ],
    [
      'a length beside chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      200,
      'ok',
    ],
  ])('with %s is an answer, and its connection is not used again', async (_what, says, statusCode, body) => {
    const target = await receiver(hostileReceiverBehaviours.says(says));
    const http = client({ maxConnectionsPerOrigin: 1 });
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => http.post(to(target.origin))));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ statusCode, body });
    expect(target.connections).toBe(4);
    expect(target.requests).toHaveLength(4);
  });

  test('one that ends with the connection, or in chunks, is complete', async () => {
    expect(await answerTo(hostileReceiverBehaviours.endsWithConnection('the end'))).toMatchObject({
      statusCode: 200,
      body: 'the end',
    });
    const chunked =
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx-trailer: t\r\n\r\n';
    expect(await answerTo(hostileReceiverBehaviours.says(chunked))).toMatchObject({ body: 'abcde' });
  });

  test('invalid UTF-8 bytes become replacement characters', async () => {
    expect(await answerTo(hostileReceiverBehaviours.answers(200, Buffer.from([0x61, 0xff, 0x62])))).toMatchObject({
      body: 'a\ufffdb',
    });
  });

  test('a body is kept up to 16 KiB, and one of exactly that length keeps its connection', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers(200, 'x'.repeat(kept)));
    const http = client();
    for (let n = 0; n < 2; n++) {
      const outcome = await http.post(to(target.origin));
      expect(outcome.kind === 'response' && outcome.body.length).toBe(kept);
    }
    expect(target.connections).toBe(1);
    target.setReceiverBehaviour(hostileReceiverBehaviours.answers(202, 'y'.repeat(kept + 1)));
    expect(await http.post(to(target.origin))).toMatchObject({ statusCode: 202, body: 'y'.repeat(kept) });
    await eventually(() => expect(target.openConnections).toBe(0));
  });

  test('an endless body: the status decides, reading stops, the connection is closed', async () => {
    const target = await receiver(hostileReceiverBehaviours.floods());
    const outcome = await client().post(to(target.origin));
    expect(outcome).toMatchObject({ kind: 'response', statusCode: 200, body: 'x'.repeat(kept) });
    await eventually(() => expect(target.openConnections).toBe(0));
  });

  test('compressed bodies are read', async () => {
    const text = '{"ok":true}'.repeat(100);
    const codings = {
      gzip: gzipSync,
      'x-gzip': gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
      Gzip: gzipSync,
    };
    for (const [coding, pack] of Object.entries(codings))
      expect(
        await answerTo(hostileReceiverBehaviours.answers(200, pack(text), { 'content-encoding': coding })),
      ).toMatchObject({
        body: text,
      });
    const bare = hostileReceiverBehaviours.answers(200, deflateRawSync(text), { 'content-encoding': 'deflate' });
    expect(await answerTo(bare)).toMatchObject({ body: text });
  });

  test('a compressed body is cut at 16 KiB of decompressed output', async () => {
    const noise = Buffer.from(Array.from({ length: 64 * 1024 }, (_, n) => 33 + ((n * n * 31 + n * 7) % 90)));
    for (const [coding, pack] of Object.entries({ gzip: gzipSync, br: brotliCompressSync }))
      expect(
        await answerTo(hostileReceiverBehaviours.answers(200, pack(noise), { 'content-encoding': coding })),
      ).toMatchObject({
        body: noise.toString('utf8', 0, kept),
      });
  });

  test('a gzip bomb is decompressed to 16 KiB, and its connection is closed', async () => {
    const target = await receiver(hostileReceiverBehaviours.gzipBomb(256));
    const http = client();
    await http.post(to(target.origin));
    const before = process.memoryUsage().rss;
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => http.post(to(target.origin))));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ kind: 'response', statusCode: 200, body: '\0'.repeat(kept) });
    // Decompressed they would be five gigabytes.
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    await eventually(() => expect(target.openConnections).toBe(0));
  });

  test('a brotli bomb in one packet is decompressed to 16 KiB', async () => {
    const packed = brotliCompressSync(Buffer.alloc(64 * 1024 * 1024), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 2 },
    });
    const bomb = hostileReceiverBehaviours.answers(200, packed, { 'content-encoding': 'br' });
    expect(await answerTo(bomb)).toMatchObject({ statusCode: 200, body: '\0'.repeat(kept) });
  });

  test('a body that does not match its content coding: the status decides', async () => {
    for (const coding of ['gzip', 'deflate', 'br'])
      expect(
        await answerTo(hostileReceiverBehaviours.answers(201, 'plain text', { 'content-encoding': coding })),
      ).toMatchObject({
        statusCode: 201,
      });
    expect(
      await answerTo(hostileReceiverBehaviours.answers(200, 'abc', { 'content-encoding': 'gzip, gzip' })),
    ).toMatchObject({
      body: '',
    });
    const cut = gzipSync('hello hello hello').subarray(0, 24);
    expect(await answerTo(hostileReceiverBehaviours.answers(200, cut, { 'content-encoding': 'gzip' }))).toMatchObject({
      body: expect.stringMatching(/^hel/),
    });
  });
});

describe('invalid answers', () => {
  test.each<[string, RawBehaviour]>([
    ['something else than HTTP', hostileReceiverBehaviours.says('SSH-2.0-OpenSSH_9.6\r\n')],
    ['a malformed header', hostileReceiverBehaviours.says('HTTP/1.1 200 OK\r\nbad header\r\n\r\n')],
    [
      'a header with a control character',
      hostileReceiverBehaviours.says('HTTP/1.1 200 OK\r\nx-a: b\0c\r\ncontent-length: 0\r\n\r\n'),
    ],
    ['a length that is no number', hostileReceiverBehaviours.says('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n')],
    ['a status below 100', hostileReceiverBehaviours.says('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n')],
    [
      'two lengths',
      hostileReceiverBehaviours.says('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    ],
    [
      'a malformed chunk',
      hostileReceiverBehaviours.says('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
    ],
    ['headers of more than 32 KiB', hostileReceiverBehaviours.hugeHeader(33 * 1024)],
    ['too many headers', hostileReceiverBehaviours.manyHeaders(7000)],
    [
      'a switch of protocols',
      hostileReceiverBehaviours.says('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ])('%s', async (_name, behaviour) => {
    expect(await failureOf(behaviour)).toMatchObject({ code: 'invalid_response' });
  });

  test('headers within the limit are answers, cut to 64', async () => {
    const { headers } = await answerTo(hostileReceiverBehaviours.manyHeaders(500));
    expect(Object.keys(headers)).toHaveLength(64);
    expect((await answerTo(hostileReceiverBehaviours.hugeHeader(31 * 1024))).headers['x-huge']).toHaveLength(31 * 1024);
  });

  test.each<[string, RawBehaviour]>([
    ['a reset', hostileReceiverBehaviours.resets()],
    ['a reset within the body', hostileReceiverBehaviours.resetsWithinBody()],
    ['half a close', hostileReceiverBehaviours.halfCloses()],
    ['a body shorter than declared', hostileReceiverBehaviours.claimsMore()],
    ['a close within the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nconte')],
    ['a close within chunks', (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab')],
  ])('%s', async (_name, behaviour) => {
    expect(await failureOf(behaviour)).toMatchObject({ code: 'connection_reset' });
  });

  test('no process listens', async () => {
    const gone = await receiver(hostileReceiverBehaviours.answers());
    await gone.close();
    expect(await client().post(to(gone.origin))).toMatchObject({ kind: 'failure', code: 'connection_refused' });
  });
});

describe('the deadline', () => {
  test.each<[string, RawBehaviour, string]>([
    ['hangs', hostileReceiverBehaviours.hangs(), 'waiting for the answer'],
    ['hangs within the headers', hostileReceiverBehaviours.hangsWithinHeaders(), 'waiting for the answer'],
    ['hangs after the headers', hostileReceiverBehaviours.hangsAfterHeaders(), 'reading the answer'],
    ['drips the body', hostileReceiverBehaviours.drips(endlessResponses.body), 'reading the answer'],
    ['drips the headers', hostileReceiverBehaviours.drips(endlessResponses.header), 'waiting for the answer'],
    ['informs without end', hostileReceiverBehaviours.drips(endlessResponses.information103), 'waiting for the answer'],
  ])('one that %s', async (_name, behaviour, doing) => {
    const target = await receiver(behaviour);
    const http = client();
    const outcome = await http.post(to(target.origin, { timeoutMs: 200 }));
    expect(outcome).toMatchObject({ kind: 'failure', code: 'timeout', message: expect.stringContaining(doing) });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(190);
    expect(outcome.durationMs).toBeLessThan(soonMs);
    await eventually(() => expect(target.openConnections).toBe(0));
    target.setReceiverBehaviour(hostileReceiverBehaviours.answers());
    expect(await http.post(to(target.origin))).toMatchObject({ statusCode: 200 });
  });

  test('counts from the name resolution', async () => {
    const http = client({ lookup: () => new Promise(() => undefined) });
    const outcome = await http.post(to('http://never.example/', { timeoutMs: 150 }));
    expect(outcome).toMatchObject({ code: 'timeout', message: expect.stringContaining('connecting') });
    expect(outcome.durationMs).toBeLessThan(soonMs);
  });

  test('holds for a TLS handshake that never answers', async () => {
    const silent = await receiver(hostileReceiverBehaviours.hangs());
    const outcome = await client().post(to(`https://127.0.0.1:${silent.port}/`, { timeoutMs: 150 }));
    expect(outcome).toMatchObject({ code: 'timeout', message: expect.stringContaining('connecting') });
    await eventually(() => expect(silent.openConnections).toBe(0));
  });

  test('holds while waiting for a free connection, and later requests get their turn', async () => {
    const target = await receiver(hostileReceiverBehaviours.hangs());
    const http = client({ maxConnectionsPerOrigin: 1 });
    const first = http.post(to(target.origin, { timeoutMs: 400 }));
    const second = http.post(to(target.origin, { timeoutMs: 100 }));
    const third = http.post(to(target.origin, { timeoutMs: 5000 }));
    expect(await second).toMatchObject({ code: 'timeout', message: expect.stringContaining('free connection') });
    target.setReceiverBehaviour(hostileReceiverBehaviours.answers());
    expect(await first).toMatchObject({ code: 'timeout' });
    expect(await third).toMatchObject({ statusCode: 200 });
    expect(target.requests).toHaveLength(2);
  });

  test('an answer just in time is accepted', async () => {
    expect(await answerTo(hostileReceiverBehaviours.answersAfter(150), { timeoutMs: 2000 })).toMatchObject({
      statusCode: 200,
    });
  });
});

describe('canceling', () => {
  test('ends a request in progress, and one that has not begun', async () => {
    const target = await receiver(hostileReceiverBehaviours.hangs());
    const http = client();
    const controller = new AbortController();
    const running = http.post(to(target.origin, { signal: controller.signal }));
    await eventually(() => expect(target.requests.length).toBe(1));
    controller.abort();
    expect(await running).toMatchObject({ kind: 'failure', code: 'aborted' });
    await eventually(() => expect(target.openConnections).toBe(0));
    expect(await http.post(to(target.origin, { signal: controller.signal }))).toMatchObject({ code: 'aborted' });
    expect(target.requests).toHaveLength(1);
  });

  test.each([
    ['a new connection', 0],
    ['one that rested', 1],
  ])('writes nothing if the request may no longer be sent when %s is there', async (_name, before) => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const http = client();
    for (let n = 0; n < before; n++) await http.post(to(target.origin));
    expect(await http.post(to(target.origin, { mayBeSent: () => false }))).toMatchObject({ code: 'aborted' });
    await eventually(() => expect(target.openConnections).toBe(0));
    expect(target.requests).toHaveLength(before);
    expect(await http.post(to(target.origin, { mayBeSent: () => true }))).toMatchObject({ statusCode: 200 });
  });

  test('writes nothing if the check itself cancels', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const controller = new AbortController();
    const mayBeSent = () => {
      controller.abort();
      return false;
    };
    const outcome = await client().post(to(target.origin, { signal: controller.signal, mayBeSent }));
    expect(outcome).toMatchObject({ code: 'aborted' });
    await eventually(() => expect(target.openConnections).toBe(0));
    expect(target.requests).toHaveLength(0);
  });

  test('does not resend a request that may no longer be sent', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const http = client();
    await http.post(to(target.origin));
    let mayBeSent = true;
    target.setReceiverBehaviour((socket) => {
      mayBeSent = false;
      socket.destroy();
    });
    const outcome = await http.post(to(target.origin, { mayBeSent: () => mayBeSent }));
    expect(outcome).toMatchObject({ kind: 'failure', code: 'aborted' });
    expect(target.requests).toHaveLength(2);
  });

  test('close waits for requests in progress and refuses later ones', async () => {
    const target = await receiver(hostileReceiverBehaviours.answersAfter(100));
    const http = client();
    const running = http.post(to(target.origin));
    await eventually(() => expect(target.requests.length).toBe(1));
    const closed = http.closeOutboundHttp();
    expect(await http.post(to(target.origin))).toMatchObject({ code: 'aborted' });
    expect(await running).toMatchObject({ statusCode: 200 });
    await closed;
    await eventually(() => expect(target.openConnections).toBe(0));
    await http.closeOutboundHttp();
  });
});

describe('connections', () => {
  test('are reused, separately for each origin', async () => {
    const [one, other] = [
      await receiver(hostileReceiverBehaviours.answers()),
      await receiver(hostileReceiverBehaviours.answers()),
    ];
    const http = client();
    for (let n = 0; n < 5; n++) {
      await http.post(to(one.origin));
      await http.post(to(other.origin));
    }
    expect([one.connections, other.connections]).toEqual([1, 1]);
  });

  test('stay within the limit per origin, and every request is served', async () => {
    const target = await receiver(hostileReceiverBehaviours.answersAfter(5));
    const http = client({ maxConnectionsPerOrigin: 4 });
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => http.post(to(target.origin))));
    expect(outcomes.every((outcome) => outcome.kind === 'response')).toBe(true);
    expect(target.requests).toHaveLength(40);
    expect(target.connections).toBe(4);
  });

  test('hanging receivers delay no others', async () => {
    const hung = await Promise.all(Array.from({ length: 5 }, () => receiver(hostileReceiverBehaviours.hangs())));
    const healthy = await receiver(hostileReceiverBehaviours.answers());
    const http = client({ maxConnectionsPerOrigin: 4 });
    const controller = new AbortController();
    const waiting = hung.flatMap(({ origin }) =>
      Array.from({ length: 8 }, () => http.post(to(origin, { timeoutMs: 60_000, signal: controller.signal }))),
    );
    const opened = () => hung.map(({ connections }) => connections);
    await eventually(() => expect(opened()).toEqual([4, 4, 4, 4, 4]));
    for (let n = 0; n < 20; n++) expect(await http.post(to(healthy.origin))).toMatchObject({ statusCode: 200 });
    expect(opened()).toEqual([4, 4, 4, 4, 4]);
    controller.abort();
    expect((await Promise.all(waiting)).every((outcome) => outcome.kind === 'failure')).toBe(true);
  });

  test('are closed after an idle time, and beyond the limit the longest idle first', async () => {
    const targets = await Promise.all(Array.from({ length: 3 }, () => receiver(hostileReceiverBehaviours.answers())));
    const http = client({ maxIdleConnections: 2 });
    for (const { origin } of targets) await http.post(to(origin));
    await eventually(() => expect(targets[0]?.openConnections).toBe(0));
    expect(targets.map(({ openConnections }) => openConnections)).toEqual([0, 1, 1]);

    const short = client({ keepAliveMs: 50 });
    const target = await receiver(hostileReceiverBehaviours.answers());
    await short.post(to(target.origin));
    await eventually(() => expect(target.openConnections).toBe(0));
  });

  test('are counted with their requests while open', async () => {
    const metrics = new RecordedMetrics();
    const target = await receiver(hostileReceiverBehaviours.hangs());
    const http = client({ metrics, maxConnectionsPerOrigin: 2 });
    const counts = () =>
      ['requests_in_flight', 'connections_open', 'connections_idle'].map((name) =>
        metrics.getMetricValue(`outbound_${name}`),
      );
    const controller = new AbortController();
    const running = Array.from({ length: 5 }, () => http.post(to(target.origin, { signal: controller.signal })));
    await eventually(() => expect(target.requests).toHaveLength(2));
    expect(counts()).toEqual([5, 2, 0]);
    controller.abort();
    await Promise.all(running);
    expect(counts()).toEqual([0, 0, 0]);
    target.setReceiverBehaviour(hostileReceiverBehaviours.answers());
    await http.post(to(target.origin));
    expect(counts()).toEqual([0, 1, 1]);
    target.dropConnections();
    await eventually(() => expect(counts()).toEqual([0, 0, 0]));
  });

  test('past their age accept no further request', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const http = client({ maxConnectionAgeMs: -1 });
    await http.post(to(target.origin));
    await http.post(to(target.origin));
    expect(target.connections).toBe(2);
  });

  test.each<[string, RawBehaviour]>([
    ['without saying so', hostileReceiverBehaviours.closesAfterAnswer()],
    ['and says so', hostileReceiverBehaviours.saysClose()],
  ])('a receiver that closes after each answer %s loses nothing', async (_name, behaviour) => {
    const target = await receiver(behaviour);
    const http = client();
    for (let n = 0; n < 30; n++) expect(await http.post(to(target.origin))).toMatchObject({ statusCode: 200 });
    const burst = await Promise.all(Array.from({ length: 30 }, () => http.post(to(target.origin))));
    expect(burst.filter((outcome) => outcome.kind === 'failure')).toEqual([]);
  });

  test('an idle connection that the receiver closes as the next request arrives: sent again, once, on a new one', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const http = client();
    expect(await http.post(to(target.origin))).not.toHaveProperty('resent');
    target.setReceiverBehaviour((socket, request) =>
      request.connection === 1
        ? socket.resetAndDestroy()
        : socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await http.post(to(target.origin))).toMatchObject({ statusCode: 200, resent: true });
    expect(target.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);

    target.setReceiverBehaviour(hostileReceiverBehaviours.resets());
    expect(await http.post(to(target.origin))).toMatchObject({ code: 'connection_reset', resent: true });
    expect(target.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
  });

  test('a request that fails on a new connection, or within its answer, is not sent again', async () => {
    const target = await receiver(hostileReceiverBehaviours.resets());
    const http = client();
    expect(await http.post(to(target.origin))).toMatchObject({ code: 'connection_reset' });
    target.setReceiverBehaviour(hostileReceiverBehaviours.answers());
    await http.post(to(target.origin));
    target.setReceiverBehaviour(hostileReceiverBehaviours.resetsWithinBody());
    expect(await http.post(to(target.origin))).toMatchObject({ code: 'connection_reset' });
    expect(target.requests).toHaveLength(3);
  });

  test('a restarted receiver is reached again whatever was open', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers());
    const http = client();
    await Promise.all(Array.from({ length: 10 }, () => http.post(to(target.origin))));
    target.dropConnections();
    const after = await Promise.all(Array.from({ length: 10 }, () => http.post(to(target.origin))));
    expect(after.filter((outcome) => outcome.kind === 'failure')).toEqual([]);
  });

  test('bytes after a declared length never become the next answer', async () => {
    const target = await receiver(hostileReceiverBehaviours.claimsLess());
    const http = client();
    for (let n = 0; n < 5; n++)
      expect(await http.post(to(target.origin))).toMatchObject({ statusCode: 200, body: 'ok' });
  });
});
