import { type WebhookToVerify, verifyWebhook } from '@tracking/client';
import type { JsonObject } from '@tracking/contracts';
import type { ReceivedRequest } from '@tracking/testing';
import { eventually } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let key: string;
let admin: string;
let endpoint: JsonObject;

beforeAll(async () => {
  api = await startApi();
  receiver = await startClientReceiver();
  [key, admin] = [await api.key('developer'), await api.key('admin')];
});
beforeEach(async () => {
  endpoint = await createEnabledEndpoint(api, key, receiver.url);
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

const ask = (action: string, json?: unknown, by = key, headers = {}): Promise<ApiResponse> =>
  api.call('POST', `/v1/webhook_endpoints/${String(endpoint['id'])}/${action}`, {
    key: by,
    headers,
    ...(json !== undefined && { json }),
  });
const reveal = async () => (await ask('reveal_secret', undefined, admin)).body;

/** Sends the request and returns the next request that the receiver gets. */
async function received(action: string, json?: unknown): Promise<ReceivedRequest> {
  const before = receiver.requests.length;
  expect((await ask(action, json)).status).toBeLessThan(300);
  return eventually(() => {
    const request = receiver.requests[before];
    if (request === undefined) throw new Error('nothing came');
    return request;
  });
}

/** Checks with the secret if the delivery is valid, by `Service-Signature` and by the headers of Standard Webhooks. */
async function isTaken({ headers, body }: ReceivedRequest, secret: unknown): Promise<readonly boolean[]> {
  const { 'service-signature': _ours, ...standard } = headers as Record<string, string>;
  const {
    'webhook-id': _id,
    'webhook-timestamp': _at,
    'webhook-signature': _value,
    ...ours
  } = headers as typeof standard;
  const tries = [ours, standard].map(async (each: WebhookToVerify['headers']) => {
    const event = await verifyWebhook({ rawBody: body, headers: each, secret: String(secret) });
    return event.id === headers['service-event-id'];
  });
  return (await Promise.allSettled(tries)).map((tried) => tried.status === 'fulfilled' && tried.value);
}

describe('POST /v1/webhook_endpoints/{id}/rotate_secret', () => {
  it('answers the endpoint with a new secret, and what is sent is signed with both', async () => {
    const { status, headers, body } = await ask('rotate_secret', { expires_in_seconds: 3_600 });
    expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([200, '"4"', 'no-store']);
    expect(body).toEqual({
      ...endpoint,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      version: 4,
      updated_at: expect.any(String),
      warnings: [],
    });
    expect(body['secret']).not.toBe(endpoint['secret']);
    for (const request of [await received('test', { type: 'exception.opened' }), await received('verify')]) {
      expect(await isTaken(request, body['secret'])).toEqual([true, true]);
      expect(await isTaken(request, endpoint['secret'])).toEqual([true, true]);
      expect(await isTaken(request, 'whsec_b3RoZXI=')).toEqual([false, false]);
    }
  });

  it('leaves the new one alone where no overlap is wanted', async () => {
    const { body } = await ask('rotate_secret', { expires_in_seconds: 0 });
    const request = await received('test', { type: 'shipment.updated' });
    expect(await isTaken(request, body['secret'])).toEqual([true, true]);
    expect(await isTaken(request, endpoint['secret'])).toEqual([false, false]);
  });

  it.each([
    [undefined, 86_400],
    [{}, 86_400],
    [{ expires_in_seconds: 604_800 }, 604_800],
    [{ expires_in_seconds: null }, 86_400],
  ])('takes %j: the old one is valid for %i s', async (json, seconds) => {
    const { body } = await ask('rotate_secret', json);
    const [previous] = (await reveal())['previous_secrets'] as JsonObject[];
    expect(previous?.['secret']).toBe(endpoint['secret']);
    expect(Date.parse(String(previous?.['expires_at'])) - Date.parse(String(body['updated_at']))).toBe(seconds * 1_000);
  });

  it.each([-1, 604_801, 1.5, '60', true, {}])('refuses an overlap of %j', async (expires_in_seconds) => {
    const { status, body } = await ask('rotate_secret', { expires_in_seconds });
    expect([status, body['error']]).toEqual([400, expect.objectContaining({ param: 'expires_in_seconds' })]);
    expect((await reveal())['secret']).toBe(endpoint['secret']);
  });

  it('names fields that it ignores, and refuses them where the client wants that', async () => {
    const { body } = await ask('rotate_secret', { secret: 'mine', expires: 1 });
    expect((body['warnings'] as JsonObject[]).map(({ code, param }) => `${String(param)} ${String(code)}`)).toEqual([
      'secret read_only_field',
      'expires unknown_field',
    ]);
    const strict = await ask('rotate_secret', { expires: 1 }, key, { prefer: 'handling=strict' });
    expect(strict.status).toBe(400);
    expect((await reveal())['secret']).toBe(body['secret']);
  });

  it('repeated under its key is one rotation', async () => {
    const once = () => ask('rotate_secret', {}, key, { 'idempotency-key': String(endpoint['id']) });
    const [first, again] = [await once(), await once()];
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect((await reveal())['previous_secrets']).toHaveLength(1);
  });
});

describe('POST /v1/webhook_endpoints/{id}/reveal_secret', () => {
  it('shows admins the secrets that are valid, and nobody else', async () => {
    const { body } = await ask('rotate_secret');
    const shown = await ask('reveal_secret', undefined, admin);
    expect([shown.status, shown.headers.get('cache-control'), shown.headers.get('etag')]).toEqual([
      200,
      'no-store',
      null,
    ]);
    expect(shown.body).toEqual({
      id: endpoint['id'],
      secret: body['secret'],
      previous_secrets: [{ secret: endpoint['secret'], expires_at: expect.stringMatching(/Z$/) }],
      warnings: [],
    });
    const refused = await ask('reveal_secret');
    expect([refused.status, refused.text.includes('whsec_')]).toEqual([403, false]);
    expect((await ask('reveal_secret', undefined, await api.key('admin', 'test'))).status).toBe(404);
  });
});
