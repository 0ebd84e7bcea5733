import { EVENT_TYPES, type PublishedEvent, type Scope, type Timestamp } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import { type Replay, type ReplayedStatus, isSubscribed } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { type DeliveryDocument, deliveryId } from '../store/delivery-document.ts';
import type { DeliveryQueries, RetentionWatermark } from '../store/delivery-queries.ts';
import type { ReplayCursor, ReplayDocument, TakenDelivery } from './replay-store.ts';

/** An event of the log, without its data. */
export interface LoggedEventRow {
  readonly id: string;
  readonly type: string;
  readonly created_at: Timestamp;
  /** In the order of the log, in which the texts sort. */
  readonly position: string;
  /** The whole event is made again from here. */
  readonly stream: string;
  readonly revision: number;
}

export interface EventLogQuery {
  /** Any of these types. */
  readonly types: readonly string[];
  /** Bounds of `created_at`, inclusive; null for none. */
  readonly since: Timestamp | null;
  readonly until: Timestamp | null;
  /** Only those up to this position in the event store. */
  readonly upTo: Position;
  /** Only those after this position; null at the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

/** The published events of a scope, whether or not an endpoint wanted them, for as long as they are kept. */
export interface EventLog {
  /**
   * In the order in which they were published; `next` is null after the last.
   * @throws Unavailable, Busy, also if events up to that position may still be missing
   */
  page(
    scope: Scope,
    query: EventLogQuery,
  ): Promise<{ readonly events: readonly LoggedEventRow[]; readonly next: string | null }>;
  /** Makes events in the given order; those that cannot be made are left out. @throws Unavailable */
  make(events: readonly LoggedEventRow[]): Promise<readonly PublishedEvent[]>;
  /** The kept events with these ids, as {@link page} returns them. @throws Unavailable */
  find(scope: Scope, ids: readonly string[]): Promise<readonly LoggedEventRow[]>;
}

const DELIVERIES_PER_READ = 200;
/** More than deliveries, since nearly all events were recorded. */
const EVENTS_PER_READ = 500;

/** A delivery that a replay finds, as it is stored; or an event that was missed, and where it is. */
export type FoundItem = TakenDelivery &
  (
    | { readonly delivery: DeliveryDocument; readonly event?: undefined }
    | { readonly event: LoggedEventRow; readonly delivery?: undefined }
  );

interface FoundPage {
  readonly found: readonly FoundItem[];
  /** After the last one found. */
  readonly cursor: ReplayCursor;
  readonly ended: boolean;
}

export interface ReplaySourceParts {
  readonly queries: DeliveryQueries;
  readonly log: EventLog;
  readonly watermark: RetentionWatermark;
}

/** A delivery or event that was read, and the cursor of its kind once it is taken. */
interface ReadItem<C> {
  readonly found: FoundItem;
  readonly at: string;
  readonly cursor: C;
}

/** The deliveries or the events of a replay, read ahead by a page. */
interface ReadAhead<C> {
  readonly read: ReadItem<C>[];
  /** After everything that was read; null once there is no more. */
  next: C | null | undefined;
}

/**
 * The deliveries that a replay sends again, in the order of the events' `created_at`: deliveries that ended as requested, and
 * events that were never recorded. Reads an index of the deliveries and, for missed events, the event log.
 */
export class ReplaySource {
  private readonly deliveries: ReadAhead<readonly [string, string]>;
  private readonly events: ReadAhead<string>;
  private cursor: ReplayCursor;

  constructor(
    private readonly replay: ReplayDocument,
    private readonly parts: ReplaySourceParts,
  ) {
    this.cursor = replay.cursor;
    this.deliveries = {
      read: [],
      next: recordedStatuses(replay.statuses).length === 0 ? null : (replay.cursor.deliveries ?? undefined),
    };
    this.events = { read: [], next: includesMissed(replay) ? (replay.cursor.events ?? undefined) : null };
  }

  /** The next to be sent again, oldest first. Empty if a page of the log held no missed event. */
  async next(endpoint: EndpointDocument, limit: number): Promise<FoundPage> {
    const found: FoundItem[] = [];
    await this.readAhead(endpoint);
    while (found.length < limit) {
      const [delivery] = this.deliveries.read;
      const [event] = this.events.read;
      // More is to be read before it is known which comes first.
      if (!this.isNextKnown) break;
      if (delivery !== undefined && (event === undefined || delivery.at <= event.at)) {
        this.deliveries.read.shift();
        this.cursor = { ...this.cursor, deliveries: delivery.cursor };
        found.push(delivery.found);
      } else if (event !== undefined) {
        this.events.read.shift();
        this.cursor = { ...this.cursor, events: event.cursor };
        found.push(event.found);
      }
    }
    return { found: await this.filterMatching(found), cursor: this.advanceCursor(), ended: this.hasEnded };
  }

  /** Reads again what was read ahead, perhaps long ago: a person may have sent or discarded it meanwhile. */
  private async filterMatching(found: readonly FoundItem[]): Promise<readonly FoundItem[]> {
    if (found.length === 0) return found;
    const stored = await this.parts.queries.findByIds(found.map(({ id }) => id));
    const known = new Map(stored.map((delivery) => [delivery.id, delivery]));
    return found.flatMap((one): readonly FoundItem[] => {
      const delivery = known.get(one.id);
      if (one.delivery === undefined) return delivery === undefined ? [one] : [];
      return delivery !== undefined && matchesReplay(this.replay, delivery) ? [{ ...one, delivery }] : [];
    });
  }

