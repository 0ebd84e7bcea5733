/** An endpoint that waits for its turn. */
export interface SchedulableEndpoint {
  readonly workspace: string;
  /** Number of attempts in progress. */
  readonly attempting: number;
  /** True if the endpoint's latest answer was a success. */
  readonly isProven: boolean;
}

/** Share factor for 75% of all attempts if a workspace or endpoint is alone: 12 times the square of the free 25%. */
const SHARE_FACTOR_FOR_75_PERCENT_OF_ATTEMPTS = 12;
/** Share factor for about 40% of all attempts if alone. */
const SMALL_SHARE_OF_ATTEMPTS_FACTOR = 1;

/**
 * Returns the maximum number of attempts of one workspace or endpoint while `free` of `all` attempts stay free. The
 * number falls with the square of `free`, so that every workspace leaves attempts for the next one.
 */
const computeMaxConcurrentAttempts = (free: number, all: number, share: number) => (share * free * free) / all;

interface RunningAttemptCounts {
  attempts: number;
  /** Number of attempts in progress at endpoints whose latest answer was not a success. */
  unproven: number;
}
const NO_RUNNING_ATTEMPTS: Readonly<RunningAttemptCounts> = { attempts: 0, unproven: 0 };

/**
 * Decides which endpoint makes the next attempt, and counts the attempts in progress. An attempt cannot be interrupted
 * before its receiver answers, so a workspace must leave capacity for others:
 * ¶ - A workspace starts another attempt only while it holds no more than a share of all attempts.
 * - An endpoint starts another attempt only while it holds no more than a share of its workspace's attempts, including
 *   those
 * that the workspace may still start.
 * - Unproven endpoints (latest answer not a success) have such shares too, together and for each workspace. The share
 *   is
 * smaller if the endpoint already has an attempt in progress.
 */
export class FairScheduler<E extends SchedulableEndpoint> {
  private readonly total: RunningAttemptCounts = { ...NO_RUNNING_ATTEMPTS };
  /** Number of attempts of each workspace with an attempt in progress. */
  private readonly workspaces = new Map<string, RunningAttemptCounts>();
  private readonly proven = new RoundRobin<E>();
  /** Unproven endpoints without an attempt in progress. */
  private readonly untried = new RoundRobin<E>();
  private readonly unproven = new RoundRobin<E>();
  private isProvenFirst = true;

  /** @param limit maximum concurrent attempts */
  constructor(private readonly limit: number) {}

  get inFlight(): number {
    return this.total.attempts;
  }

  addEndpoint(endpoint: E): void {
    const unproven = endpoint.attempting === 0 ? this.untried : this.unproven;
    const its = endpoint.isProven ? this.proven : unproven;
    for (const queue of [this.proven, this.untried, this.unproven]) {
      if (queue === its) queue.enqueueGroupMember(endpoint.workspace, endpoint);
      else queue.removeRoundRobinMember(endpoint.workspace, endpoint);
    }
  }

  removeEndpointFromQueues(endpoint: E): void {
    for (const queue of [this.proven, this.untried, this.unproven])
      queue.removeRoundRobinMember(endpoint.workspace, endpoint);
  }

  /** Removes and returns the endpoint whose turn it is; undefined if no attempt may start. */
  takeNextEndpoint(): E | undefined {
    if (this.inFlight >= this.limit) return undefined;
    this.isProvenFirst = !this.isProvenFirst;
    if (this.isProvenFirst) return this.takeNextProvenEndpoint() ?? this.takeNextUnprovenEndpoint();
    return this.takeNextUnprovenEndpoint() ?? this.takeNextProvenEndpoint();
  }

  /** Counts an attempt. The returned function ends it; further calls return false and change nothing. */
  countRunningAttemptOfWorkspace({ workspace, isProven }: SchedulableEndpoint): () => boolean {
    const unproven = isProven ? 0 : 1;
    const holdings = this.workspaces.get(workspace) ?? { ...NO_RUNNING_ATTEMPTS };
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

  private takeNextProvenEndpoint(): E | undefined {
    return this.takeNextEndpointFrom(this.proven);
  }

  private takeNextUnprovenEndpoint(): E | undefined {
    return (
      this.takeNextEndpointFrom(this.untried, SHARE_FACTOR_FOR_75_PERCENT_OF_ATTEMPTS) ??
      this.takeNextEndpointFrom(this.unproven, SMALL_SHARE_OF_ATTEMPTS_FACTOR)
    );
  }

  /** @param unproven share factor of unproven endpoints; absent for a queue of proven endpoints */
  private takeNextEndpointFrom(queue: RoundRobin<E>, unproven?: number): E | undefined {
    const fits = (held: RunningAttemptCounts, free: number, all: number) =>
      unproven === undefined || held.unproven <= computeMaxConcurrentAttempts(free - 1, all, unproven);
    if (!fits(this.total, this.free, this.limit)) return undefined;
    const roomPerEndpoint = (workspace: string) => {
      const held = this.workspaces.get(workspace) ?? NO_RUNNING_ATTEMPTS;
      const room = this.computeAttemptsLeftForWorkspace(held);
      const all = held.attempts + room;
      return room > 0 && fits(held, room, all)
        ? Math.floor(computeMaxConcurrentAttempts(room - 1, all, SHARE_FACTOR_FOR_75_PERCENT_OF_ATTEMPTS)) + 1
        : 0;
    };
    return queue.takeNextMember(roomPerEndpoint, ({ attempting }) => attempting);
  }

  /** Returns the number of attempts that a workspace may still start while no other workspace starts any. */
  private computeAttemptsLeftForWorkspace({ attempts }: RunningAttemptCounts): number {
    // The result follows from the largest share that is allowed at the start of the last of these attempts.
    const part = SHARE_FACTOR_FOR_75_PERCENT_OF_ATTEMPTS / this.limit;
    const left = (Math.sqrt(1 + 4 * part * (attempts + this.free - 1)) - 1) / (2 * part);
    return Math.floor(this.free - left);
  }
}

/**
 * Round robin over groups, and over the members of each group, so that neither a workspace with many endpoints nor an
 * endpoint with many deliveries delays the others.
 */
export class RoundRobin<T> {
  private readonly groups = new Map<string, Set<T>>();

  get isEmpty(): boolean {
    return this.groups.size === 0;
  }

  /** Queues a member at the end of its group. No-op if the member is already queued. */
  enqueueGroupMember(group: string, member: T): void {
    const members = this.groups.get(group);
    if (members === undefined) this.groups.set(group, new Set([member]));
    else members.add(member);
  }

  /**
   * Removes and returns the member whose turn it is; its group moves to the end. A member that has reached its limit is
   * skipped and keeps its turn.
   */
  takeNextMember(roomOf: (group: string) => number, heldBy: (member: T) => number): T | undefined {
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

  removeRoundRobinMember(group: string, member: T): void {
    const members = this.groups.get(group);
    if (members?.delete(member) && members.size === 0) this.groups.delete(group);
  }
}
