import { TrackingClient } from '@tracking/client';

export const KEY_ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof KEY_ENVIRONMENTS)[number];
export const ENVIRONMENT_LABELS: Readonly<Record<Environment, string>> = { live: 'Live', test: 'Test' };

const apiClients = new Map<Environment, TrackingClient>();

/** Returns the API client of an environment. The client authenticates with the browser's session. */
export function getApiClient(environment: Environment): TrackingClient {
  let client = apiClients.get(environment);
  if (client === undefined) {
    client = new TrackingClient({ baseUrl: globalThis.location.origin, session: true, environment });
    apiClients.set(environment, client);
  }
  return client;
}

/** Pattern of ids such as `shp_5f3c2k7q`. An id exists in one environment only. */
const ID_PATTERN = /^[a-z]{2,5}_[0-9a-z]+$/;

/**
 * Returns the path of the current page in the other environment. The page of one item maps to the list of such items,
 * because the item exists in one environment only.
 */
export function toOtherEnvironmentPath(path: string): string {
  const segments = path.split('/');
  const at = segments.findIndex((segment) => ID_PATTERN.test(segment));
  return at === -1 ? path : segments.slice(0, at).join('/');
}
