import type { OutboundOutcome } from '@tracking/ports';
import {
  createCertificateAuthority,
  issueCertificate,
  hostileReceiverBehaviours,
  startReceiver,
  type RawBehaviour,
} from '@tracking/testing';
import type { HttpTestReceiver, ReceiverOptions } from '@tracking/testing';
import { createSecureServer as createHttp2Server, createServer as createPlainHttp2Server } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { HostNameNotResolvedError } from './connector.ts';
import { createOutboundHttp, type OutboundHttpOptions } from './undici-outbound-http.ts';

const authority = createCertificateAuthority();
const day = 86_400_000;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type PostTo = (url: string) => Promise<OutboundOutcome>;

function client(options: Partial<OutboundHttpOptions> = {}): PostTo {
  const http = createOutboundHttp({
    allowedCidrs: ['127.0.0.1', '::1'],
    allowHttp: true,
    ca: authority.cert,
    ...options,
  });
  cleanups.push(() => http.closeOutboundHttp());
  return (url) => http.post({ url, headers: {}, body: '{}', timeoutMs: 5000 });
}
async function receiver(
  options: ReceiverOptions = {},
  behaviour: RawBehaviour = hostileReceiverBehaviours.answers(),
): Promise<HttpTestReceiver> {
  const started = await startReceiver(behaviour, options);
  cleanups.push(() => started.close());
  return started;
}

