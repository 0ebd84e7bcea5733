import type { Permission, Principal } from '@tracking/contracts';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import type { Headers } from '../server/response-headers.ts';

/**
 * Every operation of the public API, by its operationId, and who may ask for it: a permission, or another {@link Access}.
 * Guards, the description in OpenAPI and the check at the start derive from it: an operation that is
 * missing here does not compile, one that has no route is refused at the start, and so is a route that is no operation.
 */
export const OPERATIONS = {
  upsertShipment: 'shipments:write',
  upsertShipments: 'shipments:write',
  listShipments: 'shipments:read',
  getShipment: 'shipments:read',
  listShipmentHistory: 'shipments:read',
  listEtaHistory: 'shipments:read',
  explainShipment: 'shipments:read',
  changeShipment: 'shipments:write',
  changeContainer: 'shipments:write',
  cancelShipment: 'shipments:write',
  reopenShipment: 'shipments:write',
  listMilestones: 'shipments:read',
  /** Of a source other than `manual`: `milestones:feed` too. */
  recordMilestone: 'milestones:write',
  getMilestone: 'shipments:read',
  correctMilestone: 'milestones:write',
  retractMilestone: 'milestones:write',
  recordMilestones: 'milestones:write',
  listMilestoneCodes: 'shipments:read',
  listPlaces: 'shipments:read',
  listExceptions: 'shipments:read',
  listShipmentExceptions: 'shipments:read',
  openException: 'exceptions:write',
  getException: 'shipments:read',
  acknowledgeException: 'exceptions:write',
  resolveException: 'exceptions:write',
  addDocument: 'documents:write',
  requestUpload: 'documents:write',
  listDocuments: 'documents:read',
  getDocument: 'documents:read',
  downloadDocument: 'documents:read',
  /** Whoever holds the URL. */
  putDocumentContent: 'open',
  completeUpload: 'documents:write',
  approveDocument: 'documents:approve',
  rejectDocument: 'documents:approve',
  deleteDocument: 'documents:approve',
  getRequiredDocuments: 'documents:read',
  listEvents: 'shipments:read',
  getEvent: 'shipments:read',
  streamEvents: 'shipments:read',
  createWebhookEndpoint: 'webhooks:manage',
  listWebhookEndpoints: 'webhooks:manage',
  getWebhookEndpoint: 'webhooks:manage',
  changeWebhookEndpoint: 'webhooks:manage',
  deleteWebhookEndpoint: 'webhooks:manage',
  verifyWebhookEndpoint: 'webhooks:manage',
  enableWebhookEndpoint: 'webhooks:manage',
  disableWebhookEndpoint: 'webhooks:manage',
  testWebhookEndpoint: 'webhooks:manage',
  rotateWebhookSecret: 'webhooks:manage',
  revealWebhookSecret: 'workspace:admin',
  getWebhookEndpointStats: 'webhooks:manage',
  listWebhookDeliveries: 'webhooks:manage',
  getWebhookDelivery: 'webhooks:manage',
  retryWebhookDelivery: 'webhooks:manage',
  discardWebhookDelivery: 'webhooks:manage',
  summarizeWebhookDeadLetters: 'webhooks:manage',
  replayWebhookDeadLetters: 'webhooks:manage',
  discardWebhookDeadLetters: 'webhooks:manage',
  createWebhookReplay: 'webhooks:manage',
  listWebhookReplays: 'webhooks:manage',
  getWebhookReplay: 'webhooks:manage',
  cancelWebhookReplay: 'webhooks:manage',
  resumeWebhookReplay: 'webhooks:manage',
  signIn: 'open',
  /** Who am I. */
  getSession: 'authenticated',
  signOut: 'personal',
  changeOwnName: 'personal',
  listSessions: 'personal',
  endSession: 'personal',
  changePassword: 'personal',
  listAuditLog: 'workspace:admin',
  getSettings: 'workspace:admin',
  changeSettings: 'workspace:admin',
  createServiceAccount: 'workspace:admin',
  listServiceAccounts: 'keys:manage',
  getServiceAccount: 'keys:manage',
  changeServiceAccount: 'workspace:admin',
  deactivateServiceAccount: 'workspace:admin',
  reactivateServiceAccount: 'workspace:admin',
  /** Users make, see and end their own; `keys:manage` is for those of service accounts. */
  createApiKey: 'personal or keys:manage',
  listApiKeys: 'personal or keys:manage',
  getApiKey: 'personal or keys:manage',
  rotateApiKey: 'personal or keys:manage',
  revokeApiKey: 'personal or keys:manage',
  inviteUser: 'workspace:admin',
  listUsers: 'workspace:admin',
  getUser: 'workspace:admin',
  changeUser: 'workspace:admin',
  deactivateUser: 'workspace:admin',
  reactivateUser: 'workspace:admin',
  resetUserPassword: 'workspace:admin',
  /** Whoever holds the link. */
  getInvitation: 'open',
  useInvitation: 'open',
  live: 'open',
  ready: 'open',
} as const satisfies Readonly<Record<string, Access>>;

