import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Collection, type Filter, type Lease, UnavailableError } from '@tracking/ports';
import { msUntilNextTick } from '@tracking/resilience';

/** Monotonic clock and timers of a process. */
export interface LeaseClock {
  /** Returns milliseconds of a monotonic clock. */
  now(): number;
  /** Resolves after a number of milliseconds, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** The clock of this process. Its timers do not keep the process alive. */
export const SYSTEM_LEASE_CLOCK: LeaseClock = {
  now: () => performance.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal, ref: false }).catch(() => undefined),
};

/**
 * Waits until the time has passed or one of the signals aborts. In contrast to `AbortSignal.any`, of which Node 20 keeps
 * every result for as long as a source exists, the signals keep nothing afterwards.
 */
export async function waitForTimeOrAbort(time: LeaseClock, ms: number, signals: readonly AbortSignal[]): Promise<void> {
  const waiting = new AbortController();
  const end = () => waiting.abort();
  for (const signal of signals) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  }
  await time.wait(ms, waiting.signal);
  for (const signal of signals) signal.removeEventListener('abort', end);
}

/** Interval between renewals of a lease, as a fraction of its time to live. */
const RENEWAL_INTERVAL_FRACTION = 1 / 3;
/** Pause after a failed renewal, as a fraction of the lease's time to live. */
const RENEWAL_RETRY_TTL_FRACTION = 1 / 18;
/**
 * Fraction of the time to live after which a holder without a renewal stops. Other processes acquire the lease only
 * after the full time to live.
 */
const RELIABLE_LEASE_FRACTION = 2 / 3;

const LEASE_RECORDS_PER_READ = 500;

interface HeldLeaseOptions {
  readonly records: LeaseRecordStore;
  /** Lease record as this process last wrote it. */
  readonly record: LeaseRecord;
  /** Monotonic time when this process sent the write that acquired the lease. */
  readonly sentAt: number;
  readonly ttlMs: number;
  readonly time: LeaseClock;
  /** Callback for every failed renewal. */
  onFailure(): void;
  /** Callback that runs once, when the lease is released or lost. */
  onEnd(lease: HeldLease): void;
}

/** A lease of this process. It renews itself until it is released or no longer reliable. */
export class HeldLease implements Lease {
  readonly name: string;
  readonly epoch: number;
  readonly lost: AbortSignal;
  readonly handOverRequested = new AbortController().signal;
  private readonly ended = new AbortController();
  private record: LeaseRecord;
  /** Monotonic time until which the lease is reliable. */
  private reliableUntil: number;
  private releasing: Promise<void> | undefined;

  constructor(private readonly options: HeldLeaseOptions) {
    this.record = options.record;
    this.name = options.record.id;
    this.epoch = options.record.epoch;
    this.lost = this.ended.signal;
    this.reliableUntil = this.computeLeaseReliableUntil(options.sentAt);
    void this.loseLeaseWhenExpired();
    void this.renewLeaseUntilEnded();
  }

  /** Token of the call that acquired the lease. */
  get holder(): string | null {
    return this.options.record.holder;
  }

  /** The code compares the clock, because timers may run late after a pause of the process. */
  isLeaseHeld(): boolean {
    if (this.options.time.now() >= this.reliableUntil) this.markLeaseLost();
    return !this.lost.aborted;
  }

  releaseLease(): Promise<void> {
    return (this.releasing ??= this.writeLeaseRelease());
  }

  private async writeLeaseRelease(): Promise<void> {
    if (this.lost.aborted) return;
    this.endLease();
    try {
      await this.writeRenewal(null);
    } catch (error) {
      // Other processes can acquire the lease when its time to live ends.
      if (!(error instanceof UnavailableError)) throw error;
    } finally {
      this.options.onEnd(this);
    }
  }

  /**
   * Renewals do not use retries with backoff, because all leases of the process are renewed at the same time and share
   * one write.
   */
  private async renewLeaseUntilEnded(): Promise<void> {
    const { time, ttlMs } = this.options;
    let every = RENEWAL_INTERVAL_FRACTION;
    for (;;) {
      await time.wait(msUntilNextTick(every * ttlMs, time.now()), this.lost);
      if (this.lost.aborted) return;
      const sentAt = time.now();
      try {
        if (!(await this.writeRenewal(this.record.holder))) return this.markLeaseLost();
        // A lease that expired during the write stays lost, because another process may have taken it over.
        if (this.isLeaseHeld()) this.reliableUntil = this.computeLeaseReliableUntil(sentAt);
        every = RENEWAL_INTERVAL_FRACTION;
      } catch {
        // After any error, the next attempt may succeed until the lease expires.
        every = RENEWAL_RETRY_TTL_FRACTION;
        this.options.onFailure();
      }
    }
  }

