import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '@tracking/ports';
import { PrometheusMetrics } from '@tracking/runtime';
import { eventually } from '@tracking/testing';
import { loadConfig } from './config.ts';
import { type McpHttpServer, startMcpHttpServer } from './http-server.ts';

const KEY = 'sk_test_key-of-the-test';
const SHIPMENT_ID = 'shp_a';

let api: Server;
/** Requests that reached the stub of the API. */
let requests: IncomingMessage[];
let respond: (request: IncomingMessage, response: ServerResponse) => void;
let server: McpHttpServer;
let logged: string[];

/** Logger that keeps its lines as text. */
const logger = Object.fromEntries(
  ['debug', 'info', 'warn', 'error'].map((level) => [
    level,
    (fields: object, text: string) => void logged.push(JSON.stringify({ ...fields, text })),
  ]),
) as unknown as Logger;

beforeEach(async () => {
  requests = [];
  logged = [];
  respond = (_request, response) => sendJson(response, 200, { data: [], next_cursor: null, has_more: false });
  api = createServer((request, response) => {
    requests.push(request);
    respond(request, response);
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const env = {
    MCP_TRANSPORT: 'http',
    PORT: '0',
    TRACKING_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    MCP_ALLOWED_ORIGINS: 'https://agent.example.com',
    MCP_ALLOW_WRITES: 'true',
    MAX_MCP_REQUESTS: '3',
    MAX_MCP_REQUESTS_PER_KEY: '2',
    SHUTDOWN_DRAIN: '100ms',
  };
  server = await startMcpHttpServer({ config: loadConfig(env), logger, metrics: new PrometheusMetrics('test') });
});
afterEach(async () => {
  await server.close();
  api.closeAllConnections();
  await new Promise((resolve) => api.close(resolve));
});

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_a' }).end(JSON.stringify(body));
}

interface Sent {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
  readonly path?: string;
  readonly signal?: AbortSignal;
}

const callBody = (name: string, args: object = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

function send({ key = KEY, headers, method = 'POST', body, path = '/mcp', signal }: Sent = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(method === 'POST' && { body: body ?? JSON.stringify(callBody('find_shipments')) }),
    ...(signal && { signal }),
  });
}

/** Calls a tool. Returns the text of its result. */
async function call(name: string, args: object): Promise<{ readonly error?: Record<string, unknown> }> {
  const text = await (await send({ body: JSON.stringify(callBody(name, args)) })).text();
  const [, data = text] = /^data: (.*)$/m.exec(text) ?? [];
  const { result } = JSON.parse(data) as { result: { content: readonly [{ text: string }] } };
  return JSON.parse(result.content[0].text) as { error?: Record<string, unknown> };
}

it.each<[string, number, Sent]>([
  ['a request without a key', 401, { key: null }],
  ['other credentials', 401, { key: null, headers: { authorization: 'Basic YTpi' } }],
  ['a page of another origin', 403, { headers: { origin: 'https://evil.example.com' } }],
  ['a page without an origin of its own', 403, { headers: { origin: 'null' } }],
  ['the preflight of another origin', 403, { method: 'OPTIONS', headers: { origin: 'https://evil.example.com' } }],
  ['another path', 404, { path: '/' }],
  ['a body that is too large', 413, { body: JSON.stringify({ text: 'x'.repeat(300_000) }) }],
  ['a body that is not JSON', 400, { body: '{' }],
  ['GET, because there are no sessions', 405, { method: 'GET' }],
  ['DELETE, because there are no sessions', 405, { method: 'DELETE' }],
])('refuses %s with %i', async (_what, status, sent) => {
  const response = await send(sent);
  expect(response.status).toBe(status);
  expect(await response.text()).not.toContain(KEY);
  expect(requests).toEqual([]);
});

it('admits pages of an allowed origin', async () => {
  const headers = { origin: 'https://agent.example.com' };
  const preflight = await send({ method: 'OPTIONS', key: null, headers });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, headers.origin]);
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
  const response = await send({ headers });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, headers.origin]);
});

it('passes the key of each request on, and logs no key', async () => {
  const keys = ['sk_test_one', 'sk_test_two', 'sk_live_three'];
  for (const key of keys) await (await send({ key })).text();
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(keys.map((key) => `Bearer ${key}`));
  await eventually(() => expect(logged.filter((line) => line.includes('"text":"request"'))).toHaveLength(3));
  for (const key of keys) expect(logged.join('\n')).not.toContain(key);
});

