import type { EventEnvelope, EventType, Scope } from '@tracking/contracts';
import { monotonicMs, retry } from '@tracking/resilience';
import { type MadeEvents, streamOf } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';
import { LRUCache } from 'lru-cache';
import type { LogRange } from './event-queries.ts';
import { FollowedEvents, RecentEvents, type ScopeEvents, type FollowedEvent } from './followed-events.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

/** Which events somebody follows. */
export interface FollowFilter {
  /** Any of these; all of them where absent. */
  readonly type?: readonly EventType[] | undefined;
  readonly shipment_id?: string | undefined;
}

/** The log of public events, as far as this process can tell. Its functions throw Unavailable and Busy. */
export interface EventLog {
  /** Everything up to here is there to be read; undefined before the first event. */
  handledPosition(): Promise<HandledPosition | undefined>;
  /** Returns true if there is anything beyond the place, now or within the time. */
  hasEventsAfter(place: HandledPosition, timeoutMs: number): Promise<boolean>;
  /** Returns true if all read models hold everything up to the place, now or within the time. */
  areReadModelsAt(place: HandledPosition, timeoutMs: number): Promise<boolean>;
  positionOfEvent(scope: Scope, id: string): Promise<HandledPosition | undefined>;
  newestEvent(scope: Scope, upTo: HandledPosition): Promise<{ readonly id: string } | undefined>;
  readRange(scope: Scope, filter: FollowFilter, stretch: LogRange): Promise<readonly PublishedEventRow[]>;
  readRangeOfAllScopes(stretch: LogRange): Promise<readonly PublishedEventRow[]>;
  /** Envelopes of the rows, as many from the first on as fit into one answer. */
  envelopes(rows: readonly PublishedEventRow[]): Promise<MadeEvents>;
}

export interface EventFeedOptions {
  /** How followers write an event. Called once for all who follow at the time. */
  readonly encode: (envelope: EventEnvelope) => Uint8Array;
  /** Told of every try to read on that failed; it is tried until it succeeds. */
  readonly onFailure: (error: unknown) => void;
  /** Most bytes of events kept for those who are a little behind; 16 MiB by default. */
  readonly maxBytes?: number;
  /** For how long read models that stand still are waited for before events are told all the same; 30 s by default. */
  readonly visibilityTimeoutMs?: number;
}

const ROWS_PER_READ = 200;
/** Of a follower that is behind: about as much as is written at once. */
const CATCH_UP_ROWS_PER_READ = 32;
const MAX_CONCURRENT_CATCH_UPS = 4;
/** How long one wait for news lasts; then it is looked whether anybody follows still. */
const POLL_TIMEOUT_MS = 1_000;
const MIB = 1_048_576;

/**
 * Tells of public events as they come to be shown, to any number of followers, each exactly once, in the order of the log.
 * One reading for the whole process, while anybody follows; followers that are further behind than what is kept in
 * memory read the log for themselves, a few at a time, until they have caught up.
 */
export class EventFeed {
  private readonly recent: RecentEvents;
  private readonly encoded: LRUCache<string, FollowedEvent>;
  private readonly turns = new ConcurrencyLimiter(MAX_CONCURRENT_CATCH_UPS);
  private readonly closing = new AbortController();
  /** While somebody follows. */
  private started: Promise<void> | undefined;
  private joining = 0;
  /** Everything up to here was told to those who follow. */
  private deliveredUpTo: HandledPosition = '';
  /** Everything up to here is told, or being read. Never less than `told`. */
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
   * What comes after a place: that of an event, the beginning of the log, or by default the end of what is shown now.
   * @returns undefined where the scope has no such event, or none any more
   * @throws Unavailable
   */
  async follow(
    scope: Scope,
    filter: FollowFilter,
    after?: { readonly id: string } | 'beginning',
  ): Promise<FollowedEvents | undefined> {
    const place = typeof after === 'object' ? await this.log.positionOfEvent(scope, after.id) : '';
    if (place === undefined) return undefined;
    const events = await this.join(scope);
    const from = after === undefined ? laterPosition(events.start, this.deliveredUpTo) : place;
    const followed = new FollowedEvents({
      events,
      from,
      matches: toMatcher(filter),
      readMissed: (position, upTo) =>
        this.readMissed(scope, filter, { after: position, upTo, limit: CATCH_UP_ROWS_PER_READ }),
      onLeave: () => this.removeFollower(events),
    });
    return after === undefined ? this.withStartingEvent(scope, followed, from) : followed;
  }

