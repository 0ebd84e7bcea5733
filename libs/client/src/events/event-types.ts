import type { components } from '../generated/api.ts';
import type { Milestone, Shipment, ShipmentException } from '../resource-types.ts';

type Described = components['schemas']['Event'];

interface Envelope<Type extends string, Data> {
  /** The same at every delivery of the event: drop what you have seen. */
  readonly id: string;
  readonly type: Type;
  readonly created_at: string;
  readonly api_version: Described['api_version'];
  readonly environment: Described['environment'];
  readonly workspace_id: string;
  /** On events that a test of an endpoint invented. */
  readonly sandbox?: true;
  readonly data: Data;
}

/** By these a receiver finds and orders the events of a shipment. */
export interface AboutShipment {
  readonly shipment_id: string;
  readonly external_id: string | null;
  readonly shipment_version: number;
}

/** By field, what it was and what it is. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

interface WithMilestone extends AboutShipment {
  readonly milestone: Milestone;
}
interface WithException extends AboutShipment {
  readonly exception: ShipmentException;
}
interface WithDocument extends AboutShipment {
  readonly document: Readonly<Record<string, unknown>>;
}

/** What an event of each type tells. The resource is as it was right after the event. */
export interface EventData {
  'shipment.created': AboutShipment & { readonly shipment: Shipment };
  'shipment.updated': AboutShipment & { readonly shipment: Shipment; readonly changes: Changes };
  'milestone.recorded': WithMilestone;
  'milestone.retracted': WithMilestone;
  'exception.opened': WithException;
  'exception.updated': WithException;
  'exception.resolved': WithException;
  'document.uploaded': WithDocument;
  'document.approved': WithDocument;
  'document.rejected': WithDocument;
  'webhook_endpoint.failing': Readonly<Record<string, unknown>>;
  'webhook_delivery.dead_lettered': Readonly<Record<string, unknown>>;
}

export type EventType = keyof EventData;

/** An event, whose `type` says what its `data` is. A newer service may tell types that are not in here: have a `default`. */
export type TrackingEvent = { [Type in EventType]: Envelope<Type, EventData[Type]> }[EventType];

/** What `webhookEndpoints.verify` sends: to be answered 2xx with the challenge as the body. */
export type EndpointVerification = Envelope<'endpoint.verification', { readonly challenge: string }>;
