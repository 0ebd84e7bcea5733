import { randomUUID } from 'node:crypto';
import {
  type CollectionSpec,
  type CountRetry,
  type DocumentStore,
  type HeldLeaseState,
  type Lease,
  type LeaseMember,
  type MemberDescription,
  type Leases,
  type LeaseGroupMembership,
  type Metrics,
  createRetryCounter,
  UnavailableError,
} from '@tracking/ports';
import { msUntilNextTick } from '@tracking/resilience';
import {
  HeldLease,
  type LeaseRecord,
  LeaseRecordStore,
  type LeaseClock,
  SYSTEM_LEASE_CLOCK,
  waitForTimeOrAbort,
} from './held-lease.ts';
import {
  LEASE_MEMBERS_COLLECTION_SPEC,
  LEASE_TTL_MS,
  type MemberDocument,
  MongoLeaseGroupMember,
  readStoredLeaseMembers,
} from './lease-members.ts';

export const LEASES_COLLECTION_SPEC: CollectionSpec = { name: 'leases', indexes: [] };
/** Poll interval of waiting processes, as a fraction of the time to live. */
const LEASE_POLL_INTERVAL_PER_TTL = 1 / 9;

/**
 * Milliseconds after which a read of a record is repeated, because a server that hangs does not respond even after
 * another one took its place. The limit doubles with each repetition, because a busy server responds late.
 */
const FIRST_LEASE_READ_TIMEOUT_MS = 1_000;
const MAX_LEASE_READ_TIMEOUT_MS = 8_000;

/** Record as a waiting process last saw it, and the time since when it has not changed. */
interface ObservedLeaseRecord {
  readonly record: LeaseRecord;
  /** Monotonic time of this process. */
  readonly since: number;
}

/**
 * Leases as records of a document store, one per name. Records are never deleted, so epochs only grow. Each process
 * uses only its own clock: a holder stops after ⅔ of the time to live without a renewal, and another process takes the
 * lease when the record did not change for the full time, or when the member that holds it made no beat for the full
 * time. If the store is unreachable, waiting processes wait and holders lose their leases.
 */
export class MongoLeases implements Leases {
  private readonly ttlMs: number;
  private readonly time: LeaseClock;
  private membership: MongoLeaseGroupMember | undefined;
  private opening: Promise<LeaseRecordStore> | undefined;
  private readonly held = new Set<HeldLease>();
  private readonly acquiring = new Set<Promise<unknown>>();
  /** Tokens of the calls of this process that hold a lease or wait for one. */
  private readonly tokens = new Set<string | null>();
  /** Aborts, and is replaced, when a lease of this process ends. Callers that wait for a lease then try again. */
  private leaseEnd = new AbortController();
  private readonly closing = new AbortController();
  private readonly countRetry: CountRetry;

  /**
   * @param options ttlMs: milliseconds without a renewal after which another process takes the lease; 7,000 by default
   */
  constructor(
    private readonly store: DocumentStore,
    metrics: Metrics,
    options: { readonly ttlMs?: number; readonly time?: LeaseClock } = {},
  ) {
    this.countRetry = createRetryCounter(metrics);
    this.ttlMs = options.ttlMs ?? LEASE_TTL_MS;
    this.time = options.time ?? SYSTEM_LEASE_CLOCK;
  }

  joinLeaseGroup(about: MemberDescription): LeaseGroupMembership {
    this.membership ??= new MongoLeaseGroupMember({
      about,
      open: () => this.store.collection<MemberDocument>(LEASE_MEMBERS_COLLECTION_SPEC),
      ttlMs: this.ttlMs,
      time: this.time,
      countRetry: this.countRetry,
    });
    return this.membership;
  }

  async listHeldLeases(): Promise<readonly HeldLeaseState[]> {
    const records = await this.openLeaseRecords();
    const [held, members] = await Promise.all([records.listHeldLeases(), this.readLeaseMembers()]);
    return held.map(({ id: name, epoch, member }) => {
      const holder = members.get(member ?? '');
      return { name, epoch, holder: holder === undefined ? null : pickLeaseHolderFields(holder) };
    });
  }

  async acquireLease(name: string, signal: AbortSignal): Promise<Lease> {
    const acquiring = this.waitForLease(name, AbortSignal.any([signal, this.closing.signal]));
    this.acquiring.add(acquiring);
    try {
      return await acquiring;
    } finally {
      this.acquiring.delete(acquiring);
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new UnavailableError('leases', 'closed'));
    await Promise.allSettled(this.acquiring);
    await Promise.all([...this.held].map((lease) => lease.releaseLease()));
    await this.membership?.removeOwnMember();
  }

  private async readLeaseMembers(): Promise<ReadonlyMap<string, LeaseMember>> {
    const documents = await this.store.collection<MemberDocument>(LEASE_MEMBERS_COLLECTION_SPEC);
    return readStoredLeaseMembers(documents);
  }

