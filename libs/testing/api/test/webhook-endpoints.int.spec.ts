import { createHmac, randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { InMemoryRequestQuota } from '@tracking/embedded';
import { PageCursorCodec, TokenSigner } from '@tracking/http';
import { BusyError } from '@tracking/ports';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { type Api, startApi, overrideOperations } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let key: string;

beforeAll(async () => {
  api = await startApi();
  receiver = await startClientReceiver();
  key = await api.key('developer');
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

const ENDPOINTS = '/v1/webhook_endpoints';
const create = (fields: object = {}, by = key): Promise<ApiResponse> =>
  api.call('POST', ENDPOINTS, { key: by, json: { url: receiver.url, event_types: ['*'], ...fields } });
const post = (endpoint: JsonObject, action: string, json?: unknown): Promise<ApiResponse> =>
  api.call('POST', `${ENDPOINTS}/${String(endpoint['id'])}/${action}`, {
    key,
    ...(json === undefined ? {} : { json }),
  });
const get = (endpoint: JsonObject): Promise<ApiResponse> =>
  api.call('GET', `${ENDPOINTS}/${String(endpoint['id'])}`, { key });
const patch = (endpoint: JsonObject, json: unknown): Promise<ApiResponse> =>
  api.call('PATCH', `${ENDPOINTS}/${String(endpoint['id'])}`, { key, json });
const faults = ({ body }: ApiResponse): string[] =>
  (body['error'] as { details: { param: string; code: string }[] }).details.map(
    ({ param, code }) => `${param} ${code}`,
  );

describe('POST /v1/webhook_endpoints', () => {
  it('answers the endpoint with its secret, which no other answer holds', async () => {
    const { status, headers, body } = await create({ description: 'TMS', headers: { 'X-Token': 'hidden-value' } });
    const { secret, warnings, ...endpoint } = body;
    expect(warnings).toEqual([]);
    expect([status, headers.get('location')]).toEqual([201, `https://api.example${ENDPOINTS}/${String(body['id'])}`]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^whe_/),
      url: receiver.url,
      event_types: ['*'],
      description: 'TMS',
      api_version: '2026-11-01',
      environment: 'live',
      status: 'pending_verification',
      disabled_reason: null,
      last_verification: null,
      headers: { 'x-token': '********' },
      payload: 'full',
      max_concurrency: 16,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
    });
    expect((await get(endpoint)).body).toEqual(endpoint);

    const others = [
      await get(endpoint),
      await api.call('GET', ENDPOINTS, { key }),
      await patch(endpoint, { description: 'other' }),
      await post(endpoint, 'verify'),
      await post(endpoint, 'enable'),
      await post(endpoint, 'test', { type: 'shipment.created' }),
      await create({ url: 'ftp://x', headers: { 'x-token': 'hidden-value', host: 'hidden-value' } }),
    ];
    const shown = others.map(({ text }) => text).join() + JSON.stringify(api.lines);
    expect(shown).not.toContain(String(secret));
    expect(shown).not.toContain('whsec_');
    expect(shown).not.toContain('hidden-value');
  });

  it('answers every field that the description of the resource names, and no other', async () => {
    const { body } = await create();
    const document = (await api.call('GET', '/openapi.json')).body;
    const { schemas } = document['components'] as { schemas: Record<string, { properties: JsonObject }> };
    expect(Object.keys(body).sort()).toEqual(Object.keys(schemas['WebhookEndpointCreated']?.properties ?? {}).sort());
  });

  it('sends nothing', async () => {
    const quiet = await startClientReceiver();
    await create({ url: quiet.url });
    expect(quiet.requests).toEqual([]);
    await quiet.close();
  });

  it('names every faulty field at once', async () => {
    const answer = await create({
      url: 'http://203.0.113.7/hook',
      event_types: ['*', 'shipment.exploded'],
      description: 5,
      api_version: '2020-01-01',
      headers: { 'Content-Length': '1', ok: 'fine', 'x y': 'z', 'x-new-line': 'a\r\nb' },
      max_concurrency: 0,
    });
    expect(answer.status).toBe(400);
    expect(answer.body['error']).toMatchObject({ type: 'invalid_request', code: 'validation_failed', param: 'url' });
    expect(faults(answer)).toEqual([
      'url invalid_value',
      'event_types[1] invalid_value',
      'description invalid_type',
      'api_version invalid_value',
      'headers.Content-Length invalid_value',
      'headers.x y invalid_value',
      'headers.x-new-line invalid_value',
      'max_concurrency invalid_value',
    ]);
    expect(faults(await api.call('POST', ENDPOINTS, { key, json: {} }))).toEqual([
      'url required',
      'event_types required',
    ]);
  });

  it.each([
    ['of another scheme', 'ftp://receiver.example/'],
    ['with credentials', 'https://me:secret@receiver.example/'],
    ['with a fragment', 'https://receiver.example/#part'],
    ['of a private address', 'https://10.0.0.1/'],
    ['of a private address in disguise', 'https://0x0a000001/'],
    ['of the metadata service', 'https://169.254.169.254/latest/'],
    ['of this machine in IPv6', 'https://[::1]/'],
    ['mapped into IPv6', 'https://[::ffff:10.0.0.1]/'],
    ['of an unusual port', 'https://receiver.example:25/'],
    ['that is relative', '/hook'],
    ['that is no URL', 'receiver'],
    ['that is empty', ''],
  ])('refuses a URL %s', async (_what, url) => {
    const answer = await create({ url });
    expect([answer.status, faults(answer)]).toEqual([400, ['url invalid_value']]);
    expect(answer.text).not.toContain('me:secret');
  });

  it('names fields that it ignores, and refuses them where the client wants that', async () => {
    const json = { url: receiver.url, event_types: ['*'], colour: 'red' };
    const created = await create({ colour: 'red', secret: 'mine' });
    expect([created.status, created.body['warnings']]).toEqual([
      201,
      [
        { code: 'unknown_field', param: 'colour', message: expect.any(String) },
        { code: 'read_only_field', param: 'secret', message: expect.any(String) },
      ],
    ]);
    const strict = await api.call('POST', ENDPOINTS, { key, json, headers: { prefer: 'handling=strict' } });
    expect([strict.status, faults(strict)]).toEqual([400, ['colour unknown_field']]);
  });

  it('refuses more than 50 in a workspace and environment', async () => {
    const full = await api.key('developer', 'test', 'full');
    const all = await Promise.all(Array.from({ length: 55 }, () => create({}, full)));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(50);
    const refused = all.find(({ status }) => status !== 201);
    expect([refused?.status, refused?.body['error']]).toEqual([
      400,
      expect.objectContaining({ code: 'limit_exceeded' }),
    ]);
    expect((await create({}, await api.key('developer', 'live', 'full'))).status).toBe(201);
  });
});

describe('GET /v1/webhook_endpoints', () => {
  it('lists those of the environment, the newest first, in pages', async () => {
    const reader = await api.key('developer', 'test', 'listed');
    const ids: unknown[] = [];
    for (let i = 0; i < 3; i++) ids.push((await create({ description: String(i) }, reader)).body['id']);
    ids.reverse();
    const first = await api.call('GET', `${ENDPOINTS}?limit=2`, { key: reader });
    const cursor = String(first.body['next_cursor']);
    const second = await api.call('GET', `${ENDPOINTS}?limit=2&cursor=${cursor}`, { key: reader });
    const page = ({ body }: ApiResponse) => (body['data'] as JsonObject[]).map(({ id }) => id);
    expect([page(first), first.body['has_more']]).toEqual([ids.slice(0, 2), true]);
    expect([page(second), second.body['has_more'], second.body['next_cursor']]).toEqual([ids.slice(2), false, null]);
    const formerCursor = new PageCursorCodec(new TokenSigner(Buffer.alloc(32, 7))).createCursor(
      ['2026-01-01T00:00:00.000Z', 'whe_1'],
      {
        ...{ list: 'webhook endpoints', filter: {}, sort: 'created_at' },
        scope: { workspace_id: await api.workspace('listed'), environment: 'test' },
      },
    );
    const former = await api.call('GET', `${ENDPOINTS}?cursor=${formerCursor}`, { key: reader });
    expect([former.status, former.body['error']]).toMatchObject([400, { code: 'invalid_cursor' }]);
    const elsewhere = await api.call('GET', `${ENDPOINTS}?cursor=${cursor}`, { key });
    expect(elsewhere.body['error']).toMatchObject({ code: 'invalid_cursor' });
    const live = await api.call('GET', ENDPOINTS, { key: await api.key('developer', 'live', 'listed') });
    expect(live.body).toEqual({ data: [], next_cursor: null, has_more: false });
  });
});

describe('a webhook endpoint', () => {
  it('is verified, enabled, sent to, disabled and deleted', async () => {
    const { body: created } = await create();
    const early = await post(created, 'enable');
    expect([early.status, early.body['error']]).toEqual([
      409,
      expect.objectContaining({ type: 'conflict', code: 'endpoint_not_verified' }),
    ]);
    expect((await post(created, 'test', { type: 'shipment.created' })).body['error']).toMatchObject({
      code: 'endpoint_not_verified',
    });

    const verified = await post(created, 'verify');
    expect([verified.status, verified.body]).toEqual([
      200,
      expect.objectContaining({
        status: 'verified',
        last_verification: { at: expect.any(String), ok: true, error: null },
      }),
    ]);
    const enabled = await post(created, 'enable');
    expect([enabled.status, enabled.body['status']]).toEqual([200, 'enabled']);
    const disabled = await post(created, 'disable');
    expect([disabled.status, disabled.body]).toEqual([
      200,
      expect.objectContaining({ status: 'disabled', disabled_reason: 'manual' }),
    ]);

    const deleted = await api.call('DELETE', `${ENDPOINTS}/${String(created['id'])}`, { key });
    expect([deleted.status, deleted.body]).toEqual([200, { id: created['id'], deleted: true, warnings: [] }]);
    for (const gone of [await get(created), await patch(created, {}), await post(created, 'verify')]) {
      expect([gone.status, gone.body['error']]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    }
  });

  it('answers every write with warnings and a token that reads take, wherever they are asked', async () => {
    const writer = await api.key('developer', 'live', 'fresh');
    const ask = (method: string, path: string, json?: unknown, headers = {}) =>
      api.call(method, ENDPOINTS + path, { key: writer, headers, ...(json !== undefined && { json }) });
    const body = { url: receiver.url, event_types: ['Shipment.Created'] };
    const created = await ask('POST', '', body);
    expect(created.body['event_types']).toEqual(['shipment.created']);
    const path = `/${String(created.body['id'])}`;
    const ignored = [{ code: 'unknown_field', param: 'why', message: expect.any(String) }];
    const writes: readonly (readonly [ApiResponse, unknown])[] = [
      [created, []],
      [await ask('PATCH', path, { description: 'x', why: 1 }), ignored],
      [await ask('POST', `${path}/verify`), []],
      [await ask('POST', `${path}/enable`, { why: 1 }), ignored],
      [await ask('POST', `${path}/test`, { type: 'SHIPMENT.created' }), []],
      [await ask('POST', `${path}/disable`, {}), []],
      [await ask('DELETE', path), []],
    ];
    for (const [answer, warnings] of writes) {
      expect([answer.status < 300, answer.body['warnings']]).toEqual([true, warnings]);
      const headers = { 'consistency-token': answer.headers.get('consistency-token') ?? '' };
      for (const read of ['/v1/shipments', ENDPOINTS]) {
        expect((await api.call('GET', read, { key: writer, headers })).status).toBe(200);
      }
    }
    const strict = await ask('POST', `${path}/enable`, { why: 1 }, { prefer: 'handling=strict' });
    expect([strict.status, faults(strict)]).toEqual([400, ['why unknown_field']]);
  });

  it('tells why a challenge failed', async () => {
    const broken = await startClientReceiver();
    const { body: created } = await create({ url: broken.url });
    await broken.close();
    const { status, body } = await post(created, 'verify');
    expect([status, body['status'], body['last_verification']]).toEqual([
      200,
      'pending_verification',
      { at: expect.any(String), ok: false, error: { code: 'connection_refused', message: expect.any(String) } },
    ]);
  });

  it('is to be verified again with another URL, and keeps what is not changed', async () => {
    const endpoint = await createEnabledEndpoint(api, key, receiver.url, { headers: { 'x-token': 'first' } });
    const changed = await patch(endpoint, {
      url: `${receiver.url}?new`,
      headers: { 'x-token': '********', 'x-b': '2' },
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({
        url: `${receiver.url}?new`,
        status: 'pending_verification',
        event_types: ['*'],
        headers: { 'x-token': '********', 'x-b': '********' },
      }),
    ]);
    expect({ ...(await get(endpoint)).body, warnings: [] }).toEqual(changed.body);
    await post(endpoint, 'verify');
    expect(receiver.requests.at(-1)?.headers).toMatchObject({ 'x-token': 'first', 'x-b': '2' });
    expect(faults(await patch(endpoint, { url: null, event_types: [] }))).toEqual([
      'url invalid_type',
      'event_types required',
    ]);
  });

  it('sends ten challenges a minute to an endpoint, and 60 for a workspace', async () => {
    const owner = await api.key('developer', 'live', 'challenger');
    const challenge = async (id: unknown) => {
      const { status, headers, body } = await api.call('POST', `${ENDPOINTS}/${String(id)}/verify`, { key: owner });
      const { code } = (body['error'] ?? {}) as { readonly code?: string };
      return status === 200 ? 'sent' : [status, code, Number(headers.get('retry-after')) > 0].join(' ');
    };
    const made = await Promise.all(Array.from({ length: 7 }, () => create({}, owner)));
    const before = receiver.requests.length;
    const outcomes = [];
    for (const { body } of made) {
      outcomes.push(await Promise.all(Array.from({ length: 11 }, () => challenge(body['id']))));
    }
    const sent = outcomes.map((each) => each.filter((outcome) => outcome === 'sent').length);
    expect([sent, receiver.requests.length - before]).toEqual([[10, 10, 10, 10, 10, 10, 0], 60]);
    expect(new Set(outcomes.flat())).toEqual(new Set(['sent', '429 rate_limited true']));
  });

  it('sends 120 challenges a minute to one host, from all workspaces together', async () => {
    const by = await api.gateway({ quota: new InMemoryRequestQuota(() => new Date(0)) });
    /** Makes 6 endpoints of a workspace, and returns the responses to 10 challenges of each. */
    const challengeFrom = async (workspace: string) => {
      const owner = await api.key('developer', 'live', workspace);
      const made = await Promise.all(Array.from({ length: 6 }, () => create({}, owner)));
      const paths = made.flatMap(({ body }) => Array.from({ length: 10 }, () => `${ENDPOINTS}/${String(body['id'])}`));
      return Promise.all(paths.map((path) => by('POST', `${path}/verify`, { key: owner })));
    };
    const allowed = [...(await challengeFrom('first of a host')), ...(await challengeFrom('second of a host'))];
    expect(new Set(allowed.map(({ status }) => status))).toEqual(new Set([200]));
    const before = receiver.requests.length;
    for (const { status, body } of await challengeFrom('third of a host')) {
      expect([status, body['error']]).toEqual([
        429,
        expect.objectContaining({
          code: 'rate_limited',
          message: 'The limit of 120 verifications per minute of one host is exceeded.',
        }),
      ]);
    }
    expect(receiver.requests).toHaveLength(before);
  });

  it('drops stored headers with a change of the scheme', async () => {
    const { body: endpoint } = await create({ headers: { authorization: 'Bearer of-an-admin' } });
    const changed = await patch(endpoint, { url: receiver.url.replace('http:', 'https:') });
    expect([changed.status, changed.body['headers'], changed.body['warnings']]).toEqual([
      200,
      {},
      [{ code: 'header_dropped', param: 'headers.authorization', message: expect.any(String) }],
    ]);
  });

  it('drops stored headers with a change of the host, and warns about each', async () => {
    const { body: endpoint } = await create({
      headers: { authorization: 'Bearer of-an-admin', 'X-B': '2', 'x-c': '3' },
    });
    const url = `${receiver.url}/`.replace('127.0.0.1', 'localhost');
    const changed = await patch(endpoint, { url, headers: { Authorization: '********', 'x-b': 'sent again' } });
    expect([changed.status, changed.body['headers'], changed.body['warnings']]).toEqual([
      200,
      { 'x-b': '********' },
      [{ code: 'header_dropped', param: 'headers.authorization', message: expect.any(String) }],
    ]);
    const back = await patch(endpoint, { url: receiver.url });
    expect([back.body['headers'], back.body['warnings']]).toEqual([
      {},
      [{ code: 'header_dropped', param: 'headers.x-b', message: expect.any(String) }],
    ]);
  });

  it('warns about a mask without a stored value', async () => {
    const dropped = [{ code: 'header_dropped', param: 'headers.x-copied', message: expect.any(String) }];
    const headers = { 'X-Copied': '********', 'x-own': '1' };
    const made = await create({ headers });
    expect([made.status, made.body['headers'], made.body['warnings']]).toEqual([201, { 'x-own': '********' }, dropped]);
    const changed = await patch(made.body, { headers });
    expect([changed.status, changed.body['warnings']]).toEqual([200, dropped]);
    expect((await patch(changed.body, { headers: {} })).body['warnings']).toEqual([]);
  });

  it('gets a signed sandbox event, which is kept like any delivery', async () => {
    const endpoint = await createEnabledEndpoint(api, key, receiver.url, { event_types: ['shipment.created'] });
    const { status, body } = await post(endpoint, 'test', { type: 'milestone.recorded' });
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ endpoint_id: endpoint['id'], event_type: 'milestone.recorded', sandbox: true }),
    ]);
    const delivered = await eventually(async () => {
      const { body: detail } = await api.call('GET', `/v1/webhook_deliveries/${String(body['id'])}`, { key });
      expect(detail).toMatchObject({ status: 'succeeded', attempts_count: 1, payload: { sandbox: true } });
      return detail;
    });
    const sent = receiver.deliveries().find(({ headers }) => headers['service-event-id'] === delivered['event_id']);
    const [, timestamp, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(sent?.headers['service-signature'] ?? '') ?? [];
    const hmac = createHmac('sha256', String(endpoint['secret']))
      .update(`${timestamp}.`)
      .update(sent?.body ?? '');
    expect(signature).toBe(hmac.digest('hex'));
    expect(JSON.parse(String(sent?.body))).toEqual(delivered['payload']);
  });

  it.each([
    [{}],
    [{ type: null }],
    [{ type: 5 }],
    [{ type: 'shipment.exploded' }],
    [{ type: 'endpoint.verification' }],
  ])('gets no sandbox event of %j', async (json) => {
    const { body: created } = await create();
    const answer = await post(created, 'test', json);
    expect(answer.status).toBe(400);
    expect(faults(answer)).toEqual([expect.stringMatching(/^type /)]);
  });

  it('is asked for without a body, whatever the request says that its body is', async () => {
    const { body: created } = await create();
    const path = `${ENDPOINTS}/${String(created['id'])}`;
    for (const [method, action, type] of [
      ['POST', '/verify', 'application/json'],
      ['POST', '/enable', 'application/x-www-form-urlencoded'],
      ['POST', '/disable', ';;;'],
      ['DELETE', '', 'application/json'],
    ] as const) {
      const answer = await api.call(method, path + action, { key, headers: { 'content-type': type } });
      expect([action, answer.status]).toEqual([action, 200]);
    }
  });
});

