import type { EventType, Scope } from '@tracking/contracts';
import type { HandledPosition } from '@tracking/subscriptions';

interface FollowedEventsOptions {
  readonly events: ScopeEvents;
  readonly from: HandledPosition;
  readonly matches: (event: FollowedEvent) => boolean;
  /** The first of those that match between two places, and up to where these are all. @throws Unavailable, Busy */
  readonly readMissed: (
    after: HandledPosition,
    upTo: HandledPosition,
  ) => Promise<{ readonly events: readonly FollowedEvent[]; readonly upTo: HandledPosition }>;
  readonly onLeave: () => void;
}

/** Told at once to one follower: this many bytes, and what is left of the last event. */
const BATCH_BYTES = 65_536;

/** One follower's way through the log. It keeps nothing but its place: whoever reads slowly holds nothing up. */
export class FollowedEvents {
  /** The event after which this follower began, or `beginning`; undefined where it named one itself. */
  startedAfter: string | undefined;
  private place: HandledPosition;
  private hasLeft = false;
  private wake: (() => void) | undefined;

  constructor(private readonly parts: FollowedEventsOptions) {
    this.place = parts.from;
  }

  /**
   * The next events, oldest first, as soon as there are some. Call it again when they are dealt with.
   * @returns none when the follower has left
   * @throws Unavailable, Busy; what was not answered is answered next time
   */
  async next(): Promise<readonly FollowedEvent[]> {
    const { events, matches, readMissed } = this.parts;
    while (!this.hasLeft) {
      const recent = events.eventsAfter(this.place);
      if (recent === undefined) {
        const missed = await readMissed(this.place, events.start);
        const some = this.takeBatch(missed.events);
        if (some.length === missed.events.length) this.place = missed.upTo;
        if (some.length > 0) return some;
        continue;
      }
      const wanted = recent.filter(matches);
      const some = this.takeBatch(wanted);
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
   * The last event of the scope, whether or not it matches, where nothing that came up to it is still to be answered:
   * whoever goes on after it misses nothing. Undefined where that is not known.
   */
  get resumeAfter(): string | undefined {
    const { newest } = this.parts.events;
    // Whoever began at a place that another process told may be further than this one.
    const isPast = newest !== undefined && newest.position >= this.parts.from && newest.position <= this.place;
    return isPast ? newest.id : undefined;
  }

  /** The process holds nothing more for it; may be called again. */
  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.parts.onLeave();
    if (this.wake !== undefined) this.parts.events.sleeping.delete(this.wake);
    this.wake?.();
  }

  private takeBatch(events: readonly FollowedEvent[]): readonly FollowedEvent[] {
    let bytes = 0;
    const past = events.findIndex((event) => (bytes += event.bytes.length) >= BATCH_BYTES);
    const some = past < 0 ? events : events.slice(0, past + 1);
    this.place = some.at(-1)?.position ?? this.place;
    return some;
  }
}

/** A public event as whoever follows gets it, and its place. */
export interface FollowedEvent {
  /** `evt_…` */
  readonly id: string;
  readonly type: EventType;
  readonly stream: string;
  readonly position: HandledPosition;
  /** As the follower's protocol writes it. Made once, and the same object for all. */
  readonly bytes: Uint8Array;
}

/** What was told of one scope lately: all of it that came after `start`. */
export class ScopeEvents {
  readonly events: FollowedEvent[] = [];
  /** The last event that came, also of those that are forgotten. */
  newest: Pick<FollowedEvent, 'id' | 'position'> | undefined;
  followers = 0;
  /** Wake those who wait for the next one. */
  readonly sleeping = new Set<() => void>();

  constructor(
    readonly key: string,
    public start: HandledPosition,
  ) {}

  /** Of those after the position; undefined where some of these are forgotten, or came before anybody followed. */
  eventsAfter(position: HandledPosition): readonly FollowedEvent[] | undefined {
    if (position < this.start) return undefined;
    let from = this.events.length;
    while (from > 0 && (this.events[from - 1]?.position ?? '') > position) from -= 1;
    return this.events.slice(from);
  }

  add(event: FollowedEvent): void {
    this.events.push(event);
    this.newest = event;
  }

  evictFirst(): void {
    const first = this.events.shift();
    if (first !== undefined) this.start = first.position;
  }

  wake(): void {
    const sleeping = [...this.sleeping];
    this.sleeping.clear();
    for (const wake of sleeping) wake();
  }
}

/** The events that came last, of the scopes that somebody follows, up to so many bytes of all scopes together. */
export class RecentEvents {
  private readonly scopes = new Map<string, ScopeEvents>();
  /** Oldest first: whose event it was, and its size. */
  private readonly order: { readonly scope: ScopeEvents; readonly bytes: number }[] = [];
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get size(): number {
    return this.scopes.size;
  }

  of(scope: Scope): ScopeEvents | undefined {
    return this.scopes.get(keyOf(scope));
  }

  /** @param start what comes after it is going to be added */
  open(scope: Scope, start: HandledPosition): ScopeEvents {
    const key = keyOf(scope);
    const known = this.scopes.get(key) ?? new ScopeEvents(key, start);
    this.scopes.set(key, known);
    return known;
  }

  close(scope: ScopeEvents): void {
    if (this.scopes.get(scope.key) === scope) this.scopes.delete(scope.key);
  }

  /** Where somebody follows its scope, and has since before the event. */
  add(scope: ScopeEvents, event: FollowedEvent): void {
    if (this.scopes.get(scope.key) !== scope || event.position <= scope.start) return;
    scope.add(event);
    this.order.push({ scope, bytes: event.bytes.length });
    this.bytes += event.bytes.length;
    while (this.bytes > this.maxBytes) this.evictOldest();
  }

  wakeAllFollowers(): void {
    for (const scope of this.scopes.values()) scope.wake();
  }

  private evictOldest(): void {
    const oldest = this.order.shift();
    if (oldest === undefined) return;
    this.bytes -= oldest.bytes;
    oldest.scope.evictFirst();
  }
}

function keyOf({ workspace_id, environment }: Scope): string {
  return `${workspace_id}/${environment}`;
}
