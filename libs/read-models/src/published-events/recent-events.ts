import type { EventType, Scope } from '@tracking/contracts';
import type { Place } from '@tracking/subscriptions';

/** A public event as whoever follows gets it, and its place. */
export interface ToldEvent {
  /** `evt_…` */
  readonly id: string;
  readonly type: EventType;
  readonly stream: string;
  readonly position: Place;
  /** As the follower's protocol writes it. Made once, and the same object for all. */
  readonly bytes: Uint8Array;
}

/** What was told of one scope lately: all of it that came after `start`. */
export class ScopeEvents {
  readonly events: ToldEvent[] = [];
  /** The last event that came, also of those that are forgotten. */
  newest: Pick<ToldEvent, 'id' | 'position'> | undefined;
  followers = 0;
  /** Wake those who wait for the next one. */
  readonly sleeping = new Set<() => void>();

  constructor(
    readonly key: string,
    public start: Place,
  ) {}

  /** Of those after the position; undefined where some of these are forgotten, or came before anybody followed. */
  after(position: Place): readonly ToldEvent[] | undefined {
    if (position < this.start) return undefined;
    let from = this.events.length;
    while (from > 0 && (this.events[from - 1]?.position ?? '') > position) from -= 1;
    return this.events.slice(from);
  }

  add(event: ToldEvent): void {
    this.events.push(event);
    this.newest = event;
  }

  forgetFirst(): void {
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
  open(scope: Scope, start: Place): ScopeEvents {
    const key = keyOf(scope);
    const known = this.scopes.get(key) ?? new ScopeEvents(key, start);
    this.scopes.set(key, known);
    return known;
  }

  close(scope: ScopeEvents): void {
    if (this.scopes.get(scope.key) === scope) this.scopes.delete(scope.key);
  }

  /** Where somebody follows its scope, and has since before the event. */
  add(scope: ScopeEvents, event: ToldEvent): void {
    if (this.scopes.get(scope.key) !== scope || event.position <= scope.start) return;
    scope.add(event);
    this.order.push({ scope, bytes: event.bytes.length });
    this.bytes += event.bytes.length;
    while (this.bytes > this.maxBytes) this.forgetOldest();
  }

  wakeAll(): void {
    for (const scope of this.scopes.values()) scope.wake();
  }

  private forgetOldest(): void {
    const oldest = this.order.shift();
    if (oldest === undefined) return;
    this.bytes -= oldest.bytes;
    oldest.scope.forgetFirst();
  }
}

function keyOf({ workspace_id, environment }: Scope): string {
  return `${workspace_id}/${environment}`;
}
