import {
  type EndpointEventType,
  type JsonObject,
  type JsonValue,
  NEWEST_API_VERSION,
  type Timestamp,
  isEndpointEvent,
} from '@tracking/contracts';
import type { Failing } from '@tracking/webhooks-domain';
import { v5 } from 'uuid';
import { type EndpointDocument, toEndpoint } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import { type DeliveryDocument, toDelivery } from '../store/delivery-document.ts';
import type { RecordableEvent, Recorder } from './recorder.ts';

/**
 * Tells the other endpoints of a workspace and environment what happens to one of them, where they name the type. These events
 * are in no log: they are recorded for those that are enabled when they are told. What is told again is the same event.
 */
export class EndpointEvents {
  constructor(
    private readonly endpoints: EndpointStore,
    private readonly recorder: Recorder,
  ) {}

  /** Once for each time it fails. */
  failing(endpoint: EndpointDocument, { since, at, reason }: Failing): Promise<void> {
    const data = { failing_since: since, reason: { ...reason } };
    return this.recorder.record([made('webhook_endpoint.failing', endpoint, { of: since, at, data })]);
  }

  /** Once for each time that one becomes a dead letter; never of such an event, or two endpoints would tell of each other for ever. */
  async deadLettered(deliveries: readonly DeliveryDocument[]): Promise<void> {
    const told = deliveries.filter(({ event_type }) => !isEndpointEvent(event_type));
    const endpoints = await this.endpoints.byId(told.map(({ endpoint_id }) => endpoint_id));
    const events = told.flatMap((delivery): readonly RecordableEvent[] => {
      const { id, endpoint_id, completed_at, origin, last_error } = delivery;
      const endpoint = endpoints.get(endpoint_id);
      if (endpoint === undefined || completed_at === null) return [];
      const data = { delivery: json(toDelivery(delivery)), reason: json(last_error) };
      const event = made('webhook_delivery.dead_lettered', endpoint, {
        of: `${id} ${completed_at}`,
        at: completed_at,
        data,
      });
      return [{ ...event, origin }];
    });
    await this.recorder.record(events);
  }
}

/** Namespace of the ids. */
const NAMESPACE = '4c1a7d0e-6f0b-4b52-9d0a-7b1f0c6a2e35';

interface Told {
  /** What is told, in a form that is the same each time. */
  readonly of: string;
  readonly at: Timestamp;
  /** Beside the endpoint. */
  readonly data: JsonObject;
}

function made(type: EndpointEventType, endpoint: EndpointDocument, { of, at, data }: Told): RecordableEvent {
  const { id, workspace_id, environment } = endpoint;
  return {
    id: `evt_${v5(`${type} ${id} ${of}`, NAMESPACE)}`,
    type,
    created_at: at,
    api_version: NEWEST_API_VERSION,
    environment,
    workspace_id,
    data: { endpoint: json(toEndpoint(endpoint)), ...data },
    place: undefined,
    origin: undefined,
    about_endpoint: id,
  };
}

/** Resources are JSON by their types. */
const json = (resource: object | null): JsonValue => resource as JsonValue;
