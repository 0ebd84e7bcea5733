import { API_KEY_PERMISSIONS, USER_ROLES } from '@tracking/contracts';
import { getPermissionsOfRole } from './principal.ts';

describe('permissionsOf', () => {
  it.each([
    ['viewer', 'shipments:read documents:read'],
    [
      'operator',
      'shipments:read documents:read shipments:write milestones:write documents:write documents:approve exceptions:write',
    ],
    ['feed', 'shipments:read shipments:write milestones:write milestones:feed'],
    ['developer', 'shipments:read documents:read webhooks:manage keys:manage'],
    ['admin', API_KEY_PERMISSIONS.join(' ')],
  ] as const)('gives a live %s exactly the permissions of the role', (role, expected) => {
    expect([...getPermissionsOfRole(role, 'live')].sort()).toEqual(expected.split(' ').sort());
  });

  it('gives developers the permissions of operators and feeds, but only in the test environment', () => {
    const developer = getPermissionsOfRole('developer', 'test');
    for (const role of ['developer', 'operator', 'feed'] as const) {
      expect([...getPermissionsOfRole(role, 'live')].filter((permission) => !developer.has(permission))).toEqual([]);
    }
    expect(developer.has('workspace:admin')).toBe(false);
  });

  it('grants nothing else in the test environment', () => {
    for (const role of USER_ROLES.filter((name) => name !== 'developer')) {
      expect(getPermissionsOfRole(role, 'test')).toEqual(getPermissionsOfRole(role, 'live'));
    }
  });
});
