import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import {
  API_VERSIONS,
  ERROR_CODES,
  EVENT_TYPES,
  FIELD_ERROR_CODES,
  API_KEY_PERMISSIONS,
  WARNING_CODES,
  createEventSamples,
  createSandboxEventData,
} from '@tracking/contracts';
import type { EventEnvelope, JsonObject, KeyOwner } from '@tracking/contracts';
import { getCurrentRequestOrigin } from '@tracking/http';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import { BusyError, UnavailableError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { resolveReferencesInPaths } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

let api: Api;
let key: string;

beforeAll(async () => {
  api = await startApi();
  key = await api.key('operator');
});
afterAll(() => api.stop());

const ROUTES = [
  ['POST', '/v1/shipments', 'shipments:write'],
  ['POST', '/v1/shipments/bulk', 'shipments:write'],
  ['POST', '/v1/milestones/bulk', 'milestones:write'],
  ['GET', '/v1/shipments', 'shipments:read'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'shipments:read'],
  ['PATCH', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'shipments:write'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/history', 'shipments:read'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/eta_history', 'shipments:read'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/explanation', 'shipments:read'],
  ['PATCH', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/containers/CSQU3054383', 'shipments:write'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/milestones', 'shipments:read'],
  ['POST', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/milestones', 'milestones:write'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/milestones/mst_a', 'shipments:read'],
  ['PATCH', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/milestones/mst_a', 'milestones:write'],
  ['DELETE', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/milestones/mst_a', 'milestones:write'],
  ['POST', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/cancel', 'shipments:write'],
  ['POST', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/reopen', 'shipments:write'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/exceptions', 'shipments:read'],
  ['POST', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/exceptions', 'exceptions:write'],
  ['GET', '/v1/exceptions', 'shipments:read'],
  ['GET', '/v1/exceptions/exc_a', 'shipments:read'],
  ['POST', '/v1/exceptions/exc_a/acknowledge', 'exceptions:write'],
  ['POST', '/v1/exceptions/exc_a/resolve', 'exceptions:write'],
  ['POST', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/documents', 'documents:write'],
  ['POST', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/documents/uploads', 'documents:write'],
  ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa/documents', 'documents:read'],
  ['GET', '/v1/documents/doc_a', 'documents:read'],
  ['GET', '/v1/documents/doc_a/download', 'documents:read'],
  ['POST', '/v1/documents/doc_a/complete', 'documents:write'],
  ['POST', '/v1/documents/doc_a/approve', 'documents:approve'],
  ['POST', '/v1/documents/doc_a/reject', 'documents:approve'],
  ['DELETE', '/v1/documents/doc_a', 'documents:approve'],
  ['GET', '/v1/milestone_codes', 'shipments:read'],
  ['GET', '/v1/places', 'shipments:read'],
  ['GET', '/v1/required_documents', 'documents:read'],
  ['GET', '/v1/storage', 'documents:read'],
  ['GET', '/v1/events', 'shipments:read'],
  ['GET', '/v1/events/evt_a', 'shipments:read'],
  ['GET', '/v1/events/stream', 'shipments:read'],
  ['POST', '/v1/webhook_endpoints', 'webhooks:manage'],
  ['GET', '/v1/webhook_endpoints', 'webhooks:manage'],
  ['GET', '/v1/webhook_endpoints/whe_a', 'webhooks:manage'],
  ['GET', '/v1/webhook_endpoints/whe_a/stats', 'webhooks:manage'],
  ['PATCH', '/v1/webhook_endpoints/whe_a', 'webhooks:manage'],
  ['DELETE', '/v1/webhook_endpoints/whe_a', 'webhooks:manage'],
  ['POST', '/v1/webhook_endpoints/whe_a/verify', 'webhooks:manage'],
  ['POST', '/v1/webhook_endpoints/whe_a/enable', 'webhooks:manage'],
  ['POST', '/v1/webhook_endpoints/whe_a/disable', 'webhooks:manage'],
  ['POST', '/v1/webhook_endpoints/whe_a/test', 'webhooks:manage'],
  ['POST', '/v1/webhook_endpoints/whe_a/rotate_secret', 'webhooks:manage'],
  ['POST', '/v1/webhook_endpoints/whe_a/reveal_secret', 'workspace:admin'],
  ['POST', '/v1/webhook_endpoints/whe_a/replay', 'webhooks:manage'],
  ['GET', '/v1/webhook_dead_letters/summary', 'webhooks:manage'],
  ['POST', '/v1/webhook_dead_letters/replay', 'webhooks:manage'],
  ['POST', '/v1/webhook_dead_letters/discard', 'webhooks:manage'],
  ['GET', '/v1/webhook_replays', 'webhooks:manage'],
  ['GET', '/v1/webhook_replays/rpl_a', 'webhooks:manage'],
  ['POST', '/v1/webhook_replays/rpl_a/cancel', 'webhooks:manage'],
  ['POST', '/v1/webhook_replays/rpl_a/resume', 'webhooks:manage'],
  ['GET', '/v1/webhook_deliveries', 'webhooks:manage'],
  ['GET', '/v1/webhook_deliveries/dlv_a', 'webhooks:manage'],
  ['POST', '/v1/webhook_deliveries/dlv_a/retry', 'webhooks:manage'],
  ['POST', '/v1/webhook_deliveries/dlv_a/discard', 'webhooks:manage'],
  ['GET', '/v1/audit_log', 'workspace:admin'],
  ['GET', '/v1/settings', 'workspace:admin'],
  ['PATCH', '/v1/settings', 'workspace:admin'],
  ['POST', '/v1/service_accounts', 'workspace:admin'],
  ['GET', '/v1/service_accounts', 'keys:manage'],
  ['GET', '/v1/service_accounts/sva_a', 'keys:manage'],
  ['PATCH', '/v1/service_accounts/sva_a', 'workspace:admin'],
  ['POST', '/v1/service_accounts/sva_a/deactivate', 'workspace:admin'],
  ['POST', '/v1/service_accounts/sva_a/reactivate', 'workspace:admin'],
  ['POST', '/v1/users', 'workspace:admin'],
  ['GET', '/v1/users', 'workspace:admin'],
  ['GET', '/v1/users/usr_a', 'workspace:admin'],
  ['PATCH', '/v1/users/usr_a', 'workspace:admin'],
  ['POST', '/v1/users/usr_a/deactivate', 'workspace:admin'],
  ['POST', '/v1/users/usr_a/reactivate', 'workspace:admin'],
  ['POST', '/v1/users/usr_a/reset_password', 'workspace:admin'],
  // The permission applies to keys of service accounts. Users need no permission for their own keys.
  ['POST', '/v1/api_keys', 'keys:manage'],
  ['GET', '/v1/api_keys', 'keys:manage'],
  ['GET', '/v1/api_keys/key_a', 'keys:manage'],
  ['POST', '/v1/api_keys/key_a/rotate', 'keys:manage'],
  ['POST', '/v1/api_keys/key_a/revoke', 'keys:manage'],
] as const;

/** Creates a key of an admin user, which has all permissions. */
async function keyOfAdmin(): Promise<string> {
  const actor = { type: 'system', id: 'test' } as const;
  const workspace_id = await api.workspace();
  const command = () => ({ id: randomUUID(), at: new Date().toISOString(), actor, workspace_id });
  const person = { email: `${randomUUID()}@example.com`, role: 'admin', password: 'correct horse battery' } as const;
  const { after: user } = await api.identity.users.createUser(command(), person);
  const owner = { type: 'user', id: user.id } as const;
  const request = { name: 'edge', environment: 'live', owner } as const;
  return (await api.identity.keys.createKey(command(), ACCESS_TO_ALL_KEYS, request)).after.key;
}

interface OpenApiOperation {
  readonly security?: readonly unknown[];
  readonly 'x-permission'?: string;
  readonly responses: JsonObject;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

/** Routes that require credentials, some of them the credentials of a user, but no permission. */
const PERSONAL_ROUTES = [
  ['GET', '/v1/session'],
  ['PATCH', '/v1/session'],
  ['DELETE', '/v1/session'],
  ['POST', '/v1/session/password'],
  ['GET', '/v1/sessions'],
  ['DELETE', '/v1/sessions/ses_a'],
] as const;

const GUARDED_ROUTES = [...ROUTES, ...PERSONAL_ROUTES].map(([method, path]) => [method, path] as const);

/** Number of routes without credentials: health, one-time links, upload URLs, and sign-in. */
const OPEN_ROUTES = 6;

/** Returns the path template of a path, as in OpenAPI. */
const templateOf = (path: string): string =>
  path
    .replace(/(shp|exc|doc|evt|whe|rpl|dlv|sva|usr|key)_a+/, '{id}')
    .replace('CSQU3054383', '{number}')
    .replace('mst_a', '{milestone_id}');

describe('authentication', () => {
  it.each(GUARDED_ROUTES)('%s %s requires a key', async (method, path) => {
    const answer = await api.call(method, path);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.body['error']).toMatchObject({ type: 'authentication', code: 'missing_api_key' });
  });

  it('returns the same error for every invalid key', async () => {
    const revoked = await api.key('viewer');
    const wrong = [
      `Bearer ${revoked.slice(0, -1)}${revoked.endsWith('x') ? 'y' : 'x'}`,
      `Bearer ${revoked}x`,
      'Bearer sk_live_nonsense',
      `Bearer ${'x'.repeat(7_000)}`,
      'bearer x',
    ];
    await expectOneAnswer(wrong, 'The API key is not valid.');
  });

  it('explains the format of a malformed key', async () => {
    const malformed = [
      key,
      `${key.slice(0, -1)}x`,
      'sk_live_nonsense',
      'Bearer',
      'Bearer ',
      `Bearer: ${key}`,
      `Token ${key}`,
      `Bearer ${key} ${key}`,
      `Basic ${Buffer.from('a:b').toString('base64')}`,
      "Bearer ' or 1=1",
    ];
    await expectOneAnswer(malformed, /Authorization: Bearer <API_KEY>/);
  });

  async function expectOneAnswer(headers: readonly string[], message: string | RegExp): Promise<void> {
    const answers = await Promise.all(
      headers.map((authorization) => api.call('GET', '/v1/shipments', { headers: { authorization } })),
    );
    const bodies = answers.map(({ status, headers: sent, body }) => {
      const { request_id: _, ...error } = body['error'] as JsonObject;
      return JSON.stringify([status, sent.get('www-authenticate'), sent.get('x-ratelimit-limit'), error]);
    });
    expect(new Set(bodies).size).toBe(1);
    expect([answers[0]?.status, answers[0]?.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(answers[0]?.body['error']).toMatchObject({
      code: 'invalid_api_key',
      message: expect.stringMatching(message),
    });
  }

  it('does not read the body of an unauthenticated request', async () => {
    const answer = await api.call('POST', '/v1/shipments', { raw: '{broken' });
    expect(answer.status).toBe(401);
  });
});

describe('permissions', () => {
  let limited: Api;
  let denied: string;
  beforeAll(async () => {
    limited = await startApi({
      override: ({ authenticateKey }) => ({
        authenticateKey: async (text) => {
          const principal = await authenticateKey(text);
          const permissions = new Set(API_KEY_PERMISSIONS.filter((name) => name !== denied));
          return principal && { ...principal, permissions };
        },
      }),
    });
  });
  afterAll(() => limited.stop());

  it.each(ROUTES)('%s %s needs %s', async (method, path, permission) => {
    denied = permission;
    const answer = await limited.call(method, path, { key: await limited.key('admin') });
    expect(answer.status).toBe(403);
    expect(answer.body['error']).toMatchObject({
      type: 'permission',
      code: 'permission_denied',
      message: expect.stringContaining(permission),
    });
  });
});

describe('query parameters', () => {
  it.each([
    ...ROUTES.map(([method, path]) => [method, path] as const),
    ['GET', '/v1/session'],
    ['GET', '/health/live'],
    ['GET', '/health/ready'],
  ] as const)('%s %s refuses unknown ones', async (method, path) => {
    const admin = await api.key('admin');
    const answer = await api.call(method, `${path}?stauts=in_transit&limit`, { key: admin });
    expect(answer.status).toBe(400);
    const error = answer.body['error'] as { details: JsonObject[] };
    expect(error).toMatchObject({ type: 'invalid_request', param: 'stauts' });
    expect(error.details[0]).toEqual({
      param: 'stauts',
      code: 'unknown_parameter',
      message: expect.stringMatching(/^Is not a query parameter of this operation\. Allowed: /),
    });
  });

  it('are validated only after authentication', async () => {
    expect((await api.call('GET', '/v1/shipments?stauts=x')).status).toBe(401);
    expect((await api.call('GET', '/nowhere?stauts=x', { key })).status).toBe(404);
  });

  it('that are unknown are named with all that are faulty, or are the code of the answer', async () => {
    const both = await api.call('GET', '/v1/shipments?stauts=x&limit=0', { key });
    expect(both.body['error']).toMatchObject({
      code: 'validation_failed',
      details: [
        { param: 'stauts', code: 'unknown_parameter' },
        { param: 'limit', code: 'invalid_value' },
      ],
    });
    const alone = await api.call('GET', '/v1/shipments?Status=x', { key });
    expect(alone.body['error']).toMatchObject({
      code: 'unknown_parameter',
      message: expect.stringMatching(
        /^Status: Is not a query parameter of this operation\. Allowed: limit, cursor, id, status, active, .* sort\.$/,
      ),
    });
  });

  it('of pages and their files are nobody’s business', async () => {
    for (const path of ['/docs?tab=1', '/openapi.json?v=2', '/docs/assets/swagger-ui.css?v=2']) {
      expect((await api.call('GET', path)).status).toBe(200);
    }
  });
});

describe('rate limit', () => {
  it('reports the remaining requests on every response, and refuses requests above the limit', async () => {
    const limited = await startApi({ settings: { rateLimitPerMinute: 4 } });
    try {
      const [mine, other] = [await limited.key('viewer'), await limited.key('viewer')];
      const paths = ['/v1/milestone_codes', '/v1/shipments/none', '/v1/shipments?limit=x'];
      const answers = [];
      for (const path of paths) answers.push(await limited.call('GET', path, { key: mine }));
      answers.push(await limited.call('POST', '/v1/shipments', { key: mine, json: {} }));
      expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 403]);
      expect(answers.map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(['4', '4', '4', '4']);
      expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['3', '2', '1', '0']);
      const reset = Number(answers[0]?.headers.get('x-ratelimit-reset'));
      expect(reset).toBeGreaterThan(Date.now() / 1_000 - 1);
      expect(reset).toBeLessThan(Date.now() / 1_000 + 62);

      const refused = await limited.call('GET', '/v1/milestone_codes', { key: mine });
      expect(refused.status).toBe(429);
      expect(refused.body['error']).toMatchObject({ type: 'rate_limit', code: 'rate_limited' });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      expect((await limited.call('GET', '/v1/milestone_codes', { key: other })).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe('rate limit of an owner', () => {
  it('applies to all keys of a service account together, and not to other accounts', async () => {
    const limited = await startApi({ settings: { rateLimitPerMinute: 3, rateLimitOwnerFactor: 2 } });
    try {
      const first = await limited.key('viewer');
      const workspace_id = await limited.workspace();
      const [{ owner } = { owner: undefined }] = await limited.identity.keys.listWorkspaceKeys(workspace_id);
      const keys = [first];
      for (const id of ['second', 'third']) {
        const command = {
          id,
          at: new Date().toISOString(),
          actor: { type: 'system', id: 'test' } as const,
          workspace_id,
        };
        const request = { name: id, environment: 'live', owner: owner as KeyOwner } as const;
        keys.push((await limited.identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, request)).after.key);
      }
      const answers = [];
      // Each key exceeds its own limit once. These refused requests do not count for the owner.
      for (const key of keys.slice(0, 2)) {
        for (let count = 0; count < 4; count += 1)
          answers.push(await limited.call('GET', '/v1/milestone_codes', { key }));
      }
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 200, 200, 200, 429]);
      const refused = await limited.call('GET', '/v1/milestone_codes', { key: keys[2] });
      expect([refused.status, refused.body['error']]).toEqual([
        429,
        expect.objectContaining({
          code: 'rate_limited',
          message: 'The limit of 6 requests per minute for all keys of the service account is exceeded.',
        }),
      ]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(refused.headers.get('x-ratelimit-limit')).toBe('6');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      const other = await limited.key('viewer');
      expect((await limited.call('GET', '/v1/milestone_codes', { key: other })).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe('every response', () => {
  const paths = [
    '/v1/milestone_codes',
    '/v1/shipments/x',
    '/nowhere',
    '/health/live',
    '/',
    '/docs',
    '/v1/%zz',
    '/openapi.json',
  ];

  it.each(paths)('of %s has its own request id', async (path) => {
    const first = await api.call('GET', path, { key, headers: { 'request-id': 'req_chosen' } });
    const second = await api.call('GET', path, { key });
    expect(first.headers.get('request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(second.headers.get('request-id')).not.toBe(first.headers.get('request-id'));
  });
});

describe('errors', () => {
  it('have one format with the request id', async () => {
    const answer = await api.call('POST', '/v1/shipments', { key, json: { mode: 5, etd: 'x' } });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.body).toEqual({
      error: {
        type: 'invalid_request',
        code: 'validation_failed',
        message: '2 fields are not valid: mode, etd.',
        param: 'mode',
        details: [
          { param: 'mode', code: 'invalid_type', message: expect.any(String) },
          { param: 'etd', code: 'invalid_timestamp', message: expect.any(String) },
        ],
        request_id: answer.headers.get('request-id'),
      },
    });
  });

  it('are problem details on request', async () => {
    const headers = { accept: 'application/problem+json' };
    for (const [path, status] of [
      ['/v1/shipments/x', 404],
      ['/nowhere', 404],
      ['/v1/%zz', 404],
      ['/v1/shipments?limit=x', 400],
    ] as const) {
      const answer = await api.call('GET', path, { key, headers });
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
      expect(answer.body['type']).toBe(`https://api.example/docs/errors#${String(answer.body['code'])}`);
      expect(answer.body['request_id']).toBe(answer.headers.get('request-id'));
    }
  });

  it.each([
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v1/shipments/'],
    ['GET', '/v1/Shipments'],
    ['POST', '/v1/nothing'],
    ['GET', '/v1/shipments/x/y/z'],
    ['GET', '//v1/shipments'],
    ['GET', '/v1/../etc/passwd'],
    ['GET', '/docs/assets/index.html'],
    ['GET', '/docs/assets/..%2f..%2fpackage.json'],
    ['GET', '/docs/assets/package.json'],
    ['GET', `/v1/shipments/${'x'.repeat(5_000)}`],
    ['GET', '/%'],
  ])('%s %s: 404', async (method, path) => {
    const answer = await api.call(method, path, { key });
    expect(answer.status).toBe(404);
    expect(answer.body['error']).toMatchObject({ type: 'not_found', code: 'not_found' });
  });

  it.each([
    ['DELETE', '/v1/shipments', 'GET, HEAD, POST'],
    ['PUT', '/v1/shipments/shp_x', 'GET, HEAD, PATCH'],
    ['PURGE', '/v1/shipments', 'GET, HEAD, POST'],
    ['GET', '/v1/webhook_endpoints/whe_x/verify', 'POST'],
    ['HEAD', '/v1/webhook_endpoints/whe_x/verify', 'POST'],
    ['POST', '/v1/webhook_endpoints/whe_x', 'DELETE, GET, HEAD, PATCH'],
    ['DELETE', '/v1/shipments?unknown=1', 'GET, HEAD, POST'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['PATCH', '/v1/milestone_codes', 'GET, HEAD'],
    ['OPTIONS', '/v1/shipments', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/shipments/bulk', 'POST'],
    ['GET', '/v1/shipments/bulk', 'POST'],
    ['PATCH', '/v1/shipments/bulk', 'POST'],
    ['OPTIONS', '/v1/shipments/shp_x', 'GET, HEAD, PATCH'],
    ['PROPFIND', '/v1/events/stream', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('%s %s: 405 with the allowed methods', async (method, path, allowed) => {
    const answer = await api.call(method, path, { key });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allowed);
    expect(answer.headers.get('request-id')).toMatch(/^req_/);
    if (method === 'HEAD') expect(answer.text).toBe('');
    else {
      expect(answer.body['error']).toMatchObject({
        type: 'invalid_request',
        code: 'method_not_allowed',
        message: expect.stringContaining(allowed),
      });
    }
  });

  const end = 'Connection: close\r\n\r\n';
  const get = `GET /health/live HTTP/1.1\r\n`;
  it.each([
    ['nonsense', 'NONSENSE\r\n\r\n', 400, 'validation_failed'],
    ['a method that nobody knows', `FETCH / HTTP/1.1\r\nHost: x\r\n${end}`, 501, 'method_not_implemented'],
    ['a method in lower case', `get / HTTP/1.1\r\nHost: x\r\n${end}`, 501, 'method_not_implemented'],
    ['a method of other standards', `QUERY /v1/shipments HTTP/1.1\r\nHost: x\r\n${end}`, 405, 'method_not_allowed'],
    ['a connection to elsewhere', `CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`, 405, 'method_not_allowed'],
    ['endless headers', `${get}Host: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['two lengths', `${get}Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400, 'validation_failed'],
    [
      'a wrong method behind a URL',
      `PUT http://x/v1/shipments HTTP/1.1\r\nHost: x\r\n${end}`,
      405,
      'method_not_allowed',
    ],
    ['no Host', get + end, 400, 'validation_failed'],
    ['two Hosts', `${get}Host: a.example\r\nHost: b.example\r\n${end}`, 400, 'validation_failed'],
    ['the same Host twice', `${get}Host: a.example\r\nhost: a.example\r\n${end}`, 400, 'validation_failed'],
    ['two Hosts in HTTP/1.0', `GET /health/live HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n`, 400, 'validation_failed'],
    ['a Host with a path', `${get}Host: a.example/x\r\n${end}`, 400, 'validation_failed'],
    ['a Host with a blank', `${get}Host: a b\r\n${end}`, 400, 'validation_failed'],
    ['two Hosts in one', `${get}Host: a.example, b.example\r\n${end}`, 400, 'validation_failed'],
    ['a Host with a user', `${get}Host: me@a.example\r\n${end}`, 400, 'validation_failed'],
    ['a Host with a port that is none', `${get}Host: a.example:x\r\n${end}`, 400, 'validation_failed'],
    ['a Host that is no address', `${get}Host: [::zz]\r\n${end}`, 400, 'validation_failed'],
    ['an expectation that nobody knows', `${get}Host: x\r\nExpect: miracles\r\n${end}`, 417, 'expectation_failed'],
  ])('returns %s in the error format', async (_what, text, status, code) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const id = /\r\nRequest-Id: (req_[0-9a-f]{32})\r\n/i.exec(answer)?.[1];
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      error: { type: 'invalid_request', code, message: expect.any(String), request_id: id },
    });
  });

  it.each([
    ['a Host with a port', `${get}Host: a.example:3000\r\n${end}`],
    ['an address of IPv6', `${get}Host: [::1]:3000\r\n${end}`],
    ['an empty Host', `${get}Host:\r\n${end}`],
    ['HTTP/1.0 without a Host', 'GET /health/live HTTP/1.0\r\n\r\n'],
    ['HTTP/1.0 with an expectation', 'GET /health/live HTTP/1.0\r\nExpect: miracles\r\n\r\n'],
    ['an upgrade that is not done here', `${get}Host: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`],
    ['a URL in the place of a path', `GET http://a.example/health/live HTTP/1.1\r\nHost: a.example\r\n${end}`],
  ])('returns %s', async (_what, text) => {
    const answer = await raw(text);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toMatch(/\r\nRequest-Id: req_/i);
  });

  it('processes pipelined requests with an expectation one after another, too', async () => {
    const request = `${get}Host: x\r\nExpect: miracles\r\n`;
    const answer = await raw(`${`${request}\r\n`.repeat(101)}${request}${end}`);
    // More than 100 requests wait, so the connection is closed.
    expect(answer.split('HTTP/1.1 417').length - 1).toBeLessThanOrEqual(1);
  });

  /** Sends bytes and returns everything that the server sends until it closes the connection. */
  function raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let received = '';
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write(text));
      socket.setEncoding('utf8').on('data', (part) => (received += part));
      socket.on('close', () => resolve(received)).on('error', reject);
    });
  }

  it('hides an unexpected error, and logs it', async () => {
    const broken = await startApi({
      override: () => ({ authenticateKey: () => Promise.reject(new Error('connect to db:secret@10.0.0.7')) }),
    });
    try {
      const answer = await broken.call('GET', '/v1/shipments', { key });
      expect(answer.status).toBe(500);
      expect(answer.body['error']).toMatchObject({ type: 'internal', code: 'internal_error', details: [] });
      expect(answer.text).not.toContain('secret');
      const logged = broken.lines.find((line) => line.level === 'error');
      expect(logged?.fields).toMatchObject({ request_id: answer.headers.get('request-id'), route: '/v1/shipments' });
    } finally {
      await broken.stop();
    }
  });

  it.each([
    [new BusyError('shipments', 'too many commands are queued'), 'busy'],
    [new UnavailableError('event store', 'gone'), 'unavailable'],
  ])('returns 503 for %s, with Retry-After', async (error, code) => {
    const broken = await startApi({
      override: ({ shipments }) => ({
        shipments: { ...shipments, upsertShipment: () => Promise.reject(error) },
      }),
    });
    try {
      const answer = await broken.call('POST', '/v1/shipments', {
        key: await broken.key('operator'),
        json: { external_id: 'A' },
      });
      expect(answer.status).toBe(503);
      expect(answer.body['error']).toMatchObject({ type: 'internal', code });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(answer.headers.get('consistency-token')).toBeNull();
    } finally {
      await broken.stop();
    }
  });

  it('mention a write only if one may have happened', async () => {
    const lost = () => Promise.reject(new UnavailableError('event store', 'gone'));
    let keysAreLost = false;
    const broken = await startApi({
      override: ({ authenticateKey, shipments }) => ({
        authenticateKey: (text) =>
          keysAreLost ? Promise.reject(new UnavailableError('document store', 'gone')) : authenticateKey(text),
        shipments: { ...shipments, upsertShipment: lost, getShipment: lost },
      }),
    });
    try {
      const operator = await broken.key('operator');
      const message = async (method: string, path: string, json?: unknown) => {
        const answer = await broken.call(method, path, { key: operator, ...(json !== undefined && { json }) });
        expect(answer.status).toBe(503);
        return (answer.body['error'] as JsonObject)['message'];
      };
      const json = { external_id: 'A' };
      expect(await message('POST', '/v1/shipments', json)).toContain('Whether the write took effect is unknown');
      expect(await message('GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa')).toBe(
        'The event store does not respond; try again.',
      );
      keysAreLost = true;
      expect(await message('POST', '/v1/shipments', json)).toBe(
        'The document store does not respond. Nothing was changed; try again.',
      );
      expect(await message('GET', '/v1/shipments')).toBe('The document store does not respond; try again.');
    } finally {
      await broken.stop();
    }
  });
});

describe('health', () => {
  it('is live and ready without a key', async () => {
    expect((await api.call('GET', '/health/live')).status).toBe(200);
    const ready = await api.call('GET', '/health/ready');
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready', engines: { storage: 'ok' } }]);
  });

  it.each([
    ['starting', 503],
    ['degraded', 200],
    ['draining', 503],
  ] as const)('is %s with %d', async (status, httpStatus) => {
    const other = await startApi({
      override: () => ({ health: () => ({ status, engines: { storage: 'lost' }, httpStatus }) }),
    });
    try {
      const ready = await other.call('GET', '/health/ready');
      expect([ready.status, ready.body]).toEqual([httpStatus, { status, engines: { storage: 'lost' } }]);
      expect((await other.call('GET', '/health/live')).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});

describe('documentation', () => {
  it('is a page whose every part comes from here and is no inline script', async () => {
    const page = await api.call('GET', '/docs');
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=| style=/);
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => String(match[1]));
    expect(parts).toHaveLength(10);
    for (const part of parts) {
      const answer = await api.call('GET', new URL(part, `${api.url}/docs`).pathname);
      expect(answer.status).toBe(200);
      expect(answer.text.length).toBeGreaterThan(100);
    }
    expect((await api.call('GET', '/docs/init.js')).headers.get('content-type')).toContain('text/javascript');
    const slashed = await api.call('GET', '/docs/');
    expect([slashed.status, slashed.headers.get('location')]).toEqual([301, '../docs']);
  });

  it.each(['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'])(
    'is where / leads who accepts %s',
    async (accept) => {
      const answer = await api.call('GET', '/', { headers: { accept } });
      expect([answer.status, answer.headers.get('vary')]).toEqual([302, 'Accept']);
      const target = new URL(answer.headers.get('location') ?? '', `${api.url}/`);
      expect(target.href).toBe(`${api.url}/docs`);
    },
  );

  it.each(['*/*', 'application/json', 'text/html;q=0.5, application/json', 'text/html;q=0'])(
    'is named by / to who accepts %s',
    async (accept) => {
      const answer = await api.call('GET', '/', { headers: { accept } });
      expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'Accept']);
      expect(answer.headers.get('content-type')).toContain('application/json');
      expect(answer.body).toEqual({
        name: 'Shipment Tracking API',
        docs: 'https://api.example/docs',
        guides: 'https://api.example/docs/guides',
        openapi: 'https://api.example/openapi.json',
        health: 'https://api.example/health/ready',
      });
    },
  );

  it('explains every code of errors, invalid fields and warnings, each with an anchor', async () => {
    const page = await api.call('GET', '/docs/errors');
    expect(page.status).toBe(200);
    const anchors = [...page.text.matchAll(/ id="([^"]+)"/g)].map((match) => String(match[1]));
    expect(new Set(anchors).size).toBe(anchors.length);
    expect(anchors).toEqual(expect.arrayContaining(Object.keys(ERROR_CODES)));
    expect(anchors).toEqual(expect.arrayContaining(FIELD_ERROR_CODES.map((code) => `field-${code}`)));
    expect(anchors).toEqual(expect.arrayContaining(WARNING_CODES.map((code) => `warning-${code}`)));
  });

  it('shows an example of every event, equal to the sandbox events', async () => {
    const page = await api.call('GET', '/docs/webhooks');
    expect(page.status).toBe(200);
    const plain = (html = '') => html.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
    for (const type of EVENT_TYPES) {
      const [, payload] =
        new RegExp(`<details id="${type}">.*?<pre><code[^>]*>(.*?)</code>`, 's').exec(page.text) ?? [];
      const { created_at, data, ...envelope } = JSON.parse(plain(payload)) as EventEnvelope;
      expect(envelope).toMatchObject({ type, api_version: API_VERSIONS.at(-1) });
      const addresses = { appUrl: 'https://app.example', baseUrl: 'https://api.example' };
      expect(data).toEqual(createSandboxEventData(type, createEventSamples(created_at, addresses)));
    }
  });

  it.each(['/docs/errors', '/docs/webhooks'])(
    '%s runs and styles nothing inline, and has all its parts',
    async (path) => {
      const page = await api.call('GET', path);
      expect(page.text).not.toMatch(/<script|<style| on\w+=| style=/);
      const parts = [...page.text.matchAll(/(?:src|href)="([^#"]+)"/g)].map((match) => String(match[1]));
      expect(parts.length).toBeGreaterThan(3);
      for (const part of parts) {
        expect((await api.call('GET', new URL(part, `${api.url}${path}`).pathname)).status).toBe(200);
      }
    },
  );

  it('describes every route in OpenAPI 3.1, with its permission and its errors', async () => {
    const { body } = await api.call('GET', '/openapi.json');
    expect(body['openapi']).toBe('3.1.0');
    expect(body['servers']).toEqual([{ url: 'https://api.example' }]);
    const paths = resolveReferencesInPaths<OpenApiOperation>(body);
    expect(body['security']).toEqual([{ bearer: [] }, { session: [] }]);
    for (const [method, path, permission] of ROUTES) {
      const operation = paths[templateOf(path)]?.[method.toLowerCase()];
      expect([method, path, operation?.security]).toEqual([method, path, undefined]);
      expect([method, path, operation?.['x-permission']]).toEqual([method, path, permission]);
      const possible = ['400', '401', '403', '429', '500', '503'];
      expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(possible));
    }
    const schemas = (body['components'] as { schemas: Record<string, { required?: string[] }> }).schemas;
    for (const operations of Object.values(paths)) {
      for (const [method, { security, responses }] of Object.entries(operations)) {
        if (security?.length === 0) continue;
        for (const [status, response] of Object.entries(responses)) {
          const { headers, content } = response as { headers: JsonObject; content?: JsonObject };
          expect(Object.keys(headers)).toContain('Request-Id');
          if (method === 'get' || !status.startsWith('2')) continue;
          expect(Object.keys(headers)).toContain('Consistency-Token');
          const name = /schemas\/(\w+)/.exec(JSON.stringify(content))?.[1] ?? '';
          expect({ name, required: schemas[name]?.required }).toEqual({
            name,
            required: expect.arrayContaining(['warnings']),
          });
        }
      }
    }
    const owned = await keyOfAdmin();
    for (const [path, { get }] of Object.entries(paths)) {
      if (!get) continue;
      const answer = await api.call('GET', `${path}?nonsense=1`, { key: owned });
      const told = / Allowed: (.*)\.$/.exec(String((answer.body['error'] as JsonObject)['message']))?.[1];
      const query = (get.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name);
      expect([path, told]).toEqual([path, query.join(', ') || 'none']);
    }
    const shown = (path: string, method: string, status: string) =>
      Object.keys((paths[path]?.[method]?.responses[status] as { headers?: JsonObject } | undefined)?.headers ?? {});
    for (const [path, { post, patch, delete: remove }] of Object.entries(paths)) {
      for (const write of [post, patch, remove]) {
        if (write) expect([path, Object.keys(write.responses)]).toEqual([path, expect.arrayContaining(['413', '415'])]);
      }
      if (!post || !('201' in post.responses)) continue;
      expect([path, shown(path, 'post', '201')]).toEqual([path, expect.arrayContaining(['Location'])]);
    }
    for (const method of ['post', 'delete']) expect(shown('/v1/session', method, '200')).toContain('Set-Cookie');
    expect(Object.keys(paths['/health/live']?.['get']?.responses ?? {})).toEqual(['200', '400', '500', 'default']);
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        if (path !== '/health/live')
          expect([method, path, responses]).toEqual([
            method,
            path,
            expect.objectContaining({ 400: expect.anything(), 500: expect.anything(), 503: expect.anything() }),
          ]);
      }
    }
    expect(Object.values(paths).flatMap(Object.keys)).toHaveLength(
      ROUTES.length + PERSONAL_ROUTES.length + OPEN_ROUTES,
    );
    const text = JSON.stringify(body);
    expect(text).not.toContain('"nullable"');
    const names = new Set(Object.keys((body['components'] as { schemas: JsonObject }).schemas));
    const referenced = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]);
    expect(referenced.filter((name) => !names.has(String(name)))).toEqual([]);
  });
});

it('survives connections that break during a CONNECT request', async () => {
  for (let n = 0; n < 20; n += 1) {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  expect((await api.call('GET', '/health/live')).status).toBe(200);
});

it('does not log an error if the client disconnects in the middle of its body', async () => {
  const before = api.lines.length;
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const headers = ['Host: a', `Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Content-Length: 99'];
  socket.write(`POST /v1/shipments HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{`, () => socket.destroy());
  await eventually(() => expect(api.lines.slice(before).length).toBeGreaterThan(0));
  expect(api.lines.slice(before).map(({ level }) => level)).not.toContain('error');
});

it('reports a duplicate query parameter', async () => {
  const { status, body } = await api.call('GET', '/v1/shipments?external_id=a&external_id=b&limit=1&limit=2', { key });
  expect(status).toBe(400);
  expect((body['error'] as JsonObject)['details']).toEqual(
    ['external_id', 'limit'].map((param) => ({ param, code: 'invalid_value', message: 'Must be given only once.' })),
  );
});

describe('observation', () => {
  it('logs and counts each request by its route, without query, headers or body', async () => {
    const { headers } = await api.call('GET', '/v1/shipments/shp_x?token=SECRET-QUERY', {
      key,
      headers: { cookie: 'SECRET-COOKIE' },
    });
    await api.call('POST', '/v1/shipments', { key, json: { external_id: 'SECRET-BODY', mode: 'SECRET-MODE' } });
    await api.call('POST', '/v1/shipments', { key, raw: '{"external_id": SECRET-BODY' });
    const line = api.lines.find(({ fields }) => fields['request_id'] === headers.get('request-id'));
    expect(line?.fields).toMatchObject({
      method: 'GET',
      route: '/v1/shipments/:id',
      path: '/v1/shipments/shp_x',
      status: 400,
      client: '127.0.0.1',
      key_id: expect.stringMatching(/^key_/),
      duration_ms: expect.any(Number),
    });
    const logged = JSON.stringify(api.lines);
    expect(logged).not.toContain('SECRET');
    expect(logged).not.toContain(key);
    const series = 'method="GET",route="/v1/shipments/:id",status="400"';
    expect(api.counts.get(`http_requests_total{${series}}`)).toBeGreaterThan(0);
    expect(api.counts.get(`http_request_duration_seconds_count{${series}}`)).toBeGreaterThan(0);
  });

  const lineOf = (requestId: string | null) => api.lines.find(({ fields }) => fields['request_id'] === requestId);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

  it('logs the trace and the written resource of a write', async () => {
    const created = await api.call('POST', '/v1/shipments', {
      key,
      headers: { traceparent },
      json: { house_bill: 'HBL-TRACED' },
    });
    const shipment_id = created.body['id'];
    expect(lineOf(created.headers.get('request-id'))?.fields).toMatchObject({ trace_id: traceId, shipment_id });
    const recorded = await api.call('POST', `/v1/shipments/${String(shipment_id)}/milestones`, {
      key,
      json: { code: 'gated_in', occurred_at: '2026-01-02T03:04:05Z' },
    });
    expect(lineOf(recorded.headers.get('request-id'))?.fields).toMatchObject({
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      shipment_id,
      milestone_id: recorded.body['id'],
    });
  });

  it('passes the request id to the services', async () => {
    const origins: unknown[] = [];
    const asking = await startApi({
      override: ({ shipments }) => ({
        shipments: {
          ...shipments,
          getShipment: async () => {
            origins.push(getCurrentRequestOrigin());
            return Promise.resolve(undefined);
          },
          upsertShipment: async (command) => {
            origins.push(getCurrentRequestOrigin());
            return shipments.upsertShipment(command);
          },
        } as typeof shipments,
      }),
    });
    const asker = await asking.key('operator');
    const headers = { traceparent };
    const read = await asking.call('GET', `/v1/shipments/shp_${'a'.repeat(26)}`, { key: asker, headers });
    const written = await asking.call('POST', '/v1/shipments', { key: asker, headers, json: { house_bill: 'H' } });
    await asking.stop();
    expect(origins).toEqual(
      [read, written].map((answer) => ({ request_id: answer.headers.get('request-id'), traceparent })),
    );
    expect(getCurrentRequestOrigin()).toBeUndefined();
  });

  it('counts all unknown paths as one route route', async () => {
    await api.call('GET', '/wp-login.php');
    expect(api.counts.get('http_requests_total{method="GET",route="none",status="404"}')).toBeGreaterThan(0);
    expect([...api.counts.keys()].join()).not.toContain('wp-login');
  });

  it('does not log secrets of webhook endpoints', async () => {
    const json = { url: 'https://tms.example/SECRET-URL', event_types: ['*'], headers: { 'x-token': 'SECRET-HEADER' } };
    const { body } = await api.call('POST', '/v1/webhook_endpoints', { key: await api.key('developer'), json });
    const logged = JSON.stringify(api.lines);
    expect(logged).not.toContain('SECRET');
    expect(logged).not.toContain(String(body['secret']));
  });

  it('trusts X-Forwarded-For only from trusted proxies', async () => {
    const trusting = await startApi({ settings: { trustedProxies: ['127.0.0.0/8'] } });
    try {
      const clientOf = async (some: Api): Promise<unknown> => {
        const headers = { 'x-forwarded-for': '198.51.100.7' };
        const answer = await some.call('GET', '/health/live', { headers });
        const id = answer.headers.get('request-id');
        return some.lines.find(({ fields }) => fields['request_id'] === id)?.fields['client'];
      };
      expect(await clientOf(trusting)).toBe('198.51.100.7');
      expect(await clientOf(api)).toBe('127.0.0.1');
    } finally {
      await trusting.stop();
    }
  });
});

describe('HEAD', () => {
  it('returns the same as GET, without the body', async () => {
    for (const path of ['/v1/milestone_codes', '/health/ready', '/openapi.json', '/v1/shipments/x']) {
      const [get, head] = [await api.call('GET', path, { key }), await api.call('HEAD', path, { key })];
      expect([head.status, head.text]).toEqual([get.status, '']);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    }
  });
});

describe('closing', () => {
  it('completes requests in progress', async () => {
    let answered = false;
    const closing = await startApi({
      override: ({ shipments }) => ({
        shipments: {
          ...shipments,
          upsertShipment: async (command) => {
            stopped = closing.stop();
            const written = await shipments.upsertShipment(command);
            answered = true;
            return written;
          },
        },
      }),
    });
    let stopped: Promise<void> | undefined;
    const operator = await closing.key('operator');
    const status = await new Promise((resolve, reject) => {
      const body = JSON.stringify({ external_id: 'LAST' });
      const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' };
      httpRequest(`${closing.url}/v1/shipments`, { method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end(body);
    });
    await stopped;
    expect([status, answered]).toEqual([201, true]);
  });
});
