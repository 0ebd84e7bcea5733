import { type ApiKey, canHaveKeys, canRotate, keyState } from './key-queries.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const key = (times: Partial<ApiKey>) => ({ revoked_at: null, expires_at: null, ...times }) as ApiKey;

it('reports if a key is valid, or why it is not', () => {
  expect(keyState(key({}), NOW)).toBe('active');
  expect(keyState(key({ expires_at: '2026-11-23T12:00:01Z' }), NOW)).toBe('active');
  expect(keyState(key({ expires_at: '2026-11-23T12:00:00Z' }), NOW)).toBe('expired');
  const revoked = { revoked_at: '2026-11-23T11:00:00Z', expires_at: '2026-11-23T11:30:00Z' };
  expect(keyState(key(revoked), NOW)).toBe('revoked');
});

it("allows rotating one's own keys and those of service accounts, but not keys of other users", () => {
  expect(canRotate({ owner: { type: 'user', id: 'usr_me' } }, 'usr_me')).toBe(true);
  expect(canRotate({ owner: { type: 'user', id: 'usr_other' } }, 'usr_me')).toBe(false);
  expect(canRotate({ owner: { type: 'service_account', id: 'sva_1' } }, 'usr_me')).toBe(true);
});

it('allows keys for active service accounts; only administrators may create keys for administrator accounts', () => {
  expect(canHaveKeys({ status: 'active', role: 'operator' }, false)).toBe(true);
  expect(canHaveKeys({ status: 'deactivated', role: 'operator' }, true)).toBe(false);
  expect(canHaveKeys({ status: 'active', role: 'admin' }, false)).toBe(false);
  expect(canHaveKeys({ status: 'active', role: 'admin' }, true)).toBe(true);
});
