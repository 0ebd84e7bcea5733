import type { Actor, Environment, Timestamp } from './shipment.ts';

export const ROLES = ['viewer', 'operator', 'feed', 'developer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const PERMISSIONS = [
  'shipments:read',
  'shipments:write',
  'milestones:write',
  'milestones:feed',
  'documents:read',
  'documents:write',
  'documents:approve',
  'exceptions:write',
  'webhooks:manage',
  'keys:manage',
  'workspace:admin',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** A tenant: users, service accounts, keys and everything they see. */
export interface Workspace {
  /** `wsp_…` */
  readonly id: string;
  /** As people call it; unique, whatever its case. */
  readonly name: string;
  readonly created_at: Timestamp;
}

/** `invited` until the one-time link is used, `deactivated` until reactivated. */
export const USER_STATUSES = ['invited', 'active', 'deactivated'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** A person in a workspace. */
export interface User {
  /** `usr_…` */
  readonly id: string;
  readonly workspace_id: string;
  /** Null until the invitation is accepted. */
  readonly name: string | null;
  readonly email: string;
  readonly role: Role;
  readonly status: UserStatus;
  readonly created_by: Actor;
  readonly created_at: Timestamp;
  /** To the minute; null when never. */
  readonly last_seen_at: Timestamp | null;
  readonly version: number;
}

/** The identity of a system. Its keys have its role. */
export interface ServiceAccount {
  /** `sva_…` */
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly role: Role;
  readonly status: 'active' | 'deactivated';
  readonly created_by: Actor;
  readonly created_at: Timestamp;
  readonly version: number;
}

/** An API key as it is listed; the key itself is shown once, when it is made. */
export interface ApiKey {
  /** `key_…` */
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly environment: Environment;
  /** First characters of the key. */
  readonly prefix: string;
  /** Last characters of the key. */
  readonly last_four: string;
  /** The key has the permissions of its owner. */
  readonly owner: KeyOwner;
  /** The owner's role now. */
  readonly role: Role;
  readonly created_by: Actor;
  readonly created_at: Timestamp;
  /** When it expires; null for never. A rotated key expires at the end of its grace period. */
  readonly expires_at: Timestamp | null;
  /** To the minute; null when it was never used. */
  readonly last_used_at: Timestamp | null;
  readonly revoked_at: Timestamp | null;
  /** The key that took its place when it was rotated. */
  readonly rotated_to: string | null;
  readonly version: number;
}
export interface KeyOwner {
  readonly type: 'service_account' | 'user';
  /** `sva_…` or `usr_…` */
  readonly id: string;
}
export interface NewApiKey extends ApiKey {
  readonly key: string;
}

/** A sign-in of a user, as they see it. */
export interface Session {
  /** `ses_…` */
  readonly id: string;
  /** The browser and its system, as far as its `User-Agent` tells. */
  readonly device: string;
  readonly address: string;
  readonly created_at: Timestamp;
  /** To the minute. */
  readonly last_seen_at: Timestamp;
  /** When it ends at the latest. */
  readonly expires_at: Timestamp;
}

/** The owner of a request's credentials, and their permissions. */
export interface CredentialsHolder {
  /** Null where it is a service account's key. */
  readonly user: Pick<User, 'id' | 'name' | 'email'> | null;
  /** Null where it is a user's key, or a session. */
  readonly service_account: Pick<ServiceAccount, 'id' | 'name'> | null;
  readonly workspace: Pick<Workspace, 'id' | 'name'>;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly environment: Environment;
  /** When the key or session ends at the latest; null: never. */
  readonly expires_at: Timestamp | null;
}

/** Purpose of a one-time link. */
export const LINK_PURPOSES = ['invitation', 'first_admin', 'password_reset'] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/** Every type of audit log entry: changes, displayed secrets, resent and discarded deliveries. The part before the dot is the type of the target. */
export const AUDIT_TYPES = [
  'api_key.created',
  'api_key.rotated',
  'api_key.revoked',
  'document.deleted',
  'service_account.created',
  'service_account.changed',
  'service_account.deactivated',
  'service_account.reactivated',
  'session.ended',
  'settings.changed',
  'user.created',
  'user.invited',
  'user.joined',
  'user.changed',
  'user.deactivated',
  'user.reactivated',
  'user.password_reset_requested',
  'user.password_changed',
  'webhook_dead_letters.discarded',
  'webhook_dead_letters.replayed',
  'webhook_delivery.discarded',
  'webhook_endpoint.created',
  'webhook_endpoint.changed',
  'webhook_endpoint.deleted',
  'webhook_endpoint.enabled',
  'webhook_endpoint.disabled',
  'webhook_endpoint.replayed',
  'webhook_endpoint.secret_rotated',
  'webhook_endpoint.secret_revealed',
  'webhook_endpoint.verified',
  'webhook_replay.canceled',
  'webhook_replay.resumed',
] as const;
export type AuditType = (typeof AUDIT_TYPES)[number];

/** A change to who may do what, or to a secret; kept 400 days. */
export interface AuditEntry {
  /** `aud_…` */
  readonly id: string;
  readonly at: Timestamp;
  /** With the current name; null if there is none. */
  readonly actor: Actor & { readonly name: string | null };
  readonly type: AuditType;
  /** The id is null if the process ended before it knew the new id, and for an action on many targets. */
  readonly target: { readonly type: string; readonly id: string | null };
  readonly changes: AuditedChanges;
  /** `unknown` if the process ended before it knew. */
  readonly outcome: 'done' | 'unknown';
  readonly request_id: string;
  /** Where the request came from; null on the command line. */
  readonly address: string | null;
}
/** By field; never a secret. */
export type AuditedChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/**
 * The caller of a request: identity, scope and permissions, however they were proved. Guards, rate limits,
 * read-your-writes, commands and log lines use nothing else.
 */
export type Principal = ServiceAccountKeyPrincipal | UserKeyPrincipal | SessionPrincipal;

interface Authority {
  /** Id of the key or session, unique among both. Rate limits and read-your-writes use it. */
  readonly credential_id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly permissions: ReadonlySet<Permission>;
}

/** A system, by the key of its service account. */
interface ServiceAccountKeyPrincipal extends Authority {
  readonly type: 'service_account_key';
  readonly actor: { readonly type: 'service_account'; readonly id: string };
}

/** A person's program, by a key of theirs. */
interface UserKeyPrincipal extends Authority {
  readonly type: 'user_key';
  readonly actor: { readonly type: 'user'; readonly id: string };
}

/** A person, signed in with a browser. */
export interface SessionPrincipal extends Authority {
  readonly type: 'session';
  readonly actor: { readonly type: 'user'; readonly id: string };
}
