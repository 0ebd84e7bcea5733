import { randomBytes, randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { eventually, itInSoak, receivers } from '@tracking/testing';
import { enabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientReceiver } from './client-endpoint.ts';
import { DocumentCalls, PDF, TYPE, fileOf, formOf, sha256 } from './document-calls.ts';
import type { Part } from './document-calls.ts';
import { MortalGateway } from './mortal-gateway.ts';
import { startApi, overriding } from './start-api.ts';
import type { Answer, Api } from './start-api.ts';

const TAKE_OVER_MS = 15_000;

let api: Api;
let receiver: ClientReceiver;
let key: string;
beforeAll(async () => {
  api = await startApi({ settings: { trustedProxies: ['127.0.0.1'] } });
  receiver = await startClientReceiver();
});
// Of its own, so that one scope holds all the endpoints of an operation.
beforeEach(async () => {
  key = await api.key('admin', 'live', `workspace-${randomUUID()}`);
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

/** A POST that has not been sent yet, and what is seen of it afterwards. */
interface Prepared {
  readonly path: string;
  readonly json?: JsonObject;
  /** Instead of JSON. */
  readonly form?: readonly Part[];
  /** Where it carries none of the key of all others. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Another request that the same key is refused for. */
  readonly other?: JsonObject | readonly Part[];
  /** Its answer holds an upload URL, and is the same but for that. */
  readonly expires?: true;
  /** Same however often it was sent: answers what it made or changed. */
  effect(answer: Answer): Promise<unknown>;
  readonly expected: unknown;
}

const get = async (path: string) => (await api.call('GET', path, { key })).body;
const dataOf = async (path: string) => (await get(path))['data'] as JsonObject[];
const post = async (path: string, json?: JsonObject) => {
  const { status, body, text } = await api.call('POST', path, { key, json });
  if (status >= 300) throw new Error(`${path}: ${text}`);
  return body;
};
const newShipment = async () => String((await post('/v1/shipments', { house_bill: randomUUID() }))['id']);
const newException = async () => {
  const shipment_id = await newShipment();
  const { id } = await post(`/v1/shipments/${shipment_id}/exceptions`, { type: 'other' });
  return { id: String(id), shipment_id };
};
const documentsOf = (shipment: string) => dataOf(`/v1/shipments/${shipment}/documents`);
const newDocument = async () => String((await new DocumentCalls(api, key).added(await newShipment()))['id']);
const statusOf = async (document: string) => (await get(`/v1/documents/${document}`))['status'];
/** A form or JSON, as a call takes it. */
const bodyOf = (body: JsonObject | readonly Part[] | undefined) =>
  Array.isArray(body)
    ? {
        raw: new Uint8Array(formOf(body as readonly Part[])),
        type: { 'content-type': 'multipart/form-data; boundary=b' },
      }
    : { json: body, type: {} };
const eventTypes = async (id: unknown) => {
  const events = await eventually(async () => {
    const found = await dataOf(`/v1/events?shipment_id=${String(id)}`);
    expect(found).not.toEqual([]);
    return found;
  });
  return events.map(({ type }) => type);
};
const newEndpoint = () => enabledEndpoint(api, key, receiver.url);
/** A delivery that succeeded. */
const sentTest = async (endpoint: JsonObject) => {
  const { id } = await post(`/v1/webhook_endpoints/${String(endpoint['id'])}/test`, { type: 'shipment.created' });
  const path = `/v1/webhook_deliveries/${String(id)}`;
  await eventually(async () => expect((await get(path))['completed_at']).not.toBeNull());
  return path;
};
/** A replay that waits, as its endpoint asks for. */
const newReplay = async () => {
  await eventTypes(await newShipment());
  receiver.behave(receivers.answers(503, '', { 'retry-after': '3600' }));
  const { id: endpoint } = await newEndpoint();
  const { id } = await post(`/v1/webhook_endpoints/${String(endpoint)}/replay`, {});
  const path = `/v1/webhook_replays/${String(id)}`;
  // Of the workspace's events it has taken the first, and waits.
  await eventually(async () => {
    const taken = await dataOf(`/v1/webhook_deliveries?endpoint_id=${String(endpoint)}`);
    expect(taken.map(({ attempts_count }) => attempts_count)).toContain(1);
  });
  return path;
};
/** An endpoint that is enabled again after one of its deliveries failed for good. */
const newDeadLetter = async () => {
  const { id } = await newEndpoint();
  receiver.behave(receivers.answers(410, ''));
  await api.publish({
    id: `evt_${randomUUID()}`,
    type: 'shipment.created',
    api_version: '2026-11-01',
    created_at: new Date().toISOString(),
    environment: 'live',
    workspace_id: String(((await get('/v1/session'))['workspace'] as JsonObject)['id']),
    data: { shipment_id: 'shp_a' },
  });
  const found = `/v1/webhook_deliveries?status=dead_lettered&endpoint_id=${String(id)}`;
  await eventually(async () => expect(await dataOf(found)).toHaveLength(1));
  receiver.behave(receivers.answers(204, ''));
  await post(`/v1/webhook_endpoints/${String(id)}/enable`);
  return String(id);
};
const replaysOf = async (endpoint_id: string) =>
  (await dataOf(`/v1/webhook_replays?endpoint_id=${endpoint_id}`)).length;

const newAccount = async () =>
  String((await post('/v1/service_accounts', { name: randomUUID(), role: 'operator' }))['id']);
const newKey = (service_account_id: string) =>
  post('/v1/api_keys', { name: randomUUID(), environment: 'live', service_account_id });
const keysOf = async (owner: string) =>
  (await dataOf('/v1/api_keys?limit=200')).filter((one) => (one['owner'] as JsonObject)['id'] === owner);
/** Where a one-time link is asked for that was shown as this address. */
const linkOf = (address: unknown) => `/v1/invitations/${String(address).split('#')[1]}`;
const pathOf = (address: unknown) => String(address).replace('https://api.example', '');
const isGood = async (address: unknown) => (await api.call('GET', linkOf(address))).status === 200;
const invited = async () => {
  const { id, invitation_url } = await post('/v1/users', { email: `${randomUUID()}@example.com`, role: 'operator' });
  return { id: String(id), link: linkOf(invitation_url) };
};
const joined = async () => {
  const { id, link } = await invited();
  const password = 'correct horse battery';
  const { email } = await post(link, { name: 'Ann', password });
  return { id, email: String(email), password };
};
/** What a page of ours sends along, from an address of its own: tries of one are throttled. */
const byUs = () => ({
  'x-requested-with': 'test',
  'x-forwarded-for': `10.${[...randomBytes(3)].join('.')}`,
});
const cookieOf = (headers: Headers) => ({
  cookie: headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; '),
});
const sessionsOf = async (headers: Headers) =>
  (await api.call('GET', '/v1/sessions', { headers: cookieOf(headers) })).body['data'] as JsonObject[];
const pick = (from: JsonObject, ...names: readonly string[]) => names.map((name) => from[name]);
/** Their change stands between the two writes of its entry in the audit log. */
const AUDITED =
  /^(create|verify|enable|disable)WebhookEndpoint$|Webhook(Secret|Replay|DeadLetters)$|^discardWebhookDelivery$|ServiceAccount$|ApiKey$|User|^useInvitation$/;
/** The session goes on, by a write of its own; three items are carried out, the others refused. */
const STEPS: Readonly<Record<string, number>> = {
  changePassword: 6,
  upsertShipments: 5,
  recordMilestones: 5,
  // Its bytes come first.
  addDocument: 4,
};

const OPERATIONS: Readonly<Record<string, () => Promise<Prepared>>> = {
  upsertShipment: async () => {
    const house_bill = randomUUID();
    return {
      path: '/v1/shipments',
      json: { house_bill },
      other: { house_bill: randomUUID() },
      effect: async () =>
        (await dataOf('/v1/shipments?limit=200')).filter((shipment) => shipment['house_bill'] === house_bill).length,
      expected: 1,
    };
  },
  upsertShipments: async () => {
    const [external_id, house_bill] = [randomUUID(), randomUUID()];
    const shipments = [{ external_id }, { mode: 'teleport' }, { external_id, house_bill }, { house_bill }, 'none'];
    return {
      path: '/v1/shipments/bulk',
      json: { shipments },
      other: { shipments: shipments.slice(1) },
      effect: async ({ body }) => [
        (body['data'] as JsonObject[]).map(({ status }) => status),
        (await dataOf('/v1/shipments?limit=200'))
          .filter((shipment) => shipment['house_bill'] === house_bill)
          .map(({ version }) => version)
          .sort(),
      ],
      expected: [
        [201, 400, 200, 201, 400],
        [1, 2],
      ],
    };
  },
  recordMilestones: async () => {
    const external_id = randomUUID();
    const { id } = await post('/v1/shipments', { external_id });
    const other = await newShipment();
    const milestone = { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' };
    const milestones = [
      { ...milestone, external_id },
      { ...milestone, shipment_id: String(id), code: 'gated_out' },
      { ...milestone, shipment_id: other },
      { ...milestone, external_id: randomUUID() },
      milestone,
    ];
    return {
      path: '/v1/milestones/bulk',
      json: { milestones },
      other: { milestones: milestones.slice(1) },
      effect: async ({ body }) => [
        (body['data'] as JsonObject[]).map(({ status }) => status),
        (await dataOf(`/v1/shipments/${String(id)}/milestones`)).length,
        (await dataOf(`/v1/shipments/${other}/milestones`)).length,
      ],
      expected: [[201, 201, 201, 404, 400], 2, 1],
    };
  },
  recordMilestone: async () => {
    const id = await newShipment();
    const json = { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' };
    return {
      path: `/v1/shipments/${id}/milestones`,
      json,
      other: { ...json, code: 'gated_out' },
      effect: async () => (await dataOf(`/v1/shipments/${id}/milestones`)).length,
      expected: 1,
    };
  },
  cancelShipment: async () => {
    const id = await newShipment();
    return {
      path: `/v1/shipments/${id}/cancel`,
      effect: async ({ body }) => [
        await eventTypes(id),
        (await get(`/v1/shipments/${id}`))['version'] === body['version'],
      ],
      expected: [['shipment.created', 'shipment.updated'], true],
    };
  },
  reopenShipment: async () => {
    const id = await newShipment();
    await post(`/v1/shipments/${id}/cancel`);
    return {
      path: `/v1/shipments/${id}/reopen`,
      effect: async ({ body }) => [
        await eventTypes(id),
        (await get(`/v1/shipments/${id}`))['version'] === body['version'],
      ],
      expected: [['shipment.created', 'shipment.updated', 'shipment.updated'], true],
    };
  },
  openException: async () => {
    const id = await newShipment();
    return {
      path: `/v1/shipments/${id}/exceptions`,
      json: { type: 'lost' },
      other: { type: 'other' },
      effect: async () => (await get(`/v1/shipments/${id}`))['open_exceptions_count'],
      expected: 1,
    };
  },
  acknowledgeException: async () => {
    const { id, shipment_id } = await newException();
    return {
      path: `/v1/exceptions/${id}/acknowledge`,
      json: { note: 'Seen.' },
      other: { note: 'Seen again.' },
      // Each would be a note of its own.
      effect: async () => (await eventTypes(shipment_id)).filter((type) => type === 'exception.updated').length,
      expected: 1,
    };
  },
  resolveException: async () => {
    const { id, shipment_id } = await newException();
    return {
      path: `/v1/exceptions/${id}/resolve`,
      json: { code: 'waived' },
      other: { code: 'fixed' },
      effect: async () => (await get(`/v1/shipments/${shipment_id}`))['open_exceptions_count'],
      expected: 0,
    };
  },
  addDocument: async () => {
    const shipment = await newShipment();
    return {
      path: `/v1/shipments/${shipment}/documents`,
      form: [TYPE, fileOf()],
      other: [TYPE, fileOf(Buffer.from('other bytes'), 'other.txt')],
      effect: async ({ body }) => (await documentsOf(shipment)).map(({ id }) => id === body['id']),
      expected: [true],
    };
  },
  requestUpload: async () => {
    const shipment = await newShipment();
    const json = {
      type: 'photo',
      file_name: 'invoice.pdf',
      content_type: 'application/pdf',
      size_bytes: PDF.length,
      checksum_sha256: sha256(PDF),
    };
    return {
      path: `/v1/shipments/${shipment}/documents/uploads`,
      json,
      other: { ...json, type: 'other' },
      effect: async ({ body }) => [
        (await documentsOf(shipment)).map(({ id }) => id === body['id']),
        (await new DocumentCalls(api, key).put(pathOf((body['upload'] as JsonObject)['url']))).status,
      ],
      expected: [[true], 204],
      expires: true,
    };
  },
  completeUpload: async () => {
    const calls = new DocumentCalls(api, key);
    const { id, path } = await calls.requested(await newShipment());
    await calls.put(path);
    return { path: `/v1/documents/${id}/complete`, effect: () => statusOf(id), expected: 'uploaded' };
  },
  approveDocument: async () => {
    const id = await newDocument();
    return { path: `/v1/documents/${id}/approve`, effect: () => statusOf(id), expected: 'approved' };
  },
  rejectDocument: async () => {
    const id = await newDocument();
    return {
      path: `/v1/documents/${id}/reject`,
      json: { reason: 'Not readable.' },
      other: { reason: 'Of another shipment.' },
      effect: () => statusOf(id),
      expected: 'rejected',
    };
  },
  createWebhookEndpoint: async () => {
    const url = `https://example.com/${randomUUID()}`;
    return {
      path: '/v1/webhook_endpoints',
      json: { url, event_types: ['*'] },
      other: { url, event_types: ['shipment.created'] },
      effect: async () => (await dataOf('/v1/webhook_endpoints')).filter((one) => one['url'] === url).length,
      expected: 1,
    };
  },
  verifyWebhookEndpoint: async () => {
    const { id } = await post('/v1/webhook_endpoints', { url: receiver.url, event_types: ['*'] });
    const path = `/v1/webhook_endpoints/${String(id)}`;
    return {
      path: `${path}/verify`,
      effect: async ({ body }) => (await get(path))['last_verification'] !== null && body['last_verification'] !== null,
      expected: true,
    };
  },
  enableWebhookEndpoint: async () => {
    const path = `/v1/webhook_endpoints/${String((await newEndpoint())['id'])}`;
    await post(`${path}/disable`);
    return { path: `${path}/enable`, effect: async () => (await get(path))['status'], expected: 'enabled' };
  },
  disableWebhookEndpoint: async () => {
    const path = `/v1/webhook_endpoints/${String((await newEndpoint())['id'])}`;
    return { path: `${path}/disable`, effect: async () => (await get(path))['status'], expected: 'disabled' };
  },
  testWebhookEndpoint: async () => {
    const { id } = await newEndpoint();
    return {
      path: `/v1/webhook_endpoints/${String(id)}/test`,
      json: { type: 'shipment.created' },
      other: { type: 'shipment.updated' },
      effect: async () => (await dataOf(`/v1/webhook_deliveries?endpoint_id=${String(id)}`)).length,
      expected: 1,
    };
  },
  rotateWebhookSecret: async () => {
    const { id, secret } = await newEndpoint();
    const path = `/v1/webhook_endpoints/${String(id)}`;
    return {
      path: `${path}/rotate_secret`,
      json: { expires_in_seconds: 60 },
      other: { expires_in_seconds: 61 },
      effect: async ({ body }) => {
        const revealed = await post(`${path}/reveal_secret`);
        const previous = revealed['previous_secrets'] as JsonObject[];
        return [revealed['secret'] === body['secret'], previous.map((one) => one['secret'] === secret)];
      },
      expected: [true, [true]],
    };
  },
  revealWebhookSecret: async () => {
    const { id, secret } = await newEndpoint();
    return {
      path: `/v1/webhook_endpoints/${String(id)}/reveal_secret`,
      effect: async ({ body }) => {
        const entries = await dataOf('/v1/audit_log?type=webhook_endpoint.secret_revealed');
        const ofIt = entries.filter(({ target }) => (target as JsonObject)['id'] === id);
        return [body['secret'] === secret, ofIt.map(({ outcome }) => outcome)];
      },
      expected: [true, ['done']],
    };
  },
  retryWebhookDelivery: async () => {
    const path = await sentTest(await newEndpoint());
    return {
      path: `${path}/retry`,
      effect: async () =>
        eventually(async () => {
          const manual = ((await get(path))['attempts'] as JsonObject[]).filter(
            (attempt) => attempt['manual'] === true,
          );
          expect(manual).not.toEqual([]);
          return manual.length;
        }),
      expected: 1,
    };
  },
  discardWebhookDelivery: async () => {
    receiver.behave(receivers.answers(500, ''));
    const path = await sentTest(await newEndpoint());
    receiver.behave(receivers.answers(204, ''));
    return { path: `${path}/discard`, effect: async () => (await get(path))['status'], expected: 'discarded' };
  },
  replayWebhookDeadLetters: async () => {
    const endpoint_id = await newDeadLetter();
    const path = '/v1/webhook_dead_letters/replay';
    const other = { endpoint_id, reasons: ['timeout'] };
    return { path, json: { endpoint_id }, other, effect: () => replaysOf(endpoint_id), expected: 1 };
  },
  discardWebhookDeadLetters: async () => {
    const endpoint_id = await newDeadLetter();
    const path = '/v1/webhook_dead_letters/discard';
    const other = { endpoint_id, reasons: ['timeout'] };
    return { path, json: { endpoint_id }, other, effect: () => replaysOf(endpoint_id), expected: 1 };
  },
  createWebhookReplay: async () => {
    const endpoint_id = String((await newEndpoint())['id']);
    const path = `/v1/webhook_endpoints/${endpoint_id}/replay`;
    const other = { statuses: ['dead_lettered'] };
    return { path, json: { statuses: ['missed'] }, other, effect: () => replaysOf(endpoint_id), expected: 1 };
  },
  cancelWebhookReplay: async () => {
    const path = await newReplay();
    return { path: `${path}/cancel`, effect: async () => (await get(path))['status'], expected: 'canceled' };
  },
  resumeWebhookReplay: async () => {
    const path = await newReplay();
    await post(`${path}/cancel`);
    return { path: `${path}/resume`, effect: async () => (await get(path))['status'], expected: 'running' };
  },
  createServiceAccount: async () => {
    const json = { name: randomUUID(), role: 'operator' };
    return {
      path: '/v1/service_accounts',
      json,
      other: { ...json, role: 'viewer' },
      effect: async () =>
        (await dataOf('/v1/service_accounts')).filter((account) => account['name'] === json.name).length,
      expected: 1,
    };
  },
  deactivateServiceAccount: async () => {
    const path = `/v1/service_accounts/${await newAccount()}`;
    return {
      path: `${path}/deactivate`,
      effect: async () => pick(await get(path), 'status', 'version'),
      expected: ['deactivated', 2],
    };
  },
  reactivateServiceAccount: async () => {
    const path = `/v1/service_accounts/${await newAccount()}`;
    await post(`${path}/deactivate`);
    return {
      path: `${path}/reactivate`,
      effect: async () => pick(await get(path), 'status', 'version'),
      expected: ['active', 3],
    };
  },
  createApiKey: async () => {
    const json = { name: randomUUID(), environment: 'live', service_account_id: await newAccount() };
    return {
      path: '/v1/api_keys',
      json,
      other: { ...json, environment: 'test' },
      effect: async () => (await keysOf(json.service_account_id)).length,
      expected: 1,
    };
  },
  rotateApiKey: async () => {
    const owner = await newAccount();
    const { id } = await newKey(owner);
    return {
      path: `/v1/api_keys/${String(id)}/rotate`,
      json: { grace_seconds: 60 },
      other: { grace_seconds: 61 },
      effect: async ({ body }) => [
        (await keysOf(owner)).length,
        (await get(`/v1/api_keys/${String(id)}`))['rotated_to'] === body['id'],
      ],
      expected: [2, true],
    };
  },
  revokeApiKey: async () => {
    const path = `/v1/api_keys/${String((await newKey(await newAccount()))['id'])}`;
    return {
      path: `${path}/revoke`,
      effect: async ({ body }) => (await get(path))['revoked_at'] === body['revoked_at'],
      expected: true,
    };
  },
  inviteUser: async () => {
    const json = { email: `${randomUUID()}@example.com`, role: 'operator' };
    return {
      path: '/v1/users',
      json,
      other: { ...json, role: 'viewer' },
      effect: async ({ body }) => [
        (await dataOf('/v1/users?limit=200')).filter(({ email }) => email === json.email).length,
        await isGood(body['invitation_url']),
      ],
      expected: [1, true],
    };
  },
  useInvitation: async () => {
    const { id, link } = await invited();
    return {
      path: link,
      json: { name: 'Ann', password: 'correct horse battery' },
      credentials: byUs(),
      effect: async () => [
        ...pick(await get(`/v1/users/${id}`), 'status', 'name'),
        (await api.call('GET', link)).status,
      ],
      expected: ['active', 'Ann', 404],
    };
  },
  deactivateUser: async () => {
    const path = `/v1/users/${(await joined()).id}`;
    return { path: `${path}/deactivate`, effect: async () => (await get(path))['status'], expected: 'deactivated' };
  },
  reactivateUser: async () => {
    const path = `/v1/users/${(await joined()).id}`;
    await post(`${path}/deactivate`);
    return { path: `${path}/reactivate`, effect: async () => (await get(path))['status'], expected: 'active' };
  },
  resetUserPassword: async () => ({
    path: `/v1/users/${(await joined()).id}/reset_password`,
    effect: ({ body }) => isGood(body['reset_url']),
    expected: true,
  }),
  signIn: async () => {
    const { email, password } = await joined();
    return {
      path: '/v1/session',
      json: { email, password },
      credentials: byUs(),
      effect: async ({ headers }) => (await sessionsOf(headers)).length,
      expected: 1,
    };
  },
  changePassword: async () => {
    const { email, password } = await joined();
    const signedIn = async (by: string) =>
      api.call('POST', '/v1/session', { json: { email, password: by }, headers: byUs() });
    const { headers } = await signedIn(password);
    const credentials = { ...byUs(), ...cookieOf(headers) };
    await signedIn(password);
    return {
      path: '/v1/session/password',
      json: { current_password: password, new_password: 'another correct horse' },
      credentials,
      // The other session has ended.
      effect: async () => [
        (await sessionsOf(headers)).length,
        (await signedIn(password)).status,
        (await signedIn('another correct horse')).status,
      ],
      expected: [1, 401, 200],
    };
  },
};

/** The present version, where the operation may insist on one: a repeat is not refused by what it did itself. */
async function ifMatch(path: string): Promise<Record<string, string>> {
  const resource = /^(\/v1\/\w+\/\w+)\/(?!(?:test|replay|reveal_secret)$)\w+$/.exec(path)?.[1];
  if (resource === undefined) return {};
  const { headers } = await api.call('GET', resource, { key });
  return { 'if-match': headers.get('etag') ?? 'none' };
}

/** The fields of an answer that every repeat has. */
const told = ({ status, headers, body, text }: Answer, expires = false) => ({
  status,
  content: expires ? { ...body, upload: null } : text,
  headers: ['content-type', 'location', 'etag', 'set-cookie'].map((name) => headers.get(name)),
});

describe.each([
  ['as of a process that is alone on its data', 0],
  ['as of one among several', TAKE_OVER_MS],
])('a gateway is killed at a step, its claim counting %s', (_, takeOverAfterMs) => {
  const mortal = new MortalGateway();
  let ahead = 0;
  let gateways: readonly Api['call'][];
  beforeAll(async () => {
    const options = { takeOverAfterMs, clock: () => new Date(Date.now() + ahead) };
    const documentStore = mortal.store(api.storage.documentStore);
    const dying = {
      idempotency: await api.claims({ ...options, documentStore }),
      ...mortal.features(api.dependencies),
    };
    const left = [await api.claims(options), await api.claims(options)].map((idempotency) => ({ idempotency }));
    gateways = await Promise.all([dying, ...left].map((differing) => api.gateway(differing)));
  });

  /** Sends it to a gateway that dies at the step, then to others; answers whether it died. */
  async function survives(prepare: () => Promise<Prepared>, step: number, before: boolean): Promise<boolean> {
    const { path, json, form, credentials, other, effect, expected, expires = false } = await prepare();
    const [dying, second, third] = gateways;
    if (!dying || !second || !third) throw new Error('three gateways');
    const headers = { 'idempotency-key': randomUUID(), ...(await ifMatch(path)), ...credentials };
    const by = credentials === undefined ? key : undefined;
    const { type, ...body } = bodyOf(form ?? json);
    const send = (call: Api['call']) => call('POST', path, { key: by, ...body, headers: { ...headers, ...type } });

    mortal.revive(step, before);
    const first = await send(dying);
    let answer = mortal.dead ? await send(second) : first;
    if (answer.status === 409) {
      // Nobody can know yet that it died.
      expect([takeOverAfterMs, answer.text]).toEqual([
        TAKE_OVER_MS,
        expect.stringContaining('idempotency_in_progress'),
      ]);
      expect(answer.headers.get('retry-after')).toBe('1');
      ahead += TAKE_OVER_MS;
      answer = await send(second);
    }
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
    for (const gateway of [third, second, third]) {
      const again = await send(gateway);
      const isReplayed = again.headers.get('idempotency-replayed') === 'true';
      expect([told(again, expires), isReplayed]).toEqual([told(answer, expires), !expires]);
    }
    expect(await effect(answer)).toEqual(expected);
    if (other) {
      const { type: itsType, ...its } = bodyOf(other);
      const refused = await third('POST', path, { key, ...its, headers: { ...headers, ...itsType } });
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('idempotency_key_reused')]);
    }
    return mortal.dead;
  }

  for (const [index, operation] of Object.keys(OPERATIONS).entries()) {
    // One that is alone on its data takes a claim over by the same code, only sooner: the short form samples the operations.
    const isShort = takeOverAfterMs > 0 || index % 5 === 0;
    (isShort ? it : itInSoak)(`${operation} has one outcome and one answer`, async () => {
      const prepare = OPERATIONS[operation];
      if (!prepare) throw new Error(operation);
      const steps: number[] = [];
      for (const before of [true, false]) {
        let step = 1;
        while (await survives(prepare, step, before)) step += 1;
        steps.push(step - 1);
      }
      // Its claim, its command with the entry of it, its answer.
      const count = STEPS[operation] ?? (AUDITED.test(operation) ? 5 : 3);
      expect(steps).toEqual([count, count]);
    });
  }
});

it('every POST is among them', async () => {
  const { body } = await api.call('GET', '/openapi.json');
  const paths = Object.values(body['paths'] as Record<string, { post?: { operationId: string } }>);
  const posts = paths.flatMap(({ post: operation }) => (operation ? [operation.operationId] : []));
  expect(Object.keys(OPERATIONS).sort()).toEqual(posts.sort());
});

describe('an attempt that was taken for dead', () => {
  it('sends the answer of the one that took its place', async () => {
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { shipments } = api.dependencies;
    let ahead = 0;
    const options = { takeOverAfterMs: TAKE_OVER_MS, clock: () => new Date(Date.now() + ahead) };
    const slow = await api.gateway({
      idempotency: await api.claims(options),
      shipments: overriding(shipments, {
        upsertShipment: async (command) => {
          begun.resolve();
          await held.promise;
          return shipments.upsertShipment(command);
        },
      }),
    });
    const fast = await api.gateway({ idempotency: await api.claims(options) });
    const json = { house_bill: randomUUID() };
    const request = { key, json, headers: { 'idempotency-key': randomUUID() } };
    const first = slow('POST', '/v1/shipments', request);
    await begun.promise;
    ahead = TAKE_OVER_MS;
    const second = await fast('POST', '/v1/shipments', request);
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, null]);
    await api.call('POST', `/v1/shipments/${String(second.body['id'])}/cancel`, { key });
    held.resolve();
    const late = await first;
    expect([told(late), late.headers.get('idempotency-replayed')]).toEqual([told(second), 'true']);
  });

  it('sends none while the other one is at it', async () => {
    const holds = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { shipments } = api.dependencies;
    const gateways = await Promise.all(
      holds.map(async (held, index) =>
        api.gateway({
          idempotency: await api.claims({ takeOverAfterMs: 0 }),
          shipments: overriding(shipments, {
            upsertShipment: async (command) => {
              begun[index]?.resolve();
              await held.promise;
              return shipments.upsertShipment(command);
            },
          }),
        }),
      ),
    );
    const request = { key, json: { house_bill: randomUUID() }, headers: { 'idempotency-key': randomUUID() } };
    const [first, second] = gateways.map((call, index) => async () => {
      const answering = call('POST', '/v1/shipments', request);
      await begun[index]?.promise;
      return answering;
    });
    if (!first || !second) throw new Error('two gateways');
    const early = first();
    await begun[0]?.promise;
    const late = second();
    await begun[1]?.promise;
    holds[0]?.resolve();
    const refused = await early;
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('idempotency_in_progress')]);
    expect(refused.headers.get('location')).toBeNull();
    holds[1]?.resolve();
    const answer = await late;
    expect(answer.status).toBe(201);
    expect(told(await api.call('POST', '/v1/shipments', request))).toEqual(told(answer));
  });
});
