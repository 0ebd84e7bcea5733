import { PERMISSIONS } from '@tracking/contracts';
import type { Environment, Permission, Role } from '@tracking/contracts';

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
  // whoever builds an integration must be able to try all of it where nothing real is touched
  test: { ...LIVE, developer: new Set([...DEVELOPER, ...OPERATOR, ...FEED]) },
};

/** What a role may do in an environment. */
export function permissionsOf(role: Role, environment: Environment): ReadonlySet<Permission> {
  return BY_ENVIRONMENT[environment][role];
}
