import type { EventEnvelope, EventType, WorkspaceScope } from '@tracking/contracts';
import { monotonicMs, retry } from '@tracking/resilience';
import { type RecreatedEvents, toShipmentStreamName } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';
import { LRUCache } from 'lru-cache';
import type { LogRange } from './event-queries.ts';
import {
  PublishedEventFollower,
  RecentEventCache,
  type RecentEventsOfScope,
  type EncodedPublicEvent,
} from './followed-events.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

/** Filter for the events that a follower of the feed receives. */
export interface FollowedEventFilter {
  /** Event types to include; all types if absent. */
  readonly type?: readonly EventType[] | undefined;
  readonly shipment_id?: string | undefined;
}

/** Log of public events that this process can read. All functions can throw UnavailableError and BusyError. */
export interface EventLog {
  /** Returns the position up to which the log is readable; undefined before the first event. */
  handledPosition(): Promise<HandledPosition | undefined>;
  /** Returns true if the log has an event after the position, now or within the timeout. */
  hasEventsAfter(place: HandledPosition, timeoutMs: number): Promise<boolean>;
  /** Returns true if all read models contain everything up to the position, now or within the timeout. */
  areReadModelsAt(place: HandledPosition, timeoutMs: number): Promise<boolean>;
  positionOfEvent(scope: WorkspaceScope, id: string): Promise<HandledPosition | undefined>;
  newestEvent(scope: WorkspaceScope, upTo: HandledPosition): Promise<{ readonly id: string } | undefined>;
  readRange(
    scope: WorkspaceScope,
    filter: FollowedEventFilter,
    stretch: LogRange,
  ): Promise<readonly PublishedEventRow[]>;
  readRangeOfAllScopes(stretch: LogRange): Promise<readonly PublishedEventRow[]>;
  /** Returns the envelopes of as many leading rows as fit in one response. */
  envelopes(rows: readonly PublishedEventRow[]): Promise<RecreatedEvents>;
}

export interface EventFeedOptions {
  /** Encodes an event for followers. It is called once per event for all current followers. */
  readonly encode: (envelope: EventEnvelope) => Uint8Array;
  /** Receives the error of each failed read of the log. The feed retries the read until it succeeds. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Maximum total size in bytes of events kept in memory for followers that are slightly behind. Defaults to 16 MiB.
   */
  readonly maxBytes?: number;
  /**
   * Milliseconds to wait for a read model that does not advance. After this time, events are delivered anyway. Defaults
   * to 30 s.
   */
  readonly visibilityTimeoutMs?: number;
}

const MAX_ROWS_PER_READ = 200;
/**
 * Number of rows per read for a follower that is behind. It is about the number of events in one write to the
 * follower's connection.
 */
const CATCH_UP_ROWS_PER_READ = 32;
const MAX_FOLLOWERS_CATCHING_UP_CONCURRENTLY = 4;
/** Maximum milliseconds of one wait for new events. After each wait, the feed checks that it still has followers. */
const POLL_TIMEOUT_MS = 1_000;
const BYTES_PER_MIB = 1_048_576;

/**
 * Delivers public events to followers: each event once per follower, in log order, and not before the read models
 * contain it. One reader serves all followers of the process that are up to date. A follower that is further behind
 * than the events in memory reads the log itself until it has caught up; only a few followers do so at the same time,
 * and workspaces take turns.
 */
