import type { JsonObject, JsonValue } from './common.ts';
import type { EventSamples } from './event-samples.ts';
import type { Environment, Timestamp } from './shipment.ts';

interface PublicEventType {
  /** Half a sentence of the documentation. */
  readonly trigger: string;
  /** Whether `["*"]` on an endpoint includes it. Other types are sent only to endpoints that name them. */
  readonly standard: boolean;
  /** Data of a sandbox event, without the fields that all shipment events have. */
  readonly sandbox: (samples: EventSamples) => JsonObject;
}

/** Events about shipments. */
const SHIPMENT_EVENTS = {
  'shipment.created': { trigger: 'a shipment is created', standard: true, sandbox: ({ shipment }) => ({ shipment }) },
  'shipment.updated': {
    trigger: 'a field that clients see differs, set or derived; `changes` tells which',
    standard: true,
    sandbox: ({ shipment }) => ({ shipment, changes: { eta: { from: shipment.original_eta, to: shipment.eta } } }),
  },
  'milestone.recorded': {
    trigger: 'an actual milestone is new, or an estimate became one',
    standard: true,
    sandbox: ({ milestone }) => ({ milestone: milestone('recorded') }),
  },
  'exception.opened': {
    trigger: 'an exception opened, by itself or by a person',
    standard: true,
    sandbox: ({ exception }) => ({ exception: exception('open') }),
  },
  'exception.resolved': {
    trigger: 'an exception closed; `resolution` tells how',
    standard: true,
    sandbox: ({ exception }) => ({ exception: exception('resolved') }),
  },
  'document.approved': {
    trigger: 'a person approved a document',
    standard: true,
    sandbox: ({ document }) => ({ document: document('approved') }),
  },
  'milestone.retracted': {
    trigger: 'an actual milestone was retracted',
    standard: false,
    sandbox: ({ milestone }) => ({ milestone: milestone('retracted') }),
  },
  'document.uploaded': {
    trigger: 'a document is whole, whichever way it came',
    standard: false,
    sandbox: ({ document }) => ({ document: document('uploaded') }),
  },
  'document.rejected': {
    trigger: 'a person rejected a document; `rejection_reason` tells why',
    standard: false,
    sandbox: ({ document }) => ({ document: document('rejected') }),
  },
  'exception.updated': {
    trigger: 'an exception was acknowledged, handed on, or is otherwise than before',
    standard: false,
    sandbox: ({ exception }) => ({ exception: exception('acknowledged') }),
  },
} as const satisfies Readonly<Record<string, PublicEventType>>;
export type ShipmentEventType = keyof typeof SHIPMENT_EVENTS;

/** Events about a webhook endpoint. Only other endpoints of its workspace and environment receive them. */
const ENDPOINT_EVENTS = {
  'webhook_endpoint.failing': {
    trigger: 'another endpoint of the workspace did not answer 2xx for an hour',
    standard: false,
    sandbox: ({ endpoint, failing_since, failed }) => ({ endpoint, failing_since, reason: failed.last_error }),
  },
  'webhook_delivery.dead_lettered': {
    trigger: 'a delivery to another endpoint of the workspace failed for good',
    standard: false,
    sandbox: ({ endpoint, failed }) => ({ endpoint, delivery: failed, reason: failed.last_error }),
  },
} as const satisfies Readonly<Record<string, PublicEventType>>;
export type EndpointEventType = keyof typeof ENDPOINT_EVENTS;

export type EventType = ShipmentEventType | EndpointEventType;

/** Every type of public event: docs/reference/events.md#types. Types are never renamed, because clients depend on them. */
const TYPES: Readonly<Record<EventType, PublicEventType>> = { ...SHIPMENT_EVENTS, ...ENDPOINT_EVENTS };
export const EVENT_TYPES = Object.keys(TYPES) as readonly EventType[];
/** Types of the events in the event log, which can be listed, streamed and replayed. */
export const SHIPMENT_EVENT_TYPES = Object.keys(SHIPMENT_EVENTS) as readonly ShipmentEventType[];
export const ENDPOINT_EVENT_TYPES = Object.keys(ENDPOINT_EVENTS) as readonly EndpointEventType[];
/** The types that `["*"]` on an endpoint stands for. */
export const STANDARD_EVENT_TYPES = EVENT_TYPES.filter((type) => TYPES[type].standard);