  private async loseLeaseWhenExpired(): Promise<void> {
    const { time } = this.options;
    while (!this.lost.aborted) {
      await time.wait(Math.max(1, this.reliableUntil - time.now()), this.lost);
      this.isLeaseHeld();
    }
  }

  private writeRenewal(holder: string | null): Promise<boolean> {
    this.record = { ...this.record, beat: this.record.beat + 1 };
    return this.options.records.updateLease(this.record, holder);
  }

  private computeLeaseReliableUntil(sentAt: number): number {
    return sentAt + RELIABLE_LEASE_FRACTION * this.options.ttlMs;
  }

  private markLeaseLost(): void {
    if (this.lost.aborted) return;
    this.endLease();
    this.options.onEnd(this);
  }

  private endLease(): void {
    this.ended.abort();
  }
}

/** Stored record of a lease. */
export interface LeaseRecord {
  /** Name of the lease. */
  readonly id: string;
  readonly epoch: number;
  /** Token of the process that holds the lease; null if the lease is released. */
  readonly holder: string | null;
  /** Increases with every renewal, which shows other processes that the holder is alive. */
  readonly beat: number;
  /** Id of the member that holds the lease; absent if the holder is no member. */
  readonly member?: string;
}

/**
 * Records of all leases of one process. A process may hold many; renewals at the same time cost one write and one read
 * together.
 */
export class LeaseRecordStore {
  private waiting: { readonly document: LeaseRecord; readonly guard: Filter }[] = [];
  private writing: Promise<void> | undefined;

  /**
   * @param writeMemberBeat writes that this process is alive. Others take all leases of a process whose beats end, so
   *   no lease is acquired or renewed without a beat.
   */
  constructor(
    private readonly records: Collection<LeaseRecord>,
    private readonly writeMemberBeat: () => Promise<void>,
  ) {}

  getLeaseRecord(name: string): Promise<LeaseRecord | undefined> {
    return this.records.get(name);
  }

  /** Lists the records of all leases that are not released, by name. */
  async listHeldLeases(): Promise<readonly LeaseRecord[]> {
    const held: LeaseRecord[] = [];
    for (;;) {
      const last = held.at(-1);
      const page = await this.records.find({
        ...{ filter: { holder: { ne: null } }, sort: { fields: ['id'] }, limit: LEASE_RECORDS_PER_READ },
        ...(last !== undefined && { after: [last.id] }),
      });
      held.push(...page);
      if (page.length < LEASE_RECORDS_PER_READ) return held;
    }
  }

  /** Inserts the record of a lease. @returns false if the record existed */
  async insertLease(record: LeaseRecord): Promise<boolean> {
    await this.writeMemberBeat();
    return this.records.insert(record);
  }

  /** Acquires the lease if its record is unchanged since this process read it. @returns false if the record changed */
  async takeOverLease(record: LeaseRecord, { epoch, beat, holder }: LeaseRecord): Promise<boolean> {
    await this.writeMemberBeat();
    return this.records.replace(record, { epoch, beat, holder });
  }

  /**
   * Writes a renewal or release. A write that arrives late, after its caller stopped waiting, does not undo a later
   * one.
   * @param holder null to release the lease
   * @returns false if this process was no longer the holder
   */
  async updateLease(record: LeaseRecord, holder: string | null): Promise<boolean> {
    const { id, epoch, holder: own, beat, member } = record;
    const document = { id, epoch, holder, beat, ...(member !== undefined && holder !== null && { member }) };
    this.waiting.push({ document, guard: { epoch, holder: own, beat: { lt: beat } } });
    await (this.writing ??= this.writeWaitingLeaseRecords());
    const now = await this.records.get(id);
    return now?.epoch === epoch && now.holder === holder;
  }

  private async writeWaitingLeaseRecords(): Promise<void> {
    await setImmediate();
    const writes = this.waiting.map((each) => ({ kind: 'upsert', ...each }) as const);
    this.waiting = [];
    this.writing = undefined;
    await Promise.all([this.records.writeMany(writes), this.writeMemberBeat()]);
  }
}
