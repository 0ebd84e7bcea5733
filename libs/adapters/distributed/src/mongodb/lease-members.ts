import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type {
  Collection,
  CollectionSpec,
  CountRetry,
  Document,
  DocumentStore,
  LeaseMember,
  MemberDescription,
  LeaseGroupMembership,
  WantedLeases,
} from '@tracking/ports';
import { msUntilNextTick } from '@tracking/resilience';
import { type LeaseClock, SYSTEM_LEASE_CLOCK, waitForTimeOrAbort } from './held-lease.ts';

export const LEASE_MEMBERS_COLLECTION_SPEC: CollectionSpec = { name: 'lease_members', indexes: [] };
/** Milliseconds without a renewal or beat after which a lease is free, or a member has ended. */
export const LEASE_TTL_MS = 7_000;
/** Interval between beats of a member, as a fraction of the leases' time to live. */
const HEARTBEAT_INTERVAL_FRACTION = 1 / 3;
/** Interval between reads of all members, as a fraction of the leases' time to live. */
const MEMBER_READ_INTERVAL_FRACTION = 1 / 9;
/**
 * Maximum time between two reads that counts as observed. A longer pause counts as one interval between reads, because
 * during an outage of the store no member can make a beat.
 */
const MAX_OBSERVED_GAP_FRACTION_OF_LEASE_TTL = 1 / 3;
/**
 * Multiple of the time to live after which the document of an ended member is deleted. Until then, a process that starts
 * takes the member for alive at first, and leaves leases to it.
 */
const MEMBER_DELETION_AGE_FACTOR = 3;
const MAX_LEASE_MEMBERS = 1_000;

/** Stored member. Only beats matter, never times, because clocks of different machines are not compared. */
export interface MemberDocument extends Document, Omit<LeaseMember, 'address' | 'tlsName' | 'followsPartitions'> {
  readonly address: string | null;
  /** Absent for members without TLS, and for members of earlier versions. */
  readonly tls_name?: string;
  /** Absent for members without a release, and for members of earlier versions. */
  readonly release?: string;
  /** Absent for members of earlier versions. */
  readonly follows_partitions?: true;
  /** Increases with every write. */
  readonly beat: number;
  /** Increases with every change of `wanted`. */
  readonly announced: number;
}

/** Beats of the other members, as this process observed them on its own clock. */
export class LeaseMemberHeartbeatObservations {
  /** Members as last read, and the time since when they were silent, which excludes long pauses between reads. */
  private seen = new Map<string, { readonly document: MemberDocument; readonly since: number }>();
  private readAt = -Infinity;

  constructor(private readonly ttlMs: number) {}

  /** Records a read of all members. @param now time before the read, on the monotonic clock of this process */
  recordMemberObservations(documents: readonly MemberDocument[], now: number): void {
    const pauseMs = now - this.readAt;
    const isObserved = pauseMs <= MAX_OBSERVED_GAP_FRACTION_OF_LEASE_TTL * this.ttlMs;
    const uncountedMs = isObserved ? 0 : pauseMs - MEMBER_READ_INTERVAL_FRACTION * this.ttlMs;
    const observe = (document: MemberDocument) => {
      const known = this.seen.get(document.id);
      const isSilent = known?.document.beat === document.beat;
      return { document, since: isSilent ? known.since + uncountedMs : now };
    };
    this.seen = new Map(documents.map((document) => [document.id, observe(document)]));
    this.readAt = now;
  }