export function isEndpointEvent(type: string): boolean {
  return Object.hasOwn(ENDPOINT_EVENTS, type);
}

/** Half a sentence, for the documentation: "a shipment is created". */
export function toldWhen(type: EventType): string {
  return TYPES[type].trigger;
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

/** The topic of {@link PublishedEvent}s, with its defaults. */
export const SHIPMENT_EVENTS_TOPIC = { name: 'shipment-events', partitions: 4, retentionMs: 7 * 86_400_000 } as const;

/** Headers of its messages: data about an event that is not part of the event. */
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

/** A published form of events. */
export interface ApiVersionDescriptor {
  /** The date when it was published. */
  readonly name: string;
  /**
   * Converts `data` of the next newer version to this version, without changing its argument. Absent in the newest version.
   */
  readonly downgrade?: (type: string, data: JsonObject) => JsonObject;
}

/** Every version, oldest first. Endpoints are pinned to a version, so versions are never removed or changed. */
export const API_VERSION_DESCRIPTORS = [{ name: '2026-11-01' }] as const satisfies readonly ApiVersionDescriptor[];

export type ApiVersion = (typeof API_VERSION_DESCRIPTORS)[number]['name'];

/** Published versions of the webhook payload, oldest first. */
export const API_VERSIONS: readonly ApiVersion[] = API_VERSION_DESCRIPTORS.map(({ name }) => name);
/** The version in which events are made. */
export const NEWEST_API_VERSION: ApiVersion = API_VERSION_DESCRIPTORS[API_VERSION_DESCRIPTORS.length - 1]!.name;

/** The versions in which events are sent: docs/reference/events.md#versions. */
export class PayloadVersions {
  /** Oldest first. */
  readonly names: readonly ApiVersion[];

  /** @throws RangeError unless there is a version, the oldest is first, and each but the newest has a conversion */
  constructor(private readonly descriptors: readonly ApiVersionDescriptor[]) {
    this.names = descriptors.map(({ name }) => name as ApiVersion);
    const isInOrder = this.names.every((name, index) => index === 0 || name > (this.names[index - 1] ?? ''));
    const isChain = descriptors.every(({ downgrade }, index) => (downgrade === undefined) === this.isNewest(index));
    if (descriptors.length === 0 || !isInOrder || !isChain) throw new RangeError('payload versions are no chain');
  }

  get newest(): ApiVersion {
    return this.names[this.names.length - 1] as ApiVersion;
  }

  get oldest(): ApiVersion {
    return this.names[0] as ApiVersion;
  }

  /** The version with this name, if it exists. */
  find(name: JsonValue | undefined): ApiVersion | undefined {
    return this.names.find((known) => known === name);
  }

  /**
   * In which version an event is sent to an endpoint of this version: that one, or an older one in which the event was
   * published, before there was that one.
   */
  versionFor({ api_version: made }: Pick<PublishedEvent, 'api_version'>, wanted: ApiVersion): ApiVersion {
    return this.names.indexOf(made) < this.names.indexOf(wanted) ? made : wanted;
  }

  /** `data` of the event in the version in which it was made, or in an older one. */
  dataIn(
    { type, api_version: made, data }: Pick<PublishedEvent, 'type' | 'api_version' | 'data'>,
    version: ApiVersion,
  ) {
    const [from, to] = [this.names.indexOf(made), this.names.indexOf(version)];
    const steps = this.descriptors.slice(to, from).reverse();
    return steps.reduce<JsonObject>((newer, { downgrade }) => downgrade?.(type, newer) ?? newer, data);
  }

  private isNewest(index: number): boolean {
    return index === this.descriptors.length - 1;
  }
}

export const PAYLOAD_VERSIONS = new PayloadVersions(API_VERSION_DESCRIPTORS);

/**
 * `pending`: no attempt of its present schedule yet. `retrying`: failed, with more attempts to come. The others are done:
 * `discarded` by a person, by the endpoint's deletion, or a sandbox event whose only attempt failed.
 */
export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'dead_lettered', 'discarded'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why an attempt failed: codes of a delivery's `last_error`, and so the reasons of dead letters. */
export const DELIVERY_ERROR_CODES = [
  'unexpected_status',
  'redirect_not_followed',
  'timeout',
  'dns_failed',
  'connection_refused',
  'connection_failed',
  'connection_reset',
  'tls_failed',
  'address_not_allowed',
  'url_not_allowed',
  'invalid_response',
] as const;