export class PublishedEventFeed {
  private readonly recent: RecentEventCache;
  private readonly encoded: LRUCache<string, EncodedPublicEvent>;
  private readonly turns = new ConcurrencyLimiter(MAX_FOLLOWERS_CATCHING_UP_CONCURRENTLY);
  private readonly closing = new AbortController();
  /** Promise of the started shared reader; set while the feed has followers. */
  private started: Promise<void> | undefined;
  private joining = 0;
  /** Position up to which followers have received all events. */
  private deliveredUpTo: HandledPosition = '';
  /** Position up to which the shared reader has delivered or is reading events. Never before `deliveredUpTo`. */
  private readingUpTo: HandledPosition = '';
  private visibilityDeadline: number | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly options: EventFeedOptions,
  ) {
    const maxSize = options.maxBytes ?? 16 * BYTES_PER_MIB;
    this.recent = new RecentEventCache(maxSize);
    this.encoded = new LRUCache({ maxSize, sizeCalculation: ({ bytes }) => bytes.length });
  }

  /**
   * Follows the log after the given event or from the beginning. By default, starts after the last visible event.
   * @returns undefined if the scope does not contain the event, or no longer contains it
   * @throws UnavailableError
   */
  async followEvents(
    scope: WorkspaceScope,
    filter: FollowedEventFilter,
    after?: { readonly id: string } | 'beginning',
  ): Promise<PublishedEventFollower | undefined> {
    const place = typeof after === 'object' ? await this.log.positionOfEvent(scope, after.id) : '';
    if (place === undefined) return undefined;
    const events = await this.addFollowerToScope(scope);
    const from = after === undefined ? chooseLaterPosition(events.start, this.deliveredUpTo) : place;
    const followed = new PublishedEventFollower({
      events,
      from,
      matches: createEventMatcher(filter),
      readMissed: (position, upTo) =>
        this.readMissedEvents(scope, filter, { after: position, upTo, limit: CATCH_UP_ROWS_PER_READ }),
      onLeave: () => this.removeFollower(events),
    });
    return after === undefined ? this.recordLastEventBeforeFollowing(scope, followed, from) : followed;
  }

  /** Ends all followers. */
  endFollowers(): void {
    this.closing.abort();
    this.recent.wakeAllFollowers();
  }

  private async recordLastEventBeforeFollowing(
    scope: WorkspaceScope,
    followed: PublishedEventFollower,
    from: HandledPosition,
  ): Promise<PublishedEventFollower> {
    try {
      followed.startedAfter = (await this.log.newestEvent(scope, from))?.id ?? 'beginning';
      return followed;
    } catch (error) {
      followed.stopFollowing();
      throw error;
    }
  }

  private async addFollowerToScope(scope: WorkspaceScope): Promise<RecentEventsOfScope> {
    this.joining += 1;
    try {
      await this.startSharedReader();
      const events = this.recent.startKeepingEventsOfScope(scope, this.readingUpTo);
      events.followers += 1;
      return events;
    } finally {
      this.joining -= 1;
    }
  }

  private removeFollower(events: RecentEventsOfScope): void {
    events.followers -= 1;
    if (events.followers === 0) this.recent.stopKeepingEventsOfScope(events);
  }

  /** Starts the shared reader unless it is running. */
  private startSharedReader(): Promise<void> {
    this.started ??= this.startReadingEvents().catch((error: unknown) => {
      this.started = undefined;
      throw error;
    });
    return this.started;
  }

  private async startReadingEvents(): Promise<void> {
    const position = (await this.log.handledPosition()) ?? '';
    this.deliveredUpTo = chooseLaterPosition(this.deliveredUpTo, position);
    this.readingUpTo = chooseLaterPosition(this.readingUpTo, position);
    // The promise rejects only when the feed is closed and has no followers.
    this.readEventsWhileFollowed().catch(() => undefined);
  }

  private async readEventsWhileFollowed(): Promise<void> {
    const { signal } = this.closing;
    const { onFailure } = this.options;
    while (!signal.aborted && this.joining + this.recent.size > 0) {
      await retry(() => this.readEventBatch(), { signal, onFailure });
    }
    // The reset directly follows the last check for followers, so that the next follower restarts the reader.
    this.started = undefined;
  }

  private async readEventBatch(): Promise<void> {
    if (!(await this.log.hasEventsAfter(this.deliveredUpTo, POLL_TIMEOUT_MS))) return;
    const upTo = await this.log.handledPosition();
    if (upTo === undefined || upTo <= this.deliveredUpTo) return;
    await this.waitUntilReadModelsContainEvents(upTo);
    // A follower that joins during this read starts at the end of the read range.
    this.readingUpTo = chooseLaterPosition(upTo, this.readingUpTo);
    const rows = await this.log.readRangeOfAllScopes({ after: this.deliveredUpTo, upTo, limit: MAX_ROWS_PER_READ });
    const followed = rows.flatMap((row) => {
      const events = this.recent.findRecentEventsOfScope(row);
      return events === undefined ? [] : [{ row, events }];
    });
    const made = await this.convertRowsToFollowedEvents(followed.map(({ row }) => row));
    for (const [index, event] of made.entries()) {
      const events = followed[index]?.events;
      if (event !== undefined && events !== undefined) this.recent.cacheRecentEventIfFollowed(events, event);
    }
    this.deliveredUpTo = findLastCompletePosition(rows, followed[made.length]?.row, { upTo, limit: MAX_ROWS_PER_READ });
    for (const events of new Set(followed.map((one) => one.events))) events.wakeFollowers();
  }

  /**
   * Waits until every read model contains the events, so that followers can read the resources that the events name. If
   * a read model does not advance, the wait ends after a timeout.
   */
  private async waitUntilReadModelsContainEvents(position: HandledPosition): Promise<void> {
    const { visibilityTimeoutMs = 30_000 } = this.options;
    const left = () => (this.visibilityDeadline ?? 0) - monotonicMs();
    this.visibilityDeadline ??= monotonicMs() + visibilityTimeoutMs;
    while (!(await this.log.areReadModelsAt(position, Math.max(0, Math.min(POLL_TIMEOUT_MS, left()))))) {
      if (this.closing.signal.aborted || left() <= 0) return;
    }
    this.visibilityDeadline = undefined;
  }

  /** Reads events that a follower missed. Also returns the position up to which these events are complete. */
  private readMissedEvents(scope: WorkspaceScope, filter: FollowedEventFilter, stretch: LogRange) {
    return this.turns.runWhenSlotIsFree(scope.workspace_id, async () => {
      const rows = await this.log.readRange(scope, filter, stretch);
      const made = await this.convertRowsToFollowedEvents(rows);
      const upTo = findLastCompletePosition(rows, rows[made.length], stretch);
      return { events: made.filter((event) => event !== undefined), upTo };
    });
  }

  /** Converts leading rows to events, in order. The result has undefined for an event that cannot be built. */
  private async convertRowsToFollowedEvents(
    rows: readonly PublishedEventRow[],
  ): Promise<readonly (EncodedPublicEvent | undefined)[]> {
    const made = new Map<string, EncodedPublicEvent>();
    const missing: PublishedEventRow[] = [];
    for (const row of rows) {
      const known = this.encoded.get(row.id);
      // In another generation, an event of a formerly parked stream can have another position.
      if (known?.position === row.position) made.set(row.id, known);
      else missing.push(row);
    }
    const places = new Map(missing.map((row) => [row.id, row]));
    const { events, covered } = missing.length === 0 ? { events: [], covered: 0 } : await this.log.envelopes(missing);
    for (const envelope of events) {
      const row = places.get(envelope.id);
      if (row === undefined) continue;
      const { id, type, stream, position } = row;
      const event = { id, type, stream, position, bytes: this.options.encode(envelope) };
      made.set(id, event);
      this.encoded.set(id, event);
    }
    const left = missing[covered];
    const wholly = left === undefined ? rows : rows.slice(0, rows.indexOf(left));
    return wholly.map(({ id }) => made.get(id));
  }
}

