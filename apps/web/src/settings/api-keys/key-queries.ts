import { queryOptions } from '@tanstack/react-query';
import { type Environment, getApiClient } from '../../session/api.ts';

/** Query of all API keys of the workspace. The keys of both environments are included. */
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
 * Checks if the user may rotate a key. The new key is shown to the user, so the keys of other users cannot be rotated,
 * only revoked. For a service account with more permissions than a developer, only administrators can rotate keys.
 */
export function canRotateKey(
  { owner, role, environment }: Pick<ApiKey, 'owner' | 'role' | 'environment'>,
  userId: string | undefined,
  isAdmin: boolean,
): boolean {
  if (owner.type === 'user') return owner.id === userId;
  return isAdmin || role === 'viewer' || role === 'developer' || (environment === 'test' && role !== 'admin');
}

/** Checks if the user may create keys for a service account in at least one environment. */
export function canCreateKeysForServiceAccount(
  { status, role }: Pick<ServiceAccount, 'status' | 'role'>,
  isAdmin: boolean,
): boolean {
  return status === 'active' && (role !== 'admin' || isAdmin);
}

interface ServiceAccountUrlParameters {
  /** Id of the service account whose keys the dialog shows. */
  readonly account?: string | undefined;
}

export function readServiceAccountUrlParameters({ account }: Record<string, unknown>): ServiceAccountUrlParameters {
  return typeof account === 'string' && account !== '' ? { account } : {};
}
