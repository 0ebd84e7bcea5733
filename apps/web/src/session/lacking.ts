import type { Environment } from './api.ts';
import { PERMISSION_LABELS, ROLE_LABELS, type Role } from './role-labels.ts';
import type { Permission } from './session.ts';

/** Why somebody may not do something, and what they can do about it. */
export function lacking(role: Role, permission: Permission, environment: Environment): string {
  const lacks = `Your role, ${ROLE_LABELS[role]}, does not include ${PERMISSION_LABELS[permission]}`;
  // The one role that may do more in one environment than in the other.
  const isOfTest = role === 'developer' && environment === 'live' && !NEVER_OF_DEVELOPERS.has(permission);
  return isOfTest ? `${lacks} in live. In test it does.` : `${lacks}. An administrator can change that.`;
}

const NEVER_OF_DEVELOPERS: ReadonlySet<Permission> = new Set(['workspace:admin']);
