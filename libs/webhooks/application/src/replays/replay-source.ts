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
  /** In the order of the log; as texts they sort as that does. */
  readonly position: string;
  /** The whole is made again from here. */
  readonly stream: string;
  readonly revision: number;
}

export interface EventLogQuery {
  /** Any of these. */
  readonly types: readonly string[];
  /** Bounds of `created_at`, inclusive; none where null. */
  readonly since: Timestamp | null;
  readonly until: Timestamp | null;
  /** Only those up to this position in the event store. */
  readonly upTo: Position;
  /** Only those behind this position; null at the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

/** The published events of a scope, whether or not an endpoint wanted them, for as long as they are kept. */
export interface EventLog {
  /**
   * In the order in which they were published; `next` is null after the last.
   * @throws Unavailable, Busy, also where events up to that position may still be lacking
   */
  page(
    scope: Scope,
    query: EventLogQuery,
  ): Promise<{ readonly events: readonly LoggedEventRow[]; readonly next: string | null }>;
  /** In the order asked for; those that cannot be made are left out. @throws Unavailable */
  make(events: readonly LoggedEventRow[]): Promise<readonly PublishedEvent[]>;
  /** Those of the ids that are kept, as {@link page} answers them. @throws Unavailable */
  find(scope: Scope, ids: readonly string[]): Promise<readonly LoggedEventRow[]>;
}

/** Of what was recorded, read at once. */
const DELIVERIES_AT_ONCE = 200;
/** Of the log of events, read at once: nearly all of them were recorded. */
const EVENTS_AT_ONCE = 500;

/** What a replay finds: a delivery, as it is stored; or an event that was missed, and where it is. */
export type Found = TakenDelivery &
  (
    | { readonly delivery: DeliveryDocument; readonly event?: undefined }
    | { readonly event: LoggedEventRow; readonly delivery?: undefined }
  );

export interface FoundPage {
  readonly found: readonly Found[];
  /** Behind what was found. */
  readonly cursor: ReplayCursor;
  readonly ended: boolean;
}

export interface ReplaySourceParts {
  readonly queries: DeliveryQueries;
  readonly log: EventLog;
  readonly watermark: RetentionWatermark;
}

/** Something found, and where the cursor of its kind stands once it is taken. */
interface Read<C> {
  readonly found: Found;
  readonly at: string;
  readonly cursor: C;
}

/** One of the two things that a replay goes through, read ahead by a page. */
interface Ahead<C> {
  readonly read: Read<C>[];
  /** Behind everything read; null once there is no more. */
  next: C | null | undefined;
}

/**
 * What a replay sends again, in the order of the events' `created_at`: deliveries that came to an end which is asked for, and
 * events of which none was recorded. Reads an index of the deliveries and, for what was missed, the log of events.
 */
export class ReplaySource {
  private readonly deliveries: Ahead<readonly [string, string]>;
  private readonly events: Ahead<string>;
  private cursor: ReplayCursor;

  constructor(
    private readonly replay: ReplayDocument,
    private readonly parts: ReplaySourceParts,
  ) {
    this.cursor = replay.cursor;
    this.deliveries = {
      read: [],
      next: recordedOf(replay.statuses).length === 0 ? null : (replay.cursor.deliveries ?? undefined),
    };
    this.events = { read: [], next: asksForMissed(replay) ? (replay.cursor.events ?? undefined) : null };
  }

