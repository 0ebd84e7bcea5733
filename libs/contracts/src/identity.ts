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
