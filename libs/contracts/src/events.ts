import type { ApiVersion } from './api-versions.ts';
import type { EventSamples } from './event-samples.ts';
import type { JsonObject } from './json.ts';
import type { Environment, Timestamp } from './shipment.ts';

interface PublicEventType {
  /** Half a sentence of the documentation. */
  readonly toldWhen: string;
  /** Whether `["*"]` on an endpoint means it too; the others are sent only to endpoints that name them. */
  readonly standard: boolean;
  /** Data of an invented event; of a shipment's, beside what every one of these holds. */
  readonly sandbox: (samples: EventSamples) => JsonObject;
}

/** What happens to shipments. */
const SHIPMENT_EVENTS = {
  'shipment.created': { toldWhen: 'a shipment is created', standard: true, sandbox: ({ shipment }) => ({ shipment }) },
  'shipment.updated': {
    toldWhen: 'a field that clients see differs, set or derived; `changes` tells which',
    standard: true,
    sandbox: ({ shipment }) => ({ shipment, changes: { eta: { from: shipment.original_eta, to: shipment.eta } } }),
  },
  'milestone.recorded': {
    toldWhen: 'an actual milestone is new, or an estimate became one',
    standard: true,
    sandbox: ({ milestone }) => ({ milestone: milestone('recorded') }),
  },
  'exception.opened': {
    toldWhen: 'an exception opened, by itself or by a person',
    standard: true,
    sandbox: ({ exception }) => ({ exception: exception('open') }),
  },
  'exception.resolved': {
    toldWhen: 'an exception closed; `resolution` tells how',
    standard: true,
    sandbox: ({ exception }) => ({ exception: exception('resolved') }),
  },
  'document.approved': {
    toldWhen: 'a person approved a document',
    standard: true,
    sandbox: ({ document }) => ({ document: document('approved') }),
  },
  'milestone.retracted': {
    toldWhen: 'an actual milestone was retracted',
    standard: false,
    sandbox: ({ milestone }) => ({ milestone: milestone('retracted') }),
  },
  'document.uploaded': {
    toldWhen: 'a document is whole, whichever way it came',
    standard: false,
    sandbox: ({ document }) => ({ document: document('uploaded') }),
  },
  'document.rejected': {
    toldWhen: 'a person rejected a document; `rejection_reason` tells why',
    standard: false,
    sandbox: ({ document }) => ({ document: document('rejected') }),
  },
  'exception.updated': {
    toldWhen: 'an exception was acknowledged, handed on, or is otherwise than before',
    standard: false,
    sandbox: ({ exception }) => ({ exception: exception('acknowledged') }),
  },
} as const satisfies Readonly<Record<string, PublicEventType>>;
export type ShipmentEventType = keyof typeof SHIPMENT_EVENTS;

/** What happens to a webhook endpoint, told to the other endpoints of its workspace and environment alone. */
const ENDPOINT_EVENTS = {
  'webhook_endpoint.failing': {
    toldWhen: 'another endpoint of the workspace did not answer 2xx for an hour',
    standard: false,
    sandbox: ({ endpoint, failing_since, failed }) => ({ endpoint, failing_since, reason: failed.last_error }),
  },
  'webhook_delivery.dead_lettered': {
    toldWhen: 'a delivery to another endpoint of the workspace failed for good',
    standard: false,
    sandbox: ({ endpoint, failed }) => ({ endpoint, delivery: failed, reason: failed.last_error }),
  },
} as const satisfies Readonly<Record<string, PublicEventType>>;
export type EndpointEventType = keyof typeof ENDPOINT_EVENTS;

export type EventType = ShipmentEventType | EndpointEventType;

/** Every type of public event, docs/reference/events.md#types. Clients program against them: one is never renamed. */
const TYPES: Readonly<Record<EventType, PublicEventType>> = { ...SHIPMENT_EVENTS, ...ENDPOINT_EVENTS };
export const EVENT_TYPES = Object.keys(TYPES) as readonly EventType[];
/** Those that are kept in the log of events: read afterwards, streamed and replayed. */
export const SHIPMENT_EVENT_TYPES = Object.keys(SHIPMENT_EVENTS) as readonly ShipmentEventType[];
export const ENDPOINT_EVENT_TYPES = Object.keys(ENDPOINT_EVENTS) as readonly EndpointEventType[];
/** `["*"]` on an endpoint means these. */
export const STANDARD_EVENT_TYPES = EVENT_TYPES.filter((type) => TYPES[type].standard);

export function isEndpointEvent(type: string): boolean {
  return Object.hasOwn(ENDPOINT_EVENTS, type);
}

/** Half a sentence, for the documentation: "a shipment is created". */
export function toldWhen(type: EventType): string {
  return TYPES[type].toldWhen;
}

/** Data of a sandbox event. */
export function sandboxData(type: EventType, samples: EventSamples): JsonObject {
  const { id: shipment_id, external_id, version: shipment_version } = samples.shipment;
  const data = TYPES[type].sandbox(samples);
  return isEndpointEvent(type) ? data : { shipment_id, external_id, shipment_version, ...data };
}

/** The envelope that receivers get; `data` is a snapshot of the resource at event time. */
export interface EventEnvelope {
  /** `evt_` and the stored event's UUID. */
  readonly id: string;
  readonly type: EventType;
  readonly created_at: Timestamp;
  readonly api_version: ApiVersion;
  readonly environment: Environment;
  readonly workspace_id: string;
  /** That of a shipment's event carries `shipment_id`, `external_id` and `shipment_version`, so that receivers can order them. */
  readonly data: JsonObject;
  /** Present and true on sandbox events only. */
  readonly sandbox?: true;
}

/** A message of the topic `shipment-events`, keyed by shipment id, in the newest payload version that its publisher knew. */
export type PublishedEvent = Omit<EventEnvelope, 'sandbox'>;

/** The topic of {@link PublishedEvent}s: what it is called, and how it is made where nothing else is asked for. */
export const SHIPMENT_EVENTS_TOPIC = { name: 'shipment-events', partitions: 4, retentionMs: 7 * 86_400_000 } as const;

/** Headers of its messages: what is known of an event that is no part of it. */
export const EVENT_HEADERS = {
  id: 'event-id',
  type: 'event-type',
  /** Of the stored event in the event store's one order. */
  position: 'position',
  /** Of the request that caused the event. */
  requestId: 'request-id',
  /** W3C trace context of that request, where it had one. */
  traceparent: 'traceparent',
} as const;