describe('another workspace’s or environment’s endpoint', () => {
  it('does not exist', async () => {
    const endpoint = await createEnabledEndpoint(api, key, receiver.url);
    const path = `${ENDPOINTS}/${String(endpoint['id'])}`;
    const routes: readonly (readonly [string, string, unknown?])[] = [
      ['GET', path],
      ['PATCH', path, { description: 'mine' }],
      ['DELETE', path],
      ['POST', `${path}/verify`],
      ['POST', `${path}/enable`],
      ['POST', `${path}/disable`],
      ['POST', `${path}/test`, { type: 'shipment.created' }],
    ];
    for (const stranger of [await api.key('admin', 'test'), await api.key('admin', 'live', 'strangers')]) {
      for (const [method, route, json] of routes) {
        const answer = await api.call(method, route, { key: stranger, ...(json === undefined ? {} : { json }) });
        expect([method, route, answer.status]).toEqual([method, route, 404]);
      }
      const list = await api.call('GET', `${ENDPOINTS}?limit=200`, { key: stranger });
      expect(list.text).not.toContain(String(endpoint['id']));
    }
    expect((await get(endpoint)).body).toMatchObject({ status: 'enabled', description: null });
  });
});

describe('a hostile receiver', () => {
  it('fails its challenge, and the API goes on', async () => {
    for (const behaviour of [
      hostileReceiverBehaviours.gzipBomb(16),
      hostileReceiverBehaviours.redirects('http://127.0.0.1:1/'),
      hostileReceiverBehaviours.resets(),
    ]) {
      const hostile = await startClientReceiver();
      const { body: created } = await create({ url: hostile.url });
      hostile.behaveAlways(behaviour);
      const { status, body } = await post(created, 'verify');
      expect([status, body['status']]).toEqual([200, 'pending_verification']);
      await hostile.close();
    }
  });
});

