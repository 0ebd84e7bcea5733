import type { TrackingClient } from '@tracking/client';

/** Filters of the audit log that the page URL contains. */
export interface AuditLogUrlParameters {
  /** Id of a user or service account. `administration` stands for the command line. */
  readonly actor?: string | undefined;
  readonly type?: AuditType | undefined;
  /** First day of the period in the user's time zone, such as 2026-11-23. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** Parses the filters of the audit log from the page URL. Invalid values are ignored. */
export function readAuditLogUrlParameters(raw: Record<string, unknown>): AuditLogUrlParameters {
  const { actor, type } = raw;
  const day = (value: unknown) =>
    typeof value === 'string' && DAY_PATTERN.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
  const [from, to] = [day(raw['from']), day(raw['to'])];
  return {
    ...(typeof actor === 'string' && actor !== '' && { actor }),
    ...(typeof type === 'string' && Object.hasOwn(AUDIT_TYPE_LABELS, type) && { type: type as AuditType }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

/** Converts the first and last day of the period to the API's time filters. The last day is included. */
export function toAuditQuery({ from, to, ...filters }: AuditLogUrlParameters) {
  return {
    ...filters,
    ...(from !== undefined && { from: new Date(`${from}T00:00:00`).toISOString() }),
    ...(to !== undefined && { to: new Date(`${to}T23:59:59.999`).toISOString() }),
  };
}

export type AuditEntry = Awaited<ReturnType<ReturnType<TrackingClient['auditLog']['list']>['toArray']>>[number];

export type AuditType = AuditEntry['type'];

export const AUDIT_TYPE_LABELS: Readonly<Record<AuditType, string>> = {
  'api_key.created': 'Key created',
  'api_key.rotated': 'Key rotated',
  'api_key.revoked': 'Key revoked',
  'document.deleted': 'Document deleted',
  'service_account.created': 'Service account created',
  'service_account.changed': 'Service account changed',
  'service_account.deactivated': 'Service account disabled',
  'service_account.reactivated': 'Service account enabled',
  'session.ended': 'Session ended',
  'session.refused': 'Sign-in refused',
  'session.started': 'Signed in',
  'settings.changed': 'Settings changed',
  'user.created': 'User added',
  'user.invited': 'User invited',
  'user.joined': 'Invitation accepted',
  'user.changed': 'User changed',
  'user.deactivated': 'User removed',
  'user.reactivated': 'User restored',
  'user.password_reset_requested': 'Password reset link created',
  'user.password_changed': 'Password changed',
  'webhook_dead_letters.discarded': 'Dead letters discarded',
  'webhook_dead_letters.replayed': 'Dead letters replayed',
  'webhook_delivery.discarded': 'Delivery discarded',
  'webhook_endpoint.created': 'Endpoint created',
  'webhook_endpoint.changed': 'Endpoint changed',
  'webhook_endpoint.deleted': 'Endpoint deleted',
  'webhook_endpoint.enabled': 'Endpoint enabled',
  'webhook_endpoint.disabled': 'Endpoint disabled',
  'webhook_endpoint.replayed': 'Events replayed to an endpoint',
  'webhook_endpoint.secret_rotated': 'Signing secret rotated',
  'webhook_endpoint.secret_revealed': 'Signing secret revealed',
  'webhook_endpoint.verified': 'Endpoint verified',
  'webhook_replay.canceled': 'Replay canceled',
  'webhook_replay.resumed': 'Replay resumed',
};
