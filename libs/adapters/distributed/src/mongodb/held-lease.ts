import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Collection, type Filter, type Lease, Unavailable } from '@tracking/ports';

/** Interval between renewals of a lease, as a fraction of its time to live. */
const RENEWAL_INTERVAL_FRACTION = 1 / 3;
/** Pause after a failed renewal, as a fraction of the lease's time to live. */
const RETRY_INTERVAL_FRACTION = 1 / 18;
/**
 * Fraction of the time to live after which a holder without a renewal stops. Other processes acquire the lease only
 * after the full time to live.
 */
const RELIABLE_DURATION_FRACTION = 2 / 3;

interface HeldLeaseOptions {
  readonly records: LeaseRecords;
  /** Lease record as this process last wrote it. */
  readonly record: LeaseRecord;
  /** Monotonic time when this process sent the write that acquired the lease. */
  readonly sentAt: number;
  readonly ttlMs: number;
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
  private readonly ended = new AbortController();
  private record: LeaseRecord;
  /** Monotonic time until which the lease is reliable. */
  private reliableUntil = -Infinity;
  private expiry: NodeJS.Timeout | undefined;
  private releasing: Promise<void> | undefined;

  constructor(private readonly options: HeldLeaseOptions) {
    this.record = options.record;
    this.name = options.record.id;
    this.epoch = options.record.epoch;
    this.lost = this.ended.signal;
    this.extendLease(options.sentAt);
    void this.renewUntilEnded();
  }

  /** The code compares the clock, because timers may run late after a pause of the process. */
  isHeld(): boolean {
    if (performance.now() >= this.reliableUntil) this.loseLease();
    return !this.lost.aborted;
  }

  release(): Promise<void> {
    return (this.releasing ??= this.writeRelease());
  }

  private async writeRelease(): Promise<void> {
    if (this.lost.aborted) return;
    this.endLease();
    try {
      await this.write(null);
    } catch (error) {
      // Other processes can acquire the lease when its time to live ends.
      if (!(error instanceof Unavailable)) throw error;
    } finally {
      this.options.onEnd(this);
    }
  }

  /**
   * Renewals do not use retries with backoff, because all leases of the process are renewed at the same time and share
   * one write.
   */
  private async renewUntilEnded(): Promise<void> {
    let every = RENEWAL_INTERVAL_FRACTION;
    while (await this.sleep(msUntilNextTick(every * this.options.ttlMs))) {
      const sentAt = performance.now();
      try {
        if (!(await this.write(this.record.holder))) return this.loseLease();
        this.extendLease(sentAt);
        every = RENEWAL_INTERVAL_FRACTION;
      } catch {
        // After any error, the next attempt may succeed until the lease expires.
        every = RETRY_INTERVAL_FRACTION;
        this.options.onFailure();
      }
    }
  }

  /**
   * Waits for a number of milliseconds. Returns false if the lease ended meanwhile. Unlike `pause`, the timer does not
   * keep the process alive.
   */
  private sleep(ms: number): Promise<boolean> {
    return setTimeout(ms, true, { signal: this.ended.signal, ref: false }).catch(() => false);
  }

  private write(holder: string | null): Promise<boolean> {
    this.record = { ...this.record, beat: this.record.beat + 1 };
    return this.options.records.update(this.record, holder);
  }

  private extendLease(sentAt: number): void {
    clearTimeout(this.expiry);
    if (this.lost.aborted) return;
    this.reliableUntil = sentAt + RELIABLE_DURATION_FRACTION * this.options.ttlMs;
    this.expiry = globalThis
      .setTimeout(() => this.loseLease(), Math.max(1, this.reliableUntil - performance.now()))
      .unref();
  }

  private loseLease(): void {
    if (this.lost.aborted) return;
    this.endLease();
    this.options.onEnd(this);
  }

  private endLease(): void {
    clearTimeout(this.expiry);
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
}

/**
 * Returns the milliseconds until the next multiple of `everyMs` on the monotonic clock, so that timers of the same
 * period coincide.
 */
export function msUntilNextTick(everyMs: number): number {
  return everyMs - (performance.now() % everyMs);
}

/**
 * Records of all leases of one process. A process may hold many; renewals at the same time cost one write and one read
 * together.
 */
export class LeaseRecords {
  private waiting: { readonly document: LeaseRecord; readonly guard: Filter }[] = [];
  private writing: Promise<void> | undefined;

  constructor(private readonly records: Collection<LeaseRecord>) {}

  get(name: string): Promise<LeaseRecord | undefined> {
    return this.records.get(name);
  }

  /** Inserts the record of a lease. @returns false if the record existed */
  insert(record: LeaseRecord): Promise<boolean> {
    return this.records.insert(record);
  }

  /** Acquires the lease if its record is unchanged since this process read it. @returns false if the record changed */
  takeOver(record: LeaseRecord, { epoch, beat, holder }: LeaseRecord): Promise<boolean> {
    return this.records.replace(record, { epoch, beat, holder });
  }

  /**
   * Writes a renewal or release. A write that arrives late, after its caller stopped waiting, does not undo a later
   * one.
   * @param holder null to release the lease
   * @returns false if this process was no longer the holder
   */
  async update({ id, epoch, holder: own, beat }: LeaseRecord, holder: string | null): Promise<boolean> {
    const document = { id, epoch, holder, beat };
    this.waiting.push({ document, guard: { epoch, holder: own, beat: { lt: beat } } });
    await (this.writing ??= this.write());
    const now = await this.records.get(id);
    return now?.epoch === epoch && now.holder === holder;
  }

  private async write(): Promise<void> {
    await setImmediate();
    const writes = this.waiting.map((each) => ({ kind: 'upsert', ...each }) as const);
    this.waiting = [];
    this.writing = undefined;
    await this.records.writeMany(writes);
  }
}
