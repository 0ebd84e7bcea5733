import type { Permission, Principal } from '@tracking/contracts';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import type { Headers } from '../server/response-headers.ts';

/**
 * Every operation of the public API by its operationId, with its access: a permission, or another {@link Access}.
 * Guards, the OpenAPI description and the check at start-up derive from this list. An operation that is missing here
 * does not compile. An operation without a route, or a route under `/v1` without an operation, makes the start fail.
 */
export const ACCESS_BY_OPERATION = {
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
  /** A source other than `manual` needs `milestones:feed` too. */
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
  /** Open, because the upload URL itself authorizes the client. */
  putDocumentContent: 'open',
  completeUpload: 'documents:write',
  approveDocument: 'documents:approve',
  rejectDocument: 'documents:approve',
  deleteDocument: 'documents:approve',
  getRequiredDocuments: 'documents:read',
  getStorage: 'documents:read',
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
  /** Users manage their own keys; keys of service accounts need `keys:manage`. */
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
  /** Open, because the one-time link itself authorizes the client. */
  getInvitation: 'open',
  useInvitation: 'open',
  live: 'open',
  ready: 'open',
} as const satisfies Readonly<Record<string, Access>>;

export type OperationId = keyof typeof ACCESS_BY_OPERATION;

/**
 * Principals that may call an operation:
 * - a permission: principals with that permission
 * - `open`: all callers, also without credentials
 * - `authenticated`: any principal
 * - `personal`: users, with a session or with their own key
 * - `personal or …`: users, and principals with the permission; the handler decides which resources belong to a user
 */
export type Access = Permission | 'open' | 'authenticated' | 'personal' | `personal or ${Permission}`;
/** Access of operations that need credentials. */
type GuardedAccess = Exclude<Access, 'open'>;

const PERSONAL_OR_PERMISSION_PREFIX = 'personal or ';

/** @throws RequestError 403 naming the missing permission */
export function requireAccess(principal: Principal, access: GuardedAccess): void {
  if (access === 'authenticated') return;
  const isPersonal = principal.type !== 'service_account_key';
  if (access === 'personal') {
    if (!isPersonal)
      throw new RequestError('permission_denied', 'Only users may do this, with a session or with their own key.');
    return;
  }
  const [permission, mayBePersonal] = parsePermissionAndPersonalAccess(access);
  if (!(mayBePersonal && isPersonal)) requirePermission(principal, permission);
}

/** @throws RequestError 403 naming the permission */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (principal.permissions.has(permission)) return;
  const who = principal.type === 'session' ? 'user' : 'API key';
  throw new RequestError('permission_denied', `The ${who} lacks the permission ${permission}.`);
}

/** Returns the OpenAPI description of the access. */
export function describeRequiredAccess(access: Access): string {
  if (access === 'open') return 'Open to everybody; no credentials are needed.';
  if (access === 'authenticated') return 'Needs a key or a session, but no permission.';
  if (access === 'personal') return 'For users, with a session or with their own key. No permission is needed.';
  const [permission, mayBePersonal] = parsePermissionAndPersonalAccess(access);
  return mayBePersonal
    ? `Needs the permission \`${permission}\`. Users need no permission for their own resources.`
    : `Needs the permission \`${permission}\`.`;
}

/** Returns the permission that an access names; undefined if it names none. */
export function getPermissionOfAccess(access: Access): Permission | undefined {
  if (access === 'open' || access === 'authenticated' || access === 'personal') return undefined;
  return parsePermissionAndPersonalAccess(access)[0];
}

function parsePermissionAndPersonalAccess(
  access: Permission | `personal or ${Permission}`,
): readonly [Permission, boolean] {
  const mayBePersonal = access.startsWith(PERSONAL_OR_PERMISSION_PREFIX);
  return [(mayBePersonal ? access.slice(PERSONAL_OR_PERMISSION_PREFIX.length) : access) as Permission, mayBePersonal];
}

/** An operation that will be removed. */
export interface OperationDeprecation {
  /** Date or time of the deprecation, in ISO 8601. */
  readonly since: string;
  /** Date or time from which the operation may be removed, in ISO 8601. */
  readonly sunset?: string;
  /** URL of a page that explains the replacement. */
  readonly link: string;
}
export type Deprecations = Readonly<Partial<Record<OperationId, OperationDeprecation>>>;

/** The deprecated operations by id. All their responses and descriptions announce it. */
export const DEPRECATED_OPERATIONS: Deprecations = {};

/** Adds deprecation headers to every response of a deprecated operation, including errors. */
export function addDeprecationHeaders(fastify: FastifyInstance, deprecations: Deprecations): void {
  const headers = new Map<string | undefined, Headers>(
    Object.entries(deprecations).map(([operation, deprecation]) => [operation, createDeprecationHeaders(deprecation)]),
  );
  if (headers.size === 0) return;
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const found = headers.get(request.routeOptions.config?.operation);
    if (found) reply.headers(found);
    done(null, payload);
  });
}

/**
 * Returns the headers of a deprecated operation (RFC 9745, RFC 8594).
 * @throws Error if a time is invalid, or the sunset is before the deprecation
 */
export function createDeprecationHeaders({ since, sunset, link }: OperationDeprecation): Headers {
  const from = Date.parse(since);
  const until = sunset === undefined ? Infinity : Date.parse(sunset);
  if (!(from <= until))
    throw new Error(
      `A deprecation is invalid: since ${since}, sunset ${sunset ?? 'never'}. Both must be times, and the sunset must not be earlier.`,
    );
  return {
    Deprecation: `@${Math.floor(from / 1_000)}`,
    ...(sunset !== undefined && { Sunset: new Date(until).toUTCString() }),
    Link: `<${link}>; rel="deprecation"; type="text/html"`,
  };
}
