import { type ApiKey, canCreateKeysForServiceAccount, canRotateKey, getKeyState } from './key-queries.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const key = (times: Partial<ApiKey>) => ({ revoked_at: null, expires_at: null, ...times }) as ApiKey;

it('reports if a key is active, revoked or expired', () => {
  expect(getKeyState(key({}), NOW)).toBe('active');
  expect(getKeyState(key({ expires_at: '2026-11-23T12:00:01Z' }), NOW)).toBe('active');
  expect(getKeyState(key({ expires_at: '2026-11-23T12:00:00Z' }), NOW)).toBe('expired');
  const revoked = { revoked_at: '2026-11-23T11:00:00Z', expires_at: '2026-11-23T11:30:00Z' };
  expect(getKeyState(key(revoked), NOW)).toBe('revoked');
});

it('lets users rotate their own keys and keys of service accounts, but not keys of other users', () => {
  const of = (type: 'user' | 'service_account', id: string) =>
    ({ owner: { type, id }, role: 'viewer', environment: 'live' }) as const;
  expect(canRotateKey(of('user', 'usr_me'), 'usr_me', false)).toBe(true);
  expect(canRotateKey(of('user', 'usr_other'), 'usr_me', true)).toBe(false);
  expect(canRotateKey(of('service_account', 'sva_1'), 'usr_me', false)).toBe(true);
});

it('lets developers rotate the keys of service accounts that have no more permissions than a developer', () => {
  const may = (role: ApiKey['role'], environment: ApiKey['environment'], isAdmin = false) =>
    canRotateKey({ owner: { type: 'service_account', id: 'sva_1' }, role, environment }, 'usr_me', isAdmin);
  expect([may('operator', 'live'), may('feed', 'live'), may('admin', 'test')]).toEqual([false, false, false]);
  expect([may('developer', 'live'), may('operator', 'test'), may('operator', 'live', true)]).toEqual([
    true,
    true,
    true,
  ]);
});

it('allows keys for active service accounts; only administrators may create keys for administrator accounts', () => {
  expect(canCreateKeysForServiceAccount({ status: 'active', role: 'operator' }, false)).toBe(true);
  expect(canCreateKeysForServiceAccount({ status: 'deactivated', role: 'operator' }, true)).toBe(false);
  expect(canCreateKeysForServiceAccount({ status: 'active', role: 'admin' }, false)).toBe(false);
  expect(canCreateKeysForServiceAccount({ status: 'active', role: 'admin' }, true)).toBe(true);
});
