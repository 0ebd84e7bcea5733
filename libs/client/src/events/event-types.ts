import type { components } from '../generated/api.ts';

/** An event of a shipment, whose `type` says what its `data` is. A newer service may tell types that are not in here: have a `default`. */
export type TrackingEvent = components['schemas']['Event'];

export type EventType = TrackingEvent['type'];

/** The event of a type. */
export type EventOf<Type extends EventType> = Extract<TrackingEvent, { type: Type }>;

type Schemas = components['schemas'];
/** What webhooks bring: an event of a shipment, or of another endpoint of the workspace. Have a `default` here, too. */
export type WebhookEvent =
  TrackingEvent | Schemas['WebhookEndpointFailingEvent'] | Schemas['WebhookDeliveryDeadLetteredEvent'];

/** What `webhookEndpoints.verify` sends: to be answered 2xx with the challenge as the body. */
export interface EndpointVerification {
  readonly id: string;
  readonly type: 'endpoint.verification';
  readonly created_at: string;
  readonly api_version: string;
  readonly data: { readonly challenge: string };
}
