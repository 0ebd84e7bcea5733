import type { ApiKey, ServiceAccount } from './key-queries.ts';

export type KeyState = 'active' | 'revoked' | 'expired';
export const KEY_STATE_LABELS: Readonly<Record<KeyState, string>> = {
  active: 'Active',
  revoked: 'Revoked',
  expired: 'Expired',
};

export function stateOf({ revoked_at, expires_at }: ApiKey, now: number): KeyState {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'active';
}

/** A key of another person is theirs to hold: it can be revoked, but nobody else is given one in its place. */
export function mayRotate({ owner }: Pick<ApiKey, 'owner'>, userId: string | undefined): boolean {
  return owner.type === 'service_account' || owner.id === userId;
}

/** Whether keys can be made for it, by who manages keys. */
export function mayHaveKeys({ status, role }: Pick<ServiceAccount, 'status' | 'role'>, isAdmin: boolean): boolean {
  return status === 'active' && (role !== 'admin' || isAdmin);
}
