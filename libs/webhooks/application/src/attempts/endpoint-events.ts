import {
  type EndpointEventType,
  type JsonObject,
  type JsonValue,
  NEWEST_API_VERSION,
  type Timestamp,
  isEndpointEvent,
} from '@tracking/contracts';
import type { Clock } from '@tracking/ports';
import type { Failing } from '@tracking/webhooks-domain';
import { v5 } from 'uuid';
import { type EndpointDocument, toEndpoint } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { OwnedEndpoints } from '../ownership/owned-endpoints.ts';
import type { RecordableEvent, Recorder } from '../recording/recorder.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import { type DeliveryDocument, toDelivery } from '../store/delivery-document.ts';

/**
 * Events about an endpoint, for the other endpoints of its workspace and environment that subscribe to the type. They are in
 * no log: they are recorded for endpoints that are enabled when they are made. Idempotent: a repeated event has the same id.
 */
export class EndpointEvents {
  constructor(
    private readonly endpoints: EndpointStore,
    private readonly recorder: Recorder,
  ) {}

  /** One event for each period of failures. */
  failing(endpoint: EndpointDocument, { since, at, reason }: Failing): Promise<void> {
    const data = { failing_since: since, reason: { ...reason } };
    return this.recorder.record([eventAbout(endpoint, 'webhook_endpoint.failing', { key: since, at, data })]);
  }

  /** One event for each time that a delivery becomes a dead letter. Not for such events: two endpoints would never end. */
  async deadLettered(deliveries: readonly DeliveryDocument[]): Promise<void> {
    const announced = deliveries.filter(({ event_type }) => !isEndpointEvent(event_type));
    const endpoints = await this.endpoints.byId(announced.map(({ endpoint_id }) => endpoint_id));
    const events = announced.flatMap((delivery): readonly RecordableEvent[] => {
      const { id, endpoint_id, completed_at: at, origin, last_error } = delivery;
      const endpoint = endpoints.get(endpoint_id);
      if (endpoint === undefined || at === null) return [];
      const data = { delivery: json(toDelivery(delivery)), reason: json(last_error) };
      const event = eventAbout(endpoint, 'webhook_delivery.dead_lettered', { key: `${id} ${at}`, at, data });
      return [{ ...event, origin }];
    });
    await this.recorder.record(events);
  }
}

interface FailingAlarmParts {
  readonly endpoints: OwnedEndpoints;
  readonly events: EndpointEvents;
  /** An endpoint is reported if none of its attempts succeeded for this long, in milliseconds. */
  readonly afterMs: number;
  readonly clock: Clock;
}

/** Reports an endpoint that fails to the other endpoints, once for each period of failures. */
export class FailingAlarm {
  constructor(private readonly parts: FailingAlarmParts) {}

  /** When the endpoint is to be reported, in epoch milliseconds; Infinity if not as things are. */
  dueAt(owned: OwnedEndpoint): number {
    return owned.reportDueAt(this.parts.afterMs);
  }

  /** The report is stored before it is made, and that it was made afterwards: the next owner makes the same, or none. */
  async raise(owned: OwnedEndpoint): Promise<void> {
    const { endpoints, events, clock } = this.parts;
    const report = owned.state.failingReport(clock().getTime());
    if (report === undefined) return;
    const { endpoint, since, at, reason } = report;
    owned.state.reported(report, false);
    const isOurs = await endpoints.saveHealth(owned, clock().getTime());
    // The endpoint may have got another URL meanwhile.
    if (isOurs && owned.state.isOfPresentUrl(report)) {
      await events.failing(endpoint, { since: timestamp(since), at: timestamp(at), reason });
    }
    owned.state.reported(report, true);
    await endpoints.saveHealth(owned, clock().getTime());
  }
}

/** Namespace of the events' ids. */
const NAMESPACE = '4c1a7d0e-6f0b-4b52-9d0a-7b1f0c6a2e35';

interface EventContent {
  /** Names what happened: the same each time it is announced. */
  readonly key: string;
  readonly at: Timestamp;
  /** Beside the endpoint. */
  readonly data: JsonObject;
}

function eventAbout(
  endpoint: EndpointDocument,
  type: EndpointEventType,
  { key, at, data }: EventContent,
): RecordableEvent {
  const { id, workspace_id, environment } = endpoint;
  return {
    id: `evt_${v5(`${type} ${id} ${key}`, NAMESPACE)}`,
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

const timestamp = (at: number): Timestamp => new Date(at).toISOString();
