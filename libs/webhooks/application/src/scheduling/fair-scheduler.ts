/** An endpoint that waits for its turn. */
export interface Schedulable {
  readonly workspace: string;
  /** Attempts under way. */
  readonly attempting: number;
  /** True if its latest answer was a success. */
  readonly isProven: boolean;
}

/** A workspace or endpoint alone gets three quarters: 12 times the square of the quarter that stays free. */
const SHARE_FACTOR = 12;
/** Alone, two fifths. */
const SMALL_SHARE_FACTOR = 1;

/**
 * Most attempts that one may have under way while `free` of `all` stay free. It falls with the square of the free ones: if
 * several come one after the other and give nothing back for long, each leaves something for the next.
 */
const maxShare = (free: number, all: number, share: number) => (share * free * free) / all;

interface Holdings {
  attempts: number;
  /** Attempts among these at endpoints whose latest answer was no success. */
  unproven: number;
}
const NO_HOLDINGS: Readonly<Holdings> = { attempts: 0, unproven: 0 };

/**
 * Decides which endpoint makes the next attempt, and counts the attempts under way. An attempt cannot be taken back before its
 * receiver answers, so no workspace may hold what the next one needs, however its receivers answer:
 *
 * - A workspace begins another attempt while it has no more than a share of all under way.
 * - An endpoint does while it has no more than a share of what its workspace has under way and may still begin.
 * - Endpoints whose latest answer was no success share alike, all together and those of a workspace: a share of all, and
 *   a share of what their workspace has and may begin; a small one if the endpoint has an attempt under way already.
 */
export class FairScheduler<E extends Schedulable> {
  private readonly total: Holdings = { ...NO_HOLDINGS };
  /** Of workspaces with an attempt under way. */
  private readonly workspaces = new Map<string, Holdings>();
  private readonly proven = new RoundRobin<E>();
  /** Unproven, and without an attempt under way. */
  private readonly untried = new RoundRobin<E>();
  private readonly unproven = new RoundRobin<E>();
  private isProvenFirst = true;

  /** @param limit most attempts at once */
  constructor(private readonly limit: number) {}

  get inFlight(): number {
    return this.total.attempts;
  }

  add(endpoint: E): void {
    const unproven = endpoint.attempting === 0 ? this.untried : this.unproven;
    const its = endpoint.isProven ? this.proven : unproven;
    for (const queue of [this.proven, this.untried, this.unproven]) {
      if (queue === its) queue.add(endpoint.workspace, endpoint);
      else queue.remove(endpoint.workspace, endpoint);
    }
  }

  remove(endpoint: E): void {
    for (const queue of [this.proven, this.untried, this.unproven]) queue.remove(endpoint.workspace, endpoint);
  }

  /** Returns the endpoint whose turn it is, if an attempt may be made, and removes it from its queue. */
  next(): E | undefined {
    if (this.inFlight >= this.limit) return undefined;
    this.isProvenFirst = !this.isProvenFirst;
    if (this.isProvenFirst) return this.nextProven() ?? this.nextUnproven();
    return this.nextUnproven() ?? this.nextProven();
  }

  /** Counts an attempt. The returned function ends it; called again, it returns false and changes nothing. */
  begin({ workspace, isProven }: Schedulable): () => boolean {
    const unproven = isProven ? 0 : 1;
    const holdings = this.workspaces.get(workspace) ?? { ...NO_HOLDINGS };
    this.workspaces.set(workspace, holdings);
    const count = (attempts: 1 | -1) => {
      for (const each of [this.total, holdings]) {
        each.attempts += attempts;
        each.unproven += attempts * unproven;
      }
      if (holdings.attempts === 0) this.workspaces.delete(workspace);
    };
    let isCounted = true;
    count(1);
    return () => {
      if (!isCounted) return false;
      isCounted = false;
      count(-1);
      return true;
    };
  }

  private get free(): number {
    return this.limit - this.inFlight;
  }

  private nextProven(): E | undefined {
    return this.nextFrom(this.proven);
  }

  private nextUnproven(): E | undefined {
    return this.nextFrom(this.untried, SHARE_FACTOR) ?? this.nextFrom(this.unproven, SMALL_SHARE_FACTOR);
  }

  /** @param unproven share of the unproven, for a queue of these */
  private nextFrom(queue: RoundRobin<E>, unproven?: number): E | undefined {
    const fits = (held: Holdings, free: number, all: number) =>
      unproven === undefined || held.unproven <= maxShare(free - 1, all, unproven);
    if (!fits(this.total, this.free, this.limit)) return undefined;
    const roomPerEndpoint = (workspace: string) => {
      const held = this.workspaces.get(workspace) ?? NO_HOLDINGS;
      const room = this.roomFor(held);
      const all = held.attempts + room;
      return room > 0 && fits(held, room, all) ? Math.floor(maxShare(room - 1, all, SHARE_FACTOR)) + 1 : 0;
    };
    return queue.next(roomPerEndpoint, ({ attempting }) => attempting);
  }

  /** How many attempts a workspace may still begin while no other begins any. */
  private roomFor({ attempts }: Holdings): number {
    // The last of them begins beside attempts + room - 1 and leaves free - room, which is at least the root of
    // attempts + free - left - 1 = share of left.
    const part = SHARE_FACTOR / this.limit;
    const left = (Math.sqrt(1 + 4 * part * (attempts + this.free - 1)) - 1) / (2 * part);
    return Math.floor(this.free - left);
  }
}

/**
 * Groups take turns, and the members of a group take turns within it, so that neither a workspace with many endpoints nor an
 * endpoint with many deliveries keeps the others waiting.
 */
export class RoundRobin<T> {
  private readonly groups = new Map<string, Set<T>>();

  get isEmpty(): boolean {
    return this.groups.size === 0;
  }

  /** Queues a member behind the others of its group. No-op if it is queued already. */
  add(group: string, member: T): void {
    const members = this.groups.get(group);
    if (members === undefined) this.groups.set(group, new Set([member]));
    else members.add(member);
  }

  /**
   * Removes and returns the member whose turn it is; its group goes behind the others. A member that holds as much as its
   * group has room for is passed over and keeps its turn.
   */
  next(roomOf: (group: string) => number, heldBy: (member: T) => number): T | undefined {
    for (const [group, members] of this.groups) {
      const room = roomOf(group);
      if (room <= 0) continue;
      for (const member of members) {
        if (heldBy(member) >= room) continue;
        members.delete(member);
        this.groups.delete(group);
        if (members.size > 0) this.groups.set(group, members);
        return member;
      }
    }
    return undefined;
  }

  remove(group: string, member: T): void {
    const members = this.groups.get(group);
    if (members?.delete(member) && members.size === 0) this.groups.delete(group);
  }
}