/**
 * Returns the position up to which every event of the range was built.
 * @param left first row of the range whose event was not built
 */
function findLastCompletePosition(
  rows: readonly PublishedEventRow[],
  left: PublishedEventRow | undefined,
  { upTo, limit }: Pick<LogRange, 'upTo' | 'limit'>,
): HandledPosition {
  const told = left === undefined ? rows : rows.slice(0, rows.indexOf(left));
  return told.length < rows.length || rows.length === limit ? (told.at(-1)?.position ?? upTo) : upTo;
}

function createEventMatcher({ type, shipment_id }: FollowedEventFilter): (event: EncodedPublicEvent) => boolean {
  const stream = shipment_id === undefined ? undefined : toShipmentStreamName(shipment_id);
  return (event) =>
    (type === undefined || type.includes(event.type)) && (stream === undefined || stream === event.stream);
}

function chooseLaterPosition(a: HandledPosition, b: HandledPosition): HandledPosition {
  return a > b ? a : b;
}

/** Limits the number of concurrent operations. Groups take turns; waiting operations of a group start in order. */
class ConcurrencyLimiter {
  /** Waiting operations by group. The group whose turn is next is first. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(private free: number) {}

  async runWhenSlotIsFree<T>(group: string, work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.waitForTurn(group);
    try {
      return await work();
    } finally {
      const next = this.takeNextOperation();
      // A released slot goes directly to the first waiting operation, so that a new operation cannot overtake it.
      if (next === undefined) this.free += 1;
      else next();
    }
  }

  private waitForTurn(group: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const operations = this.waiting.get(group);
    if (operations === undefined) this.waiting.set(group, [resolve]);
    else operations.push(resolve);
    return promise;
  }

  private takeNextOperation(): (() => void) | undefined {
    const [first] = this.waiting;
    if (first === undefined) return undefined;
    const [group, operations] = first;
    const next = operations.shift();
    // Moves the group behind the others.
    this.waiting.delete(group);
    if (operations.length > 0) this.waiting.set(group, operations);
    return next;
  }
}
