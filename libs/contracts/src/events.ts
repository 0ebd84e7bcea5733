import type { JsonObject, JsonValue } from './common.ts';
import type { EventSamples } from './event-samples.ts';
import type { Environment, Timestamp } from './shipment.ts';

interface PublicEventTypeDescription {
  /** Trigger of the event: a clause that the documentation completes, such as "a shipment is created". */
  readonly trigger: string;
  /**
   * True if endpoints that subscribe to `["*"]` receive the type. Other types are sent only to endpoints that name
   * them.
   */
  readonly standard: boolean;
  /** Returns the data of a sandbox event, without the fields that all shipment events have. */
  readonly sandbox: (samples: EventSamples) => JsonObject;
}

/** Events about shipments. */
const SHIPMENT_EVENT_DEFINITIONS = {
  'shipment.created': { trigger: 'a shipment is created', standard: true, sandbox: ({ shipment }) => ({ shipment }) },
  'shipment.updated': {
    trigger: 'a field of the shipment changed, set by a client or derived; `changes` has the old and new values',
    standard: true,
    sandbox: ({ shipment }) => ({ shipment, changes: { eta: { from: shipment.original_eta, to: shipment.eta } } }),
  },
  'milestone.recorded': {
    trigger: 'an actual milestone was recorded, or an estimate became actual',
    standard: true,
    sandbox: ({ milestone }) => ({ milestone: milestone('recorded') }),
  },
  'exception.opened': {
    trigger: 'a rule or a person opened an exception',
    standard: true,
    sandbox: ({ exception }) => ({ exception: exception('open') }),
  },
  'exception.resolved': {
    trigger: 'an exception was resolved; `resolution` has the reason',
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
    trigger: 'all bytes of a document have arrived',
    standard: false,
    sandbox: ({ document }) => ({ document: document('uploaded') }),
  },
  'document.rejected': {
    trigger: 'a person rejected a document; `rejection_reason` has the reason',
    standard: false,
    sandbox: ({ document }) => ({ document: document('rejected') }),
  },
  'exception.updated': {
    trigger: 'an exception was acknowledged, reassigned or changed',
    standard: false,
    sandbox: ({ exception }) => ({ exception: exception('acknowledged') }),
  },
} as const satisfies Readonly<Record<string, PublicEventTypeDescription>>;
export type ShipmentEventType = keyof typeof SHIPMENT_EVENT_DEFINITIONS;

/** Events about a webhook endpoint. They are sent only to the other endpoints of its workspace and environment. */
const EVENTS_ABOUT_ENDPOINTS = {
  'webhook_endpoint.failing': {
    trigger: 'another endpoint of the workspace returned no 2xx response for one hour',
    standard: false,
    sandbox: ({ endpoint, failing_since, failed }) => ({ endpoint, failing_since, reason: failed.last_error }),
  },
  'webhook_delivery.dead_lettered': {
    trigger: 'all attempts to deliver an event to another endpoint of the workspace failed',
    standard: false,
    sandbox: ({ endpoint, failed }) => ({ endpoint, delivery: failed, reason: failed.last_error }),
  },
} as const satisfies Readonly<Record<string, PublicEventTypeDescription>>;
export type EndpointEventType = keyof typeof EVENTS_ABOUT_ENDPOINTS;

export type EventType = ShipmentEventType | EndpointEventType;

/**
 * Every type of public event: docs/reference/events.md#types. Types are never renamed, because clients depend on them.
 */
const PUBLIC_EVENT_TYPES: Readonly<Record<EventType, PublicEventTypeDescription>> = {
  ...SHIPMENT_EVENT_DEFINITIONS,
  ...EVENTS_ABOUT_ENDPOINTS,
};
export const EVENT_TYPES = Object.keys(PUBLIC_EVENT_TYPES) as readonly EventType[];
/** Types of events in the event log. Clients can list, stream and replay these events. */
export const SHIPMENT_EVENT_TYPES = Object.keys(SHIPMENT_EVENT_DEFINITIONS) as readonly ShipmentEventType[];
export const EVENT_TYPES_ABOUT_ENDPOINTS = Object.keys(EVENTS_ABOUT_ENDPOINTS) as readonly EndpointEventType[];
/** Event types that an endpoint with `["*"]` receives. */
export const STANDARD_EVENT_TYPES = EVENT_TYPES.filter((type) => PUBLIC_EVENT_TYPES[type].standard);

