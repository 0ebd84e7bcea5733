import type {
  Gauge,
  Lease,
  LeaseMember,
  Leases,
  LeaseSource,
  Logger,
  MemberDescription,
  LeaseGroupMembership,
  Metrics,
} from '@tracking/ports';
import { assignLeases } from './lease-assignment.ts';

/** Milliseconds for which changes of leases are collected into one log line. */
const LEASE_LOG_INTERVAL_MS = 1_000;

export interface LeaseSharesOptions {
  readonly leases: Leases;
  /** This process, for operators and for the other processes. */
  readonly member: MemberDescription;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Number of leases of a group that this process holds, and of the live members that share the group. */
export interface LeaseShareReport {
  readonly held: number;
  readonly members: number;
}

/**
 * Divides leases evenly among processes. The leases of a group are interchangeable work, such as shards. When a process
 * joins, the others hand over some of their leases; when it ends, the others take over its leases.
 */
export class LeaseDistributor {
  private readonly groups = new Map<string, LeaseGroup>();
  private readonly membership: LeaseGroupMembership;
  private readonly gauge: Gauge;
  private isAnnouncing = false;

  constructor(private readonly options: LeaseSharesOptions) {
    const help = 'Leases that this process holds: shards, partitions and jobs.';
    this.gauge = options.metrics.createGauge('leases_held', help, ['group']);
    this.membership = options.leases.joinLeaseGroup(options.member);
    this.membership.addMemberChangeListener(() => {
      for (const group of this.groups.values()) group.assignLeases();
    });
  }

  /** Returns the leases of a group. Each call with the same name returns the same object. */
  getOrCreateLeaseGroup(name: string): LeaseGroup {
    const known = this.groups.get(name);
    if (known !== undefined) return known;
    const { leases, logger } = this.options;
    const group = new LeaseGroup({
      ...{ name, leases, logger, membership: this.membership },
      onWantedChange: () => this.announceWantedLeasesAtTurnEnd(),
      onHeldChange: (held) => this.gauge.set(held, { group: name }),
    });
    this.gauge.set(0, { group: name });
    this.groups.set(name, group);
    return group;
  }

  /**
   * Calls the listener with the live members that share the leases of a group, as soon as they are known and after each
   * change. This process may follow a group without sharing its leases.
   */
  followMembersOfGroup(group: string, listener: (members: readonly LeaseMember[]) => void): void {
    const notify = () => {
      const { members } = this.membership;
      if (members !== undefined) listener(filterMembersSharingGroup(members, group));
    };
    this.membership.addMemberChangeListener(notify);
    notify();
  }

  /** Returns true if all live members, of any group, understand read models in several partitions. */
  get followsPartitions(): boolean {
    return this.membership.members?.every((member) => member.followsPartitions) ?? false;
  }

  /** Returns the share of this process in each group. */
  getLeaseShareReports(): Readonly<Record<string, LeaseShareReport>> {
    return Object.fromEntries([...this.groups].map(([name, group]) => [name, group.getLeaseShareReport()]));
  }

  /** Announces once for all leases that the current turn of the event loop adds. */
  private announceWantedLeasesAtTurnEnd(): void {
    if (this.isAnnouncing) return;
    this.isAnnouncing = true;
    setImmediate(() => {
      this.isAnnouncing = false;
      this.membership.announceMember(Object.fromEntries([...this.groups].map(([name, { wanted }]) => [name, wanted])));
    });
  }
}

interface LeaseGroupOptions {
  readonly name: string;
  readonly leases: LeaseSource;
  readonly membership: LeaseGroupMembership;
  readonly logger: Logger;
  /** Called after the leases that this process wants have changed. */
  onWantedChange(): void;
  onHeldChange(held: number): void;
}

interface CallerWaitingForLease {
  readonly name: string;
  /** @param assignment aborts when the lease is assigned to another process */
  proceed(assignment: AbortSignal): void;
}

/** Leases of a group. A process acquires only the leases that are assigned to it. */
export class LeaseGroup implements LeaseSource {
  /** Signals of the callers that want a lease, by name. A lease is wanted until all of its signals have aborted. */
  private readonly callers = new Map<string, Set<AbortSignal>>();
  private readonly waiting = new Set<CallerWaitingForLease>();
  private members: ReadonlyMap<string, LeaseMember> = new Map();
  /** Ids of the members to which the leases are assigned, by name of the lease. */
  private owners: ReadonlyMap<string, string> = new Map();
  /** Leases that are assigned to this process. A controller aborts when its lease is assigned to another process. */
  private readonly assignments = new Map<string, AbortController>();
  private readonly held = new Set<Lease>();
  private readonly changes: LeaseChangeLog;

  constructor(private readonly options: LeaseGroupOptions) {
    this.changes = new LeaseChangeLog(options.logger, () => ({ group: options.name, ...this.getLeaseShareReport() }));
  }

  /** Names of the leases that this process is ready to hold. */
  get wanted(): readonly string[] {
    return [...this.callers.keys()].sort();
  }