  /** Lists the members whose beat changed within the time to live, by id. */
  listLiveMembers(): readonly MemberDocument[] {
    const live = [...this.seen.values()].filter(({ since }) => this.readAt - since < this.ttlMs);
    return live.map(({ document }) => document).sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Returns the last beat of a member that made no beat for the time to live; undefined if it may be alive. */
  findBeatOfSilentMember(id: string): number | undefined {
    const known = this.seen.get(id);
    return known !== undefined && this.readAt - known.since >= this.ttlMs ? known.document.beat : undefined;
  }

  /** Lists the members that ended long ago. */
  listLongEndedMembers(): readonly MemberDocument[] {
    const isForgotten = (since: number) => this.readAt - since >= MEMBER_DELETION_AGE_FACTOR * this.ttlMs;
    return [...this.seen.values()].filter(({ since }) => isForgotten(since)).map(({ document }) => document);
  }
}

export interface LeaseGroupMembershipOptions {
  readonly about: MemberDescription;
  readonly open: () => Promise<Collection<MemberDocument>>;
  readonly ttlMs: number;
  readonly time: LeaseClock;
  readonly countRetry: CountRetry;
}

/** This process as a member: one document whose beat shows the other members that the process is alive. */
export class MongoLeaseGroupMember implements LeaseGroupMembership {
  readonly id = randomUUID();
  private readonly observations: LeaseMemberHeartbeatObservations;
  private readonly listeners = new Set<() => void>();
  private readonly left = new AbortController();
  private readonly running: Promise<void>;
  private wanted: WantedLeases = {};
  private announced = 0;
  private beat = 0;
  private beatAt = -Infinity;
  private nextBeat: Promise<void> | undefined;
  private announcement = new AbortController();
  private others: readonly MemberDocument[] | undefined;

  constructor(private readonly options: LeaseGroupMembershipOptions) {
    this.observations = new LeaseMemberHeartbeatObservations(options.ttlMs);
    this.running = this.runMembershipHeartbeats();
  }

  get members(): readonly LeaseMember[] | undefined {
    if (this.others === undefined) return undefined;
    return [{ id: this.id, ...this.options.about, wanted: this.wanted }, ...this.others.map(convertToLeaseMember)];
  }

  announceMember(wanted: WantedLeases): void {
    this.wanted = wanted;
    this.announced += 1;
    this.announcement.abort();
    this.notifyListeners();
  }

  addMemberChangeListener(listener: () => void): void {
    this.listeners.add(listener);
  }

  async removeOwnMember(): Promise<void> {
    if (this.left.signal.aborted) return;
    this.left.abort();
    this.listeners.clear();
    await this.running;
    await this.nextBeat?.catch(() => undefined);
    // If the document cannot be deleted, the other members notice that its beats end.
    await this.options
      .open()
      .then((documents) => documents.delete(this.id))
      .catch(() => undefined);
  }

  /** Writes a beat. It is stored when this resolves; calls at the same time share one write. @throws UnavailableError */
  writeHeartbeat(): Promise<void> {
    return (this.nextBeat ??= this.writeNextMemberHeartbeat());
  }

  /**
   * Returns true if the member ended: it made no beat for the time to live, and makes none now.
   * @throws UnavailableError
   */
  async hasMemberEnded(id: string): Promise<boolean> {
    const last = this.observations.findBeatOfSilentMember(id);
    if (last === undefined) return false;
    const documents = await this.options.open();
    return (await documents.get(id))?.beat === last;
  }

  private async writeNextMemberHeartbeat(): Promise<void> {
    await setImmediate();
    // Later callers need another write, because this one may already be stored when they call.
    this.nextBeat = undefined;
    const { about, open, time } = this.options;
    this.beat += 1;
    this.beatAt = time.now();
    const { id, wanted, announced, beat } = this;
    const document = {
      ...{ id, name: about.name, address: about.address ?? null, wanted, announced, beat },
      ...(about.tlsName !== undefined && { tls_name: about.tlsName }),
      ...(about.release !== undefined && { release: about.release }),
      ...(about.followsPartitions && { follows_partitions: about.followsPartitions }),
    };
    try {
      // A late write must not replace a later beat, because other members would miss that beat.
      await (await open()).upsert(document, { beat: { lt: beat } });
    } catch (error) {
      // The next beat is due immediately. Otherwise, two failures would let this member appear as ended.
      this.beatAt = -Infinity;
      throw error;
    }
  }

