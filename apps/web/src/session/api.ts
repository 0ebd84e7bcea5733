import { TrackingClient } from '@tracking/client';

export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
export const ENVIRONMENT_LABELS: Readonly<Record<Environment, string>> = { live: 'Live', test: 'Test' };

const options = { baseUrl: globalThis.location.origin, session: true } as const;
const clients: Readonly<Record<Environment, TrackingClient>> = {
  live: new TrackingClient({ ...options, environment: 'live' }),
  test: new TrackingClient({ ...options, environment: 'test' }),
};

/** The API as whoever is signed in, in one environment. */
export function api(environment: Environment): TrackingClient {
  return clients[environment];
}