describe('certificates', () => {
  const good = issueCertificate({ issuer: authority, names: ['localhost', '127.0.0.1', '::1', 'hooks.example'] });

  test('a trusted one for the host is accepted, by name and by address, and the connection is reused', async () => {
    const post = client({ lookup: async () => ['127.0.0.1'] });
    const target = await receiver({ tls: good });
    for (const host of ['127.0.0.1', 'localhost', 'hooks.example'])
      for (let n = 0; n < 2; n++)
        expect(await post(`https://${host}:${target.port}/`)).toMatchObject({ statusCode: 200, body: 'ok' });
    expect(target.connections).toBe(3);
    const six = await receiver({ tls: good, host: '::1' });
    expect(await post(six.origin)).toMatchObject({ statusCode: 200 });
  });

  test.each([
    ['self-signed', issueCertificate({}), 'self-signed'],
    [
      'of an authority that is not trusted',
      issueCertificate({ issuer: createCertificateAuthority('Other') }),
      'authority',
    ],
    [
      'that pretends to be of the trusted authority',
      issueCertificate({ issuer: createCertificateAuthority() }),
      'tls|certificate|TLS',
    ],
    [
      'expired',
      issueCertificate({ issuer: authority, notBefore: new Date(0), notAfter: new Date(Date.now() - day) }),
      'expired',
    ],
    [
      'not yet valid',
      issueCertificate({ issuer: authority, notBefore: new Date(Date.now() + day / 2) }),
      'not valid yet',
    ],
    ['for another name', issueCertificate({ issuer: authority, names: ['other.example'] }), 'another host name'],
    [
      'for another address',
      issueCertificate({ issuer: authority, names: ['127.0.0.2', 'localhost'] }),
      'another host name',
    ],
  ])('one that is %s ends the connection before a byte is sent', async (_name, tls, reason) => {
    const target = await receiver({ tls });
    const outcome = await client()(target.origin);
    expect(outcome).toMatchObject({ kind: 'failure', code: 'tls_failed', message: expect.stringMatching(reason) });
    expect(target.requests).toHaveLength(0);
  });

  test('the check is against the URL’s host, not against the address that it resolves to', async () => {
    const target = await receiver({ tls: issueCertificate({ issuer: authority, names: ['127.0.0.1'] }) });
    const post = client({ lookup: async () => ['127.0.0.1'] });
    expect(await post(`https://hooks.example:${target.port}/`)).toMatchObject({ code: 'tls_failed' });
  });

  test('the server name is the URL’s host without its final dot', async () => {
    const names: string[] = [];
    const server = createTlsServer({
      ...good,
      SNICallback: (name, done) => {
        names.push(name);
        done(null, createSecureContext(good));
      },
    });
    server.on('secureConnection', (socket) => socket.on('error', () => undefined).destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => server.close(() => resolve())));
    const post = client({ lookup: async () => ['127.0.0.1'] });
    await post(`https://Hooks.Example.:${(server.address() as AddressInfo).port}/`);
    expect(names).toEqual(['hooks.example']);
  });

  test.each([
    ['tls_failed', 'with TLS', () => createHttp2Server(issueCertificate({ issuer: authority })), 'https'],
    ['invalid_response', 'without TLS', () => createPlainHttp2Server(), 'http'],
  ] as const)('fails as %s, naming HTTP/2, if the receiver speaks only HTTP/2 %s', async (code, _, create, scheme) => {
    const server = create();
    server.on('sessionError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => server.close(() => resolve())));
    const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const message = 'the receiver accepts only HTTP/2; deliveries use HTTP/1.1, which it must accept too';
    expect(await client()(url)).toMatchObject({ kind: 'failure', code, message });
  });

  test('a receiver that does not speak TLS, or hangs up on it', async () => {
    const talking = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('220 smtp.example ESMTP\r\n'),
    );
    const leaving = createServer((socket) => socket.destroy());
    for (const server of [talking, leaving]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      cleanups.push(() => new Promise((resolve) => server.close(() => resolve())));
    }
    const post = client();
    const at = (server: { address(): unknown }) => `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await post(at(talking))).toMatchObject({
      code: 'tls_failed',
      message: expect.stringContaining('handshake'),
    });
    expect(await post(at(leaving))).toMatchObject({
      code: 'connection_reset',
      message: expect.stringContaining('before it was open'),
    });
  });
});

describe('the address that is connected to', () => {
  test('is never a refused one, whatever the name resolves to', async () => {
    const target = await receiver();
    const six = await receiver({ host: '::1' });
    for (const answer of [
      ['::1'],
      ['10.0.0.1'],
      ['169.254.169.254', '::1'],
      ['::ffff:127.0.0.1'],
      ['0.0.0.0'],
      ['127.0.0.2'],
      ['::'],
      ['64:ff9b::7f00:1'],
      ['127.1'],
      ['localhost'],
      ['fe80::1%lo'],
    ]) {
      const post = client({ allowedCidrs: ['127.0.0.1'], lookup: async () => answer });
      for (const url of [`http://rebound.example:${target.port}/`, `https://rebound.example:${six.port}/`]) {
        const outcome = await post(url);
        expect([answer, outcome]).toEqual([
          answer,
          expect.objectContaining({ kind: 'failure', code: 'address_not_allowed' }),
        ]);
        // The message does not reveal how names resolve in the operator's network.
        for (const address of answer) expect(JSON.stringify(outcome)).not.toContain(address);
      }
    }
    expect([target.connections, six.connections]).toEqual([0, 0]);
  });

  test('is an allowed one if some are refused', async () => {
    const target = await receiver();
    const post = client({ allowedCidrs: ['127.0.0.1'], lookup: async () => ['::1', '10.0.0.1', '127.0.0.1'] });
    expect(await post(`http://mixed.example:${target.port}/`)).toMatchObject({ statusCode: 200 });
  });

  test('is the next one if the first does not answer', async () => {
    const target = await receiver({ host: '::1' });
    const post = client({ lookup: async () => ['127.0.0.1', '::1'] });
    expect(await post(`http://double.example:${target.port}/`)).toMatchObject({ statusCode: 200 });
    await target.close();
    expect(await post(`http://double.example:${target.port}/`)).toMatchObject({
      code: expect.stringMatching(/^connection_re/),
    });
    expect(await post(`http://double.example:${target.port}/`)).toMatchObject({ code: 'connection_refused' });
  });

  test('is checked for each new connection, and was checked for a reused one (DNS rebinding)', async () => {
    const target = await receiver();
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    let asked = 0;
    const post = client({ lookup: async () => answers[asked++] ?? [] });
    const url = `http://rebinding.example:${target.port}/`;
    expect(await post(url)).toMatchObject({ statusCode: 200 });
    target.setReceiverBehaviour(hostileReceiverBehaviours.saysClose());
    expect(await post(url)).toMatchObject({ statusCode: 200 });
    expect(asked).toBe(1);
    expect(await post(url)).toMatchObject({ code: 'address_not_allowed' });
    expect(asked).toBe(2);
    expect(target.requests).toHaveLength(2);
  });

  test('over plain http lies inside the operator’s networks', async () => {
    const post = client({ lookup: async () => ['8.8.8.8'] });
    expect(await post('http://public.example/')).toMatchObject({ code: 'address_not_allowed' });
  });

  test('a host given as a refused address is not tried', async () => {
    const target = await receiver();
    const post = client({ allowedCidrs: [] });
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost'])
      expect(await post(`https://${host}:${target.port}/`)).toMatchObject({
        kind: 'failure',
        code: 'address_not_allowed',
      });
    expect(target.connections).toBe(0);
  });

  test('an unresolvable name is a separate kind of failure', async () => {
    const unknown = client({
      lookup: () => Promise.reject(new HostNameNotResolvedError('the host name has no address')),
    });
    expect(await unknown('https://unknown.example/')).toMatchObject({
      code: 'dns_failed',
      message: 'the host name has no address',
    });
    expect(await client({ lookup: async () => [] })('https://empty.example/')).toMatchObject({ code: 'dns_failed' });
  });

  test('URLs that break the rules fail with the same message as in the earlier check', async () => {
    const http = createOutboundHttp({ allowedCidrs: [], allowHttp: false });
    for (const url of [
      'http://hooks.example/',
      'nonsense',
      'https://u:p@hooks.example/',
      'https://10.0.0.1/',
      'https://hooks.example:25/',
    ]) {
      const message = http.describeUrlRefusal(url);
      expect(message).toEqual(expect.any(String));
      expect(await http.post({ url, headers: {}, body: '', timeoutMs: 100 })).toMatchObject({
        kind: 'failure',
        message,
      });
    }
    expect(http.describeUrlRefusal('https://hooks.example/in')).toBeUndefined();
    await http.closeOutboundHttp();
  });
});
