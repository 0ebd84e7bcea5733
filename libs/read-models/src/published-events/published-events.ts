import { EVENT_TYPES } from '@tracking/contracts';
import type { EventEnvelope, PublishedEvent, WorkspaceScope, Timestamp } from '@tracking/contracts';
import { type Position, UnavailableError } from '@tracking/ports';
import type { EventReference, RecreatedEvents, MakeEvents } from '@tracking/shipments-domain';
import { type HandledPosition, toLogPosition } from '@tracking/subscriptions';
import type { QueryPage } from '../read-model.ts';
import type { ReadModels } from '../read-models.ts';
import { PublishedEventFeed, type EventFeedOptions } from './event-feed.ts';
import type { EventListQuery } from './event-queries.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

/** Maximum size in bytes of the events in one response, as JSON. A page with larger events has fewer events. */
const MAX_EVENT_PAGE_RESPONSE_BYTES = 8 * 1_048_576;
/** Milliseconds that a page of the log waits for the read model to reach its position. */
const READ_MODEL_POSITION_TIMEOUT_MS = 2_000;

interface PublishedEventPageRequest {
  readonly types: readonly string[];
  readonly since: Timestamp | null;
  readonly until: Timestamp | null;
  /** Position in the event store up to which the page includes events. */
  readonly upTo: Position;
  /** Position of the last event of the previous page. */
  readonly after: string | null;
  readonly limit: number;
}

/**
 * Public events of a scope in the form in which webhooks receive them, including events that no endpoint subscribes to.
 */
export class PublishedEventReader {
  constructor(
    private readonly readModels: Pick<ReadModels, 'queries' | 'progress' | 'waitForAllReadModels'>,
    private readonly makeEvents: MakeEvents,
  ) {}

  /**
   * Lists events in the newest payload version, oldest first by default. A page of large events has fewer than `limit`
   * items.
   * @throws UnavailableError, BusyError
   */
  async listEvents(scope: WorkspaceScope, query: EventListQuery): Promise<QueryPage<EventEnvelope>> {
    const { items, next } = await this.readModels.queries.published_events.listEvents(scope, query);
    const { events, covered } = await this.recreateEventsUpToSizeLimit(items);
    const last = items[covered - 1];
    return { items: events, next: covered < items.length && last !== undefined ? [last.position] : next };
  }

  /** @throws UnavailableError */
  async getEvent(scope: WorkspaceScope, id: string): Promise<EventEnvelope | undefined> {
    const found = await this.readModels.queries.published_events.getEvent(scope, id);
    return found && (await this.recreateEventsUpToSizeLimit([found])).events[0];
  }

  /** The `EventLog` from which webhook replays read. */
  get log() {
    const { published_events: rows } = this.readModels.queries;
    return {
      page: async (scope: WorkspaceScope, { types, since, until, upTo, after, limit }: PublishedEventPageRequest) => {
        const type = EVENT_TYPES.filter((each) => types.includes(each));
        if (type.length === 0 || upTo === '') return { events: [], next: null };
        if (!(await this.waitUntilPositionReached(upTo, READ_MODEL_POSITION_TIMEOUT_MS)))
          throw new UnavailableError(
            'read models',
            'events up to the requested position are not available yet; retry later',
          );
        const filter = { type, upTo, ...(since !== null && { since }), ...(until !== null && { until }) };
        const resume = after === null ? {} : { after: [after] };
        const { items, next } = await rows.listEvents(scope, { filter, limit, ...resume });
        return { events: items, next: next === undefined ? null : String(next[0]) };
      },
      makeEvents: (references: readonly EventReference[]) => this.recreatePublishedEventsFromReferences(references),
      find: (scope: WorkspaceScope, ids: readonly string[]) => rows.getEvents(scope, ids),
    };
  }

  /** Creates the feed that delivers new events to followers. Create one feed per process. */
  createPublishedEventFeed(options: EventFeedOptions): PublishedEventFeed {
    const { queries, progress } = this.readModels;
    const { published_events: rows } = queries;
    const log = {
      handledPosition: () => progress.place('published_events'),
      hasEventsAfter: (place: HandledPosition, timeoutMs: number) =>
        this.waitUntilPositionReached(toNextPosition(place), timeoutMs),
      // Read models can have different late positions for the same event.
      areReadModelsAt: (place: HandledPosition, timeoutMs: number) =>
        this.readModels.waitForAllReadModels(toLogPosition(place), timeoutMs),
      positionOfEvent: async (scope: WorkspaceScope, id: string) => (await rows.getEvent(scope, id))?.position,
      newestEvent: (scope: WorkspaceScope, upTo: HandledPosition) => rows.findNewestEvent(scope, upTo),
      readRange: rows.readMatchingEventsInRange.bind(rows),
      readRangeOfAllScopes: rows.readEventsOfAllScopes.bind(rows),
      envelopes: (rows: readonly PublishedEventRow[]) => this.recreateEventsUpToSizeLimit(rows),
    };
    return new PublishedEventFeed(log, options);
  }

  /**
   * Builds leading events up to the maximum size of a response. If the service fails, the method retries with half as
   * many events.
   */
  private async recreateEventsUpToSizeLimit(references: readonly EventReference[]): Promise<RecreatedEvents> {
    if (references.length === 0) return { events: [], covered: 0 };
    for (let count = references.length; ; count = Math.ceil(count / 2)) {
      try {
        return await this.makeEvents(references.slice(0, count), MAX_EVENT_PAGE_RESPONSE_BYTES);
      } catch (error) {
        if (error instanceof UnavailableError || count <= 1) throw error;
      }
    }
  }

  private async recreatePublishedEventsFromReferences(
    references: readonly EventReference[],
  ): Promise<readonly PublishedEvent[]> {
    const all: PublishedEvent[] = [];
    for (let at = 0; at < references.length;) {
      const { events, covered } = await this.recreateEventsUpToSizeLimit(references.slice(at));
      for (const event of events) all.push(event);
      at += covered;
    }
    return all;
  }

  /** Returns true if the events stored up to the position are available, now or within the timeout. @throws BusyError */
  waitUntilPositionReached(position: Position, timeoutMs: number): Promise<boolean> {
    return this.readModels.progress.reached('published_events', position, timeoutMs);
  }
}

/** Returns the smallest text greater than the position: a later position is always at least this text. */
function toNextPosition(place: HandledPosition): string {
  return `${place}\0`;
}
