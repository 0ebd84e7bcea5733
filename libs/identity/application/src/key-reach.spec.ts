import { ENVIRONMENTS, USER_ROLES } from '@tracking/contracts';
import type { Environment, Principal, Role } from '@tracking/contracts';
import {
  getKeyAccessOfPrincipal,
  getPermissionsOfRole,
  isKeyAccessible,
  requirePermissionToRotateKey,
  requireKeyAccess,
} from './principal.ts';

function principal(type: Principal['type'], role: Role, environment: Environment = 'live'): Principal {
  const access = {
    credential_id: 'x',
    workspace_id: 'wsp_1',
    environment,
    permissions: getPermissionsOfRole(role, environment),
  };
  return type === 'service_account_key'
    ? { type, actor: { type: 'service_account', id: 'sva_me' }, ...access }
    : { type, actor: { type: 'user', id: 'usr_me' }, ...access };
}
const key = (owner: string, role: Role = 'viewer', environment: Environment = 'live') => ({
  owner: { type: owner.startsWith('usr') ? ('user' as const) : ('service_account' as const), id: owner },
  role,
  environment,
});

describe('keys', () => {
  it.each(USER_ROLES)('of their own are within reach of a user who is %s, with a session or a key', (role) => {
    for (const type of ['session', 'user_key'] as const) {
      expect(isKeyAccessible(getKeyAccessOfPrincipal(principal(type, role)), key('usr_me', role))).toBe(true);
    }
  });

  it.each(USER_ROLES)('of other users are within reach of admins only, not of %s', (role) => {
    for (const type of ['session', 'user_key', 'service_account_key'] as const) {
      expect(isKeyAccessible(getKeyAccessOfPrincipal(principal(type, role)), key('usr_other'))).toBe(role === 'admin');
    }
  });

  it('of service accounts are within reach of developers, except for admin accounts, and of admins', () => {
    for (const type of ['session', 'user_key', 'service_account_key'] as const) {
      for (const role of USER_ROLES) {
        const reached = USER_ROLES.filter((owner) =>
          isKeyAccessible(getKeyAccessOfPrincipal(principal(type, role)), key('sva_1', owner)),
        );
        const expected =
          role === 'admin' ? USER_ROLES : USER_ROLES.filter((owner) => role === 'developer' && owner !== 'admin');
        expect([type, role, reached]).toEqual([type, role, expected]);
      }
    }
  });

  it('with live data are beyond the reach of a test key, but not of a session in the test environment', () => {
    const seen = (type: Principal['type'], environment: Environment) =>
      ENVIRONMENTS.filter((one) =>
        isKeyAccessible(getKeyAccessOfPrincipal(principal(type, 'admin', environment)), key('usr_me', 'admin', one)),
      );
    expect(seen('user_key', 'test')).toEqual(['test']);
    expect(seen('service_account_key', 'test')).toEqual(['test']);
    expect(seen('user_key', 'live')).toEqual(ENVIRONMENTS);
    expect(seen('session', 'test')).toEqual(ENVIRONMENTS);
  });

  it('of other users are never rotated, not even by an admin', () => {
    const reach = getKeyAccessOfPrincipal(principal('session', 'admin'));
    expect(() => requirePermissionToRotateKey(reach, key('usr_me'))).not.toThrow();
    expect(() => requirePermissionToRotateKey(reach, key('sva_1'))).not.toThrow();
    expect(() => requirePermissionToRotateKey(reach, key('usr_other'))).toThrow(/Only the user who owns/);
  });

  it.each<[string, Principal, ReturnType<typeof key>]>([
    ['keys:manage', principal('session', 'operator'), key('sva_1')],
    ['workspace:admin', principal('session', 'developer'), key('sva_1', 'admin')],
    ['test keys', principal('user_key', 'admin', 'test'), key('usr_me')],
  ])('are refused with the missing permission: %s', (lacking, who, refused) => {
    expect(() => requireKeyAccess(getKeyAccessOfPrincipal(who), refused)).toThrow(lacking);
  });

  it.each<[Environment, readonly Role[]]>([
    ['live', ['viewer', 'developer']],
    ['test', ['viewer', 'operator', 'feed', 'developer']],
  ])(
    'of service accounts are created and rotated by a developer up to the own permissions: %s',
    (environment, roles) => {
      const reach = getKeyAccessOfPrincipal(principal('session', 'developer'));
      const permitted = (check: typeof requirePermissionToRotateKey) =>
        USER_ROLES.filter((role) => {
          try {
            check(reach, key('sva_1', role, environment));
            return true;
          } catch {
            return false;
          }
        });
      expect([permitted(requireKeyAccess), permitted(requirePermissionToRotateKey)]).toEqual([roles, roles]);
    },
  );
});
