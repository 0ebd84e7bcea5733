import { EVENT_TYPES, type PublishedEvent, type WorkspaceScope, type Timestamp } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import { type Replay, type ReplayedStatus, isSubscribedToEventType } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { type DeliveryDocument, createDeliveryId } from '../store/delivery-document.ts';
import type { DeliveryQueries, RetentionWatermarkStore } from '../store/delivery-queries.ts';
import type { ReplayCursor, ReplayDocument, DeliveryTakenByReplay } from './replay-store.ts';

/** An event of the log, without its data. */
export interface LoggedEventWithoutData {
  readonly id: string;
  readonly type: string;
  readonly created_at: Timestamp;
  /** Position in the log. Positions sort as texts. */
  readonly position: string;
  /** Stream in the event store from which the whole event is rebuilt. */
  readonly stream: string;
  readonly revision: number;
}

export interface EventLogQuery {
  /** Event types to include. */
  readonly types: readonly string[];
  /** Earliest and latest `created_at` of the events, both inclusive; null for no limit. */
  readonly since: Timestamp | null;
  readonly until: Timestamp | null;
  /** Position in the event store up to which events are included. */
  readonly upTo: Position;
  /** Position after which events are included; null for the start of the log. */
  readonly after: string | null;
  readonly limit: number;
}

/** The published events of a scope that are still kept, regardless of whether an endpoint subscribed to them. */
export interface EventLog {
  /**
   * Returns a page of events in the order of publication; `next` is null after the last page.
   * @throws UnavailableError, BusyError, also if events up to `upTo` may still be missing
   */
  page(
    scope: WorkspaceScope,
    query: EventLogQuery,
  ): Promise<{ readonly events: readonly LoggedEventWithoutData[]; readonly next: string | null }>;
  /** Rebuilds events in the given order. Events that cannot be rebuilt are omitted. @throws UnavailableError */
  makeEvents(events: readonly LoggedEventWithoutData[]): Promise<readonly PublishedEvent[]>;
  /** Returns the kept events with these ids, as {@link page} does. @throws UnavailableError */
  find(scope: WorkspaceScope, ids: readonly string[]): Promise<readonly LoggedEventWithoutData[]>;
}

const DELIVERIES_PER_READ = 200;
/** Number of log events in one read. Larger than a page of deliveries, because most events have a delivery. */
const EVENTS_PER_READ = 500;

/** An item found by a replay: a stored delivery, or a missed event with its log position. */
export type FoundItem = DeliveryTakenByReplay &
  (
    | { readonly delivery: DeliveryDocument; readonly event?: undefined }
    | { readonly event: LoggedEventWithoutData; readonly delivery?: undefined }
  );

interface PageOfItemsToReplay {
  readonly found: readonly FoundItem[];
  /** Cursor after the last item found. */
  readonly cursor: ReplayCursor;
  readonly ended: boolean;
}

export interface ReplaySourceDependencies {
  readonly queries: DeliveryQueries;
  readonly log: EventLog;
  readonly watermark: RetentionWatermarkStore;
}

/** A delivery or event that was read, and the cursor after it. */
interface ItemToReplay<C> {
  readonly found: FoundItem;
  readonly at: string;
  readonly cursor: C;
}

/** Deliveries or events of a replay, read ahead by a page. */
interface ReplayReadAheadBuffer<C> {
  readonly read: ItemToReplay<C>[];
  /** Cursor after everything that was read; null at the end. */
  next: C | null | undefined;
}

/**
 * The deliveries that a replay sends again, ordered by the events' `created_at`: deliveries with a selected status, and
 * missed events. Reads an index of the deliveries and, for missed events, the event log.
 */
export class ReplayedDeliveryReader {
  private readonly deliveries: ReplayReadAheadBuffer<readonly [string, string]>;
  private readonly events: ReplayReadAheadBuffer<string>;
  private cursor: ReplayCursor;