export function isEndpointEvent(type: string): boolean {
  return Object.hasOwn(EVENTS_ABOUT_ENDPOINTS, type);
}

/** Returns the trigger of an event type as a clause for the documentation: "a shipment is created". */
export function describeEventTrigger(type: EventType): string {
  return PUBLIC_EVENT_TYPES[type].trigger;
}

/** Returns the complete data of a sandbox event. */
export function createSandboxEventData(type: EventType, samples: EventSamples): JsonObject {
  const { id: shipment_id, external_id, version: shipment_version } = samples.shipment;
  const data = PUBLIC_EVENT_TYPES[type].sandbox(samples);
  return isEndpointEvent(type) ? data : { shipment_id, external_id, shipment_version, ...data };
}

/** The envelope of a webhook event. `data` is a snapshot of the resource at the time of the event. */
export interface EventEnvelope {
  /** Id of the event: `evt_` and the UUID of the stored event. */
  readonly id: string;
  readonly type: EventType;
  readonly created_at: Timestamp;
  readonly api_version: ApiVersion;
  readonly environment: Environment;
  readonly workspace_id: string;
  /**
   * Data of the event. Data of shipment events includes `shipment_id`, `external_id` and `shipment_version`, so that
   * receivers can order events of a shipment.
   */
  readonly data: JsonObject;
  /** Present and true on sandbox events only. */
  readonly sandbox?: true;
}

/**
 * A message of the topic `shipment-events`, keyed by shipment id, in the newest payload version that its publisher
 * knew.
 */
export type PublishedEvent = Omit<EventEnvelope, 'sandbox'>;

/** The topic of {@link PublishedEvent}s, with its default settings. */
export const SHIPMENT_EVENTS_TOPIC = { name: 'shipment-events', partitions: 4, retentionMs: 7 * 86_400_000 } as const;

/** Names of message headers. A header contains data about an event, such as its position. */
export const EVENT_MESSAGE_HEADERS = {
  id: 'event-id',
  type: 'event-type',
  /** Position of the stored event in the event store. */
  position: 'position',
  /** Id of the request that caused the event. */
  requestId: 'request-id',
  /** W3C trace context of the request that caused the event; absent if the request had none. */
  traceparent: 'traceparent',
} as const;

/** A published version of the format of events. */
export interface ApiVersionDescriptor {
  /** Date when the version was published. */
  readonly name: string;
  /**
   * Converts `data` of the next newer version to this version, without changing its argument. The newest version has no
   * such function.
   */
  readonly downgrade?: (type: string, data: JsonObject) => JsonObject;
}

/**
 * Descriptors of all payload versions, oldest first. Endpoints are pinned to a version, so versions are never removed
 * or changed.
 */
export const API_VERSION_DESCRIPTORS = [{ name: '2026-11-01' }] as const satisfies readonly ApiVersionDescriptor[];

export type ApiVersion = (typeof API_VERSION_DESCRIPTORS)[number]['name'];

/** Published versions of the webhook payload, oldest first. */
export const API_VERSIONS: readonly ApiVersion[] = API_VERSION_DESCRIPTORS.map(({ name }) => name);
/** The newest payload version. Events are created in this version. */
export const NEWEST_API_VERSION: ApiVersion = API_VERSION_DESCRIPTORS[API_VERSION_DESCRIPTORS.length - 1]!.name;

/** Converts event data between payload versions: docs/reference/events.md#versions. */
export class PayloadVersionConverter {
  /** Versions, oldest first. */
  readonly names: readonly ApiVersion[];

