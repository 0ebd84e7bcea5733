import {
  type ApiKey,
  DomainError,
  type Environment,
  ENVIRONMENTS,
  type KeyOwner,
  type Permission,
  PERMISSIONS,
  type Principal,
  type Role,
} from '@tracking/contracts';

const VIEWER = ['shipments:read', 'documents:read'] as const;
const OPERATOR = [
  ...VIEWER,
  'shipments:write',
  'milestones:write',
  'documents:write',
  'documents:approve',
  'exceptions:write',
] as const;
const FEED = ['shipments:read', 'shipments:write', 'milestones:write', 'milestones:feed'] as const;
const DEVELOPER = [...VIEWER, 'webhooks:manage', 'keys:manage'] as const;

type ByRole = Readonly<Record<Role, ReadonlySet<Permission>>>;

const LIVE: ByRole = {
  viewer: new Set(VIEWER),
  operator: new Set(OPERATOR),
  feed: new Set(FEED),
  developer: new Set(DEVELOPER),
  admin: new Set(PERMISSIONS),
};
const BY_ENVIRONMENT: Readonly<Record<Environment, ByRole>> = {
  live: LIVE,
  // Developers must be able to try a whole integration without touching real data.
  test: { ...LIVE, developer: new Set([...DEVELOPER, ...OPERATOR, ...FEED]) },
};

/** The permissions of a role in an environment. */
export function permissionsOf(role: Role, environment: Environment): ReadonlySet<Permission> {
  return BY_ENVIRONMENT[environment][role];
}

/** The keys of a workspace that a caller can see and manage. Every other key is `not_found` for this caller. */
export interface KeyReach {
  /** The user who calls; null for a service account. */
  readonly user_id: string | null;
  readonly service_accounts: 'none' | 'all_but_admins' | 'all';
  /** True if the caller can list and revoke keys of other users. */
  readonly other_users: boolean;
  readonly environments: readonly Environment[];
}

/** The reach of the operators of the system. */
export const EVERY_KEY: KeyReach = {
  user_id: null,
  service_accounts: 'all',
  other_users: true,
  environments: ENVIRONMENTS,
};

/**
 * The keys within reach of a principal. A session reaches keys of both environments, whichever its request is for. A test key
 * reaches test keys only: it is stored in more places than a live key, and must not give access to real data.
 */
export function keyReachOf(principal: Principal): KeyReach {
  const { permissions, actor, type, environment } = principal;
  const isAdmin = permissions.has('workspace:admin');
  const managesAccounts = permissions.has('keys:manage');
  return {
    user_id: type === 'service_account_key' ? null : actor.id,
    service_accounts: isAdmin ? 'all' : managesAccounts ? 'all_but_admins' : 'none',
    other_users: isAdmin,
    environments: type !== 'session' && environment === 'test' ? ['test'] : ENVIRONMENTS,
  };
}

/** Returns true if the key is within reach. @param key with the role that its owner has now */
export function reaches(
  reach: KeyReach,
  { owner, role, environment }: Pick<ApiKey, 'owner' | 'role' | 'environment'>,
): boolean {
  if (!reach.environments.includes(environment)) return false;
  if (owner.type === 'user') return owner.id === reach.user_id || reach.other_users;
  return reachesAccount(reach, role);
}

/** Only the user of a key may replace it: others may end it, but must not hold a key of that user. */
export function requireHolder(reach: KeyReach, owner: KeyOwner): void {
  if (owner.type === 'service_account' || owner.id === reach.user_id) return;
  throw new DomainError('permission_denied', 'Only its user may rotate the key; it can be revoked.');
}

/** @throws DomainError `permission_denied` */
export function requireReach(reach: KeyReach, owner: KeyOwner, role: Role, environment: Environment): void {
  if (reaches(reach, { owner, role, environment })) return;
  throw new DomainError('permission_denied', lacking(reach, owner, environment));
}

function lacking(reach: KeyReach, owner: KeyOwner, environment: Environment): string {
  if (!reach.environments.includes(environment)) return 'A key for tests makes keys for tests alone.';
  if (owner.type === 'user') return 'Keys of other users are made by them.';
  if (reach.service_accounts === 'none')
    return 'To make keys of service accounts, the permission keys:manage is lacking.';
  return 'To make keys of a service account that is an admin, the permission workspace:admin is lacking.';
}

function reachesAccount({ service_accounts }: KeyReach, role: Role): boolean {
  return service_accounts === 'all' || (service_accounts === 'all_but_admins' && role !== 'admin');
}
