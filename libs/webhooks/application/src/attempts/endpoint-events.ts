import {
  type EndpointEventType,
  type JsonObject,
  type JsonValue,
  NEWEST_API_VERSION,
  type Timestamp,
  isEndpointEvent,
} from '@tracking/contracts';
import type { FailingPeriod } from '@tracking/webhooks-domain';
import { v5 } from 'uuid';
import { type EndpointDocument, toEndpoint } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { OwnedEndpoints } from '../ownership/owned-endpoints.ts';
import type { EventForDeliveryRecording, DeliveryRecordCreator } from '../recording/recorder.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { ProcessClock } from '../scheduling/steady-time.ts';
import { type DeliveryDocument, toWebhookDelivery } from '../store/delivery-document.ts';

/**
 * Creates events about an endpoint, for the other endpoints of its workspace and environment that subscribe to the
 * type. These events are in no log: they are recorded for the endpoints that are enabled at that time. Idempotent: a
 * repeated event has the same id.
 */
export class EndpointEventRecorder {
  constructor(
    private readonly endpoints: EndpointStore,
    private readonly recorder: DeliveryRecordCreator,
  ) {}

  /** Records one event for each period of failures. */
  recordFailingEndpointEvent(endpoint: EndpointDocument, { since, at, reason }: FailingPeriod): Promise<void> {
    const data = { failing_since: since, reason: { ...reason } };
    return this.recorder.recordDeliveriesOfEvents([
      createEndpointEvent(endpoint, 'webhook_endpoint.failing', { key: since, at, data }),
    ]);
  }

  /**
   * Records one event each time a delivery becomes a dead letter, except for deliveries of such events: two failing
   * endpoints would notify each other forever.
   */
  async recordDeadLetterEvents(deliveries: readonly DeliveryDocument[]): Promise<void> {
    const announced = deliveries.filter(({ event_type }) => !isEndpointEvent(event_type));
    const endpoints = await this.endpoints.findEndpointsByIds(announced.map(({ endpoint_id }) => endpoint_id));
    const events = announced.flatMap((delivery): readonly EventForDeliveryRecording[] => {
      const { id, endpoint_id, completed_at: at, origin, last_error } = delivery;
      const endpoint = endpoints.get(endpoint_id);
      if (endpoint === undefined || at === null) return [];
      const data = {
        delivery: castResourceToJsonValue(toWebhookDelivery(delivery)),
        reason: castResourceToJsonValue(last_error),
      };
      const event = createEndpointEvent(endpoint, 'webhook_delivery.dead_lettered', { key: `${id} ${at}`, at, data });
      return [{ ...event, origin }];
    });
    await this.recorder.recordDeliveriesOfEvents(events);
  }
}

interface EndpointFailureReporterDependencies {
  readonly endpoints: OwnedEndpoints;
  readonly events: EndpointEventRecorder;
  /** Time without a successful attempt after which an endpoint is reported, in milliseconds. */
  readonly afterMs: number;
  readonly time: ProcessClock;
}

/** Reports a failing endpoint to the other endpoints, once for each period of failures. */
export class EndpointFailureReporter {
  constructor(private readonly dependencies: EndpointFailureReporterDependencies) {}

  /**
   * Returns the time of this process at which the endpoint is to be reported; Infinity if it is not to be reported.
   */
  getTimeToReportFailingEndpoint(owned: OwnedEndpoint): number {
    return owned.getTimeToReportFailingEndpoint(this.dependencies.afterMs);
  }

  /**
   * Reports the failing endpoint. The report is stored before the event is recorded, and marked as done afterwards.
   * After a crash, the next owner repeats an unfinished report with the same event id.
   */
  async reportEndpointFailing(owned: OwnedEndpoint): Promise<void> {
    const { endpoints, events, time } = this.dependencies;
    const report = owned.state.createFailurePeriodReport(time.now());
    if (report === undefined) return;
    const { endpoint, since, at, reason } = report;
    owned.state.recordFailureReport(report, false);
    const isOurs = await endpoints.saveEndpointHealth(owned, time.now());
    // Check the URL again, because another process may have changed the endpoint during this report.
    if (isOurs && owned.state.isFailureReportForCurrentUrl(report)) {
      await events.recordFailingEndpointEvent(endpoint, {
        since: toTimestamp(time.convertSteadyTimeToWallClockTime(since)),
        at: toTimestamp(time.convertSteadyTimeToWallClockTime(at)),
        reason,
      });
    }
    owned.state.recordFailureReport(report, true);
    await endpoints.saveEndpointHealth(owned, time.now());
  }
}

/** UUID namespace of the events' ids. */
const EVENT_ID_NAMESPACE = '4c1a7d0e-6f0b-4b52-9d0a-7b1f0c6a2e35';

interface EndpointEventInput {
  /** Identifies what happened. A repeated report with the same key gets the same event id. */
  readonly key: string;
  readonly at: Timestamp;
  /** Data of the event, besides the endpoint. */
  readonly data: JsonObject;
}

function createEndpointEvent(
  endpoint: EndpointDocument,
  type: EndpointEventType,
  { key, at, data }: EndpointEventInput,
): EventForDeliveryRecording {
  const { id, workspace_id, environment } = endpoint;
  return {
    id: `evt_${v5(`${type} ${id} ${key}`, EVENT_ID_NAMESPACE)}`,
    type,
    created_at: at,
    api_version: NEWEST_API_VERSION,
    environment,
    workspace_id,
    data: { endpoint: castResourceToJsonValue(toEndpoint(endpoint)), ...data },
    place: undefined,
    origin: undefined,
    about_endpoint: id,
  };
}

/** Converts a resource to a JSON object. The type of a resource allows only JSON values. */
const castResourceToJsonValue = (resource: object | null): JsonValue => resource as JsonValue;

const toTimestamp = (at: number): Timestamp => new Date(at).toISOString();
