import type { Permission, Principal } from '@tracking/contracts';
import { RequestError } from '../errors/request-error.ts';

/**
 * Who may ask for an operation:
 * - a permission: whoever has it
 * - `open`: anybody, without credentials
 * - `authenticated`: anybody with credentials
 * - `personal`: a user, by a session or by a key of theirs
 * - `personal or …`: a user, or whoever has the permission; the handler tells what of it is theirs
 */
export type Access = Permission | 'open' | 'authenticated' | 'personal' | `personal or ${Permission}`;
/** Access of operations that ask for credentials. */
export type GuardedAccess = Exclude<Access, 'open'>;

const PERSONAL_OR = 'personal or ';

/** @throws RequestError 403 naming what is lacking */
export function requireAccess(principal: Principal, access: GuardedAccess): void {
  if (access === 'authenticated') return;
  const isPersonal = principal.type !== 'service_account_key';
  if (access === 'personal') {
    if (!isPersonal)
      throw new RequestError('permission_denied', 'Only users may do this, with a session or a key of theirs.');
    return;
  }
  const [permission, mayBePersonal] = permissionIn(access);
  if (!(mayBePersonal && isPersonal)) requirePermission(principal, permission);
}

/** @throws RequestError 403 naming the permission */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (principal.permissions.has(permission)) return;
  const who = principal.type === 'session' ? 'user' : 'API key';
  throw new RequestError('permission_denied', `The ${who} lacks the permission ${permission}.`);
}

/** What the refusal means, in OpenAPI; undefined where nobody with credentials is refused. */
export function describeRefusal(access: GuardedAccess): string | undefined {
  if (access === 'authenticated') return undefined;
  if (access === 'personal') return "The key is not a user's.";
  const [permission, mayBePersonal] = permissionIn(access);
  return mayBePersonal
    ? `It is neither a user's nor has it the permission ${permission}.`
    : `The key lacks the permission ${permission}.`;
}

/** Who may ask for it, in OpenAPI. */
export function describeAccess(access: Access): string {
  if (access === 'open') return 'Open to everybody: it takes no credentials.';
  if (access === 'authenticated') return 'Needs a key or a session, and no permission.';
  if (access === 'personal') return 'For users: by a session, or by a key of theirs. No permission is needed.';
  const [permission, mayBePersonal] = permissionIn(access);
  return mayBePersonal
    ? `Needs the permission \`${permission}\`; users need none for what is theirs.`
    : `Needs the permission \`${permission}\`.`;
}

/** The permission that an access names; undefined where it names none. */
export function permissionOf(access: Access): Permission | undefined {
  if (access === 'open' || access === 'authenticated' || access === 'personal') return undefined;
  return permissionIn(access)[0];
}

function permissionIn(access: Permission | `personal or ${Permission}`): readonly [Permission, boolean] {
  const mayBePersonal = access.startsWith(PERSONAL_OR);
  return [(mayBePersonal ? access.slice(PERSONAL_OR.length) : access) as Permission, mayBePersonal];
}
