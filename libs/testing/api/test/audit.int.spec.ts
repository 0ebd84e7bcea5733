import type { JsonObject } from '@tracking/contracts';
import { IdentityServices } from '@tracking/identity';
import { BusyError, UnavailableError } from '@tracking/ports';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const ENDPOINTS = '/v1/webhook_endpoints';
const HIDDEN = 'hidden-value-of-a-header';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let admin: string;
/** Takes the place of what makes an endpoint. */
let making: ((make: () => Promise<unknown>) => Promise<unknown>) | undefined;

beforeAll(async () => {
  receiver = await startClientReceiver();
  api = await startApi({
    override: ({ webhooks }) => {
      const create: typeof webhooks.endpoints.create = (command) => {
        const make = () => webhooks.endpoints.create(command);
        return (making ? making(make) : make()) as ReturnType<typeof make>;
      };
      const endpoints = new Proxy(webhooks.endpoints, {
        get: (target, name) => {
          if (name === 'create') return create;
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        },
      });
      return { webhooks: { ...webhooks, endpoints } };
    },
  });
  admin = await api.key('admin');
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});
beforeEach(() => {
  making = undefined;
});

const fields = (description: string) => ({
  url: receiver.url,
  event_types: ['*'],
  description,
  headers: { 'x-token': HIDDEN },
});
const log = async (query = '', key = admin): Promise<readonly JsonObject[]> => {
  const { status, body } = await api.call('GET', `/v1/audit_log${query}`, { key });
  expect([status, body['error']]).toEqual([200, undefined]);
  return body['data'] as JsonObject[];
};
const about = async (id: unknown): Promise<readonly JsonObject[]> =>
  (await log('?limit=200')).filter(({ target }) => (target as JsonObject)['id'] === id);

