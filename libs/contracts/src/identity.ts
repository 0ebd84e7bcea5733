import type { Actor, Environment, Timestamp } from './shipment.ts';

export const USER_ROLES = ['viewer', 'operator', 'feed', 'developer', 'admin'] as const;
export type Role = (typeof USER_ROLES)[number];

export const API_KEY_PERMISSIONS = [
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
export type Permission = (typeof API_KEY_PERMISSIONS)[number];

/** A tenant, with its users, service accounts, keys and data. */
export interface Workspace {
  /** Id of the workspace, `wsp_…`. */
  readonly id: string;
  /** Display name of the workspace; unique, ignoring case. */
  readonly name: string;
  readonly created_at: Timestamp;
}

/**
 * Statuses of a user. `invited`: the user has not used the one-time link yet. `deactivated`: the user cannot sign in
 * until an administrator reactivates them.
 */
export const USER_STATUSES = ['invited', 'active', 'deactivated'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** A person in a workspace. */
export interface User {
  /** Id of the user, `usr_…`. */
  readonly id: string;
  readonly workspace_id: string;
  /** Name of the user; null until the invitation is accepted. */
  readonly name: string | null;
  readonly email: string;
  readonly role: Role;
  readonly status: UserStatus;
  readonly created_by: Actor;
  readonly created_at: Timestamp;
  /** Time of the user's last request, to the minute; null if there was none. */
  readonly last_seen_at: Timestamp | null;
  readonly version: number;
}

/** The identity of a system in a workspace. Its API keys have its role. */
export interface ServiceAccount {
  /** Id of the service account, `sva_…`. */
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly role: Role;
  readonly status: 'active' | 'deactivated';
  readonly created_by: Actor;
  readonly created_at: Timestamp;
  readonly version: number;
}

/** An API key as lists show it. Only the response to its creation contains the key itself. */
export interface ApiKey {
  /** Id of the key, `key_…`. */
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly environment: Environment;
  /** First characters of the key. */
  readonly prefix: string;
  /** Last characters of the key. */
  readonly last_four: string;
  /** Owner of the key. Requests with the key have the owner's permissions. */
  readonly owner: KeyOwner;
  /** Current role of the key's owner. */
  readonly role: Role;
  /** Role that limits the key in addition to its owner's role; null for no limit. */
  readonly max_role: Role | null;
  readonly created_by: Actor;
  readonly created_at: Timestamp;
  /** Expiry of the key; null if it does not expire. A rotated key expires at the end of its grace period. */
  readonly expires_at: Timestamp | null;
  /** Time of the last use, to the minute; null if the key was never used. */
  readonly last_used_at: Timestamp | null;
  readonly revoked_at: Timestamp | null;
  /** Id of the key that replaced this one in a rotation; null if the key was not rotated. */
  readonly rotated_to: string | null;
  readonly version: number;
}
export interface KeyOwner {
  readonly type: 'service_account' | 'user';
  /** Id of the key's owner, `sva_…` or `usr_…`. */
  readonly id: string;
}
export interface CreatedApiKeyWithSecret extends ApiKey {
  readonly key: string;
}

/** A session of a signed-in user, as shown to the user. */
export interface Session {
  /** Id of the session, `ses_…`. */
  readonly id: string;
  /** Browser and operating system, from the `User-Agent` header. */
  readonly device: string;
  readonly address: string;
  readonly created_at: Timestamp;
  /** Time of the last request, to the minute. */
  readonly last_seen_at: Timestamp;
  /** Time when the session ends even if it is used. */
  readonly expires_at: Timestamp;
}

/** Owner of the credentials that a request used, with role and permissions. */
export interface CredentialsOwner {
  /** The user whose key or session was used; null for a key of a service account. */
  readonly user: Pick<User, 'id' | 'name' | 'email'> | null;
  /** The service account whose key was used; null for a user's key or a session. */
  readonly service_account: Pick<ServiceAccount, 'id' | 'name'> | null;
  readonly workspace: Pick<Workspace, 'id' | 'name'>;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly environment: Environment;
  /** Time when the key or session ends even if it is used; null if it does not expire. */
  readonly expires_at: Timestamp | null;
}

/** Purposes of a one-time link. */
export const LINK_PURPOSES = ['invitation', 'first_admin', 'password_reset'] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/**
 * Types of audit log entries. They record changes, sign-ins, displayed secrets, and resent or discarded deliveries. The
 * part before the dot is the type of the target.
 */
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
  'session.refused',
  'session.started',
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

/** An audit log entry: a change of permissions or secrets. Kept for 400 days. */
export interface AuditEntry {
  /** Id of the entry, `aud_…`. */
  readonly id: string;
  readonly at: Timestamp;
  /** The actor with its current name; the name is null if the actor has none. */
  readonly actor: Actor & { readonly name: string | null };
  readonly type: AuditType;
  /**
   * The target of the action. Its id is null if the action had many targets, or if the process ended before it created
   * the id.
   */
  readonly target: { readonly type: string; readonly id: string | null };
  readonly changes: AuditedChanges;
  /** Outcome of the action; `unknown` if the process ended before the action finished. */
  readonly outcome: 'done' | 'unknown';
  readonly request_id: string;
  /** IP address of the caller; null for actions on the command line. */
  readonly address: string | null;
}
/** Old and new values of each changed field. Never contains a secret. */
export type AuditedChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/**
 * The caller of a request, with identity, scope and permissions. Guards, rate limits, read-your-writes, commands and
 * log lines use only this type, so that they do not depend on the kind of credentials.
 */
export type Principal = ServiceAccountKeyPrincipal | UserKeyPrincipal | SessionPrincipal;

interface AuthenticatedCredential {
  /** Id of the key or session; no key has the id of a session. Rate limits and read-your-writes use this id. */
  readonly credential_id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly permissions: ReadonlySet<Permission>;
}

/** Principal of a system that uses a key of its service account. */
interface ServiceAccountKeyPrincipal extends AuthenticatedCredential {
  readonly type: 'service_account_key';
  readonly actor: { readonly type: 'service_account'; readonly id: string };
}

/** Principal of a program that uses an API key of a person. */
interface UserKeyPrincipal extends AuthenticatedCredential {
  readonly type: 'user_key';
  readonly actor: { readonly type: 'user'; readonly id: string };
}

/** Principal of a person who is signed in with a browser. */
export interface SessionPrincipal extends AuthenticatedCredential {
  readonly type: 'session';
  readonly actor: { readonly type: 'user'; readonly id: string };
}
