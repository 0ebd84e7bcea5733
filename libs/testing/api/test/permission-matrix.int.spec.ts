import { randomUUID } from 'node:crypto';
import { ENVIRONMENTS, USER_ROLES } from '@tracking/contracts';
import type { Environment, JsonObject, Permission, Principal, Role, ServiceAccount, User } from '@tracking/contracts';
import type { Access, OperationId } from '@tracking/http';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import type { StartedSession, IdentityCommand, AccessToApiKeys } from '@tracking/identity';
import { startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { resolveReferencesInPaths } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

/**
 * Matrix of operations and principals: every operation of the API, called with every kind of credentials of every role
 * in both environments, for resources of the caller, of another workspace and of the other environment. The tables of
 * this file state the expected responses independently of the product's own tables. A new operation, role or kind of
 * principal does not compile without its row.
 */

const READS = ['shipments:read', 'documents:read'] as const;
const WORKS = [
  'shipments:write',
  'milestones:write',
  'documents:write',
  'documents:approve',
  'exceptions:write',
] as const;
const FEEDS = ['shipments:write', 'milestones:write', 'milestones:feed'] as const;
const BUILDS = ['webhooks:manage', 'keys:manage'] as const;

/** Permissions by role, as in docs/reference/identity.md#roles. */
const MAY: Readonly<Record<Role, Readonly<Record<Environment, readonly Permission[]>>>> = {
  viewer: inBoth(...READS),
  operator: inBoth(...READS, ...WORKS),
  feed: inBoth('shipments:read', ...FEEDS),
  developer: { live: [...READS, ...BUILDS], test: [...READS, ...BUILDS, ...WORKS, ...FEEDS] },
  admin: inBoth(...READS, ...WORKS, ...FEEDS, ...BUILDS, 'workspace:admin'),
};
function inBoth(...permissions: Permission[]) {
  return { live: permissions, test: permissions };
}

/** Resources of a workspace and environment that requests address. */
interface Things {
  readonly shipment: string;
  /** Milestone of the shipment. */
  readonly milestone: string;
  readonly exception: string;
  readonly document: string;
  /** Document whose bytes were not uploaded yet. */
  readonly upload: string;
  /** Token of the upload URL of this document. */
  readonly uploadToken: string;
  readonly event: string;
  readonly endpoint: string;
  readonly delivery: string;
  readonly replay: string;
  readonly account: string;
  /** Key of a service account that is not an admin. */
  readonly key: string;
  readonly user: string;
  /** Session of a user who sends no requests. */
  readonly session: string;
  /** Token of a one-time link. */
  readonly link: string;
}

interface Sample {
  readonly access: Access;
  /** Kind of the resource whose id is in the path. */
  readonly of?: Exclude<keyof Things, 'milestone' | 'uploadToken'>;
  /** Body that is validated before the owner of the resource is checked. */
  readonly json?: object;
  /** Form that is validated before the owner of the resource is checked. */
  readonly form?: string;
  /** True if the response does not end. */
  readonly endless?: true;
}

const milestone = { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' };
const exception = { type: 'other' };
const upload = {
  type: 'photo',
  file_name: 'a.png',
  content_type: 'image/png',
  size_bytes: 3,
  checksum_sha256: '0'.repeat(64),
};
const FORM = 'multipart/form-data; boundary=b';
const form = ['name="type"\r\n\r\nphoto', 'name="file"; filename="a.txt"\r\n\r\ntext']
  .map((part) => `--b\r\ncontent-disposition: form-data; ${part}\r\n`)
  .concat('--b--\r\n')
  .join('');
/** Permissions by operation, as in docs/reference/identity.md#permissions. */
const OPERATIONS: Readonly<Record<OperationId, Sample>> = {
  upsertShipment: { access: 'shipments:write' },
  upsertShipments: { access: 'shipments:write' },
  recordMilestones: { access: 'milestones:write' },
  listShipments: { access: 'shipments:read' },
  getShipment: { access: 'shipments:read', of: 'shipment' },
  listShipmentHistory: { access: 'shipments:read', of: 'shipment' },
  listEtaHistory: { access: 'shipments:read', of: 'shipment' },
  explainShipment: { access: 'shipments:read', of: 'shipment' },
  changeShipment: { access: 'shipments:write', of: 'shipment', json: {} },
  changeContainer: { access: 'shipments:write', of: 'shipment', json: {} },
  cancelShipment: { access: 'shipments:write', of: 'shipment' },
  reopenShipment: { access: 'shipments:write', of: 'shipment' },
  listMilestones: { access: 'shipments:read', of: 'shipment' },
  recordMilestone: { access: 'milestones:write', of: 'shipment', json: milestone },
  getMilestone: { access: 'shipments:read', of: 'shipment' },
  correctMilestone: { access: 'milestones:write', of: 'shipment', json: {} },
  retractMilestone: { access: 'milestones:write', of: 'shipment' },
  listMilestoneCodes: { access: 'shipments:read' },
  listPlaces: { access: 'shipments:read' },
  listExceptions: { access: 'shipments:read' },
  listShipmentExceptions: { access: 'shipments:read', of: 'shipment' },
  openException: { access: 'exceptions:write', of: 'shipment', json: exception },
  getException: { access: 'shipments:read', of: 'exception' },
  acknowledgeException: { access: 'exceptions:write', of: 'exception', json: {} },
  resolveException: { access: 'exceptions:write', of: 'exception', json: {} },
  addDocument: { access: 'documents:write', of: 'shipment', form },
  requestUpload: { access: 'documents:write', of: 'shipment', json: upload },
  listDocuments: { access: 'documents:read', of: 'shipment' },
  getDocument: { access: 'documents:read', of: 'document' },
  downloadDocument: { access: 'documents:read', of: 'document' },
  putDocumentContent: { access: 'open', of: 'upload' },
  completeUpload: { access: 'documents:write', of: 'document' },
  approveDocument: { access: 'documents:approve', of: 'document' },
  rejectDocument: { access: 'documents:approve', of: 'document', json: { reason: 'x' } },
  deleteDocument: { access: 'documents:approve', of: 'document' },
  getRequiredDocuments: { access: 'documents:read' },
  getStorage: { access: 'documents:read' },
  listEvents: { access: 'shipments:read' },
  getEvent: { access: 'shipments:read', of: 'event' },
  streamEvents: { access: 'shipments:read', endless: true },
  createWebhookEndpoint: { access: 'webhooks:manage' },
  listWebhookEndpoints: { access: 'webhooks:manage' },
  getWebhookEndpoint: { access: 'webhooks:manage', of: 'endpoint' },
  changeWebhookEndpoint: { access: 'webhooks:manage', of: 'endpoint', json: {} },
  deleteWebhookEndpoint: { access: 'webhooks:manage', of: 'endpoint' },
  verifyWebhookEndpoint: { access: 'webhooks:manage', of: 'endpoint' },
  enableWebhookEndpoint: { access: 'webhooks:manage', of: 'endpoint' },
  disableWebhookEndpoint: { access: 'webhooks:manage', of: 'endpoint' },
  testWebhookEndpoint: { access: 'webhooks:manage', of: 'endpoint', json: { type: 'shipment.created' } },
  rotateWebhookSecret: { access: 'webhooks:manage', of: 'endpoint' },
  revealWebhookSecret: { access: 'workspace:admin', of: 'endpoint' },
  getWebhookEndpointStats: { access: 'webhooks:manage', of: 'endpoint' },
  listWebhookDeliveries: { access: 'webhooks:manage' },
  getWebhookDelivery: { access: 'webhooks:manage', of: 'delivery' },
  retryWebhookDelivery: { access: 'webhooks:manage', of: 'delivery' },
  discardWebhookDelivery: { access: 'webhooks:manage', of: 'delivery' },
  summarizeWebhookDeadLetters: { access: 'webhooks:manage' },
  replayWebhookDeadLetters: { access: 'webhooks:manage', json: {} },
  discardWebhookDeadLetters: { access: 'webhooks:manage', json: {} },
  createWebhookReplay: { access: 'webhooks:manage', of: 'endpoint', json: {} },
  listWebhookReplays: { access: 'webhooks:manage' },
  getWebhookReplay: { access: 'webhooks:manage', of: 'replay' },
  cancelWebhookReplay: { access: 'webhooks:manage', of: 'replay' },
  resumeWebhookReplay: { access: 'webhooks:manage', of: 'replay' },
  listAuditLog: { access: 'workspace:admin' },
  getSettings: { access: 'workspace:admin' },
  changeSettings: { access: 'workspace:admin' },
  createServiceAccount: { access: 'workspace:admin' },
  listServiceAccounts: { access: 'keys:manage' },
  getServiceAccount: { access: 'keys:manage', of: 'account' },
  changeServiceAccount: { access: 'workspace:admin', of: 'account', json: {} },
  deactivateServiceAccount: { access: 'workspace:admin', of: 'account' },
  reactivateServiceAccount: { access: 'workspace:admin', of: 'account' },
  inviteUser: { access: 'workspace:admin' },
  listUsers: { access: 'workspace:admin' },
  getUser: { access: 'workspace:admin', of: 'user' },
  changeUser: { access: 'workspace:admin', of: 'user', json: {} },
  deactivateUser: { access: 'workspace:admin', of: 'user' },
  reactivateUser: { access: 'workspace:admin', of: 'user' },
  resetUserPassword: { access: 'workspace:admin', of: 'user' },
  getInvitation: { access: 'open', of: 'link' },
  useInvitation: { access: 'open', of: 'link', json: {} },
  createApiKey: { access: 'personal or keys:manage' },
  listApiKeys: { access: 'personal or keys:manage' },
  getApiKey: { access: 'personal or keys:manage', of: 'key' },
  rotateApiKey: { access: 'personal or keys:manage', of: 'key', json: {} },
  revokeApiKey: { access: 'personal or keys:manage', of: 'key' },
  signIn: { access: 'open' },
  getSession: { access: 'authenticated' },
  signOut: { access: 'personal' },
  listSessions: { access: 'personal' },
  endSession: { access: 'personal', of: 'session' },
  changeOwnName: { access: 'personal', json: {} },
  changePassword: { access: 'personal' },
  live: { access: 'open' },
  ready: { access: 'open' },
};

/** Kinds of credentials. A `limited_key` is one of a service account that was promoted after a developer created it. */
type Kind = Principal['type'] | 'limited_key';
/** Holder of credentials in a separate workspace. */
interface Person {
  readonly role: Role;
  readonly environment: Environment;
  readonly workspace: 'mine' | 'other';
}
/** Creates credentials of each kind, as request headers. */
const CREDENTIALS: Readonly<Record<Kind, (person: Person) => Promise<Record<string, string>>>> = {
  service_account_key: async ({ role, environment, workspace }) => bearer(await api.key(role, environment, workspace)),
  user_key: async (person) => bearer(await keyOf(await userOf(person), person)),
  session: async (person) => {
    const { token } = await signIn(person);
    return cookie(token, person);
  },
  limited_key: async ({ role, environment, workspace }) => {
    const { id } = await accountOf('developer', workspace);
    const reach: AccessToApiKeys = { ...ACCESS_TO_ALL_KEYS, service_accounts: 'all_but_admins' };
    const request = { name: 'key', environment, owner: { type: 'service_account', id } } as const;
    const { after } = await api.identity.keys.createKey(await commandIn(workspace), reach, request);
    await api.identity.serviceAccounts.changeServiceAccount(await commandIn(workspace), id, { role });
    return bearer(after.key);
  },
};
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const cookie = (token: string, { environment }: Pick<Person, 'environment'>): Record<string, string> => ({
  cookie: `__Host-session=${token}`,
  environment,
});

async function commandIn(workspace: string): Promise<IdentityCommand> {
  const actor = { type: 'system', id: 'test' } as const;
  return { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id: await api.workspace(workspace) };
}

const PASSWORD = 'correct horse battery';

async function accountOf(role: Role, workspace: string): Promise<ServiceAccount> {
  const { after } = await api.identity.serviceAccounts.createServiceAccount(await commandIn(workspace), {
    name: 'one',
    role,
  });
  return after;
}

async function userOf({ role, workspace }: Person): Promise<User> {
  const [email, password] = [`${randomUUID()}@example.com`, PASSWORD];
  const { after } = await api.identity.users.createUser(await commandIn(workspace), { email, role, password });
  return after;
}

async function signIn(person: Person, user?: User): Promise<StartedSession> {
  const { email } = user ?? (await userOf(person));
  const from = { address: '203.0.113.7', user_agent: 'test', request_id: 'req_test' };
  return api.identity.signIn(await commandIn(person.workspace), { email, password: PASSWORD, ...from });
}

async function keyOf({ id }: User, { environment, workspace }: Person): Promise<string> {
  const request = { name: 'key', environment, owner: { type: 'user', id } } as const;
  const { after } = await api.identity.keys.createKey(await commandIn(workspace), ACCESS_TO_ALL_KEYS, request);
  return after.key;
}

/** Returns credentials of admins that have ended, by the reason. */
async function endCredentials(): Promise<Readonly<Record<string, Record<string, string>>>> {
  const admin: Person = { role: 'admin', environment: 'live', workspace: 'mine' };
  const { keys, serviceAccounts, users } = api.identity;
  const command = () => commandIn('mine');
  const createAccountKey = async () => {
    const owner = { type: 'service_account', id: (await accountOf('admin', 'mine')).id } as const;
    return (await keys.createKey(await command(), ACCESS_TO_ALL_KEYS, { name: 'key', environment: 'live', owner }))
      .after;
  };
  const [revoked, rotated, keyOfDeactivatedAccount] = await Promise.all([1, 2, 3].map(createAccountKey));
  await keys.revokeKey(await command(), ACCESS_TO_ALL_KEYS, revoked!.id);
  await keys.rotateKey(await command(), ACCESS_TO_ALL_KEYS, rotated!.id, 0);
  await serviceAccounts.deactivateServiceAccount(await command(), keyOfDeactivatedAccount!.owner.id);
  const deactivated = await userOf(admin);
  const keyOfDeactivatedUser = await keyOf(deactivated, admin);
  const [sessionOfDeactivatedUser, signedOut] = [await signIn(admin, deactivated), await signIn(admin)];
  await users.deactivateUser(await command(), deactivated.id);
  const headers = { ...cookie(signedOut.token, admin), 'x-requested-with': 'test' };
  expect((await api.call('DELETE', '/v1/session', { headers })).status).toBe(200);
  return {
    'a revoked key': bearer(revoked!.key),
    'a rotated key': bearer(rotated!.key),
    'a key of a deactivated service account': bearer(keyOfDeactivatedAccount!.key),
    'a key of a deactivated user': bearer(keyOfDeactivatedUser),
    'a session of a deactivated user': cookie(sessionOfDeactivatedUser.token, admin),
    'a session that was signed out': cookie(signedOut.token, admin),
  };
}

const CONTAINER = 'CSQU3054383';
const KINDS = Object.keys(CREDENTIALS) as Kind[];

/** Holder of credentials, with the headers of their requests. */
interface Caller extends Person {
  readonly kind: Kind;
  readonly headers: Record<string, string>;
}

interface Described {
  readonly operationId: OperationId;
  readonly parameters?: readonly { readonly name: string }[];
}
interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly isConditional: boolean;
}

let api: Api;
let receiver: ClientWebhookTestReceiver;
let callers: readonly Caller[];
let endedCredentials: Awaited<ReturnType<typeof endCredentials>>;
let things: Readonly<Record<Environment, Things>>;
const routes = new Map<string, Route>();

beforeAll(async () => {
  api = await startApi();
  receiver = await startClientReceiver();
  const people = USER_ROLES.flatMap((role) =>
    ENVIRONMENTS.flatMap((environment) =>
      (['mine', 'other'] as const).map((workspace): Person => ({ role, environment, workspace })),
    ),
  );
  await api.key('admin', 'live', 'mine');
  await api.key('admin', 'live', 'other');
  callers = await Promise.all(
    people.flatMap((person) =>
      KINDS.map(async (kind) => ({ ...person, kind, headers: await CREDENTIALS[kind](person) })),
    ),
  );
  endedCredentials = await endCredentials();
  things = { live: await thingsIn('live'), test: await thingsIn('test') };
  const paths = resolveReferencesInPaths<Described>((await api.call('GET', '/openapi.json')).body);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId, parameters = [] }] of Object.entries(methods)) {
      const isConditional = parameters.some(({ name }) => name === 'If-Match');
      routes.set(operationId, { method: method.toUpperCase() as Route['method'], path, isConditional });
    }
  }
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