it('limits the requests in progress of a key and in total, and serves others when they end', async () => {
  const held: ServerResponse[] = [];
  respond = (_request, response) => void held.push(response);
  const sent = [send(), send(), send({ key: 'sk_test_other' })];
  await eventually(() => expect(held).toHaveLength(3));
  expect((await send()).status).toBe(429);
  const refused = await send({ key: 'sk_test_third' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  for (const response of held) sendJson(response, 200, { data: [], next_cursor: null, has_more: false });
  for (const response of await Promise.all(sent)) await response.text();
  respond = (_request, response) => sendJson(response, 200, { data: [], next_cursor: null, has_more: false });
  await eventually(async () => expect((await send()).status).toBe(200));
});

it('ends the request to the API when the client disconnects', async () => {
  let isEnded = false;
  respond = (_request, response) => void response.once('close', () => (isEnded = true));
  const client = new AbortController();
  const sent = send({ signal: client.signal });
  await eventually(() => expect(requests).toHaveLength(1));
  client.abort();
  await expect(sent).rejects.toThrow('abort');
  await eventually(() => expect(isEnded).toBe(true));
});

it('refuses further calls of one request with many calls', async () => {
  const held: ServerResponse[] = [];
  respond = (_request, response) => void held.push(response);
  const batch = Array.from({ length: 40 }, (_, index) => callBody('find_shipments', {}, index));
  const sent = send({ body: JSON.stringify(batch) });
  await eventually(() => expect(held.length).toBeGreaterThanOrEqual(16));
  for (const response of held) sendJson(response, 200, { data: [], next_cursor: null, has_more: false });
  const text = await (await sent).text();
  expect(held).toHaveLength(16);
  expect(text.match(/Too many calls/g)).toHaveLength(24);
});

it('reports errors of the API with code, message, fields and request id', async () => {
  const details = [{ param: 'q', code: 'too_long', message: 'Must be shorter.' }];
  const error = {
    type: 'invalid_request',
    code: 'validation_failed',
    message: 'Invalid.',
    details,
    request_id: 'req_b',
  };
  respond = (_request, response) => sendJson(response, 400, { error });
  expect(await call('find_shipments', {})).toEqual({
    error: { code: 'validation_failed', message: 'Invalid.', details, request_id: 'req_b' },
  });
});

it('returns the idempotency key of a write whose outcome is unknown, and repeats the write with it', async () => {
  respond = (_request, response) => void response.destroy();
  const milestone = { shipment_id: SHIPMENT_ID, code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' };
  const { error } = await call('record_milestone', milestone);
  expect(error).toMatchObject({ code: 'unavailable', idempotency_key: expect.any(String) });
  const keys = () => new Set(requests.map(({ headers }) => headers['idempotency-key']));
  expect(keys()).toEqual(new Set([error?.['idempotency_key']]));
  await call('record_milestone', { ...milestone, idempotency_key: error?.['idempotency_key'] });
  expect(keys().size).toBe(1);
});

it.each([
  [503, 'internal', 'unavailable'],
  [500, 'internal', 'internal_error'],
  [409, 'conflict', 'idempotency_in_progress'],
  [429, 'rate_limit', 'rate_limited'],
])('returns the idempotency key of a write after %i %s %s', async (status, type, code) => {
  const error = { type, code, message: 'Failed.', details: [], request_id: 'req_b' };
  respond = (_request, response) => sendJson(response.setHeader('Retry-After', '0'), status, { error });
  const retry = await call('retry_delivery', { delivery_id: 'dlv_a' });
  expect(retry.error).toMatchObject({ code, idempotency_key: requests[0]?.headers['idempotency-key'] });
  const read = await call('find_shipments', {});
  expect(read.error).not.toHaveProperty('idempotency_key');
});

it('closes although a request is in progress', async () => {
  respond = () => undefined;
  const sent = send().then(
    () => 'answered',
    () => 'closed',
  );
  await eventually(() => expect(requests).toHaveLength(1));
  await server.close();
  expect(await sent).toBe('closed');
});