export type OperationId = keyof typeof OPERATIONS;

/**
 * Who may ask for an operation:
 * - a permission: whoever has it
 * - `open`: anybody, without credentials
 * - `authenticated`: anybody with credentials
 * - `personal`: a user, by a session or by a key of theirs
 * - `personal or …`: a user, or whoever has the permission; the handler tells what of it is theirs
 */
export type Access = Permission | 'open' | 'authenticated' | 'personal' | `personal or ${Permission}`;
/** Access of operations that ask for credentials. */
type GuardedAccess = Exclude<Access, 'open'>;

const PERSONAL_OR = 'personal or ';

/** @throws RequestError 403 naming what is lacking */
export function requireAccess(principal: Principal, access: GuardedAccess): void {
  if (access === 'authenticated') return;
  const isPersonal = principal.type !== 'service_account_key';
  if (access === 'personal') {
    if (!isPersonal)
      throw new RequestError('permission_denied', 'Only users may do this, with a session or a key of theirs.');
    return;
  }
  const [permission, mayBePersonal] = permissionIn(access);
  if (!(mayBePersonal && isPersonal)) requirePermission(principal, permission);
}

/** @throws RequestError 403 naming the permission */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (principal.permissions.has(permission)) return;
  const who = principal.type === 'session' ? 'user' : 'API key';
  throw new RequestError('permission_denied', `The ${who} lacks the permission ${permission}.`);
}

/** What the refusal means, in OpenAPI; undefined where nobody with credentials is refused. */
export function describeRefusal(access: GuardedAccess): string | undefined {
  if (access === 'authenticated') return undefined;
  if (access === 'personal') return "The key is not a user's.";
  const [permission, mayBePersonal] = permissionIn(access);
  return mayBePersonal
    ? `It is neither a user's nor has it the permission ${permission}.`
    : `The key lacks the permission ${permission}.`;
}

/** Who may ask for it, in OpenAPI. */
export function describeAccess(access: Access): string {
  if (access === 'open') return 'Open to everybody: it takes no credentials.';
  if (access === 'authenticated') return 'Needs a key or a session, and no permission.';
  if (access === 'personal') return 'For users: by a session, or by a key of theirs. No permission is needed.';
  const [permission, mayBePersonal] = permissionIn(access);
  return mayBePersonal
    ? `Needs the permission \`${permission}\`; users need none for what is theirs.`
    : `Needs the permission \`${permission}\`.`;
}

/** The permission that an access names; undefined where it names none. */
export function permissionOf(access: Access): Permission | undefined {
  if (access === 'open' || access === 'authenticated' || access === 'personal') return undefined;
  return permissionIn(access)[0];
}

function permissionIn(access: Permission | `personal or ${Permission}`): readonly [Permission, boolean] {
  const mayBePersonal = access.startsWith(PERSONAL_OR);
  return [(mayBePersonal ? access.slice(PERSONAL_OR.length) : access) as Permission, mayBePersonal];
}

/** An operation that goes. */
export interface Deprecation {
  /** Since when it is to be used no more: a date or time of ISO 8601. */
  readonly since: string;
  /** From when on it may not answer; not earlier. */
  readonly sunset?: string;
  /** Where people read what to use instead. */
  readonly link: string;
}
export type Deprecations = Readonly<Partial<Record<OperationId, Deprecation>>>;

/** The operations that go: all their answers say so, and their descriptions. */
export const DEPRECATIONS: Deprecations = {};

/** Every answer of a deprecated operation says so, refusals too. */
export function announceDeprecations(fastify: FastifyInstance, deprecations: Deprecations): void {
  const headers = new Map<string | undefined, Headers>(
    Object.entries(deprecations).map(([operation, deprecation]) => [operation, deprecationHeaders(deprecation)]),
  );
  if (headers.size === 0) return;
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const found = headers.get(request.routeOptions.config?.operation);
    if (found) reply.headers(found);
    done(null, payload);
  });
}

/**
 * The headers of a deprecated operation's answers (RFC 9745, RFC 8594).
 * @throws Error where the times make no sense
 */
export function deprecationHeaders({ since, sunset, link }: Deprecation): Headers {
  const from = Date.parse(since);
  const until = sunset === undefined ? Infinity : Date.parse(sunset);
  if (!(from <= until))
    throw new Error(`deprecated since ${since}, gone from ${sunset ?? 'never'}: not a time, or too early`);
  return {
    Deprecation: `@${Math.floor(from / 1_000)}`,
    ...(sunset !== undefined && { Sunset: new Date(until).toUTCString() }),
    Link: `<${link}>; rel="deprecation"; type="text/html"`,
  };
}
