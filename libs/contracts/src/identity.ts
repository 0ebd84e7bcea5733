import type { Actor } from './milestone.ts';
import type { Environment, Timestamp } from './shipment.ts';

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

/** An API key as it is listed; the key itself is shown once, when it is made. */
export interface ApiKey {
  /** `key_…` */
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly environment: Environment;
  /** How the key begins. */
  readonly prefix: string;
  /** How the key ends. */
  readonly last_four: string;
  /** Whose permissions the key has. */
  readonly owner: KeyOwner;
  /** The owner's role now. */
  readonly role: Role;
  readonly created_by: Actor;
  readonly created_at: Timestamp;
  /** To the minute; null when it was never used. */
  readonly last_used_at: Timestamp | null;
  readonly revoked_at: Timestamp | null;
}
export interface KeyOwner {
  readonly type: 'service_account';
  /** `sva_…` */
  readonly id: string;
}
export interface NewApiKey extends ApiKey {
  readonly key: string;
}
