import type { Access } from './access.ts';

/**
 * Every operation of the public API, by its operationId, and who may ask for it: a permission, or another {@link Access}.
 * Guards, the description in OpenAPI and the check at the start derive from it: an operation that is
 * missing here does not compile, one that has no route is refused at the start, and so is a route that is no operation.
 */
export const OPERATIONS = {
  upsertShipment: 'shipments:write',
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
  listMilestoneCodes: 'shipments:read',
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
  listWebhookDeliveries: 'webhooks:manage',
  getWebhookDelivery: 'webhooks:manage',
  retryWebhookDelivery: 'webhooks:manage',
  discardWebhookDelivery: 'webhooks:manage',
  signIn: 'open',
  /** Who am I. */
  getSession: 'authenticated',
  signOut: 'personal',
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