  /**
   * @throws RangeError if there is no version, the versions are not sorted by age, or an older version has no
   * conversion
   */
  constructor(private readonly descriptors: readonly ApiVersionDescriptor[]) {
    this.names = descriptors.map(({ name }) => name as ApiVersion);
    const isInOrder = this.names.every((name, index) => index === 0 || name > (this.names[index - 1] ?? ''));
    const isChain = descriptors.every(
      ({ downgrade }, index) => (downgrade === undefined) === this.isNewestPayloadVersion(index),
    );
    if (descriptors.length === 0 || !isInOrder || !isChain)
      throw new RangeError(
        'payload versions must be sorted from oldest to newest, each but the newest with a conversion',
      );
  }

  get newest(): ApiVersion {
    return this.names[this.names.length - 1] as ApiVersion;
  }

  get oldest(): ApiVersion {
    return this.names[0] as ApiVersion;
  }

  /** Returns the payload version with the name; undefined if no version has it. */
  findApiVersion(name: JsonValue | undefined): ApiVersion | undefined {
    return this.names.find((known) => known === name);
  }

  /**
   * Selects the version in which an endpoint receives an event: the endpoint's version, or an older one if the event
   * was published before that version existed.
   */
  choosePayloadVersion({ api_version: made }: Pick<PublishedEvent, 'api_version'>, wanted: ApiVersion): ApiVersion {
    return this.names.indexOf(made) < this.names.indexOf(wanted) ? made : wanted;
  }

  /** Converts the event's `data` to the given version, which must not be newer than the event. */
  downgradeEventData(
    { type, api_version: made, data }: Pick<PublishedEvent, 'type' | 'api_version' | 'data'>,
    version: ApiVersion,
  ) {
    const [from, to] = [this.names.indexOf(made), this.names.indexOf(version)];
    const steps = this.descriptors.slice(to, from).reverse();
    return steps.reduce<JsonObject>((newer, { downgrade }) => downgrade?.(type, newer) ?? newer, data);
  }

  private isNewestPayloadVersion(index: number): boolean {
    return index === this.descriptors.length - 1;
  }
}

export const PAYLOAD_VERSION_CONVERTER = new PayloadVersionConverter(API_VERSION_DESCRIPTORS);

/**
 * Forms in which an endpoint receives the data of events. `thin` has no snapshots:
 * docs/reference/events.md#thin-payloads.
 */
export const PAYLOAD_FORMS = ['full', 'thin'] as const;
export type PayloadForm = (typeof PAYLOAD_FORMS)[number];

/** Fields of a milestone in thin data. */
const MILESTONE_FIELDS_OF_THIN_PAYLOAD: readonly string[] = ['id', 'code', 'occurred_at', 'location', 'source'];

/**
 * Returns the data of an event without its snapshots, in any payload version. The snapshot of the shipment is omitted,
 * a milestone keeps the fields that identify it, and any other snapshot keeps its ids and its version.
 */
export function removeSnapshotsFromEventData({ shipment: _shipment, ...data }: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, reduceSnapshotToThinFields(name, value)]),
  );
}

function reduceSnapshotToThinFields(name: string, value: JsonValue): JsonValue {
  // Only a snapshot has an id. `changes` and `reason` have none.
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !('id' in value)) return value;
  const isKept = (field: string): boolean =>
    name === 'milestone'
      ? MILESTONE_FIELDS_OF_THIN_PAYLOAD.includes(field)
      : field === 'id' || field === 'version' || field.endsWith('_id');
  return Object.fromEntries(Object.entries(value).filter(([field]) => isKept(field)));
}

/**
 * Statuses of a delivery. `pending`: its current schedule has made no attempt. `retrying`: the last attempt failed, and
 * another attempt is scheduled. `succeeded`, `dead_lettered` and `discarded` are final. `discarded`: a person discarded
 * the delivery, its endpoint was deleted, or the only attempt of a sandbox event failed.
 */
export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'dead_lettered', 'discarded'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Reasons for a failed attempt. A delivery's `last_error` and a dead letter contain one of these codes. */
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