  /**
   * Polling does not use retries with backoff, because all waiting callers of this process poll at the same time and
   * share one read.
   */
  private async waitForLease(name: string, signal: AbortSignal): Promise<Lease> {
    const holder = randomUUID();
    this.tokens.add(holder);
    let lease: HeldLease | undefined;
    try {
      let seen: ObservedLeaseRecord | undefined;
      let readLimitMs = FIRST_LEASE_READ_TIMEOUT_MS;
      const poll = async () => {
        const found = await this.acquireLeaseIfFree(this.readLeaseRecord(name, readLimitMs), { name, holder, seen });
        readLimitMs = FIRST_LEASE_READ_TIMEOUT_MS;
        return found;
      };
      for (;;) {
        signal.throwIfAborted();
        const found = await poll().catch((error: unknown) => {
          if (signal.aborted || !(error instanceof UnavailableError)) throw error;
          this.countRetry('acquiring a lease');
          readLimitMs = Math.min(2 * readLimitMs, MAX_LEASE_READ_TIMEOUT_MS);
          return seen;
        });
        if (found instanceof HeldLease) return (lease = await releaseLeaseIfAborted(found, signal));
        seen = found;
        const pauseMs = msUntilNextTick(LEASE_POLL_INTERVAL_PER_TTL * this.ttlMs, this.time.now());
        await waitForTimeOrAbort(this.time, pauseMs, [signal, this.leaseEnd.signal]);
      }
    } finally {
      if (lease === undefined) this.tokens.delete(holder);
    }
  }

  /** @throws UnavailableError if the read takes longer than the limit */
  private async readLeaseRecord(name: string, limitMs: number): Promise<LeaseRecord | undefined> {
    const records = await this.openLeaseRecords();
    const ended = new AbortController();
    const expired = this.time.wait(limitMs, ended.signal).then(() => {
      throw new UnavailableError('leases', `the record could not be read within ${limitMs} ms`);
    });
    try {
      return await Promise.race([records.getLeaseRecord(name), expired]);
    } finally {
      ended.abort();
    }
  }

  /** Acquires the lease if it is free; otherwise returns its record. */
  private async acquireLeaseIfFree(
    reading: Promise<LeaseRecord | undefined>,
    {
      name,
      holder,
      seen,
    }: { readonly name: string; readonly holder: string; readonly seen: ObservedLeaseRecord | undefined },
  ): Promise<HeldLease | ObservedLeaseRecord | undefined> {
    const record = await reading;
    const records = await this.openLeaseRecords();
    const now = this.time.now();
    const member = this.membership && { member: this.membership.id };
    if (record === undefined) {
      const first = { id: name, epoch: 1, holder, beat: 0, ...member };
      return (await records.insertLease(first)) ? this.createHeldLease(records, first, now) : undefined;
    }
    const still = seen !== undefined && isSameLeaseRecord(seen.record, record) ? seen : { record, since: now };
    // An earlier attempt of this call succeeded although its response was lost, so the call needs no new epoch.
    const own = record.holder === holder;
    const isFree =
      own || record.holder === null || now - still.since >= this.ttlMs || (await this.hasLeaseHolderEnded(record));
    if (!isFree) return still;
    const next = { id: name, epoch: own ? record.epoch : record.epoch + 1, holder, beat: record.beat + 1, ...member };
    return (await records.takeOverLease(next, record)) ? this.createHeldLease(records, next, now) : undefined;
  }

  /** Returns true if the member that holds the lease ended, or lost the lease and is this process. */
  private async hasLeaseHolderEnded({ member, holder }: LeaseRecord): Promise<boolean> {
    if (member === undefined || this.membership === undefined) return false;
    return member === this.membership.id ? !this.tokens.has(holder) : this.membership.hasMemberEnded(member);
  }

  /** Records shared by all leases of this process. */
  private openLeaseRecords(): Promise<LeaseRecordStore> {
    if (this.opening === undefined) {
      const writeMemberBeat = () => this.membership?.writeHeartbeat() ?? Promise.resolve();
      this.opening = this.store
        .collection<LeaseRecord>(LEASES_COLLECTION_SPEC)
        .then((records) => new LeaseRecordStore(records, writeMemberBeat));
      this.opening.catch(() => (this.opening = undefined));
    }
    return this.opening;
  }

  private createHeldLease(records: LeaseRecordStore, record: LeaseRecord, sentAt: number): HeldLease {
    const onFailure = () => this.countRetry('renewing a lease');
    const onEnd = (ended: HeldLease) => {
      this.held.delete(ended);
      this.tokens.delete(ended.holder);
      this.leaseEnd.abort();
      this.leaseEnd = new AbortController();
    };
    const { ttlMs, time } = this;
    const lease = new HeldLease({ records, record, sentAt, ttlMs, time, onFailure, onEnd });
    this.held.add(lease);
    return lease;
  }
}

/** Releases the lease if its caller has stopped waiting for it. */
async function releaseLeaseIfAborted(lease: HeldLease, signal: AbortSignal): Promise<HeldLease> {
  if (signal.aborted) await lease.releaseLease();
  signal.throwIfAborted();
  return lease;
}

function pickLeaseHolderFields({ id, name, address }: LeaseMember): HeldLeaseState['holder'] {
  return { id, name, ...(address !== undefined && { address }) };
}

function isSameLeaseRecord(one: LeaseRecord, other: LeaseRecord): boolean {
  return one.epoch === other.epoch && one.holder === other.holder && one.beat === other.beat;
}
