import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createResponseHeadersByRouteKind } from '@tracking/http';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

/** Headers of every response. */
const EVERYWHERE = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

/** Description, method and path of a request, status of the response, and resources that its policy allows. */
const ANSWERS: readonly (readonly [string, string, string, number, 'nothing' | 'own files'])[] = [
  ['an operation', 'GET', '/v1/milestone_codes', 200, 'nothing'],
  ['a write', 'POST', '/v1/shipments', 400, 'nothing'],
  ['a resource that is not there', 'GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 404, 'nothing'],
  ['a path that is not there', 'GET', '/nowhere', 404, 'nothing'],
  ['a path that cannot be read', 'GET', '/v1/%zz', 404, 'nothing'],
  ['a method that is not possible', 'PUT', '/v1/shipments', 405, 'nothing'],
  ['health', 'GET', '/health/live', 200, 'nothing'],
  ['the description', 'GET', '/openapi.json', 200, 'nothing'],
  ['the root', 'GET', '/', 200, 'nothing'],
  ['a redirection', 'GET', '/docs/', 301, 'own files'],
  ['the documentation', 'GET', '/docs', 200, 'own files'],
  ['its script', 'GET', '/docs/init.js', 200, 'own files'],
  ['an unknown asset', 'GET', '/docs/assets/package.json', 404, 'nothing'],
  ['the style sheet of its pages', 'GET', '/docs/pages.css', 200, 'own files'],
];
/** The same for pages that are equal for all clients. Caches may store them, and must revalidate them. */
const CACHED: typeof ANSWERS = [
  ['the error codes', 'GET', '/docs/errors', 200, 'own files'],
  ['what receivers are told', 'GET', '/docs/webhooks', 200, 'own files'],
  ['a guide', 'GET', '/docs/guides/webhooks', 200, 'own files'],
  ['a guide as Markdown', 'GET', '/docs/guides/webhooks.md', 200, 'nothing'],
  ['the list for language models', 'GET', '/llms.txt', 200, 'nothing'],
];
const BARE: readonly (readonly [string, string])[] = [
  ['what is no HTTP', 'NONSENSE\r\n\r\n'],
  ['what asks for a connection to elsewhere', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['headers without an end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`],
];

describe.each([
  ['https://api.example', { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }],
  ['http://127.0.0.1:3000', {}],
])('reached by %s', (baseUrl, transport: Readonly<Record<string, string>>) => {
  let api: Api;
  let key: string;
  beforeAll(async () => {
    api = await startApi({ settings: { baseUrl } });
    key = await api.key('admin');
  });
  afterAll(() => api.stop());

  it.each([
    ['/v1/milestone_codes', 'gzip'],
    ['/openapi.json', 'br'],
    ['/docs/assets/swagger-ui-bundle.js', 'br'],
  ])('%s is compressed with %s', async (url, encoding) => {
    const authorization = `Bearer ${key}`;
    const plain = await api.inject({ url, headers: { authorization } });
    const { statusCode, headers, rawPayload } = await api.inject({
      ...{ url, headers: { authorization, 'accept-encoding': 'gzip, br' } },
    });
    expect([statusCode, headers['content-encoding'], headers.vary]).toEqual([
      200,
      encoding,
      expect.stringContaining('Accept-Encoding'),
    ]);
    expect(rawPayload.length * 2).toBeLessThan(plain.rawPayload.length);
  });

  it.each(['/openapi.json', '/docs/assets/swagger-ui-bundle.js', '/llms.txt'])(
    '%s is sent from one buffer that all connections share',
    async (path) => {
      const sent = new Map<string, Set<unknown>>();
      const watch = (request: IncomingMessage, response: ServerResponse) => {
        const end = response.end.bind(response) as (...parts: unknown[]) => ServerResponse;
        const encoding = String(request.headers['accept-encoding']);
        response.end = (...parts: unknown[]) => {
          sent.set(encoding, (sent.get(encoding) ?? new Set()).add(parts[0]));
          return end(...parts);
        };
      };
      api.server.prependListener('request', watch);
      try {
        for (const encoding of ['identity', 'gzip', 'br', 'identity', 'gzip', 'br'])
          await api.call('GET', path, { headers: { 'accept-encoding': encoding } });
      } finally {
        api.server.off('request', watch);
      }
      expect([...sent].map(([encoding, buffers]) => [encoding, buffers.size])).toEqual([
        ['identity', 1],
        ['gzip', 1],
        ['br', 1],
      ]);
      expect([...sent.values()].flatMap((buffers) => [...buffers]).every(Buffer.isBuffer)).toBe(true);
    },
  );

  const expected = { ...EVERYWHERE, ...transport };
  function expectHeaders(received: Readonly<Record<string, string>>, cacheControl = 'no-store'): void {
    expect(received).toMatchObject({ ...expected, 'cache-control': cacheControl });
    const extra = ['strict-transport-security', 'access-control-allow-origin', 'x-powered-by', 'server'];
    expect(extra.filter((name) => name in received)).toEqual(Object.keys(transport));
  }

  it.each(
    [...ANSWERS, ...CACHED].map((answer) => [...answer, CACHED.includes(answer) ? 'no-cache' : 'no-store'] as const),
  )('%s: %s %s', async (_what, method, path, status, allowed, cacheControl) => {
    const answer = await api.call(method, path, { key, ...(method === 'POST' && { json: {} }) });
    expect(answer.status).toBe(status);
    expectHeaders(Object.fromEntries(answer.headers), cacheControl);
    const policy = answer.headers.get('content-security-policy') ?? '';
    if (allowed === 'nothing') expect(policy).toBe(NO_PAGE);
    else expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  it('an unexpected error, and a stranger', async () => {
    expectHeaders(Object.fromEntries((await api.call('GET', '/v1/shipments')).headers));
    const broken = await startApi({
      settings: { baseUrl },
      override: () => ({ authenticateKey: () => Promise.reject(new Error('broken')) }),
    });
    const answer = await broken.call('GET', '/v1/shipments', { key });
    await broken.stop();
    expect(answer.status).toBe(500);
    expectHeaders(Object.fromEntries(answer.headers));
  });

  it.each(BARE)('%s', async (_what, bytes) => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    await once(socket, 'close');
    const [, ...lines] = (text.split('\r\n\r\n')[0] ?? '').split('\r\n');
    const received = lines.map((line) => /^([^:]+): ?(.*)$/.exec(line)?.slice(1) ?? []);
    const headers = Object.fromEntries(received.map(([name = '', value = '']) => [name.toLowerCase(), value]));
    expectHeaders(headers);
    expect(headers['content-security-policy']).toBe(NO_PAGE);
  });
});

it('a page loads its own files alone, sends forms here alone, and is shown in no other', () => {
  const { page, docs } = createResponseHeadersByRouteKind('https://api.example');
  expect(page['Content-Security-Policy']?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]);
  expect(docs['Content-Security-Policy']).toContain("img-src 'self' data:");
});
