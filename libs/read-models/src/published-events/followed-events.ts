import type { EventType, WorkspaceScope } from '@tracking/contracts';
import type { HandledPosition } from '@tracking/subscriptions';

interface FollowedEventsOptions {
  readonly events: RecentEventsOfScope;
  readonly from: HandledPosition;
  readonly matches: (event: EncodedPublicEvent) => boolean;
  /**
   * Reads the first matching events between two positions. Also returns the position up to which these events are
   * complete.
   * @throws UnavailableError, BusyError
   */
  readonly readMissed: (
    after: HandledPosition,
    upTo: HandledPosition,
  ) => Promise<{ readonly events: readonly EncodedPublicEvent[]; readonly upTo: HandledPosition }>;
  readonly onLeave: () => void;
}

/** Size in bytes at which a batch for one follower ends. The last event of the batch can exceed it. */
const EVENT_BATCH_BYTES_PER_FOLLOWER = 65_536;

/** One follower of the log. It stores only its position, so a slow follower does not delay others. */
export class PublishedEventFollower {
  /**
   * Id of the event after which this follower started, or `beginning`; undefined if the follower was created with an
   * event id.
   */
  startedAfter: string | undefined;
  private place: HandledPosition;
  private hasLeft = false;
  private wake: (() => void) | undefined;

  constructor(private readonly parts: FollowedEventsOptions) {
    this.place = parts.from;
  }

  /**
   * Waits for the next events and returns them, oldest first. Call the method again after processing the events.
   * @returns an empty list after `stopFollowing`
   * @throws UnavailableError, BusyError; the next call returns the same events
   */
  async readNextEvents(): Promise<readonly EncodedPublicEvent[]> {
    const { events, matches, readMissed } = this.parts;
    while (!this.hasLeft) {
      const recent = events.listEventsAfter(this.place);
      if (recent === undefined) {
        const missed = await readMissed(this.place, events.start);
        const some = this.takeEventBatch(missed.events);
        if (some.length === missed.events.length) this.place = missed.upTo;
        if (some.length > 0) return some;
        continue;
      }
      const wanted = recent.filter(matches);
      const some = this.takeEventBatch(wanted);
      const last = recent.at(-1);
      if (some.length === wanted.length && last !== undefined) this.place = last.position;
      if (some.length > 0) return some;
      await new Promise<void>((wake) => {
        this.wake = wake;
        events.sleeping.add(wake);
      });
    }
    return [];
  }

  /**
   * Id of the scope's last event up to which all matching events were returned; undefined if the event is unknown. A
   * follower that resumes after this event misses nothing.
   */
  get resumeAfter(): string | undefined {
    const { newest } = this.parts.events;
    // A follower that resumes at a position from another process can be ahead of this process.
    const isPast = newest !== undefined && newest.position >= this.parts.from && newest.position <= this.place;
    return isPast ? newest.id : undefined;
  }

  /** Ends the follower and releases its resources. Idempotent. */
  stopFollowing(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.parts.onLeave();
    if (this.wake !== undefined) this.parts.events.sleeping.delete(this.wake);
    this.wake?.();
  }

  private takeEventBatch(events: readonly EncodedPublicEvent[]): readonly EncodedPublicEvent[] {
    let bytes = 0;
    const past = events.findIndex((event) => (bytes += event.bytes.length) >= EVENT_BATCH_BYTES_PER_FOLLOWER);
    const some = past < 0 ? events : events.slice(0, past + 1);
    this.place = some.at(-1)?.position ?? this.place;
    return some;
  }
}

/** An encoded public event with its position. */
export interface EncodedPublicEvent {
  /** `evt_…` */
  readonly id: string;
  readonly type: EventType;
  readonly stream: string;
  readonly position: HandledPosition;
  /** The event encoded for the followers' protocol. All followers share this object. */
  readonly bytes: Uint8Array;
}

/** Recently delivered events of one scope. They include every event after the position `start`. */
export class RecentEventsOfScope {
  readonly events: EncodedPublicEvent[] = [];
  /** The newest event that was delivered, even if it is no longer in memory. */
  newest: Pick<EncodedPublicEvent, 'id' | 'position'> | undefined;
  followers = 0;
  /** Callbacks that wake followers waiting for the next event. */
  readonly sleeping = new Set<() => void>();

  constructor(
    readonly key: string,
    public start: HandledPosition,
  ) {}

  /**
   * Returns the events after the position; undefined if some of them are no longer in memory or were delivered before
   * the first follower joined.
   */
  listEventsAfter(position: HandledPosition): readonly EncodedPublicEvent[] | undefined {
    if (position < this.start) return undefined;
    let from = this.events.length;
    while (from > 0 && (this.events[from - 1]?.position ?? '') > position) from -= 1;
    return this.events.slice(from);
  }

  appendRecentEventOfScope(event: EncodedPublicEvent): void {
    this.events.push(event);
    this.newest = event;
  }

  evictFirstEvent(): void {
    const first = this.events.shift();
    if (first !== undefined) this.start = first.position;
  }

  wakeFollowers(): void {
    const sleeping = [...this.sleeping];
    this.sleeping.clear();
    for (const wake of sleeping) wake();
  }
}

/** The most recent events of all scopes that have followers. Their total size in bytes is limited. */
export class RecentEventCache {
  private readonly scopes = new Map<string, RecentEventsOfScope>();
  /** Scope and size of every event in memory, oldest event first. */
  private readonly order: { readonly scope: RecentEventsOfScope; readonly bytes: number }[] = [];
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get size(): number {
    return this.scopes.size;
  }

  findRecentEventsOfScope(scope: WorkspaceScope): RecentEventsOfScope | undefined {
    return this.scopes.get(createScopeKey(scope));
  }

  /**
   * Starts to keep events of the scope.
   * @param start position after which events are kept
   */
  startKeepingEventsOfScope(scope: WorkspaceScope, start: HandledPosition): RecentEventsOfScope {
    const key = createScopeKey(scope);
    const known = this.scopes.get(key) ?? new RecentEventsOfScope(key, start);
    this.scopes.set(key, known);
    return known;
  }

  stopKeepingEventsOfScope(scope: RecentEventsOfScope): void {
    if (this.scopes.get(scope.key) === scope) this.scopes.delete(scope.key);
  }

  /** Keeps the event if its scope has followers that started before it. */
  cacheRecentEventIfFollowed(scope: RecentEventsOfScope, event: EncodedPublicEvent): void {
    if (this.scopes.get(scope.key) !== scope || event.position <= scope.start) return;
    scope.appendRecentEventOfScope(event);
    this.order.push({ scope, bytes: event.bytes.length });
    this.bytes += event.bytes.length;
    while (this.bytes > this.maxBytes) this.evictOldestEvent();
  }

  wakeAllFollowers(): void {
    for (const scope of this.scopes.values()) scope.wakeFollowers();
  }

  private evictOldestEvent(): void {
    const oldest = this.order.shift();
    if (oldest === undefined) return;
    this.bytes -= oldest.bytes;
    oldest.scope.evictFirstEvent();
  }
}

function createScopeKey({ workspace_id, environment }: WorkspaceScope): string {
  return `${workspace_id}/${environment}`;
}
