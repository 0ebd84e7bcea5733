import type { Environment } from './api.ts';
import type { Permission, Session } from './session.ts';

export type Role = Session['role'];

/** Labels of the roles, ordered by number of permissions, fewest first. */
export const ROLE_LABELS: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  operator: 'Operator',
  feed: 'Feed',
  developer: 'Developer',
  admin: 'Administrator',
};

export const ROLE_DESCRIPTIONS: Readonly<Record<Role, string>> = {
  viewer: 'Reads shipments and documents.',
  operator: 'Works on shipments, milestones, documents and exceptions.',
  feed: 'For systems: sends shipments and milestones of any source.',
  developer: 'Manages webhooks and keys of systems. In test, also has the permissions of an operator.',
  admin: 'Full access, including the team, settings and the audit log.',
};

/** Descriptions of permissions that complete the sentence "your role does not include …". */
const PERMISSION_LABELS: Readonly<Record<Permission, string>> = {
  'shipments:read': 'reading shipments',
  'shipments:write': 'changing shipments',
  'milestones:write': 'recording milestones',
  'milestones:feed': 'recording milestones of other sources',
  'documents:read': 'reading documents',
  'documents:write': 'sending documents',
  'documents:approve': 'reviewing documents',
  'exceptions:write': 'working on exceptions',
  'webhooks:manage': 'managing webhooks',
  'keys:manage': 'managing keys of systems',
  'workspace:admin': 'administering the workspace',
};

/** Options of the role select. */
export const ROLE_OPTIONS = Object.entries(ROLE_LABELS).map(([value, label]) => ({ value: value as Role, label }));

/** Explains why the user lacks a permission, and who can grant it. */
export function explainMissingPermission(role: Role, permission: Permission, environment: Environment): string {
  const reason = `Your role, ${ROLE_LABELS[role]}, does not include ${PERMISSION_LABELS[permission]}`;
  // Only developers have more permissions in the test environment than in live.
  const isAllowedInTest = role === 'developer' && environment === 'live' && !PERMISSIONS_OF_ADMINS_ONLY.has(permission);
  return isAllowedInTest ? `${reason} in live. In test it does.` : `${reason}. An administrator can change that.`;
}

const PERMISSIONS_OF_ADMINS_ONLY: ReadonlySet<Permission> = new Set(['workspace:admin']);