describe('GET /v1/audit_log', () => {
  it('records every change of an endpoint with actor and address, and never a secret', async () => {
    const created = await api.call('POST', ENDPOINTS, { key: admin, json: fields('TMS') });
    const path = `${ENDPOINTS}/${String(created.body['id'])}`;
    await api.call('PATCH', path, { key: admin, json: { description: 'ERP' } });
    await api.call('POST', `${path}/verify`, { key: admin });
    // Neither changes what the endpoint may be sent.
    await api.call('POST', `${path}/verify`, { key: admin });
    receiver.behaveAlways(hostileReceiverBehaviours.answers(500));
    await api.call('POST', `${path}/verify`, { key: admin });
    await api.call('POST', `${path}/enable`, { key: admin });
    await api.call('POST', `${path}/disable`, { key: admin });
    const rotated = await api.call('POST', `${path}/rotate_secret`, { key: admin });
    for (let times = 0; times < 2; times += 1) await api.call('POST', `${path}/reveal_secret`, { key: admin });
    const deleted = await api.call('DELETE', path, { key: admin });
    expect(deleted.status).toBe(200);

    const entries = await about(created.body['id']);
    expect(entries.map(({ type }) => type)).toEqual([
      'webhook_endpoint.deleted',
      'webhook_endpoint.secret_revealed',
      'webhook_endpoint.secret_revealed',
      'webhook_endpoint.secret_rotated',
      'webhook_endpoint.disabled',
      'webhook_endpoint.enabled',
      'webhook_endpoint.verified',
      'webhook_endpoint.changed',
      'webhook_endpoint.created',
    ]);
    const [, shownAgain, shown, renewed, disabled, enabled, verified, changed, made] = entries;
    for (const entry of [shownAgain, shown, renewed]) expect(entry).toMatchObject({ changes: {}, outcome: 'done' });
    expect(made).toEqual({
      id: expect.stringMatching(/^aud_/),
      at: expect.any(String),
      actor: { type: 'service_account', id: expect.stringMatching(/^sva_/), name: 'admin' },
      type: 'webhook_endpoint.created',
      target: { type: 'webhook_endpoint', id: created.body['id'] },
      changes: expect.objectContaining({
        description: { from: null, to: 'TMS' },
        headers: { from: null, to: ['x-token'] },
      }),
      outcome: 'done',
      request_id: created.headers.get('request-id'),
      address: '127.0.0.1',
    });
    expect(changed?.['changes']).toEqual({ description: { from: 'TMS', to: 'ERP' } });
    expect(verified?.['changes']).toEqual({ status: { from: 'pending_verification', to: 'verified' } });
    expect(enabled?.['changes']).toMatchObject({ status: { from: 'verified', to: 'enabled' } });
    expect(disabled?.['changes']).toMatchObject({ status: { from: 'enabled', to: 'disabled' } });

    const told = JSON.stringify(entries) + JSON.stringify(api.lines);
    for (const secret of [
      String(created.body['secret']),
      String(rotated.body['secret']),
      'whsec_',
      HIDDEN,
      admin.slice(12, -4),
    ]) {
      expect(told).not.toContain(secret);
    }
  });

  it('has no entry for a refused request', async () => {
    const { body } = await api.call('POST', ENDPOINTS, { key: admin, json: fields('refused') });
    const before = await log('?limit=200');
    const path = `${ENDPOINTS}/${String(body['id'])}`;
    const answers = [
      await api.call('POST', ENDPOINTS, { key: admin, json: { url: 5 } }),
      await api.call('PATCH', path, { key: admin, json: { url: 'nonsense' } }),
      await api.call('PATCH', path, { key: admin, json: { description: 'x' }, headers: { 'if-match': '"99"' } }),
      await api.call('POST', `${path}/enable`, { key: admin }),
      await api.call('POST', `${path}/rotate_secret`, { key: admin, json: { expires_in_seconds: -1 } }),
      await api.call('POST', `${path}/reveal_secret`, { key: await api.key('developer') }),
      await api.call('POST', `${ENDPOINTS}/whe_none/reveal_secret`, { key: admin }),
      await api.call('DELETE', `${ENDPOINTS}/whe_none`, { key: admin }),
      await api.call('POST', ENDPOINTS, { key: await api.key('viewer'), json: fields('denied') }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 412, 409, 400, 403, 404, 404, 403]);
    expect(await log('?limit=200')).toEqual(before);
  });

  it('has no entry for a request that found the password queue full', async () => {
    const { clock, logger } = api.dependencies;
    const { documentStore } = api.storage;
    const secret = new Uint8Array(32);
    const identity = await IdentityServices.openIdentity({
      documentStore,
      clock,
      logger,
      secret,
      passwords: { maxWaiting: 0 },
    });
    const busy = await api.gateway({ identity });
    const json = { email: 'busy@example.com', role: 'viewer' };
    const invited = await api.call('POST', '/v1/users', { key: admin, json });
    const token = String(invited.body['invitation_url']).split('#')[1];
    const before = await log('?limit=200');
    const use = { json: { name: 'Jo', password: 'a long password for tests' } };
    const { status, body } = await busy('POST', `/v1/invitations/${token}`, use);
    expect([status, body]).toMatchObject([503, { error: { code: 'busy' } }]);
    expect(await log('?limit=200')).toEqual(before);
    await identity.closeIdentityAfterPendingWrites();
  });

  it('stores the entry before the change', async () => {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    making = async (make) => {
      await held;
      return make();
    };
    const answering = api.call('POST', ENDPOINTS, { key: admin, json: fields('slow') });
    const entry = await eventually(async () => {
      const [newest] = await log('?limit=1&type=webhook_endpoint.created');
      expect(newest).toMatchObject({ outcome: 'unknown', changes: {}, target: { type: 'webhook_endpoint', id: null } });
      return newest;
    });
    go();
    const { body } = await answering;
    expect(await about(body['id'])).toEqual([expect.objectContaining({ id: entry?.['id'], outcome: 'done' })]);
  });

  it('reports the outcome unknown if the result of the change is unknown', async () => {
    making = async (make) => {
      await make();
      throw new UnavailableError('document store', 'gone');
    };
    const { status, body } = await api.call('POST', ENDPOINTS, { key: admin, json: fields('lost') });
    expect(status).toBe(503);
    const requestId = (body['error'] as JsonObject)['request_id'];
    expect(await log('?limit=1')).toEqual([expect.objectContaining({ outcome: 'unknown', request_id: requestId })]);
  });

  it('reports the outcome unknown, also in the response, if a later step finds a full queue', async () => {
    making = async (make) => {
      await make();
      throw new BusyError('document store', 'too many operations are waiting for the document store; retry later');
    };
    const { status, body } = await api.call('POST', ENDPOINTS, { key: admin, json: fields('half done') });
    expect([status, body]).toMatchObject([503, { error: { code: 'unavailable' } }]);
    expect(JSON.stringify(body)).toContain('Whether the write took effect is unknown');
    const [newest] = await log('?limit=1&type=webhook_endpoint.created');
    expect(newest).toMatchObject({ outcome: 'unknown' });
  });

  it('is filtered by actor, type and time, and paged', async () => {
    const other = await api.key('admin');
    const made = [];
    for (let time = 0; time < 3; time += 1) {
      made.push(await api.call('POST', ENDPOINTS, { key: other, json: fields(`filtered ${time}`) }));
    }
    const [newest] = await log('?limit=1');
    const { id: actor } = newest?.['actor'] as JsonObject;
    const ids = made.map(({ body }) => body['id']).reverse();
    const targets = (entries: readonly JsonObject[]) => entries.map(({ target }) => (target as JsonObject)['id']);
    expect(targets(await log(`?actor=${String(actor)}`))).toEqual(ids);
    expect(targets(await log(`?actor=${String(actor)}&type=webhook_endpoint.created`))).toEqual(ids);
    expect(await log(`?actor=${String(actor)}&type=webhook_endpoint.deleted`)).toEqual([]);
    const at = encodeURIComponent(String(newest?.['at']));
    expect(targets(await log(`?actor=${String(actor)}&from=${at}`))).toContain(ids[0]);
    expect(await log(`?actor=${String(actor)}&to=2026-01-01T00:00:00Z`)).toEqual([]);

    const first = await api.call('GET', `/v1/audit_log?actor=${String(actor)}&limit=2`, { key: admin });
    expect(first.body['has_more']).toBe(true);
    const cursor = String(first.body['next_cursor']);
    expect(targets(await log(`?actor=${String(actor)}&limit=2&cursor=${cursor}`))).toEqual(ids.slice(2));
    const elsewhere = await api.call('GET', `/v1/audit_log?cursor=${cursor}`, { key: admin });
    expect(elsewhere.body['error']).toMatchObject({ code: 'invalid_cursor' });
    const unknown = await api.call('GET', '/v1/audit_log?type=api_key.eaten', { key: admin });
    expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('api_key.revoked')]);
  });

  it('contains one workspace, and is visible only to its admins', async () => {
    const foreign = await api.key('admin', 'live', 'elsewhere');
    expect(await log('', foreign)).toEqual([]);
    for (const role of ['viewer', 'operator', 'feed', 'developer'] as const) {
      expect((await api.call('GET', '/v1/audit_log', { key: await api.key(role) })).status).toBe(403);
    }
  });
});
