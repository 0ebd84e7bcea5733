import type { components } from '../generated/api.ts';

/** An event, whose `type` says what its `data` is. A newer service may tell types that are not in here: have a `default`. */
export type TrackingEvent = components['schemas']['Event'];

export type EventType = TrackingEvent['type'];

/** The event of a type. */
export type EventOf<Type extends EventType> = Extract<TrackingEvent, { type: Type }>;

/** What `webhookEndpoints.verify` sends: to be answered 2xx with the challenge as the body. */
export interface EndpointVerification {
  readonly id: string;
  readonly type: 'endpoint.verification';
  readonly created_at: string;
  readonly api_version: string;
  readonly data: { readonly challenge: string };
}