  constructor(
    private readonly replay: ReplayDocument,
    private readonly dependencies: ReplaySourceDependencies,
  ) {
    this.cursor = replay.cursor;
    this.deliveries = {
      read: [],
      next: excludeMissedStatus(replay.statuses).length === 0 ? null : (replay.cursor.deliveries ?? undefined),
    };
    this.events = {
      read: [],
      next: doesReplayIncludeMissedEvents(replay) ? (replay.cursor.events ?? undefined) : null,
    };
  }

  /**
   * Returns the next items to send again, oldest first. An empty result does not mean the end of the replay: the page of
   * the log that was read may contain no missed event.
   */
  async readNextItemsToReplay(endpoint: EndpointDocument, limit: number): Promise<PageOfItemsToReplay> {
    const found: FoundItem[] = [];
    await this.readNextReplayedDeliveries(endpoint);
    while (found.length < limit) {
      const [delivery] = this.deliveries.read;
      const [event] = this.events.read;
      // The next item is unknown until both pages are read, because the older item of both comes first.
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
    return {
      found: await this.keepStillMatchingDeliveries(found),
      cursor: this.advanceReplayCursor(),
      ended: this.hasEnded,
    };
  }

  /**
   * Reads the deliveries again and returns the ones that still match. A user may have retried or discarded a delivery
   * since it was read ahead.
   */
  private async keepStillMatchingDeliveries(found: readonly FoundItem[]): Promise<readonly FoundItem[]> {
    if (found.length === 0) return found;
    const stored = await this.dependencies.queries.findDeliveriesByIds(
      this.replay,
      found.map(({ id }) => id),
    );
    const known = new Map(stored.map((delivery) => [delivery.id, delivery]));
    return found.flatMap((one): readonly FoundItem[] => {
      const delivery = known.get(one.id);
      if (one.delivery === undefined) return delivery === undefined ? [one] : [];
      return delivery !== undefined && doesDeliveryMatchReplay(this.replay, delivery) ? [{ ...one, delivery }] : [];
    });
  }

  /** Moves the cursor past non-matching items, but not past a matching item that is not taken yet. */
  private advanceReplayCursor(): ReplayCursor {
    const past = <C>({ read, next }: ReplayReadAheadBuffer<C>, taken: C | null): C | null =>
      read.length > 0 ? taken : (next ?? taken);
    const { deliveries, events } = this.cursor;
    this.cursor = { deliveries: past(this.deliveries, deliveries), events: past(this.events, events) };
    return this.cursor;
  }

  private get isNextKnown(): boolean {
    const knows = <C>({ read, next }: ReplayReadAheadBuffer<C>) => read.length > 0 || next === null;
    return knows(this.deliveries) && knows(this.events) && !this.hasEnded;
  }

  private get hasEnded(): boolean {
    return [this.deliveries, this.events].every(({ read, next }) => read.length === 0 && next === null);
  }

  private async readNextReplayedDeliveries(endpoint: EndpointDocument): Promise<void> {
    const { deliveries, events } = this;
    await Promise.all([
      deliveries.read.length === 0 && deliveries.next !== null && this.readReplayedDeliveriesAfter(deliveries.next),
      events.read.length === 0 && events.next !== null && this.readEventsToReplay(endpoint, events.next),
    ]);
  }

  private async readReplayedDeliveriesAfter(after: readonly [string, string] | undefined): Promise<void> {
    const { replay, deliveries } = this;
    const { endpoint_id, since, until, delivery_ids } = replay;
    if (delivery_ids !== undefined) return this.readReplayedDeliveriesByIds(delivery_ids, after);
    const filter = {
      endpoint_id,
      statuses: excludeMissedStatus(replay.statuses),
      until,
      ...(since !== null && { since }),
    };
    const page = { limit: DELIVERIES_PER_READ, ...(after && { after }) };
    const read = await this.dependencies.queries.findDeliveries([replay], filter, page, false);
    this.addMatchingDeliveries(read);
    const last = read.at(-1);
    deliveries.next = read.length < DELIVERIES_PER_READ || last === undefined ? null : [last.created_at, last.id];
  }

  /** Reads the deliveries that the replay selects by id, which are few enough for one read. */
  private async readReplayedDeliveriesByIds(
    ids: readonly string[],
    after: readonly [string, string] | undefined,
  ): Promise<void> {
    const { endpoint_id, since, until } = this.replay;
    const statuses: readonly string[] = excludeMissedStatus(this.replay.statuses);
    const named = (await this.dependencies.queries.findDeliveriesByIds(this.replay, ids)).filter(
      (one) =>
        one.endpoint_id === endpoint_id &&
        statuses.includes(one.status) &&
        (since === null || one.event_created_at >= since) &&
        one.event_created_at <= until &&
        (after === undefined || createDeliverySortKey(one) > after.join(' ')),
    );
    this.addMatchingDeliveries(
      named.sort((one, other) => (createDeliverySortKey(one) < createDeliverySortKey(other) ? -1 : 1)),
    );
    this.deliveries.next = null;
  }

  private addMatchingDeliveries(read: readonly DeliveryDocument[]): void {
    for (const delivery of read.filter((one) => doesDeliveryMatchReplay(this.replay, one))) {
      const { id, event_id, created_at, event_created_at: at } = delivery;
      this.deliveries.read.push({ found: { id, event_id, delivery }, at, cursor: [created_at, id] });
    }
  }

  private async readEventsToReplay(endpoint: EndpointDocument, after: string | undefined): Promise<void> {
    const { replay, events } = this;
    const { since, event_types } = replay;
    const types = EVENT_TYPES.filter((type) => isSubscribedToEventType(endpoint.event_types, type));
    // Skip events older than the watermark: the log of their deliveries is deleted.
    const before = await this.dependencies.watermark.readRetentionWatermark();
    const query = {
      types: event_types === null ? types : types.filter((type) => event_types.includes(type)),
      ...{ since: since !== null && since > before ? since : before || null, until: getEventTimeLimitOfReplay(replay) },
      ...{ after: after ?? null, upTo: replay.log_head ?? '', limit: EVENTS_PER_READ },
    };
    const page = await this.dependencies.log.page(replay, query);
    const ids = page.events.map((event) => createDeliveryId(endpoint.id, event));
    const known = new Set((await this.dependencies.queries.findDeliveriesByIds(replay, ids)).map(({ id }) => id));
    page.events.forEach((event, index) => {
      const id = ids[index] ?? '';
      const found = { id, event_id: event.id, event };
      if (!known.has(id)) events.read.push({ found, at: event.created_at, cursor: event.position });
    });
    events.next = page.next;
  }
}

/** Returns the selected statuses that stored deliveries can have. */
export function excludeMissedStatus(statuses: readonly ReplayedStatus[]): readonly Exclude<ReplayedStatus, 'missed'>[] {
  return statuses.filter((status) => status !== 'missed');
}

/**
 * Returns the upper bound of `created_at` for the log; null if the replay has no earlier `until`. Without an earlier
 * `until`, log positions limit the replay, because clocks may differ.
 */
function getEventTimeLimitOfReplay({ until, created_at }: Replay): Timestamp | null {
  return until < created_at ? until : null;
}

/**
 * Returns true if the replay includes missed events. A filter by reason excludes them, because missed events have no
 * reason.
 */
function doesReplayIncludeMissedEvents({ statuses, reasons }: Replay): boolean {
  return statuses.includes('missed') && reasons === null;
}

/**
 * Returns true if the delivery has a selected status, type and reason. Sandbox events are never replayed. Deliveries
 * that this replay already sent are excluded, because a missed event may be recorded late and then match again.
 */
export function doesDeliveryMatchReplay(
  { id, event_types, statuses, reasons }: Replay,
  delivery: DeliveryDocument,
): boolean {
  const { event_type, last_error, sandbox, replay_id } = delivery;
  const isOfType = event_types === null || event_types.includes(event_type);
  const isForReason = reasons === null || reasons.includes(last_error?.code ?? '');
  const isAtEnd = statuses.some((status) => status === delivery.status);
  return isOfType && isForReason && isAtEnd && !sandbox && replay_id !== id;
}

function createDeliverySortKey({ created_at, id }: DeliveryDocument): string {
  return `${created_at} ${id}`;
}