  private async runMembershipHeartbeats(): Promise<void> {
    const { ttlMs, time, countRetry } = this.options;
    const { signal } = this.left;
    let written = 0;
    while (!signal.aborted) {
      this.announcement = new AbortController();
      const { announced } = this;
      try {
        const isDue = time.now() - this.beatAt >= HEARTBEAT_INTERVAL_FRACTION * ttlMs;
        if (announced > 0 && (isDue || announced !== written)) {
          await this.writeHeartbeat();
          written = announced;
        }
        if (announced > 0) await this.readOtherMembers();
      } catch {
        countRetry('following the members of leases');
      }
      // Announcements that arrived meanwhile are written immediately.
      if (this.announcement.signal.aborted) continue;
      const pauseMs = msUntilNextTick(MEMBER_READ_INTERVAL_FRACTION * ttlMs, time.now());
      await waitForTimeOrAbort(time, pauseMs, [signal, this.announcement.signal]);
    }
  }

  private async readOtherMembers(): Promise<void> {
    const { open, time } = this.options;
    const now = time.now();
    const documents = await open();
    const found = await documents.find({ filter: {}, limit: MAX_LEASE_MEMBERS });
    this.observations.recordMemberObservations(
      found.filter(({ id }) => id !== this.id),
      now,
    );
    const live = this.observations.listLiveMembers();
    const isChanged =
      this.others === undefined ||
      formatLeaseMembersForComparison(live) !== formatLeaseMembersForComparison(this.others);
    this.others = live;
    if (isChanged) this.notifyListeners();
    for (const { id, beat } of this.observations.listLongEndedMembers()) await documents.delete(id, { beat });
  }

  private notifyListeners(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Follows the members of leases without being one. */
export class LeaseMemberObserver {
  private readonly observations = new LeaseMemberHeartbeatObservations(LEASE_TTL_MS);

  constructor(
    private readonly store: DocumentStore,
    private readonly time: LeaseClock = SYSTEM_LEASE_CLOCK,
  ) {}

  /**
   * Reads all members, and lists those that may be alive. A member that ended without
   * {@link LeaseGroupMembership.removeOwnMember} is listed until it made no beat for the time to live, of which a long
   * pause between two calls counts little.
   * @throws UnavailableError
   */
  async listLiveMembers(): Promise<readonly LeaseMember[]> {
    const now = this.time.now();
    const documents = await this.store.collection<MemberDocument>(LEASE_MEMBERS_COLLECTION_SPEC);
    this.observations.recordMemberObservations(await documents.find({ filter: {}, limit: MAX_LEASE_MEMBERS }), now);
    return this.observations.listLiveMembers().map(convertToLeaseMember);
  }

  /** Waits until the members should be read again, or until the signal aborts. */
  pauseBetweenLeaseMemberReads(signal: AbortSignal): Promise<void> {
    return this.time.wait(MEMBER_READ_INTERVAL_FRACTION * LEASE_TTL_MS, signal);
  }
}

/** Reads all stored members by id, including members that ended lately. @throws UnavailableError */
export async function readStoredLeaseMembers(
  documents: Collection<MemberDocument>,
): Promise<ReadonlyMap<string, LeaseMember>> {
  const found = await documents.find({ filter: {}, limit: MAX_LEASE_MEMBERS });
  return new Map(found.map((document) => [document.id, convertToLeaseMember(document)]));
}

function convertToLeaseMember(document: MemberDocument): LeaseMember {
  const { id, name, address, tls_name: tlsName, release, follows_partitions: followsPartitions, wanted } = document;
  return {
    ...{ id, name, wanted },
    ...(address !== null && { address }),
    ...(tlsName !== undefined && { tlsName }),
    ...(release !== undefined && { release }),
    ...(followsPartitions && { followsPartitions }),
  };
}

function formatLeaseMembersForComparison(members: readonly MemberDocument[]): string {
  return members.map(({ id, announced }) => `${id} ${announced}`).join();
}