  /**
   * Waits until the lease is assigned to this process and this process holds it. The lease counts as wanted until the
   * signal aborts, so use the same signal for as long as the process is ready to hold the lease.
   * @throws the signal's reason if it aborts first
   */
  async acquireLease(name: string, signal: AbortSignal): Promise<Lease> {
    signal.throwIfAborted();
    this.addCallerWaitingForLease(name, signal);
    for (;;) {
      const assignment = await this.waitForLeaseAssignment(name, signal);
      try {
        const lease = await this.options.leases.acquireLease(name, AbortSignal.any([signal, assignment]));
        return this.wrapLeaseWithHandOver(lease, assignment, signal);
      } catch (error) {
        if (signal.aborted || !assignment.aborted) throw error;
      }
    }
  }

  /**
   * Returns the other process to which the lease is assigned; undefined if it is this process or none. That process may
   * not hold the lease yet.
   */
  findOtherLeaseOwner(name: string): LeaseMember | undefined {
    const owner = this.owners.get(name);
    return owner === undefined || owner === this.options.membership.id ? undefined : this.members.get(owner);
  }

  getLeaseShareReport(): LeaseShareReport {
    const { name, membership } = this.options;
    return { held: this.held.size, members: filterMembersSharingGroup(membership.members ?? [], name).length };
  }

  /** Assigns the leases again after a change of the members. */
  assignLeases(): void {
    const { name: group, membership } = this.options;
    const { members } = membership;
    if (members === undefined) return;
    this.members = new Map(members.map((member) => [member.id, member]));
    this.owners = assignLeases(group, members);
    for (const [name, assignment] of this.assignments) {
      if (this.owners.get(name) === membership.id) continue;
      this.assignments.delete(name);
      assignment.abort();
    }
    for (const [name, owner] of this.owners) {
      if (owner === membership.id && !this.assignments.has(name)) this.assignments.set(name, new AbortController());
    }
    for (const caller of this.waiting) {
      const assignment = this.assignments.get(caller.name);
      if (assignment !== undefined) caller.proceed(assignment.signal);
    }
  }

  private addCallerWaitingForLease(name: string, signal: AbortSignal): void {
    const callers = this.callers.get(name) ?? new Set();
    if (callers.has(signal)) return;
    this.callers.set(name, callers.add(signal));
    this.options.onWantedChange();
    const remove = () => {
      callers.delete(signal);
      if (callers.size > 0) return;
      this.callers.delete(name);
      this.options.onWantedChange();
    };
    signal.addEventListener('abort', remove, { once: true });
  }

  private waitForLeaseAssignment(name: string, signal: AbortSignal): Promise<AbortSignal> {
    const assignment = this.assignments.get(name);
    if (assignment !== undefined) return Promise.resolve(assignment.signal);
    return new Promise((resolve, reject) => {
      const caller: CallerWaitingForLease = {
        name,
        proceed: (assigned) => {
          this.waiting.delete(caller);
          signal.removeEventListener('abort', giveUp);
          resolve(assigned);
        },
      };
      const giveUp = () => {
        this.waiting.delete(caller);
        reject(signal.reason as Error);
      };
      this.waiting.add(caller);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Returns the lease with a hand-over that is requested when the lease is assigned to another process. */
  private wrapLeaseWithHandOver(lease: Lease, assignment: AbortSignal, signal: AbortSignal): Lease {
    this.held.add(lease);
    this.options.onHeldChange(this.held.size);
    this.changes.logLeaseChange('gained', lease.name);
    let isReleased = false;
    const end = () => {
      this.held.delete(lease);
      this.options.onHeldChange(this.held.size);
      const change = isReleased ? 'released' : 'lost';
      this.changes.logLeaseChange(assignment.aborted || signal.aborted ? 'handed_over' : change, lease.name);
    };
    if (lease.lost.aborted) end();
    else lease.lost.addEventListener('abort', end, { once: true });
    return {
      name: lease.name,
      epoch: lease.epoch,
      lost: lease.lost,
      handOverRequested: assignment,
      isLeaseHeld: () => lease.isLeaseHeld(),
      releaseLease: () => {
        isReleased = true;
        return lease.releaseLease();
      },
    };
  }
}

/** Returns the members that share the leases of a group. */
function filterMembersSharingGroup(members: readonly LeaseMember[], group: string): readonly LeaseMember[] {
  return members.filter(({ wanted }) => (wanted[group]?.length ?? 0) > 0);
}

type LeaseChange = 'gained' | 'handed_over' | 'released' | 'lost';

/**
 * Logs the leases that this process gained, handed over, released or lost, with one line for all changes within a
 * second.
 */
class LeaseChangeLog {
  private readonly changes = new Map<LeaseChange, string[]>();

  constructor(
    private readonly logger: Logger,
    private readonly createFields: () => object,
  ) {}

  logLeaseChange(change: LeaseChange, name: string): void {
    if (this.changes.size === 0) setTimeout(() => this.logLeaseChanges(), LEASE_LOG_INTERVAL_MS).unref();
    this.changes.set(change, [...(this.changes.get(change) ?? []), name]);
  }

  private logLeaseChanges(): void {
    const fields = { ...this.createFields(), ...Object.fromEntries(this.changes) };
    const isLost = this.changes.has('lost');
    this.changes.clear();
    if (isLost) this.logger.warn(fields, 'this process lost leases; another process takes them over');
    else this.logger.info(fields, 'leases changed their owner');
  }
}