async function thingsIn(environment: Environment): Promise<Things> {
  const key = await api.key('admin', environment, 'mine');
  const make = async (path: string, json: object): Promise<string> =>
    String((await api.call('POST', path, { key, json })).body['id']);
  const shipment = await make('/v1/shipments', { external_id: randomUUID(), container_numbers: [CONTAINER] });
  const milestoneId = await make(`/v1/shipments/${shipment}/milestones`, milestone);
  const exceptionId = await make(`/v1/shipments/${shipment}/exceptions`, exception);
  const uploads = `/v1/shipments/${shipment}/documents/uploads`;
  const documentId = await make(uploads, upload);
  const pending = (await api.call('POST', uploads, { key, json: upload })).body;
  const uploadToken = String((pending['upload'] as JsonObject)['url']).replace(/^.*token=/, '');
  const made = () => make('/v1/webhook_endpoints', { url: receiver.url, event_types: ['*'] });
  const [endpoint, verified] = [await made(), await made()];
  await make(`/v1/webhook_endpoints/${verified}/verify`, {});
  const delivery = await make(`/v1/webhook_endpoints/${verified}/test`, { type: 'shipment.created' });
  await make(`/v1/webhook_endpoints/${verified}/enable`, {});
  const replay = await make(`/v1/webhook_endpoints/${verified}/replay`, { statuses: ['dead_lettered'] });
  const { body } = await api.call('GET', `/v1/events?shipment_id=${shipment}`, { key });
  const event = String((body['data'] as JsonObject[])[0]?.['id']);
  const account = await make('/v1/service_accounts', { name: 'one', role: 'viewer' });
  const keyId = await make('/v1/api_keys', { name: 'one', environment, service_account_id: account });
  const invitation = { email: `${randomUUID()}@example.com`, role: 'viewer' };
  const invited = (await api.call('POST', '/v1/users', { key, json: invitation })).body;
  const link = String(invited['invitation_url']).replace(/^.*#/, '');
  const session = (await signIn({ role: 'viewer', environment, workspace: 'mine' })).session.id;
  const user = String(invited['id']);
  const recorded = { shipment, milestone: milestoneId, exception: exceptionId, event };
  const documents = { document: documentId, upload: String(pending['id']), uploadToken };
  return { ...recorded, ...documents, endpoint, delivery, replay, account, key: keyId, user, session, link };
}

/** Owner of the requested resource. */
type Whose = 'own' | 'another workspace’s' | 'another environment’s';
interface Cell {
  readonly caller: Caller;
  readonly whose: Whose;
}

function cellsOf({ of }: Sample): readonly Cell[] {
  const own = callers
    .filter(({ workspace }) => workspace === 'mine')
    .map((caller) => ({ caller, whose: 'own' as const }));
  if (of === undefined) return own;
  const strangers = callers.filter(({ workspace }) => workspace === 'other');
  return [
    ...own,
    ...strangers.map((caller) => ({ caller, whose: 'another workspace’s' as const })),
    ...own.map(({ caller }) => ({ caller, whose: 'another environment’s' as const })),
  ];
}

const nameOf = ({ caller: { role, environment, kind }, whose }: Cell): string =>
  [role, environment, kind, whose].join(', ');

/**
 * Returns true if a resource exists for the caller: most resources exist for callers of their workspace and
 * environment.
 */
const isOwn = ({ whose }: Cell): boolean => whose === 'own';
const isOfWorkspace = ({ whose }: Cell): boolean => whose !== 'another workspace’s';
const SHOWN: Partial<Readonly<Record<keyof Things, (cell: Cell) => boolean>>> = {
  account: isOfWorkspace,
  user: isOfWorkspace,
  // One-time links and upload tokens work for every caller that has them.
  link: () => true,
  upload: () => true,
  session: () => false,
  // Keys exist neither for users who manage only their own keys, nor for test keys if they are live keys.
  key: (cell) =>
    isOfWorkspace(cell) && isAllowed(cell.caller, 'keys:manage') && (isOwn(cell) || reachesBoth(cell.caller)),
};
const reachesBoth = ({ kind, environment }: Caller): boolean => kind === 'session' || environment === 'live';

function isAllowed({ role, environment, kind }: Pick<Caller, 'role' | 'environment' | 'kind'>, permission: string) {
  const roles = kind === 'limited_key' ? [role, 'developer' as const] : [role];
  return roles.every((one) => (MAY[one][environment] as readonly string[]).includes(permission));
}

/** Returns the response that the tables require. */
function expectedOf({ access, of }: Sample, { caller, whose }: Cell): string {
  const isUser = caller.kind === 'user_key' || caller.kind === 'session';
  const may = (permission: string) => isAllowed(caller, permission);
  const allowed = of === undefined || (SHOWN[of] ?? isOwn)({ caller, whose }) ? 'allowed' : '404 not_found';
  if (access === 'open' || access === 'authenticated') return allowed;
  if (access === 'personal') return isUser ? allowed : '403 only users';
  const permission = access.replace('personal or ', '');
  return (access !== permission && isUser) || may(permission) ? allowed : `403 ${permission}`;
}

const OTHER: Readonly<Record<Environment, Environment>> = { live: 'test', test: 'live' };

/** Sends a request that changes nothing. Returns `allowed` or the reason of the refusal. */
async function sendRequest(
  route: Route,
  { of, json, form: sentForm, endless }: Sample,
  headers: Record<string, string>,
  from: Environment,
) {
  const { method } = route;
  const sendsIfMatch = route.isConditional && of !== undefined;
  const { milestone: milestoneId, uploadToken, ...ids } = things[from];
  const whole = route.path.replace('{milestone_id}', milestoneId).replace('{number}', CONTAINER);
  const named = of === undefined ? whole : whole.replace(/{(id|token)}/, ids[of]);
  const path = of === 'upload' ? `${named}?token=${uploadToken}` : named;
  // The request is refused after the permission check and before anything is changed.
  const isRefused = of === undefined && (method !== 'GET' || endless === true);
  const answer = await api.inject({
    method,
    url: isRefused ? `${path}?nothing=1` : path,
    headers: {
      'x-requested-with': 'test',
      ...headers,
      ...(sendsIfMatch && { 'if-match': '"999999999"' }),
      ...(sentForm !== undefined && { 'content-type': FORM }),
    },
    ...(json !== undefined && { payload: json }),
    ...(sentForm !== undefined && { payload: sentForm }),
  });
  const { statusCode: status } = answer;
  if (status === 401 || status === 404) return `${status} ${errorOf(answer.body).code}`;
  if (status !== 403) {
    // The response contains the current version, as for a caller who may change the resource.
    const hasVersion = !sendsIfMatch || (status === 412 && /^"\d+"$/.test(String(answer.headers.etag)));
    return status < 500 && hasVersion ? 'allowed' : `${status} ${answer.body}`;
  }
  const { message } = errorOf(answer.body);
  return `403 ${/permission ([a-z]+:[a-z]+)/.exec(message)?.[1] ?? (message.includes('Only users') ? 'only users' : message)}`;
}

function errorOf(body: string): { readonly code: string; readonly message: string } {
  return (JSON.parse(body) as { error: { code: string; message: string } }).error;
}

function routeOf(operation: string): Route {
  const route = routes.get(operation);
  if (route === undefined) throw new Error(`${operation} has no route`);
  return route;
}

it('has a row for every operation of the description, and no other row', () => {
  expect([...routes.keys()].sort()).toEqual(Object.keys(OPERATIONS).sort());
  const withId = [...routes].filter(([, { path }]) => path.includes('{')).map(([operation]) => operation);
  const owned = Object.entries(OPERATIONS).filter(([, { of }]) => of !== undefined);
  expect(withId.sort()).toEqual(owned.map(([operation]) => operation).sort());
});

describe.each(Object.entries(OPERATIONS))('%s', (operation, sample) => {
  it('responds to every caller as the tables of permissions require', async () => {
    const route = routeOf(operation);
    const cells = cellsOf(sample);
    const answers = await Promise.all(
      cells.map(async (cell) => {
        const { headers, environment } = cell.caller;
        const from = cell.whose === 'another environment’s' ? OTHER[environment] : environment;
        return [nameOf(cell), await sendRequest(route, sample, headers, from)] as const;
      }),
    );
    const expected = cells.map((cell) => [nameOf(cell), expectedOf(sample, cell)] as const);
    expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(expected));
  });

  it('refuses credentials that have ended', async () => {
    const expected = sample.access === 'open' ? 'allowed' : expect.stringMatching(/^401 /);
    for (const [reason, headers] of Object.entries(endedCredentials)) {
      const response = await sendRequest(routeOf(operation), sample, headers, 'live');
      expect([reason, response]).toEqual([reason, expected]);
    }
  });

  it('requires credentials unless it is open', async () => {
    const isOpen = sample.access === 'open';
    const without = await sendRequest(routeOf(operation), sample, {}, 'live');
    expect(without).toBe(isOpen ? 'allowed' : '401 missing_api_key');
  });
});
