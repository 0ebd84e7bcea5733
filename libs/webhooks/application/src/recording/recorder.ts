import type { PublishedEvent } from '@tracking/contracts';
import type { Clock, Collection, Counter, Metrics, ReceivedMessage } from '@tracking/ports';
import { newDelivery, renderBody, wants } from '@tracking/webhooks-domain';
import type { Owner } from '../attempts/owner.ts';
import { type DeliveryDocument, deliveryId, toDocument } from '../deliveries/delivery-document.ts';
import { type PayloadDocument, type Payloads, payloadId } from '../deliveries/payloads.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { Scope } from '../requests.ts';
import type { Parking } from './parked.ts';
import { parseEvent } from './published-event.ts';

interface Matched {
  readonly endpoint: EndpointDocument;
  readonly delivery: DeliveryDocument;
}

/**
 * Turns consumed events into delivery records. May be given the same events any number of times: a record is only ever
 * inserted, under an id made of endpoint and event.
 */
export class Recorder {
  private readonly recorded: Counter;

  constructor(
    private readonly endpoints: EndpointStore,
    private readonly payloads: Payloads,
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly owner: Owner,
    private readonly parking: Parking,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.recorded = metrics.counter('webhook_deliveries_recorded_total', 'Deliveries recorded');
  }

  /** Resolves when everything is stored and the owners of the endpoints know of it: the offset may then be committed. */
  async record(messages: readonly ReceivedMessage[]): Promise<void> {
    const events = new Map<string, PublishedEvent>();
    for (const message of messages) {
      try {
        const event = parseEvent(message.value);
        events.set(event.id, event);
      } catch (error) {
        await this.parking.park(message, (error as Error).message);
      }
    }
    if (events.size > 0) await this.recordEvents([...events.values()]);
  }

  private async recordEvents(events: readonly PublishedEvent[]): Promise<void> {
    // Only now, after the events were fetched: an endpoint enabled before one of them was made is certainly seen.
    const endpoints = await this.endpointsOf(events);
    const at = this.clock().toISOString();
    const matched: Matched[] = [];
    const payloads = new Map<string, PayloadDocument>();
    for (const event of events) {
      for (const endpoint of endpoints.get(keyOf(event)) ?? []) {
        if (!wants(endpoint, event)) continue;
        const id = payloadId(event.id, endpoint.api_version);
        if (!payloads.has(id)) payloads.set(id, { id, body: renderBody(event, endpoint.api_version), created_at: at });
        matched.push({ endpoint, delivery: record(event, endpoint, id, at) });
      }
    }
    if (matched.length > 0) await this.store(matched, payloads);
  }

  private async store(matched: readonly Matched[], payloads: ReadonlyMap<string, PayloadDocument>): Promise<void> {
    // Nothing is attempted before its payload is stored: where that is missing, no delivery has had an attempt yet.
    const seenPayloads = await this.payloads.existing([...payloads.keys()]);
    const doubtful = matched.filter(({ delivery }) => seenPayloads.has(delivery.payload_id));
    const seen = new Set(
      (await this.deliveries.getMany(doubtful.map(({ delivery }) => delivery.id))).map(({ id }) => id),
    );
    const fresh = matched.filter(({ delivery }) => !seen.has(delivery.id));
    await Promise.all([
      this.payloads.store([...payloads.values()].filter(({ id }) => !seenPayloads.has(id))),
      this.deliveries.writeMany(fresh.map(({ delivery: document }) => ({ kind: 'insert', document }))),
    ]);
    this.recorded.add(fresh.length);
    for (const { id, body } of payloads.values()) this.payloads.keep(id, body);
    await this.handOver(fresh, seen.size === 0 ? [] : doubtful);
  }

  /** Also of what was recorded before: perhaps the process that did so ended before it could tell. */
  private async handOver(fresh: readonly Matched[], doubtful: readonly Matched[]): Promise<void> {
    const lanes = new Map<EndpointDocument, DeliveryDocument[]>();
    for (const { endpoint, delivery } of fresh) {
      const lane = lanes.get(endpoint);
      if (lane === undefined) lanes.set(endpoint, [delivery]);
      else lane.push(delivery);
    }
    const untold = new Set(doubtful.map(({ endpoint }) => endpoint.id));
    for (const [endpoint, deliveries] of lanes) {
      if (!this.owner.offer(endpoint, deliveries)) untold.add(endpoint.id);
    }
    if (untold.size > 0) await this.owner.tell([...untold]);
  }

  private async endpointsOf(
    events: readonly PublishedEvent[],
  ): Promise<ReadonlyMap<string, readonly EndpointDocument[]>> {
    const scopes = new Map<string, Scope>(events.map((event) => [keyOf(event), event]));
    const found = [...scopes].map(async ([key, scope]) => [key, await this.endpoints.all(scope)] as const);
    return new Map(await Promise.all(found));
  }
}

function keyOf({ workspace_id, environment }: Scope): string {
  return `${workspace_id} ${environment}`;
}

function record(event: PublishedEvent, endpoint: EndpointDocument, payload_id: string, at: string): DeliveryDocument {
  const { workspace_id, environment, id: event_id, type: event_type, created_at: event_created_at } = event;
  const id = deliveryId(endpoint.id, event_id);
  const about = { workspace_id, environment, event_id, event_type, event_created_at, payload_id };
  return toDocument(newDelivery({ ...about, id, endpoint_id: endpoint.id, sandbox: false }, at));
}
