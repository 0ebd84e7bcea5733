import {
  type ApiKey,
  DomainError,
  type Environment,
  ENVIRONMENTS,
  type KeyOwner,
  type Permission,
  API_KEY_PERMISSIONS,
  type Principal,
  type Role,
} from '@tracking/contracts';

const VIEWER_PERMISSIONS = ['shipments:read', 'documents:read'] as const;
const OPERATOR_PERMISSIONS = [
  ...VIEWER_PERMISSIONS,
  'shipments:write',
  'milestones:write',
  'documents:write',
  'documents:approve',
  'exceptions:write',
] as const;
const FEED_ROLE_PERMISSIONS = ['shipments:read', 'shipments:write', 'milestones:write', 'milestones:feed'] as const;
const DEVELOPER_PERMISSIONS = [...VIEWER_PERMISSIONS, 'webhooks:manage', 'keys:manage'] as const;

type ByRole = Readonly<Record<Role, ReadonlySet<Permission>>>;

const LIVE_ENVIRONMENT_PERMISSIONS_BY_ROLE: ByRole = {
  viewer: new Set(VIEWER_PERMISSIONS),
  operator: new Set(OPERATOR_PERMISSIONS),
  feed: new Set(FEED_ROLE_PERMISSIONS),
  developer: new Set(DEVELOPER_PERMISSIONS),
  admin: new Set(API_KEY_PERMISSIONS),
};
const PERMISSIONS_BY_ENVIRONMENT: Readonly<Record<Environment, ByRole>> = {
  live: LIVE_ENVIRONMENT_PERMISSIONS_BY_ROLE,
  // Grant developers all permissions for test data, so that they can try an integration without real data.
  test: {
    ...LIVE_ENVIRONMENT_PERMISSIONS_BY_ROLE,
    developer: new Set([...DEVELOPER_PERMISSIONS, ...OPERATOR_PERMISSIONS, ...FEED_ROLE_PERMISSIONS]),
  },
};

/** Returns the permissions of a role in an environment. */
export function getPermissionsOfRole(role: Role, environment: Environment): ReadonlySet<Permission> {
  return PERMISSIONS_BY_ENVIRONMENT[environment][role];
}

/** Returns the permissions of a key: those of its owner's present role, at most those of `max_role`. */
export function getKeyPermissions(
  role: Role,
  { environment, max_role }: Pick<ApiKey, 'environment' | 'max_role'>,
): ReadonlySet<Permission> {
  const allowed = getPermissionsOfRole(role, environment);
  if (max_role === null) return allowed;
  const most = getPermissionsOfRole(max_role, environment);
  return new Set([...allowed].filter((permission) => most.has(permission)));
}

/** The keys of a workspace that a caller can see and manage. All other keys are `not_found` for the caller. */
export interface AccessToApiKeys {
  /** Id of the calling user; null for a service account. */
  readonly user_id: string | null;
  readonly service_accounts: 'none' | 'all_but_admins' | 'all';
  /** True if the caller can list and revoke keys of other users. */
  readonly other_users: boolean;
  readonly environments: readonly Environment[];
}

/** The reach of the operators of the system: every key. */
export const ACCESS_TO_ALL_KEYS: AccessToApiKeys = {
  user_id: null,
  service_accounts: 'all',
  other_users: true,
  environments: ENVIRONMENTS,
};

/**
 * The keys within reach of a principal. A session can manage keys of both environments, whatever the environment of the
 * request. A test key can manage only test keys: test keys are stored in more places and must not give access to real
 * data.
 */
export function getKeyAccessOfPrincipal(principal: Principal): AccessToApiKeys {
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

/** A key, with the role that its owner has now. */
type ReachedKey = Pick<ApiKey, 'owner' | 'role' | 'environment'>;

/** Returns true if the key is within reach. */
export function isKeyAccessible(reach: AccessToApiKeys, { owner, role, environment }: ReachedKey): boolean {
  if (!reach.environments.includes(environment)) return false;
  if (owner.type === 'user') return owner.id === reach.user_id || reach.other_users;
  return canManageServiceAccount(reach, role);
}

/**
 * Returns the role that limits a key that the caller creates for the owner, so that a later promotion of a service
 * account does not give the key rights that its creator never had. Null for no limit: keys of users, and keys that an
 * admin creates.
 */
export function getMaxRoleOfKey({ service_accounts }: AccessToApiKeys, owner: KeyOwner): Role | null {
  // Only developers and admins have the permission keys:manage.
  return owner.type === 'user' || service_accounts === 'all' ? null : 'developer';
}

/**
 * Checks that the caller may rotate the key. A user's key is rotated only by the user; a service account's key only by
 * a caller who may create such a key. Other callers may revoke the key.
 * @throws DomainError `permission_denied`
 */
export function requirePermissionToRotateKey(reach: AccessToApiKeys, key: ReachedKey): void {
  if (key.owner.type === 'user' && key.owner.id !== reach.user_id) {
    throw new DomainError('permission_denied', 'Only the user who owns the key may rotate it. You can revoke it.');
  }
  requireRoleWithinOwnPermissions(reach, key);
}

/** @throws DomainError `permission_denied` */
export function requireKeyAccess(reach: AccessToApiKeys, key: ReachedKey): void {
  if (!isKeyAccessible(reach, key)) {
    throw new DomainError('permission_denied', describeMissingKeyAccess(reach, key.owner, key.environment));
  }
  requireRoleWithinOwnPermissions(reach, key);
}

/** @throws DomainError `permission_denied` if a service account with the role may do more than the caller */
function requireRoleWithinOwnPermissions(reach: AccessToApiKeys, { owner, role, environment }: ReachedKey): void {
  const limited = getKeyPermissions(role, { environment, max_role: getMaxRoleOfKey(reach, owner) });
  if (limited.size === getPermissionsOfRole(role, environment).size) return;
  const message = `The role ${role} of the service account exceeds yours in the environment ${environment}: a new key of the account needs the permission workspace:admin.`;
  throw new DomainError('permission_denied', message);
}

function describeMissingKeyAccess(reach: AccessToApiKeys, owner: KeyOwner, environment: Environment): string {
  if (!reach.environments.includes(environment)) return 'A test key can create only test keys.';
  if (owner.type === 'user') return 'Only the user can create keys for that user.';
  if (reach.service_accounts === 'none') return 'Creating keys of service accounts needs the permission keys:manage.';
  return 'Creating keys of a service account with the role admin needs the permission workspace:admin.';
}

function canManageServiceAccount({ service_accounts }: AccessToApiKeys, role: Role): boolean {
  return service_accounts === 'all' || (service_accounts === 'all_but_admins' && role !== 'admin');
}