it('has an unknown outcome when a later step of a write finds a full queue', async () => {
  const { webhooks } = api.dependencies;
  const test = () =>
    Promise.reject(
      new BusyError('document store', 'too many operations are waiting for the document store; retry later'),
    );
  const endpoints = overrideOperations(webhooks.endpoints, { test });
  const by = await api.gateway({ webhooks: { ...webhooks, endpoints } });
  const { body } = await create();
  const answer = await by('POST', `${ENDPOINTS}/${String(body['id'])}/test`, {
    key,
    json: { type: 'shipment.created' },
  });
  expect([answer.status, answer.body]).toMatchObject([503, { error: { code: 'unavailable' } }]);
});

it('no request got an internal error', () => {
  expect(api.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

it.each(['enable', 'disable'])('%s is answered behind the writes that stand before it in the log', async (action) => {
  const waitedFor: unknown[] = [];
  const shown = Promise.withResolvers<boolean>();
  const waiting = await startApi({
    // As where the client's next request may come to another replica.
    settings: { writeResponseWaitMs: 60_000 },
    override: ({ readModels }) => ({
      readModels: overrideOperations(readModels, {
        waitForAllReadModels: (position: string) => {
          waitedFor.push(position);
          return shown.promise;
        },
      }),
    }),
  });
  try {
    const developer = await waiting.key('developer');
    const json = { url: receiver.url, event_types: ['*'] };
    const { body } = await waiting.call('POST', ENDPOINTS, { key: developer, json });
    const path = `${ENDPOINTS}/${String(body['id'])}`;
    await waiting.call('POST', `${path}/verify`, { key: developer });
    const { shipments } = waiting.dependencies;
    const scope = { workspace_id: await waiting.workspace(), environment: 'live' } as const;
    await shipments.upsertShipment({
      id: randomUUID(),
      at: new Date().toISOString(),
      ...scope,
      actor: { type: 'system', id: 'test' },
      request_id: 'req_1',
      traceparent: null,
      strict: false,
      fields: { external_id: 'UNDER-WAY' },
    });
    let isAnswered = false;
    const answering = waiting.call('POST', `${path}/${action}`, { key: developer }).finally(() => (isAnswered = true));
    const end = await waiting.head();
    await eventually(() => expect(waitedFor).toEqual([end]));
    expect(isAnswered).toBe(false);
    shown.resolve(true);
    expect((await answering).status).toBe(200);
  } finally {
    shown.resolve(true);
    await waiting.stop();
  }
});
