import type { BatchHandler, Clock, Collection, Counter, Logger, Metrics, ReceivedMessage } from '@tracking/ports';
import { newDelivery, renderBody, wants } from '@tracking/webhooks-domain';
import type { Owner } from '../attempts/owner.ts';
import type { Persistence } from '../attempts/persistence.ts';
import { beginningOf } from '../attempts/queues.ts';
import type { Bundles } from '../deliveries/bundles.ts';
import { type DeliveryDocument, awaitsAttempt, deliveryId, toDocument } from '../deliveries/delivery-document.ts';
import type { Forgotten } from '../deliveries/forgotten.ts';
import { type PayloadDocument, type Payloads, payloadId } from '../deliveries/payloads.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { Scope } from '../requests.ts';
import { traceFields } from '../tracing.ts';
import { LateRecordings, type Matched, type Recording } from './late-recordings.ts';
import type { Parking } from './parked.ts';
import { type ConsumedEvent, consumedEvent } from './published-event.ts';

type EndpointsByScope = ReadonlyMap<string, readonly EndpointDocument[]>;

/** What is matched at once. */
interface Part {
  readonly matched: Matched[];
  readonly payloads: Map<string, PayloadDocument>;
}
/** Deliveries stored at once, about: a batch of events with many endpoints would fill the store's queue for all others. */
const AT_ONCE = 1_000;

export interface RecorderParts {
  readonly endpoints: EndpointStore;
  readonly payloads: Payloads;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly bundles: Bundles;
  readonly owner: Owner;
  readonly parking: Parking;
  readonly forgotten: Forgotten;
  readonly clock: Clock;
  /** Ends with the consumption. */
  readonly persistence: Persistence;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Turns consumed events into delivery records. May be given the same events any number of times: a record is only ever
 * inserted, under an id made of endpoint and event.
 */
export class Recorder {
  private readonly recorded: Counter;
  private readonly recordedLate: Counter;
  private readonly late: LateRecordings;

  constructor(private readonly parts: RecorderParts) {
    const { persistence, metrics } = parts;
    this.late = new LateRecordings(
      async (recordings) => this.recordedLate.add(await this.storeLate(recordings)),
      persistence,
    );
    metrics.gauge(
      'webhook_recordings_waiting',
      'Deliveries to record of endpoints that are behind',
      [],
      () => this.late.count,
    );
    this.recorded = metrics.counter('webhook_deliveries_recorded_total', 'Deliveries recorded');
    const late = 'Of these, of endpoints that were behind, together';
    this.recordedLate = metrics.counter('webhook_deliveries_recorded_late_total', late);
  }

  /** Records, and tells the owners of the endpoints; what can wait is put aside. */
  readonly handle: BatchHandler = async (messages, fenced, putAside) => {
    const events = new Map<string, ConsumedEvent>();
    for (const message of messages) {
      try {
        const event = consumedEvent(message);
        events.set(event.id, event);
      } catch (error) {
        await this.parts.parking.park(message, (error as Error).message);
      }
    }
    const known = await this.notForgotten([...events.values()]);
    if (known.length > 0) await this.recordEvents(known, fenced, putAside);
  };

  /** Resolves when everything is recorded. */
  async record(messages: readonly ReceivedMessage[]): Promise<void> {
    const aside: Promise<void>[] = [];
    await this.handle(messages, new AbortController().signal, (work) => aside.push(work));
    await Promise.all(aside);
  }

  private async notForgotten(events: readonly ConsumedEvent[]): Promise<readonly ConsumedEvent[]> {
    const before = await this.parts.forgotten.before();
    const { known = [], forgotten = [] } = Object.groupBy(events, ({ created_at }) =>
      created_at >= before ? 'known' : 'forgotten',
    );
    const [first] = forgotten;
    if (first !== undefined) {
      const about = {
        events: forgotten.length,
        before,
        first: first.id,
        ...traceFields({ ...first, event_id: first.id }),
      };
      this.parts.logger.warn(about, 'webhooks: events from before the log begins were not recorded');
    }
    return known;
  }

  private async recordEvents(
    events: readonly ConsumedEvent[],
    fenced: AbortSignal,
    putAside: (work: Promise<void>) => void,
  ): Promise<void> {
    // Only now, after the events were fetched: an endpoint enabled before one of them was made is certainly seen.
    const endpoints = await this.endpointsOf(events);
    const aside: Promise<void>[] = [];
    try {
      for (const part of this.matching(events, endpoints)) {
        await this.late.admit();
        const late = await this.recordPart(part);
        if (late.matched.length > 0) aside.push(this.late.add(late, fenced));
      }
    } catch (error) {
      // What comes again is not to meet what is still on its way.
      await Promise.allSettled(aside);
      throw error;
    }
    aside.forEach(putAside);
  }

  private *matching(events: readonly ConsumedEvent[], endpoints: EndpointsByScope): Iterable<Part> {
    let part: Part = { matched: [], payloads: new Map() };
    for (const event of events) {
      this.match(event, endpoints.get(keyOf(event)) ?? [], part);
      if (part.matched.length < AT_ONCE) continue;
      yield part;
      part = { matched: [], payloads: new Map() };
    }
    if (part.matched.length > 0) yield part;
  }

  private match(event: ConsumedEvent, endpoints: readonly EndpointDocument[], { matched, payloads }: Part): void {
    const at = this.parts.clock().toISOString();
    for (const endpoint of endpoints) {
      if (!wants(endpoint, event)) continue;
      const id = payloadId(event.id, endpoint.api_version);
      if (!payloads.has(id)) payloads.set(id, { id, body: renderBody(event, endpoint.api_version), created_at: at });
      matched.push({ endpoint, delivery: record(event, endpoint, id, at) });
    }
  }

