import type { Place } from '@tracking/subscriptions';
import type { ScopeEvents, ToldEvent } from './recent-events.ts';

export interface FollowedEventsParts {
  readonly events: ScopeEvents;
  readonly from: Place;
  readonly matches: (event: ToldEvent) => boolean;
  /** The first of those that match between two places, and up to where these are all. @throws Unavailable, Busy */
  readonly behind: (
    after: Place,
    upTo: Place,
  ) => Promise<{ readonly events: readonly ToldEvent[]; readonly upTo: Place }>;
  readonly left: () => void;
}

/** Told at once to one follower: this many bytes, and what is left of the last event. */
const BYTES_AT_ONCE = 65_536;

/** One follower's way through the log. It keeps nothing but its place: whoever reads slowly holds nothing up. */
export class FollowedEvents {
  /** The event after which this follower began, or `beginning`; undefined where it named one itself. */
  begin: string | undefined;
  private place: Place;
  private hasLeft = false;
  private wake: (() => void) | undefined;

  constructor(private readonly parts: FollowedEventsParts) {
    this.place = parts.from;
  }

  /**
   * The next events, oldest first, as soon as there are some. Call it again when they are dealt with.
   * @returns none when the follower has left
   * @throws Unavailable, Busy; what was not answered is answered next time
   */
  async next(): Promise<readonly ToldEvent[]> {
    const { events, matches, behind } = this.parts;
    while (!this.hasLeft) {
      const recent = events.after(this.place);
      if (recent === undefined) {
        const missed = await behind(this.place, events.start);
        const some = this.take(missed.events);
        if (some.length === missed.events.length) this.place = missed.upTo;
        if (some.length > 0) return some;
        continue;
      }
      const wanted = recent.filter(matches);
      const some = this.take(wanted);
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
  get passed(): string | undefined {
    const { newest } = this.parts.events;
    // Whoever began at a place that another process told may be further than this one.
    const isPast = newest !== undefined && newest.position >= this.parts.from && newest.position <= this.place;
    return isPast ? newest.id : undefined;
  }

  /** The process holds nothing more for it; may be called again. */
  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.parts.left();
    if (this.wake !== undefined) this.parts.events.sleeping.delete(this.wake);
    this.wake?.();
  }

  private take(events: readonly ToldEvent[]): readonly ToldEvent[] {
    let bytes = 0;
    const past = events.findIndex((event) => (bytes += event.bytes.length) >= BYTES_AT_ONCE);
    const some = past < 0 ? events : events.slice(0, past + 1);
    this.place = some.at(-1)?.position ?? this.place;
    return some;
  }
}