  /** The cursor, moved past what was read and does not match if everything else that was read is taken. */
  private advanceCursor(): ReplayCursor {
    const past = <C>({ read, next }: ReadAhead<C>, taken: C | null): C | null =>
      read.length > 0 ? taken : (next ?? taken);
    const { deliveries, events } = this.cursor;
    this.cursor = { deliveries: past(this.deliveries, deliveries), events: past(this.events, events) };
    return this.cursor;
  }

  private get isNextKnown(): boolean {
    const knows = <C>({ read, next }: ReadAhead<C>) => read.length > 0 || next === null;
    return knows(this.deliveries) && knows(this.events) && !this.hasEnded;
  }

  private get hasEnded(): boolean {
    return [this.deliveries, this.events].every(({ read, next }) => read.length === 0 && next === null);
  }

  private async readAhead(endpoint: EndpointDocument): Promise<void> {
    const { deliveries, events } = this;
    await Promise.all([
      deliveries.read.length === 0 && deliveries.next !== null && this.readDeliveries(deliveries.next),
      events.read.length === 0 && events.next !== null && this.readEvents(endpoint, events.next),
    ]);
  }

  private async readDeliveries(after: readonly [string, string] | undefined): Promise<void> {
    const { replay, deliveries } = this;
    const { endpoint_id, since, until, delivery_ids } = replay;
    if (delivery_ids !== undefined) return this.readSelected(delivery_ids, after);
    const filter = {
      endpoint_id,
      statuses: recordedStatuses(replay.statuses),
      until,
      ...(since !== null && { since }),
    };
    const page = { limit: DELIVERIES_PER_READ, ...(after && { after }) };
    const read = await this.parts.queries.find([replay], filter, page, false);
    this.addMatching(read);
    const last = read.at(-1);
    deliveries.next = read.length < DELIVERIES_PER_READ || last === undefined ? null : [last.created_at, last.id];
  }

  /** Reads the deliveries that the replay names, which are few enough for one read. */
  private async readSelected(ids: readonly string[], after: readonly [string, string] | undefined): Promise<void> {
    const { endpoint_id, since, until } = this.replay;
    const statuses: readonly string[] = recordedStatuses(this.replay.statuses);
    const named = (await this.parts.queries.findByIds(ids)).filter(
      (one) =>
        one.endpoint_id === endpoint_id &&
        statuses.includes(one.status) &&
        (since === null || one.event_created_at >= since) &&
        one.event_created_at <= until &&
        (after === undefined || sortKey(one) > after.join(' ')),
    );
    this.addMatching(named.sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1)));
    this.deliveries.next = null;
  }

  private addMatching(read: readonly DeliveryDocument[]): void {
    for (const delivery of read.filter((one) => matchesReplay(this.replay, one))) {
      const { id, event_id, created_at, event_created_at: at } = delivery;
      this.deliveries.read.push({ found: { id, event_id, delivery }, at, cursor: [created_at, id] });
    }
  }

  private async readEvents(endpoint: EndpointDocument, after: string | undefined): Promise<void> {
    const { replay, events } = this;
    const { since, event_types } = replay;
    const types = EVENT_TYPES.filter((type) => isSubscribed(endpoint.event_types, type));
    // It is unknown whether older events were recorded.
    const before = await this.parts.watermark.read();
    const query = {
      types: event_types === null ? types : types.filter((type) => event_types.includes(type)),
      ...{ since: since !== null && since > before ? since : before || null, until: logUntil(replay) },
      ...{ after: after ?? null, upTo: replay.log_head ?? '', limit: EVENTS_PER_READ },
    };
    const page = await this.parts.log.page(replay, query);
    const ids = page.events.map((event) => deliveryId(endpoint.id, event));
    const known = new Set((await this.parts.queries.findByIds(ids)).map(({ id }) => id));
    page.events.forEach((event, index) => {
      const id = ids[index] ?? '';
      const found = { id, event_id: event.id, event };
      if (!known.has(id)) events.read.push({ found, at: event.created_at, cursor: event.position });
    });
    events.next = page.next;
  }
}

/** The requested statuses that deliveries have. */
export function recordedStatuses(statuses: readonly ReplayedStatus[]): readonly Exclude<ReplayedStatus, 'missed'>[] {
  return statuses.filter((status) => status !== 'missed');
}

/** Null if everything was requested: the place in the log decides then, since clocks may differ. */
function logUntil({ until, created_at }: Replay): Timestamp | null {
  return until < created_at ? until : null;
}

/** Missed events have no reason. */
function includesMissed({ statuses, reasons }: Replay): boolean {
  return statuses.includes('missed') && reasons === null;
}

/**
 * Returns true if the delivery ended as requested, at whatever time. A sandbox event is never sent again. Neither is a
 * delivery that this replay has sent, which it finds if a missed event is recorded after all other deliveries.
 */
export function matchesReplay({ id, event_types, statuses, reasons }: Replay, delivery: DeliveryDocument): boolean {
  const { event_type, last_error, sandbox, replay_id } = delivery;
  const isOfType = event_types === null || event_types.includes(event_type);
  const isForReason = reasons === null || reasons.includes(last_error?.code ?? '');
  const isAtEnd = statuses.some((status) => status === delivery.status);
  return isOfType && isForReason && isAtEnd && !sandbox && replay_id !== id;
}

function sortKey({ created_at, id }: DeliveryDocument): string {
  return `${created_at} ${id}`;
}
