import type { PublishedEvent } from '@tracking/contracts';
import type { Clock, Collection, Counter, Logger, Metrics, ReceivedMessage } from '@tracking/ports';
import { newDelivery, renderBody, wants } from '@tracking/webhooks-domain';
import type { Owner } from '../attempts/owner.ts';
import { type DeliveryDocument, awaitsAttempt, deliveryId, toDocument } from '../deliveries/delivery-document.ts';
import type { Forgotten } from '../deliveries/forgotten.ts';
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

/** What is stored at once. */
interface Part {
  readonly matched: Matched[];
  readonly payloads: Map<string, PayloadDocument>;
}
/** Deliveries stored at once, about: a batch of events with many endpoints would fill the store's queue for all others. */
const AT_ONCE = 1_000;

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
    private readonly forgotten: Forgotten,
    private readonly clock: Clock,
    private readonly logger: Logger,
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
    const known = await this.notForgotten([...events.values()]);
    if (known.length > 0) await this.recordEvents(known);
  }

  private async notForgotten(events: readonly PublishedEvent[]): Promise<readonly PublishedEvent[]> {
    const before = await this.forgotten.before();
    const known = events.filter(({ created_at }) => created_at >= before);
    const forgotten = events.length - known.length;
    if (forgotten > 0) {
      this.logger.warn({ events: forgotten, before }, 'webhooks: events from before the log begins were not recorded');
    }
    return known;
  }

  private async recordEvents(events: readonly PublishedEvent[]): Promise<void> {
    // Only now, after the events were fetched: an endpoint enabled before one of them was made is certainly seen.
    const endpoints = await this.endpointsOf(events);
    let part: Part = { matched: [], payloads: new Map() };
    for (const event of events) {
      this.match(event, endpoints.get(keyOf(event)) ?? [], part);
      if (part.matched.length < AT_ONCE) continue;
      await this.store(part);
      part = { matched: [], payloads: new Map() };
    }
    if (part.matched.length > 0) await this.store(part);
  }

  private match(event: PublishedEvent, endpoints: readonly EndpointDocument[], { matched, payloads }: Part): void {
    const at = this.clock().toISOString();
    for (const endpoint of endpoints) {
      if (!wants(endpoint, event)) continue;
      const id = payloadId(event.id, endpoint.api_version);
      if (!payloads.has(id)) payloads.set(id, { id, body: renderBody(event, endpoint.api_version), created_at: at });
      matched.push({ endpoint, delivery: record(event, endpoint, id, at) });
    }
  }

  private async store({ matched, payloads }: Part): Promise<void> {
    // Nothing is attempted before its payload is stored: where that is missing, no delivery has had an attempt yet.
    const seenPayloads = await this.payloads.existing([...payloads.keys()]);
    const doubtful = matched.filter(({ delivery }) => seenPayloads.has(delivery.payload_id));
    const seen = await this.deliveries.getMany(doubtful.map(({ delivery }) => delivery.id));
    const seenIds = new Set(seen.map(({ id }) => id));
    const fresh = matched.filter(({ delivery }) => !seenIds.has(delivery.id));
    const inserts = fresh.map(({ delivery: document }) => ({ kind: 'insert', document }) as const);
    const unseen = [...payloads.values()].filter(({ id }) => !seenPayloads.has(id));
    // Should a power cut lose them, it loses the offset with them.
    const options = { repeatable: true };
    await Promise.all([this.payloads.store(unseen, options), this.deliveries.writeMany(inserts, options)]);
    this.recorded.add(fresh.length);
    for (const { id, body } of payloads.values()) this.payloads.keep(id, body);
    await this.handOver(fresh, seen.filter(awaitsAttempt));
  }

  /** Also what was recorded before and still waits: perhaps the process that did so ended before it could tell. */
  private async handOver(fresh: readonly Matched[], waiting: readonly DeliveryDocument[]): Promise<void> {
    const offers = new Map<EndpointDocument, DeliveryDocument[]>();
    for (const { endpoint, delivery } of fresh) {
      const offered = offers.get(endpoint);
      if (offered === undefined) offers.set(endpoint, [delivery]);
      else offered.push(delivery);
    }
    const untold = new Set(waiting.map(({ endpoint_id }) => endpoint_id));
    for (const [endpoint, deliveries] of offers) {
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
  const id = deliveryId(endpoint.id, event);
  const about = { workspace_id, environment, event_id, event_type, event_created_at, payload_id };
  return toDocument(newDelivery({ ...about, id, endpoint_id: endpoint.id, sandbox: false }, at));
}