  /** Records what is new in it, but not what can wait: that it answers. */
  private async recordPart({ matched, payloads }: Part): Promise<Recording> {
    await this.noneLateThatKeepUp(matched);
    const { flushes } = this.late;
    // Nothing is attempted before its payload is stored: where that is missing, no delivery has had an attempt yet.
    const seenPayloads = await this.parts.payloads.existing([...payloads.keys()]);
    const doubtful = matched.filter(({ delivery }) => seenPayloads.has(delivery.payload_id));
    const seen = await this.parts.deliveries.getMany(doubtful.map(({ delivery }) => delivery.id));
    const seenIds = new Set(seen.map(({ id }) => id));
    const fresh = matched.filter(({ delivery }) => !seenIds.has(delivery.id));
    const { now = [], late = [] } = Object.groupBy(fresh, (one) => (this.canWait(one) ? 'late' : 'now'));

    const first = new Set(now.map(({ delivery }) => delivery.payload_id));
    const unseen = [...payloads.values()].filter(({ id }) => !seenPayloads.has(id));
    // A doubtful one may be in a bundle, and taken apart meanwhile; so may one that came before and was late until just now.
    const areNew = doubtful.length === 0 && this.late.flushes === flushes;
    if (now.length > 0) await this.store({ matched: now, payloads: unseen.filter(({ id }) => first.has(id)) }, areNew);
    await this.tellAgain(seen);
    return { matched: late, payloads: unseen.filter(({ id }) => !first.has(id)) };
  }

  /**
   * Resolves when nothing is late of endpoints that keep up again: were what follows added to it, for the order's sake, and
   * so on, they would never leave off being late.
   */
  private async noneLateThatKeepUp(matched: readonly Matched[]): Promise<void> {
    const ids = new Set(matched.map(({ endpoint }) => endpoint.id));
    const isLate = (id: string) => this.late.has(id) && !this.parts.owner.isBehind(id);
    while ([...ids].some(isLate)) await this.late.next();
  }

  private canWait({ endpoint: { id } }: Matched): boolean {
    return this.parts.owner.isBehind(id) || this.late.has(id);
  }

  /** In bundles. What is recorded already, and perhaps attempted, is found to be so when they are taken apart. */
  private async storeLate(recordings: readonly Recording[]): Promise<number> {
    const matched = recordings.flatMap((recording) => recording.matched);
    const payloads = recordings.flatMap((recording) => recording.payloads);
    const [, bundles] = await Promise.all([
      this.parts.payloads.store(payloads),
      this.parts.bundles.store(matched.map(({ delivery }) => delivery)),
    ]);
    this.recorded.add(matched.length);
    const endpoints = new Map(matched.map(({ endpoint }) => [endpoint.id, endpoint]));
    const untold = new Set<string>();
    for (const bundle of bundles) {
      const endpoint = endpoints.get(bundle.endpoint_id);
      if (endpoint !== undefined && !this.parts.owner.leave(endpoint, beginningOf(bundle))) untold.add(endpoint.id);
    }
    if (untold.size > 0) await this.parts.owner.tell([...untold]);
    return matched.length;
  }

  /** Recorded before and still waiting: perhaps the process that did so ended before it could tell. */
  private async tellAgain(seen: readonly DeliveryDocument[]): Promise<void> {
    const untold = seen.filter(awaitsAttempt).map(({ endpoint_id }) => endpoint_id);
    if (untold.length > 0) await this.parts.owner.tell([...new Set(untold)]);
  }

  /** Stores what is new and hands it over. */
  private async store({ matched, payloads }: Recording, areNew: boolean): Promise<void> {
    const inserts = matched.map(({ delivery: document }) => ({ kind: 'insert', document }) as const);
    await Promise.all([this.parts.payloads.store(payloads), this.parts.deliveries.writeMany(inserts)]);
    this.recorded.add(matched.length);
    for (const { id, body } of payloads) this.parts.payloads.keep(id, body);
    await this.handOver(matched, areNew);
  }

  private async handOver(matched: readonly Matched[], areNew: boolean): Promise<void> {
    const untold: string[] = [];
    for (const [endpoint, ofIt] of Map.groupBy(matched, (one) => one.endpoint)) {
      const deliveries = ofIt.map(({ delivery }) => delivery);
      if (!this.parts.owner.offer(endpoint, deliveries, areNew)) untold.push(endpoint.id);
    }
    if (untold.length > 0) await this.parts.owner.tell(untold);
  }

  private async endpointsOf(events: readonly ConsumedEvent[]): Promise<EndpointsByScope> {
    const scopes = new Map<string, Scope>(events.map((event) => [keyOf(event), event]));
    const found = [...scopes].map(async ([key, scope]) => [key, await this.parts.endpoints.all(scope)] as const);
    return new Map(await Promise.all(found));
  }
}

function keyOf({ workspace_id, environment }: Scope): string {
  return `${workspace_id} ${environment}`;
}

function record(event: ConsumedEvent, endpoint: EndpointDocument, payload_id: string, at: string): DeliveryDocument {
  const { workspace_id, environment, id: event_id, type: event_type, created_at: event_created_at, origin } = event;
  const id = deliveryId(endpoint.id, event);
  const from = origin === undefined ? {} : { origin };
  const about = { workspace_id, environment, event_id, event_type, event_created_at, ...from, payload_id };
  return toDocument(newDelivery({ ...about, id, endpoint_id: endpoint.id, sandbox: false }, at));
}
