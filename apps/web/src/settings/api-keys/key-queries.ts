import { queryOptions } from '@tanstack/react-query';
import { type Environment, getApiClient } from '../../session/api.ts';

/** The keys of the workspace, the same in both environments. */
export const apiKeysQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['api-keys', environment],
    queryFn: ({ signal }) => getApiClient(environment).keys.list({ limit: 200 }, { signal }).toArray(),
  });

export const serviceAccountsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['service-accounts', environment],
    queryFn: ({ signal }) => getApiClient(environment).serviceAccounts.list({ limit: 200 }, { signal }).toArray(),
  });

export type ServiceAccount = Awaited<ReturnType<ReturnType<typeof getApiClient>['serviceAccounts']['get']>>;

export type ApiKey = Awaited<ReturnType<ReturnType<typeof getApiClient>['keys']['get']>>;

type KeyState = 'active' | 'revoked' | 'expired';
export const KEY_STATE_LABELS: Readonly<Record<KeyState, string>> = {
  active: 'Active',
  revoked: 'Revoked',
  expired: 'Expired',
};

export function getKeyState({ revoked_at, expires_at }: ApiKey, now: number): KeyState {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'active';
}

/**
 * A user can revoke another user's key but not rotate it: only the owner may have the new key. Only administrators can
 * rotate keys of service accounts that may do more than a developer.
 */
export function canRotateKey(
  { owner, role, environment }: Pick<ApiKey, 'owner' | 'role' | 'environment'>,
  userId: string | undefined,
  isAdmin: boolean,
): boolean {
  if (owner.type === 'user') return owner.id === userId;
  return isAdmin || role === 'viewer' || role === 'developer' || (environment === 'test' && role !== 'admin');
}

/** Checks if a user who manages keys can create keys for the account, in the test environment at least. */
export function canCreateKeysFor({ status, role }: Pick<ServiceAccount, 'status' | 'role'>, isAdmin: boolean): boolean {
  return status === 'active' && (role !== 'admin' || isAdmin);
}

interface AccountSearch {
  /** Id of the account whose keys are shown. */
  readonly account?: string | undefined;
}

export function readAccountSearch({ account }: Record<string, unknown>): AccountSearch {
  return typeof account === 'string' && account !== '' ? { account } : {};
}
