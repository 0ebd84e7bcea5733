import { randomBytes, randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { eventually, itInSoak, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import {
  DocumentApiTestClient,
  SMALL_PDF,
  SAMPLE_DOCUMENT_TYPE_PART,
  createFormFilePart,
  encodeMultipartForm,
  sha256,
} from './document-calls.ts';
import type { FormPart } from './document-calls.ts';
import { CrashingGateway } from './crashing-gateway.ts';
import { startApi, overrideOperations } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

const TAKE_OVER_MS = 15_000;

let api: Api;
let receiver: ClientWebhookTestReceiver;
let key: string;
beforeAll(async () => {
  api = await startApi({
    settings: { trustedProxies: ['127.0.0.1'] },
    // The quota is disabled, because the tests verify more endpoints of one host than a minute allows.
    override: ({ quota }) => ({
      quota: overrideOperations(quota, {
        takeQuotaForRequest: (name, limit) => quota.takeQuotaForRequest(`${name} ${randomUUID()}`, limit),
      }),
    }),
  });
  receiver = await startClientReceiver();
});
// Each test has its own workspace, so that one scope holds all the endpoints of an operation.
beforeEach(async () => {
  key = await api.key('admin', 'live', `workspace-${randomUUID()}`);
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

/** A POST that was not sent yet, and its expected effect. */
interface Prepared {
  readonly path: string;
  readonly json?: JsonObject;
  /** Form that is sent instead of JSON. */
  readonly form?: readonly FormPart[];
  /** Credentials of the request, if it does not use the key of the test. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Another body, for which the same idempotency key is refused. */
  readonly other?: JsonObject | readonly FormPart[];
  /** True if the response is not stored, because it contains an upload URL or sets a cookie. */
  readonly expires?: true;
  /** Returns what the request created or changed, which must be the same however often the request was sent. */
  effect(answer: ApiResponse): Promise<unknown>;
  readonly expected: unknown;
}

const get = async (path: string) => (await api.call('GET', path, { key })).body;
const dataOf = async (path: string) => (await get(path))['data'] as JsonObject[];
const post = async (path: string, json?: JsonObject) => {
  const { status, body, text } = await api.call('POST', path, { key, json });
  if (status >= 300) throw new Error(`${path}: ${text}`);
  return body;
};
const idOf = async (made: Promise<JsonObject>) => String((await made)['id']);
const pick = (from: JsonObject, ...names: readonly string[]) => names.map((name) => from[name]);
/** Returns the items of a list whose field has the value. */
const withField = async (list: string, field: string, value: unknown) =>
  (await dataOf(list)).filter((one) => one[field] === value);

const newShipment = () => idOf(post('/v1/shipments', { house_bill: randomUUID() }));
const shipmentsWith = (house_bill: string) => withField('/v1/shipments?limit=200', 'house_bill', house_bill);
const milestonesOf = async (shipment: string) => (await dataOf(`/v1/shipments/${shipment}/milestones`)).length;
const openExceptions = async (shipment: string) => (await get(`/v1/shipments/${shipment}`))['open_exceptions_count'];
const eventTypes = async (shipment: string) => {
  const events = await eventually(async () => {
    const found = await dataOf(`/v1/events?shipment_id=${shipment}`);
    expect(found).not.toEqual([]);
    return found;
  });
  return events.map(({ type }) => type);
};
const newException = async () => {
  const shipment = await newShipment();
  return { shipment, path: `/v1/exceptions/${await idOf(post(`/v1/shipments/${shipment}/exceptions`, OTHER))}` };
};
const OTHER = { type: 'other' };
const GATED_IN = { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' };

const documentsOf = (shipment: string) => dataOf(`/v1/shipments/${shipment}/documents`);
const newDocument = async () =>
  `/v1/documents/${String((await new DocumentApiTestClient(api, key).uploadDocument(await newShipment()))['id'])}`;
/** Returns the options of a call for a form or a JSON body. */
const bodyOf = (body: JsonObject | readonly FormPart[] | undefined) =>
  Array.isArray(body)
    ? {
        raw: new Uint8Array(encodeMultipartForm(body as readonly FormPart[])),
        type: { 'content-type': 'multipart/form-data; boundary=b' },
      }
    : { json: body, type: {} };

const newEndpoint = () => createEnabledEndpoint(api, key, receiver.url);
const newEndpointPath = async () => `/v1/webhook_endpoints/${await idOf(newEndpoint())}`;
const deliveriesOf = (endpoint: string) => dataOf(`/v1/webhook_deliveries?endpoint_id=${endpoint}`);
const replaysOf = (endpoint: string) => dataOf(`/v1/webhook_replays?endpoint_id=${endpoint}`);
/** Creates a delivery that has ended. */
const sentTest = async () => {
  const path = `/v1/webhook_deliveries/${await idOf(post(`${await newEndpointPath()}/test`, CREATED))}`;
  await eventually(async () => expect((await get(path))['completed_at']).not.toBeNull());
  return path;
};
const CREATED = { type: 'shipment.created' };
/**
 * Creates a replay that has started the first event of the workspace, and waits because its endpoint requests a pause.
 */
const newReplay = async () => {
  await eventTypes(await newShipment());
  receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(503, '', { 'retry-after': '3600' }));
  const endpoint = await idOf(newEndpoint());
  const path = `/v1/webhook_replays/${await idOf(post(`/v1/webhook_endpoints/${endpoint}/replay`, {}))}`;
  await eventually(async () => {
    expect((await deliveriesOf(endpoint)).map(({ attempts_count }) => attempts_count)).toContain(1);
  });
  return path;
};
/** Creates a dead letter of an endpoint, and enables the endpoint again. */
const newDeadLetter = async () => {
  const endpoint = await idOf(newEndpoint());
  receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(410, ''));
  await api.publish({
    id: `evt_${randomUUID()}`,
    type: 'shipment.created',
    api_version: '2026-11-01',
    created_at: new Date().toISOString(),
    environment: 'live',
    workspace_id: String(((await get('/v1/session'))['workspace'] as JsonObject)['id']),
    data: { shipment_id: 'shp_a' },
  });
  const found = `/v1/webhook_deliveries?status=dead_lettered&endpoint_id=${endpoint}`;
  await eventually(async () => expect(await dataOf(found)).toHaveLength(1));
  receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(204, ''));
  await post(`/v1/webhook_endpoints/${endpoint}/enable`);
  return endpoint;
};

const newAccount = () => idOf(post('/v1/service_accounts', { name: randomUUID(), role: 'operator' }));
const newKey = async (service_account_id: string) =>
  `/v1/api_keys/${await idOf(post('/v1/api_keys', { name: randomUUID(), environment: 'live', service_account_id }))}`;
const keysOf = async (owner: string) =>
  (await dataOf('/v1/api_keys?limit=200')).filter((one) => (one['owner'] as JsonObject)['id'] === owner);
const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'another correct horse';
/** Returns the API path of the one-time link in a URL. */
const linkOf = (address: unknown) => `/v1/invitations/${String(address).split('#')[1]}`;
const isGood = async (address: unknown) => (await api.call('GET', linkOf(address))).status === 200;
const invited = async () => {
  const { id, invitation_url } = await post('/v1/users', { email: `${randomUUID()}@example.com`, role: 'operator' });
  return { path: `/v1/users/${String(id)}`, link: linkOf(invitation_url) };
};
const joined = async () => {
  const { path, link } = await invited();
  const { email } = await post(link, { name: 'Ann', password: PASSWORD });
  return { path, email: String(email) };
};
/**
 * Returns headers of a page of the web application, with a random client address, because attempts from one address are
 * limited.
 */
const fromPage = () => ({ 'x-requested-with': 'test', 'x-forwarded-for': `10.${[...randomBytes(3)].join('.')}` });
const signedIn = (email: string, password: string) =>
  api.call('POST', '/v1/session', { json: { email, password }, headers: fromPage() });
const cookieOf = (headers: Headers) => {
  const cookies = headers.getSetCookie().map((each) => each.split(';')[0]);
  return { cookie: cookies.join('; ') };
};
const sessionsOf = async (headers: Headers) => {
  const { body } = await api.call('GET', '/v1/sessions', { headers: cookieOf(headers) });
  return (body['data'] as JsonObject[]).length;
};

/** Pattern of audited operations, whose change is written between the two writes of the audit entry. */
const AUDITED =
  /^(create|verify|enable|disable)WebhookEndpoint$|Webhook(Secret|Replay|DeadLetters)$|^discardWebhookDelivery$|ServiceAccount$|ApiKey$|User|^useInvitation$/;
/** Number of crash points of operations with a different number of steps, such as bulk requests of three items. */
const STEPS: Readonly<Record<string, number>> = {
  changePassword: 5,
  upsertShipments: 5,
  recordMilestones: 5,
  addDocument: 4,
};

/** Describes a POST that creates one thing, however often it is sent. */
const makes = (
  request: Pick<Prepared, 'path' | 'json' | 'other'>,
  made: () => Promise<readonly unknown[]>,
): Prepared => ({ ...request, effect: async () => (await made()).length, expected: 1 });

/** Describes a POST below a resource after which a field of the resource has a value. */
const leaves = (path: string, verb: string, field: string, expected: unknown, json?: JsonObject): Prepared => ({
  path: `${path}/${verb}`,
  ...(json !== undefined && { json }),
  effect: async () => (await get(path))[field],
  expected,
});

/** Changes a resource before the tested operation, and returns its path. */
const after = async (path: string | Promise<string>, verb: string) => {
  await post(`${await path}/${verb}`);
  return path;
};

/** Describes a POST below a shipment that announces one event. */
const changesShipment = (id: string, verb: string, types: readonly string[]): Prepared => ({
  path: `/v1/shipments/${id}/${verb}`,
  effect: async ({ body }) => [await eventTypes(id), (await get(`/v1/shipments/${id}`))['version'] === body['version']],
  expected: [types, true],
});

const OPERATIONS: Readonly<Record<string, () => Promise<Prepared>>> = {
  upsertShipment: async () => {
    const house_bill = randomUUID();
    const request = { path: '/v1/shipments', json: { house_bill }, other: { house_bill: randomUUID() } };
    return makes(request, () => shipmentsWith(house_bill));
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
        (await shipmentsWith(house_bill)).map(({ version }) => version).sort(),
      ],
      expected: [
        [201, 400, 200, 201, 400],
        [1, 2],
      ],
    };
  },
  recordMilestones: async () => {
    const external_id = randomUUID();
    const shipment = await idOf(post('/v1/shipments', { external_id }));
    const another = await newShipment();
    const milestones = [
      { ...GATED_IN, external_id },
      { ...GATED_IN, shipment_id: shipment, code: 'gated_out' },
      { ...GATED_IN, shipment_id: another },
      { ...GATED_IN, external_id: randomUUID() },
      GATED_IN,
    ];
    return {
      path: '/v1/milestones/bulk',
      json: { milestones },
      other: { milestones: milestones.slice(1) },
      effect: async ({ body }) => [
        (body['data'] as JsonObject[]).map(({ status }) => status),
        await milestonesOf(shipment),
        await milestonesOf(another),
      ],
      expected: [[201, 201, 201, 404, 400], 2, 1],
    };
  },
  recordMilestone: async () => {
    const path = `/v1/shipments/${await newShipment()}/milestones`;
    return makes({ path, json: GATED_IN, other: { ...GATED_IN, code: 'gated_out' } }, () => dataOf(path));
  },
  cancelShipment: async () => changesShipment(await newShipment(), 'cancel', ['shipment.created', 'shipment.updated']),
  reopenShipment: async () => {
    const shipment = await newShipment();
    await post(`/v1/shipments/${shipment}/cancel`);
    return changesShipment(shipment, 'reopen', ['shipment.created', 'shipment.updated', 'shipment.updated']);
  },
  openException: async () => {
    const shipment = await newShipment();
    const path = `/v1/shipments/${shipment}/exceptions`;
    return { path, json: { type: 'lost' }, other: OTHER, effect: () => openExceptions(shipment), expected: 1 };
  },
  acknowledgeException: async () => {
    const { path, shipment } = await newException();
    const request = { path: `${path}/acknowledge`, json: { note: 'Seen.' }, other: { note: 'Seen again.' } };
    // Each executed acknowledgement would add a note.
    return makes(request, async () => (await eventTypes(shipment)).filter((type) => type === 'exception.updated'));
  },
  resolveException: async () => {
    const { path, shipment } = await newException();
    const request = { path: `${path}/resolve`, json: { code: 'waived' }, other: { code: 'fixed' } };
    return { ...request, effect: () => openExceptions(shipment), expected: 0 };
  },
  addDocument: async () => {
    const shipment = await newShipment();
    return {
      path: `/v1/shipments/${shipment}/documents`,
      form: [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()],
      other: [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.from('other bytes'), 'other.txt')],
      effect: async ({ body }) => (await documentsOf(shipment)).map(({ id }) => id === body['id']),
      expected: [true],
    };
  },
  requestUpload: async () => {
    const shipment = await newShipment();
    const content = {
      content_type: 'application/pdf',
      size_bytes: SMALL_PDF.length,
      checksum_sha256: sha256(SMALL_PDF),
    };
    const json = { type: 'photo', file_name: 'invoice.pdf', ...content };
    const uploadPath = ({ url }: JsonObject) => String(url).replace('https://api.example', '');
    return {
      path: `/v1/shipments/${shipment}/documents/uploads`,
      json,
      other: { ...json, type: 'other' },
      effect: async ({ body }) => [
        (await documentsOf(shipment)).map(({ id }) => id === body['id']),
        (await new DocumentApiTestClient(api, key).putFileToUploadUrl(uploadPath(body['upload'] as JsonObject))).status,
      ],
      expected: [[true], 204],
      expires: true,
    };
  },
  completeUpload: async () => {
    const calls = new DocumentApiTestClient(api, key);
    const { id, path } = await calls.requestUpload(await newShipment());
    await calls.putFileToUploadUrl(path);
    return leaves(`/v1/documents/${id}`, 'complete', 'status', 'uploaded');
  },
  approveDocument: async () => leaves(await newDocument(), 'approve', 'status', 'approved'),
  rejectDocument: async () => ({
    ...leaves(await newDocument(), 'reject', 'status', 'rejected', { reason: 'Not readable.' }),
    other: { reason: 'Of another shipment.' },
  }),
  createWebhookEndpoint: async () => {
    const [path, url] = ['/v1/webhook_endpoints', `https://example.com/${randomUUID()}`];
    const request = { path, json: { url, event_types: ['*'] }, other: { url, event_types: ['shipment.created'] } };
    return makes(request, () => withField(path, 'url', url));
  },
  verifyWebhookEndpoint: async () => {
    const path = `/v1/webhook_endpoints/${await idOf(post('/v1/webhook_endpoints', { url: receiver.url, event_types: ['*'] }))}`;
    return {
      path: `${path}/verify`,
      effect: async ({ body }) => (await get(path))['last_verification'] !== null && body['last_verification'] !== null,
      expected: true,
    };
  },
  enableWebhookEndpoint: async () => leaves(await after(newEndpointPath(), 'disable'), 'enable', 'status', 'enabled'),
  disableWebhookEndpoint: async () => leaves(await newEndpointPath(), 'disable', 'status', 'disabled'),
  testWebhookEndpoint: async () => {
    const endpoint = await idOf(newEndpoint());
    const request = {
      path: `/v1/webhook_endpoints/${endpoint}/test`,
      json: CREATED,
      other: { type: 'shipment.updated' },
    };
    return makes(request, () => deliveriesOf(endpoint));
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
    const path = await sentTest();
    const manual = () =>
      eventually(async () => {
        const found = ((await get(path))['attempts'] as JsonObject[]).filter((attempt) => attempt['manual'] === true);
        expect(found).not.toEqual([]);
        return found;
      });
    return makes({ path: `${path}/retry` }, manual);
  },
  discardWebhookDelivery: async () => {
    receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(500, ''));
    const path = await sentTest();
    receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(204, ''));
    return leaves(path, 'discard', 'status', 'discarded');
  },
  replayWebhookDeadLetters: async () => {
    const endpoint_id = await newDeadLetter();
    const other = { endpoint_id, reasons: ['timeout'] };
    const request = { path: '/v1/webhook_dead_letters/replay', json: { endpoint_id }, other };
    return makes(request, () => replaysOf(endpoint_id));
  },
  discardWebhookDeadLetters: async () => {
    const endpoint_id = await newDeadLetter();
    const other = { endpoint_id, reasons: ['timeout'] };
    const request = { path: '/v1/webhook_dead_letters/discard', json: { endpoint_id }, other };
    return makes(request, () => replaysOf(endpoint_id));
  },
  createWebhookReplay: async () => {
    const endpoint = await idOf(newEndpoint());
    const [json, other] = [{ statuses: ['missed'] }, { statuses: ['dead_lettered'] }];
    return makes({ path: `/v1/webhook_endpoints/${endpoint}/replay`, json, other }, () => replaysOf(endpoint));
  },
  cancelWebhookReplay: async () => leaves(await newReplay(), 'cancel', 'status', 'canceled'),
  resumeWebhookReplay: async () => leaves(await after(newReplay(), 'cancel'), 'resume', 'status', 'running'),
  createServiceAccount: async () => {
    const path = '/v1/service_accounts';
    const json = { name: randomUUID(), role: 'operator' };
    return makes({ path, json, other: { ...json, role: 'viewer' } }, () => withField(path, 'name', json.name));
  },
  deactivateServiceAccount: async () => {
    const path = `/v1/service_accounts/${await newAccount()}`;
    const effect = async () => pick(await get(path), 'status', 'version');
    return { path: `${path}/deactivate`, effect, expected: ['deactivated', 2] };
  },
  reactivateServiceAccount: async () => {
    const path = await after(`/v1/service_accounts/${await newAccount()}`, 'deactivate');
    const effect = async () => pick(await get(path), 'status', 'version');
    return { path: `${path}/reactivate`, effect, expected: ['active', 3] };
  },
  createApiKey: async () => {
    const json = { name: randomUUID(), environment: 'live', service_account_id: await newAccount() };
    const request = { path: '/v1/api_keys', json, other: { ...json, environment: 'test' } };
    return makes(request, () => keysOf(json.service_account_id));
  },
  rotateApiKey: async () => {
    const owner = await newAccount();
    const path = await newKey(owner);
    return {
      path: `${path}/rotate`,
      json: { grace_seconds: 60 },
      other: { grace_seconds: 61 },
      effect: async ({ body }) => [(await keysOf(owner)).length, (await get(path))['rotated_to'] === body['id']],
      expected: [2, true],
    };
  },
  revokeApiKey: async () => {
    const path = await newKey(await newAccount());
    const effect = async ({ body }: ApiResponse) => (await get(path))['revoked_at'] === body['revoked_at'];
    return { path: `${path}/revoke`, effect, expected: true };
  },
  inviteUser: async () => {
    const json = { email: `${randomUUID()}@example.com`, role: 'operator' };
    return {
      path: '/v1/users',
      json,
      other: { ...json, role: 'viewer' },
      effect: async ({ body }) => [
        (await withField('/v1/users?limit=200', 'email', json.email)).length,
        await isGood(body['invitation_url']),
      ],
      expected: [1, true],
    };
  },
  useInvitation: async () => {
    const { path, link } = await invited();
    return {
      path: link,
      json: { name: 'Ann', password: PASSWORD },
      credentials: fromPage(),
      effect: async () => [...pick(await get(path), 'status', 'name'), (await api.call('GET', link)).status],
      expected: ['active', 'Ann', 404],
    };
  },
  deactivateUser: async () => leaves((await joined()).path, 'deactivate', 'status', 'deactivated'),
  reactivateUser: async () =>
    leaves(await after((await joined()).path, 'deactivate'), 'reactivate', 'status', 'active'),
  resetUserPassword: async () => ({
    path: `${(await joined()).path}/reset_password`,
    effect: ({ body }) => isGood(body['reset_url']),
    expected: true,
  }),
  signIn: async () => ({
    path: '/v1/session',
    json: { email: (await joined()).email, password: PASSWORD },
    credentials: fromPage(),
    expires: true,
    effect: ({ headers }) => sessionsOf(headers),
    expected: 1,
  }),
  changePassword: async () => {
    const { email } = await joined();
    const { headers } = await signedIn(email, PASSWORD);
    const session = { ...fromPage(), ...cookieOf(headers) };
    const json = { name: randomUUID(), environment: 'live' };
    const { body } = await api.call('POST', '/v1/api_keys', { json, headers: session });
    return {
      path: '/v1/session/password',
      json: { current_password: PASSWORD, new_password: NEW_PASSWORD },
      // The request uses a key of the user, because the password change ends the session, which could then not
      // authenticate a repeat.
      credentials: { authorization: `Bearer ${String(body['key'])}` },
      effect: async () => [
        (await api.call('GET', '/v1/session', { headers: session })).status,
        (await signedIn(email, PASSWORD)).status,
        (await signedIn(email, NEW_PASSWORD)).status,
      ],
      expected: [401, 401, 200],
    };
  },
};

