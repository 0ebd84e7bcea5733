import type { EventEnvelope, EventType, Scope } from '@tracking/contracts';
import { monotonicMs, retry } from '@tracking/resilience';
import { type MadeEvents, streamOf } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';
import { LRUCache } from 'lru-cache';
import type { LogRange } from './event-queries.ts';
import { FollowedEvents, RecentEvents, type ScopeEvents, type FollowedEvent } from './followed-events.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

/** Filter of the events that a follower receives. */
export interface FollowFilter {
  /** Event types to include; all types if absent. */
  readonly type?: readonly EventType[] | undefined;
  readonly shipment_id?: string | undefined;
}

/** Reads the log of public events, as far as this process knows it. All functions can throw Unavailable and Busy. */
export interface EventLog {
  /** Returns the position up to which the log can be read; undefined before the first event. */
  handledPosition(): Promise<HandledPosition | undefined>;
  /** Returns true if the log has an event after the position, now or within the timeout. */
  hasEventsAfter(place: HandledPosition, timeoutMs: number): Promise<boolean>;
  /** Returns true if all read models contain everything up to the position, now or within the timeout. */
  areReadModelsAt(place: HandledPosition, timeoutMs: number): Promise<boolean>;
  positionOfEvent(scope: Scope, id: string): Promise<HandledPosition | undefined>;
  newestEvent(scope: Scope, upTo: HandledPosition): Promise<{ readonly id: string } | undefined>;
  readRange(scope: Scope, filter: FollowFilter, stretch: LogRange): Promise<readonly PublishedEventRow[]>;
  readRangeOfAllScopes(stretch: LogRange): Promise<readonly PublishedEventRow[]>;
  /** Returns the envelopes of as many leading rows as fit into one response. */
  envelopes(rows: readonly PublishedEventRow[]): Promise<MadeEvents>;
}

export interface EventFeedOptions {
  /** Encodes an event for followers. Called once for all current followers. */
  readonly encode: (envelope: EventEnvelope) => Uint8Array;
  /** Notified of each failed read of the log. The read is retried until it succeeds. */
  readonly onFailure: (error: unknown) => void;
  /** Maximum size in bytes of the events kept for followers that are slightly behind. Defaults to 16 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds to wait for read models that do not advance, before events are delivered anyway. Defaults to 30 s. */
  readonly visibilityTimeoutMs?: number;
}

const ROWS_PER_READ = 200;
/** Rows per read for a follower that is behind, about as many as one write to its connection. */
const CATCH_UP_ROWS_PER_READ = 32;
const MAX_CONCURRENT_CATCH_UPS = 4;
/** Milliseconds of one wait for new events. After it, the feed checks that it still has followers. */
const POLL_TIMEOUT_MS = 1_000;
const MIB = 1_048_576;

/**
 * Delivers public events to any number of followers, each event once per follower, in log order, when the read models
 * contain it. While it has followers, one reader serves the whole process. Followers that are further behind than the
 * events in memory read the log themselves, a few at a time, until they have caught up.
 */
