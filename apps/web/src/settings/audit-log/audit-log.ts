import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Environment, getApiClient } from '../../session/api.ts';
import { ROLE_LABELS } from '../../session/roles.ts';
import { type AuditEntry, type AuditLogUrlParameters, type AuditType, toAuditQuery } from './audit-search.ts';

const PAGE_SIZE = 50;

/** Query of the workspace's audit log, page by page, newest entry first. */
export const auditLogQuery = (environment: Environment, search: AuditLogUrlParameters) =>
  infiniteQueryOptions({
    queryKey: ['audit-log', environment, search],
    queryFn: ({ pageParam, signal }) =>
      getApiClient(environment)
        .auditLog.list({ ...toAuditQuery(search), limit: PAGE_SIZE }, { signal })
        .page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

/**
 * Query of endpoint URLs by endpoint id. The endpoints of both environments are read, since the audit log covers both.
 */
export const endpointUrlsQuery = queryOptions({
  queryKey: ['endpoint-names'],
  queryFn: async ({ signal }) => {
    const endpoints = await Promise.all(
      (['live', 'test'] as const).map((each) =>
        getApiClient(each).webhookEndpoints.list({ limit: 200 }, { signal }).toArray(),
      ),
    );
    return new Map(endpoints.flat().map(({ id, url }) => [id, url]));
  },
});

/** Function that returns the current name for an id, or undefined if the name is unknown. */
export type NameLookup = (id: string) => string | undefined;

/** Fields of an audit log entry that contain the name of the changed resource. */
const TARGET_NAME_FIELDS = ['name', 'email', 'url', 'file_name'] as const;
export const COMMAND_LINE_ACTOR = 'administration';
const AUDIT_SYSTEM_ACTOR_LABELS: Readonly<Record<string, string>> = {
  [COMMAND_LINE_ACTOR]: 'Command line',
  first_admin: 'First start',
};

/** Returns the current name of the actor. */
export function getActorName({ actor }: Pick<AuditEntry, 'actor'>, nameOf: NameLookup): string {
  if (actor.type === 'system') return AUDIT_SYSTEM_ACTOR_LABELS[actor.id] ?? 'System';
  return actor.name ?? nameOf(actor.id) ?? actor.id;
}

/** Describes an audit log entry without its actor, such as "revoked the key “Nightly import”". */
export function describeAuditEntry(
  entry: Pick<AuditEntry, 'type' | 'target' | 'changes' | 'actor'>,
  nameOf: NameLookup,
): string {
  const { type, target, actor } = entry;
  if (type === 'user.changed' && target.id === actor.id) return 'changed their own name';
  return AUDIT_SENTENCE_TEMPLATES[type].replace('…', () => getAuditTargetName(entry, nameOf));
}

function getAuditTargetName({ target, changes }: Pick<AuditEntry, 'target' | 'changes'>, nameOf: NameLookup): string {
  const named = TARGET_NAME_FIELDS.map((field) => changes[field]?.to ?? changes[field]?.from).find(
    (name) => typeof name === 'string',
  );
  const name = (target.id === null ? undefined : nameOf(target.id)) ?? named;
  return typeof name === 'string' ? `“${name}”` : (target.id ?? '(no id yet)');
}

interface AuditFieldChange {
  readonly field: string;
  /** Previous value of the field. Undefined if the field was empty. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Lists the changed fields of an audit log entry, with their previous and new values as text. */
export function formatAuditFieldChanges({ changes }: Pick<AuditEntry, 'changes'>): readonly AuditFieldChange[] {
  return Object.entries(changes).map(([field, { from, to }]) => ({
    field: getFieldLabel(field),
    from: formatAuditValue(field, from),
    to: formatAuditValue(field, to),
  }));
}

function getFieldLabel(field: string): string {
  const words = field.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function formatAuditValue(field: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (field === 'role' && typeof value === 'string' && Object.hasOwn(ROLE_LABELS, value)) {
    return ROLE_LABELS[value as keyof typeof ROLE_LABELS];
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Sentences for the types of audit log entries. "…" stands for the name of the changed resource. */
export const AUDIT_SENTENCE_TEMPLATES: Readonly<Record<AuditType, string>> = {
  'api_key.created': 'created the key …',
  'api_key.rotated': 'rotated the key …',
  'api_key.revoked': 'revoked the key …',
  'document.deleted': 'deleted the document …',
  'service_account.created': 'created the service account …',
  'service_account.changed': 'changed the service account …',
  'service_account.deactivated': 'disabled the service account …',
  'service_account.reactivated': 'enabled the service account …',
  'session.ended': 'ended a session of their own',
  'session.refused': 'had a sign-in refused because the password was wrong',
  'session.started': 'signed in',
  'settings.changed': 'changed the settings',
  'user.created': 'added …',
  'user.invited': 'invited …',
  'user.joined': 'accepted the invitation',
  'user.changed': 'changed …',
  'user.deactivated': 'removed …',
  'user.reactivated': 'restored …',
  'user.password_reset_requested': 'created a password reset link for …',
  'user.password_changed': 'changed their password',
  'webhook_dead_letters.discarded': 'discarded dead letters',
  'webhook_dead_letters.replayed': 'replayed dead letters',
  'webhook_delivery.discarded': 'discarded the delivery …',
  'webhook_endpoint.created': 'created the endpoint …',
  'webhook_endpoint.changed': 'changed the endpoint …',
  'webhook_endpoint.deleted': 'deleted the endpoint …',
  'webhook_endpoint.enabled': 'enabled the endpoint …',
  'webhook_endpoint.disabled': 'disabled the endpoint …',
  'webhook_endpoint.replayed': 'replayed events to the endpoint …',
  'webhook_endpoint.secret_rotated': 'rotated the signing secret of the endpoint …',
  'webhook_endpoint.secret_revealed': 'revealed the signing secret of the endpoint …',
  'webhook_endpoint.verified': 'verified the endpoint …',
  'webhook_replay.canceled': 'canceled the replay …',
  'webhook_replay.resumed': 'resumed the replay …',
};