  /** All followers are told that nothing more comes. */
  close(): void {
    this.closing.abort();
    this.recent.wakeAllFollowers();
  }

  private async withStartingEvent(
    scope: Scope,
    followed: FollowedEvents,
    from: HandledPosition,
  ): Promise<FollowedEvents> {
    try {
      followed.startedAfter = (await this.log.newestEvent(scope, from))?.id ?? 'beginning';
      return followed;
    } catch (error) {
      followed.leave();
      throw error;
    }
  }

  private async join(scope: Scope): Promise<ScopeEvents> {
    this.joining += 1;
    try {
      await this.start();
      const events = this.recent.open(scope, this.readingUpTo);
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

  /** Begins to read where nobody has followed so far. */
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
    // Rejects when this is closed: nobody follows any more.
    this.readWhileFollowed().catch(() => undefined);
  }

  private async readWhileFollowed(): Promise<void> {
    const { signal } = this.closing;
    const { onFailure } = this.options;
    while (!signal.aborted && this.joining + this.recent.size > 0) {
      await retry(() => this.readBatch(), { signal, onFailure });
    }
    // At once: whoever joins now begins it anew.
    this.started = undefined;
  }

  private async readBatch(): Promise<void> {
    if (!(await this.log.hasEventsAfter(this.deliveredUpTo, POLL_TIMEOUT_MS))) return;
    const upTo = await this.log.handledPosition();
    if (upTo === undefined || upTo <= this.deliveredUpTo) return;
    await this.waitUntilVisible(upTo);
    // From here on whoever comes follows from there.
    this.readingUpTo = laterPosition(upTo, this.readingUpTo);
    const rows = await this.log.readRangeOfAllScopes({ after: this.deliveredUpTo, upTo, limit: ROWS_PER_READ });
    const followed = rows.flatMap((row) => {
      const events = this.recent.of(row);
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

  /** Whoever is told of an event can read it, from any read model; those that stand still are not waited for without end. */
  private async waitUntilVisible(position: HandledPosition): Promise<void> {
    const { visibilityTimeoutMs = 30_000 } = this.options;
    const left = () => (this.visibilityDeadline ?? 0) - monotonicMs();
    this.visibilityDeadline ??= monotonicMs() + visibilityTimeoutMs;
    while (!(await this.log.areReadModelsAt(position, Math.max(0, Math.min(POLL_TIMEOUT_MS, left()))))) {
      if (this.closing.signal.aborted || left() <= 0) return;
    }
    this.visibilityDeadline = undefined;
  }

  /** What a follower has missed, and up to where that is all. */
  private readMissed(scope: Scope, filter: FollowFilter, stretch: LogRange) {
    return this.turns.run(async () => {
      const rows = await this.log.readRange(scope, filter, stretch);
      const made = await this.toFollowedEvents(rows);
      const upTo = lastCompletePosition(rows, rows[made.length], stretch);
      return { events: made.filter((event) => event !== undefined), upTo };
    });
  }

  /** Events of the rows, in their order, as far as they were made; undefined for one that cannot be made. */
  private async toFollowedEvents(rows: readonly PublishedEventRow[]): Promise<readonly (FollowedEvent | undefined)[]> {
    const made = new Map<string, FollowedEvent>();
    const missing: PublishedEventRow[] = [];
    for (const row of rows) {
      const known = this.encoded.get(row.id);
      // In another generation an event may stand elsewhere, if its stream was parked.
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
 * Returns the place up to which every event of a stretch was made.
 * @param left the first row whose event was not
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

/** Lets a few pieces of work run at once; the others wait for their turn, the first first. */
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
      // A turn is handed on, so that nobody who comes now is first.
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