export class EventFeed {
  private readonly recent: RecentEvents;
  private readonly encoded: LRUCache<string, FollowedEvent>;
  private readonly turns = new ConcurrencyLimiter(MAX_CONCURRENT_CATCH_UPS);
  private readonly closing = new AbortController();
  /** Start of the shared reader; set while the feed has followers. */
  private started: Promise<void> | undefined;
  private joining = 0;
  /** Position up to which all events are delivered to followers. */
  private deliveredUpTo: HandledPosition = '';
  /** Position up to which events are delivered or being read. Never less than `deliveredUpTo`. */
  private readingUpTo: HandledPosition = '';
  private visibilityDeadline: number | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly options: EventFeedOptions,
  ) {
    const maxSize = options.maxBytes ?? 16 * MIB;
    this.recent = new RecentEvents(maxSize);
    this.encoded = new LRUCache({ maxSize, sizeCalculation: ({ bytes }) => bytes.length });
  }

  /**
   * Follows events after an event, from the beginning of the log, or by default after the last visible event.
   * @returns undefined if the scope does not have the event, or no longer has it
   * @throws Unavailable
   */
  async follow(
    scope: Scope,
    filter: FollowFilter,
    after?: { readonly id: string } | 'beginning',
  ): Promise<FollowedEvents | undefined> {
    const place = typeof after === 'object' ? await this.log.positionOfEvent(scope, after.id) : '';
    if (place === undefined) return undefined;
    const events = await this.openScope(scope);
    const from = after === undefined ? laterPosition(events.start, this.deliveredUpTo) : place;
    const followed = new FollowedEvents({
      events,
      from,
      matches: toMatcher(filter),
      readMissed: (position, upTo) =>
        this.readMissedEvents(scope, filter, { after: position, upTo, limit: CATCH_UP_ROWS_PER_READ }),
      onLeave: () => this.removeFollower(events),
    });
    return after === undefined ? this.recordStartingEvent(scope, followed, from) : followed;
  }

  /** Ends all followers. */
  close(): void {
    this.closing.abort();
    this.recent.wakeAllFollowers();
  }

  private async recordStartingEvent(
    scope: Scope,
    followed: FollowedEvents,
    from: HandledPosition,
  ): Promise<FollowedEvents> {
    try {
      followed.startedAfter = (await this.log.newestEvent(scope, from))?.id ?? 'beginning';
      return followed;
    } catch (error) {
      followed.stopFollowing();
      throw error;
    }
  }

  private async openScope(scope: Scope): Promise<ScopeEvents> {
    this.joining += 1;
    try {
      await this.start();
      const events = this.recent.openScope(scope, this.readingUpTo);
      events.followers += 1;
      return events;
    } finally {
      this.joining -= 1;
    }
  }

  private removeFollower(events: ScopeEvents): void {
    events.followers -= 1;
    if (events.followers === 0) this.recent.close(events);
  }

  /** Starts the shared reader, if it is not running. */
  private start(): Promise<void> {
    this.started ??= this.startReading().catch((error: unknown) => {
      this.started = undefined;
      throw error;
    });
    return this.started;
  }

  private async startReading(): Promise<void> {
    const position = (await this.log.handledPosition()) ?? '';
    this.deliveredUpTo = laterPosition(this.deliveredUpTo, position);
    this.readingUpTo = laterPosition(this.readingUpTo, position);
    // Rejects when the feed is closed and has no followers left.
    this.readWhileFollowed().catch(() => undefined);
  }

  private async readWhileFollowed(): Promise<void> {
    const { signal } = this.closing;
    const { onFailure } = this.options;
    while (!signal.aborted && this.joining + this.recent.size > 0) {
      await retry(() => this.readEventBatch(), { signal, onFailure });
    }
    // Reset in the same turn, so that the next follower starts the reader again.
    this.started = undefined;
  }

  private async readEventBatch(): Promise<void> {
    if (!(await this.log.hasEventsAfter(this.deliveredUpTo, POLL_TIMEOUT_MS))) return;
    const upTo = await this.log.handledPosition();
    if (upTo === undefined || upTo <= this.deliveredUpTo) return;
    await this.waitUntilVisible(upTo);
    // Followers that join from here on start at this position.
    this.readingUpTo = laterPosition(upTo, this.readingUpTo);
    const rows = await this.log.readRangeOfAllScopes({ after: this.deliveredUpTo, upTo, limit: ROWS_PER_READ });
    const followed = rows.flatMap((row) => {
      const events = this.recent.findScopeEvents(row);
      return events === undefined ? [] : [{ row, events }];
    });
    const made = await this.toFollowedEvents(followed.map(({ row }) => row));
    for (const [index, event] of made.entries()) {
      const events = followed[index]?.events;
      if (event !== undefined && events !== undefined) this.recent.add(events, event);
    }
    this.deliveredUpTo = lastCompletePosition(rows, followed[made.length]?.row, { upTo, limit: ROWS_PER_READ });
    for (const events of new Set(followed.map((one) => one.events))) events.wake();
  }

  /**
   * Waits until every read model contains the events, so that followers can read what events refer to. Ends after a
   * timeout if a read model does not advance.
   */
  private async waitUntilVisible(position: HandledPosition): Promise<void> {
    const { visibilityTimeoutMs = 30_000 } = this.options;
    const left = () => (this.visibilityDeadline ?? 0) - monotonicMs();
    this.visibilityDeadline ??= monotonicMs() + visibilityTimeoutMs;
    while (!(await this.log.areReadModelsAt(position, Math.max(0, Math.min(POLL_TIMEOUT_MS, left()))))) {
      if (this.closing.signal.aborted || left() <= 0) return;
    }
    this.visibilityDeadline = undefined;
  }

  /** Returns events that a follower missed, and the position up to which they are complete. */
  private readMissedEvents(scope: Scope, filter: FollowFilter, stretch: LogRange) {
    return this.turns.run(async () => {
      const rows = await this.log.readRange(scope, filter, stretch);
      const made = await this.toFollowedEvents(rows);
      const upTo = lastCompletePosition(rows, rows[made.length], stretch);
      return { events: made.filter((event) => event !== undefined), upTo };
    });
  }

  /** Returns events of the leading rows that could be built, in order; undefined for an event that cannot be built. */
  private async toFollowedEvents(rows: readonly PublishedEventRow[]): Promise<readonly (FollowedEvent | undefined)[]> {
    const made = new Map<string, FollowedEvent>();
    const missing: PublishedEventRow[] = [];
    for (const row of rows) {
      const known = this.encoded.get(row.id);
      // An event of a formerly parked stream can have another position in another generation.
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
 * Returns the position up to which every event of a range was built.
 * @param left first row whose event was not built
 */
function lastCompletePosition(
  rows: readonly PublishedEventRow[],
  left: PublishedEventRow | undefined,
  { upTo, limit }: Pick<LogRange, 'upTo' | 'limit'>,
): HandledPosition {
  const told = left === undefined ? rows : rows.slice(0, rows.indexOf(left));
  return told.length < rows.length || rows.length === limit ? (told.at(-1)?.position ?? upTo) : upTo;
}

function toMatcher({ type, shipment_id }: FollowFilter): (event: FollowedEvent) => boolean {
  const stream = shipment_id === undefined ? undefined : streamOf(shipment_id);
  return (event) =>
    (type === undefined || type.includes(event.type)) && (stream === undefined || stream === event.stream);
}

function laterPosition(a: HandledPosition, b: HandledPosition): HandledPosition {
  return a > b ? a : b;
}

/** Limits the number of concurrent operations. Waiting operations start in order. */
class ConcurrencyLimiter {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((begin) => this.waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The slot is passed to the first waiting operation, so that a new one cannot overtake it.
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