/**
 * Returns `If-Match` with the current version for operations that support it. The request's own change must not refuse
 * its repeat.
 */
async function ifMatch(path: string): Promise<Record<string, string>> {
  const resource = /^(\/v1\/\w+\/\w+)\/(?!(?:test|replay|reveal_secret)$)\w+$/.exec(path)?.[1];
  if (resource === undefined) return {};
  const { headers } = await api.call('GET', resource, { key });
  return { 'if-match': headers.get('etag') ?? 'none' };
}

/** Returns the fields of a response that every repeat must have. */
const told = ({ status, headers, body, text }: ApiResponse, expires = false) => ({
  status,
  content: expires ? { ...body, upload: null } : text,
  headers: ['content-type', 'location', 'etag', 'set-cookie'].map((name) => headers.get(name)),
});

describe.each([
  ['as of a process that is alone on its data', 0],
  ['as of one among several', TAKE_OVER_MS],
])('a gateway is killed at a step, its claim counting %s', (_, takeOverAfterMs) => {
  const mortal = new CrashingGateway();
  let ahead = 0;
  let gateways: readonly Api['call'][];
  beforeAll(async () => {
    const options = { takeOverAfterMs, clock: () => new Date(Date.now() + ahead) };
    const documentStore = mortal.makeStoreFailAfterCrash(api.storage.documentStore);
    const dying = {
      idempotency: await api.claims({ ...options, documentStore }),
      ...mortal.wrapFeaturesToFailAfterCrash(api.dependencies),
    };
    const left = [await api.claims(options), await api.claims(options)].map((idempotency) => ({ idempotency }));
    gateways = await Promise.all([dying, ...left].map((differing) => api.gateway(differing)));
  });

  /**
   * Sends the request to a gateway that crashes at the step, then to other gateways. Returns true if the gateway
   * crashed.
   */
  async function survives(prepare: () => Promise<Prepared>, step: number, before: boolean): Promise<boolean> {
    const { path, json, form, credentials, other, effect, expected, expires = false } = await prepare();
    const [dying, second, third] = gateways;
    if (!dying || !second || !third) throw new Error('three gateways');
    const headers = { 'idempotency-key': randomUUID(), ...(await ifMatch(path)), ...credentials };
    const by = credentials === undefined ? key : undefined;
    const { type, ...body } = bodyOf(form ?? json);
    const send = (call: Api['call']) => call('POST', path, { key: by, ...body, headers: { ...headers, ...type } });

    mortal.restartGatewayWithPlannedCrash(step, before);
    const first = await send(dying);
    let answer = mortal.isDead ? await send(second) : first;
    if (answer.status === 409) {
      // The claim cannot be taken over yet, because the crash is not known.
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
    return mortal.isDead;
  }

  for (const [index, operation] of Object.keys(OPERATIONS).entries()) {
    // A process that is alone on its data takes over a claim with the same code, only sooner, so the short form tests a
    // sample of the operations.
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
      // Steps of an operation: its claim, its command with the audit entry, and its response.
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
  /** Creates a gateway whose upserts begin, and then wait until they are released. */
  async function heldGateway(options: Parameters<Api['claims']>[0]) {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { shipments } = api.dependencies;
    const call = await api.gateway({
      idempotency: await api.claims(options),
      shipments: overrideOperations(shipments, {
        upsertShipment: async (command) => {
          begun.resolve();
          await released.promise;
          return shipments.upsertShipment(command);
        },
      }),
    });
    return { call, begun: begun.promise, release: () => released.resolve() };
  }
  const newRequest = () => ({
    key,
    json: { house_bill: randomUUID() },
    headers: { 'idempotency-key': randomUUID() },
  });

  it('sends the answer of the one that took its place', async () => {
    let ahead = 0;
    const options = { takeOverAfterMs: TAKE_OVER_MS, clock: () => new Date(Date.now() + ahead) };
    const slow = await heldGateway(options);
    const fast = await api.gateway({ idempotency: await api.claims(options) });
    const request = newRequest();
    const first = slow.call('POST', '/v1/shipments', request);
    await slow.begun;
    ahead = TAKE_OVER_MS;
    const second = await fast('POST', '/v1/shipments', request);
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, null]);
    await api.call('POST', `/v1/shipments/${String(second.body['id'])}/cancel`, { key });
    slow.release();
    const late = await first;
    expect([told(late), late.headers.get('idempotency-replayed')]).toEqual([told(second), 'true']);
  });

  it('sends none while the other one is at it', async () => {
    const [first, second] = [await heldGateway({ takeOverAfterMs: 0 }), await heldGateway({ takeOverAfterMs: 0 })];
    const request = newRequest();
    const early = first.call('POST', '/v1/shipments', request);
    await first.begun;
    const late = second.call('POST', '/v1/shipments', request);
    await second.begun;
    first.release();
    const refused = await early;
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('idempotency_in_progress')]);
    expect(refused.headers.get('location')).toBeNull();
    second.release();
    const answer = await late;
    expect(answer.status).toBe(201);
    expect(told(await api.call('POST', '/v1/shipments', request))).toEqual(told(answer));
  });
});
