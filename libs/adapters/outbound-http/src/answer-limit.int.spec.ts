import { TLSSocket } from 'node:tls';
import type { OutboundHttp, OutboundOutcome } from '@tracking/ports';
import {
  createCertificateAuthority,
  endlessResponses,
  eventually,
  issueCertificate,
  hostileReceiverBehaviours,
  startReceiver,
  type RawBehaviour,
  type HttpTestReceiver,
  type ReceiverOptions,
} from '@tracking/testing';
import { createOutboundHttp, type OutboundHttpOptions } from './undici-outbound-http.ts';

const authority = createCertificateAuthority();
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function client(options: Partial<OutboundHttpOptions> = {}): OutboundHttp {
  const http = createOutboundHttp({ allowedCidrs: ['127.0.0.1'], allowHttp: true, ca: authority.cert, ...options });
  cleanups.push(() => http.closeOutboundHttp());
  return http;
}
async function receiver(behaviour: RawBehaviour, options: ReceiverOptions = {}): Promise<HttpTestReceiver> {
  const started = await startReceiver(behaviour, options);
  cleanups.push(() => started.close());
  return started;
}
const schemes: readonly [string, ReceiverOptions][] = [
  ['http', {}],
  ['https', { tls: issueCertificate({ issuer: authority }) }],
];
const tooLong = { kind: 'failure', code: 'invalid_response', message: 'the answer is longer than 64 KiB' };
const post = (http: OutboundHttp, { origin }: HttpTestReceiver, timeoutMs = 60_000): Promise<OutboundOutcome> =>
  http.post({ url: origin, headers: {}, body: '{}', timeoutMs });

/** Answers decided by the status alone, because the body exceeds the part that is kept. */
const { body, chunks, ...rest } = endlessResponses;

describe.each(schemes)('an endlessResponses answer over %s', (_name, options) => {
  test.each(Object.entries({ body, chunks }))('has its %s cut, and the status decides', async (_what, answer) => {
    const target = await receiver(hostileReceiverBehaviours.floods(answer), options);
    expect(await post(client(), target)).toMatchObject({ statusCode: 200, body: 'x'.repeat(16 * 1024) });
    await eventually(() => expect(target.openConnections).toBe(0));
  });

  test.each(Object.entries(rest))(
    'of %s is a failure at the limit, long before the deadline',
    async (_what, answer) => {
      const target = await receiver(hostileReceiverBehaviours.floods(answer), options);
      const http = client();
      expect(await post(http, target)).toMatchObject({ kind: 'failure', code: 'invalid_response' });
      await eventually(() => expect(target.openConnections).toBe(0));
      target.setReceiverBehaviour(hostileReceiverBehaviours.answers());
      expect(await post(http, target)).toMatchObject({ statusCode: 200 });
    },
  );

  test('reports why it failed', async () => {
    const target = await receiver(hostileReceiverBehaviours.floods(endlessResponses.chunkExtension), options);
    expect(await post(client(), target)).toMatchObject(tooLong);
  });

  test('that drips is a failure at the deadline, whatever drips', async () => {
    const http = client();
    const outcomes = Object.entries(endlessResponses).map(async ([what, answer]) => {
      const target = await receiver(hostileReceiverBehaviours.drips(answer), options);
      const outcome = await post(http, target, 300);
      await eventually(() => expect(target.openConnections).toBe(0));
      return [what, outcome.kind === 'failure' && outcome.code];
    });
    expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(
      Object.fromEntries(Object.keys(endlessResponses).map((what) => [what, 'timeout'])),
    );
  });

  test('after complete answers on the same connection is counted separately', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers(200, 'x'.repeat(15 * 1024)), options);
    const http = client();
    for (let n = 0; n < 20; n += 1) expect(await post(http, target)).toMatchObject({ statusCode: 200 });
    expect(target.connections).toBe(1);
    target.setReceiverBehaviour(hostileReceiverBehaviours.floods(endlessResponses.chunkExtension));
    expect(await post(http, target)).toMatchObject({ code: 'invalid_response' });
    expect(target.requests).toHaveLength(21);
  });
});

describe('an answer within the limit', () => {
  test('is accepted, whatever its composition', async () => {
    const [, hint] = endlessResponses.information103;
    const [beginning, chunk] = endlessResponses.chunkExtensions;
    const says = [hint.repeat(100), beginning, chunk.repeat(50), '0\r\n', 'x-more: x\r\n'.repeat(500), '\r\n'].join('');
    const target = await receiver(hostileReceiverBehaviours.says(says));
    const http = client();
    for (let n = 0; n < 3; n += 1)
      expect(await post(http, target)).toMatchObject({ statusCode: 200, body: 'x'.repeat(50) });
    expect(target.connections).toBe(1);
  });

  test('is read although more follows it: the status of a large body decides', async () => {
    const target = await receiver(hostileReceiverBehaviours.answers(200, 'x'.repeat(1_000_000)));
    expect(await post(client(), target)).toMatchObject({ statusCode: 200, body: 'x'.repeat(16 * 1024) });
  });
});

describe('bytes after an answer, more than is read at once', () => {
  test('never become the next one', async () => {
    const [answer, stolen] = ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', 'HTTP/1.1 500 Stolen\r\n\r\n'];
    const target = await receiver(hostileReceiverBehaviours.says(answer + '\r\n'.repeat(10_000) + stolen));
    const http = client({ maxConnectionsPerOrigin: 1 });
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => post(http, target)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ statusCode: 200, body: 'ok' });
  });
});

describe('an idle connection', () => {
  test.each(schemes)('is closed if unexpected bytes arrive, over %s', async (_name, options) => {
    const target = await receiver((socket, request) => {
      hostileReceiverBehaviours.answers()(socket, request);
      setImmediate(() => hostileReceiverBehaviours.floods(endlessResponses.emptyLines)(socket));
    }, options);
    expect(await post(client(), target)).toMatchObject({ statusCode: 200, body: 'ok' });
    await eventually(() => expect(target.openConnections).toBe(0));
  });
});

describe('a receiver that does not stop negotiating TLS', () => {
  test('fails before the deadline', async () => {
    const again = (socket: TLSSocket) => {
      if (!socket.destroyed) socket.renegotiate({}, () => again(socket));
    };
    const [, [, { tls }]] = schemes as [unknown, [string, Required<ReceiverOptions>]];
    const target = await receiver(
      (socket) => {
        if (socket instanceof TLSSocket) again(socket);
      },
      { tls: { ...tls, maxVersion: 'TLSv1.2' } as typeof tls },
    );
    expect(await post(client(), target)).toMatchObject(tooLong);
    await eventually(() => expect(target.openConnections).toBe(0));
  });
});