  /** The next of what is to be sent again, oldest first; nothing where a page of the log held nothing that was missed. */
  async next(endpoint: EndpointDocument, limit: number): Promise<FoundPage> {
    const found: Found[] = [];
    await this.fill(endpoint);
    while (found.length < limit) {
      const [delivery] = this.deliveries.read;
      const [event] = this.events.read;
      // Of one of them more is to be read before it is known which comes first.
      if (!this.knowsNext) break;
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
    return { found: await this.stillAskedFor(found), cursor: this.reached(), ended: this.hasEnded };
  }

  /** What was read ahead may have waited for long: a person may have sent it meanwhile, or given it up. */
  private async stillAskedFor(found: readonly Found[]): Promise<readonly Found[]> {
    if (found.length === 0) return found;
    const stored = await this.parts.queries.existing(found.map(({ id }) => id));
    const known = new Map(stored.map((delivery) => [delivery.id, delivery]));
    return found.flatMap((one): readonly Found[] => {
      const delivery = known.get(one.id);
      if (one.delivery === undefined) return delivery === undefined ? [one] : [];
      return delivery !== undefined && isAskedFor(this.replay, delivery) ? [{ ...one, delivery }] : [];
    });
  }

  /** Where everything that was read is taken, behind what was read and is not asked for, too. */
  private reached(): ReplayCursor {
    const behind = <C>({ read, next }: Ahead<C>, taken: C | null): C | null =>
      read.length > 0 ? taken : (next ?? taken);
    const { deliveries, events } = this.cursor;
    this.cursor = { deliveries: behind(this.deliveries, deliveries), events: behind(this.events, events) };
    return this.cursor;
  }

  private get knowsNext(): boolean {
    const knows = <C>({ read, next }: Ahead<C>) => read.length > 0 || next === null;
    return knows(this.deliveries) && knows(this.events) && !this.hasEnded;
  }

  private get hasEnded(): boolean {
    return [this.deliveries, this.events].every(({ read, next }) => read.length === 0 && next === null);
  }

  private async fill(endpoint: EndpointDocument): Promise<void> {
    const { deliveries, events } = this;
    await Promise.all([
      deliveries.read.length === 0 && deliveries.next !== null && this.readDeliveries(deliveries.next),
      events.read.length === 0 && events.next !== null && this.readEvents(endpoint, events.next),
    ]);
  }

  private async readDeliveries(after: readonly [string, string] | undefined): Promise<void> {
    const { replay, deliveries } = this;
    const { endpoint_id, since, until, delivery_ids } = replay;
    if (delivery_ids !== undefined) return this.readNamed(delivery_ids, after);
    const filter = {
      endpoint_id,
      statuses: recordedOf(replay.statuses),
      until,
      ...(since !== null && { since }),
    };
    const page = { limit: DELIVERIES_AT_ONCE, ...(after && { after }) };
    const read = await this.parts.queries.find([replay], filter, page, false);
    this.take(read);
    const last = read.at(-1);
    deliveries.next = read.length < DELIVERIES_AT_ONCE || last === undefined ? null : [last.created_at, last.id];
  }

  /** The deliveries that the replay names: few enough to be read at once. */
  private async readNamed(ids: readonly string[], after: readonly [string, string] | undefined): Promise<void> {
    const { endpoint_id, since, until } = this.replay;
    const statuses: readonly string[] = recordedOf(this.replay.statuses);
    const named = (await this.parts.queries.existing(ids)).filter(
      (one) =>
        one.endpoint_id === endpoint_id &&
        statuses.includes(one.status) &&
        (since === null || one.event_created_at >= since) &&
        one.event_created_at <= until &&
        (after === undefined || keyOf(one) > after.join(' ')),
    );
    this.take(named.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)));
    this.deliveries.next = null;
  }

  private take(read: readonly DeliveryDocument[]): void {
    for (const delivery of read.filter((one) => isAskedFor(this.replay, one))) {
      const { id, event_id, created_at, event_created_at: at } = delivery;
      this.deliveries.read.push({ found: { id, event_id, delivery }, at, cursor: [created_at, id] });
    }
  }

  private async readEvents(endpoint: EndpointDocument, after: string | undefined): Promise<void> {
    const { replay, events } = this;
    const { since, event_types } = replay;
    const types = EVENT_TYPES.filter((type) => isSubscribed(endpoint.event_types, type));
    // Of what is older nobody can tell any more whether it was recorded.
    const before = await this.parts.watermark.before();
    const query = {
      types: event_types === null ? types : types.filter((type) => event_types.includes(type)),
      ...{ since: since !== null && since > before ? since : before || null, until: untilOf(replay) },
      ...{ after: after ?? null, upTo: replay.log_head ?? '', limit: EVENTS_AT_ONCE },
    };
    const page = await this.parts.log.page(replay, query);
    const ids = page.events.map((event) => deliveryId(endpoint.id, event));
    const known = new Set((await this.parts.queries.existing(ids)).map(({ id }) => id));
    page.events.forEach((event, index) => {
      const id = ids[index] ?? '';
      const found = { id, event_id: event.id, event };
      if (!known.has(id)) events.read.push({ found, at: event.created_at, cursor: event.position });
    });
    events.next = page.next;
  }
}

/** What is asked for of the deliveries. */
export function recordedOf(statuses: readonly ReplayedStatus[]): readonly Exclude<ReplayedStatus, 'missed'>[] {
  return statuses.filter((status) => status !== 'missed');
}

/** Where all that there was is asked for, its place in the log tells: clocks may differ. */
function untilOf({ until, created_at }: Replay): Timestamp | null {
  return until < created_at ? until : null;
}

/** What was missed failed for no reason. */
function asksForMissed({ statuses, reasons }: Replay): boolean {
  return statuses.includes('missed') && reasons === null;
}

/**
 * Whether the delivery came to an end that is asked for, whenever it happened. A sandbox event is never sent again; nor what
 * this replay has sent, which it finds where an event that was missed is recorded behind all other deliveries.
 */
export function isAskedFor({ id, event_types, statuses, reasons }: Replay, delivery: DeliveryDocument): boolean {
  const { event_type, last_error, sandbox, replay_id } = delivery;
  const isOfType = event_types === null || event_types.includes(event_type);
  const isForReason = reasons === null || reasons.includes(last_error?.code ?? '');
  const isAtEnd = statuses.some((status) => status === delivery.status);
  return isOfType && isForReason && isAtEnd && !sandbox && replay_id !== id;
}

function keyOf({ created_at, id }: DeliveryDocument): string {
  return `${created_at} ${id}`;
}
