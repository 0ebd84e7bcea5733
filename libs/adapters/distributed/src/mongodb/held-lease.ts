import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Collection, type Filter, type Lease, Unavailable } from '@tracking/ports';

/** Part of the time to live: a lease is renewed that often. */
const RENEWAL_FRACTION = 1 / 3;
/** Pause after a renewal that failed. */
const RETRY_FRACTION = 1 / 18;
/** A holder that could not renew for as long stops: well before others take the lease, who wait for a whole time to live. */
const RELIABLE_FRACTION = 2 / 3;

interface HeldLeaseOptions {
  readonly records: LeaseRecords;
  /** As this process wrote it. */
  readonly record: LeaseRecord;
  /** When this process sent the write that made the lease its own, on the monotonic clock. */
  readonly sentAt: number;
  readonly ttlMs: number;
  /** Told of every renewal that failed. */
  onFailure(): void;
  /** Called once: when the lease was released, or lost. */
  onEnd(lease: HeldLease): void;
}

/** A lease of this process: renews itself until it is released or cannot be relied on any more. */
export class HeldLease implements Lease {
  readonly name: string;
  readonly epoch: number;
  readonly lost: AbortSignal;
  private readonly ended = new AbortController();
  private record: LeaseRecord;
  /** On the monotonic clock. */
  private reliableUntil = -Infinity;
  private expiry: NodeJS.Timeout | undefined;
  private releasing: Promise<void> | undefined;

  constructor(private readonly options: HeldLeaseOptions) {
    this.record = options.record;
    this.name = options.record.id;
    this.epoch = options.record.epoch;
    this.lost = this.ended.signal;
    this.extendSince(options.sentAt);
    void this.renewUntilEnded();
  }

  /** By the clock: a timer may come late, after other events of a process that stood still. */
  isHeld(): boolean {
    if (performance.now() >= this.reliableUntil) this.lose();
    return !this.lost.aborted;
  }

  release(): Promise<void> {
    return (this.releasing ??= this.writeRelease());
  }

  private async writeRelease(): Promise<void> {
    if (this.lost.aborted) return;
    this.end();
    try {
      await this.write(null);
    } catch (error) {
      // Others have it when its time to live is over.
      if (!(error instanceof Unavailable)) throw error;
    } finally {
      this.options.onEnd(this);
    }
  }

  /** No retry with backoff: all leases of the process are renewed at the same moments, so that they share a write. */
  private async renewUntilEnded(): Promise<void> {
    let every = RENEWAL_FRACTION;
    while (await this.slept(untilNext(every * this.options.ttlMs))) {
      const sentAt = performance.now();
      try {
        if (!(await this.write(this.record.holder))) return this.lose();
        this.extendSince(sentAt);
        every = RENEWAL_FRACTION;
      } catch {
        // Whatever it was: until the lease expires the next attempt may do better.
        every = RETRY_FRACTION;
        this.options.onFailure();
      }
    }
  }

  /** Answers false when the lease ended meanwhile. Keeps no process alive, which `pause` would. */
  private slept(ms: number): Promise<boolean> {
    return setTimeout(ms, true, { signal: this.ended.signal, ref: false }).catch(() => false);
  }

  private write(holder: string | null): Promise<boolean> {
    this.record = { ...this.record, beat: this.record.beat + 1 };
    return this.options.records.update(this.record, holder);
  }

  private extendSince(sentAt: number): void {
    clearTimeout(this.expiry);
    if (this.lost.aborted) return;
    this.reliableUntil = sentAt + RELIABLE_FRACTION * this.options.ttlMs;
    this.expiry = globalThis.setTimeout(() => this.lose(), Math.max(1, this.reliableUntil - performance.now())).unref();
  }

  private lose(): void {
    if (this.lost.aborted) return;
    this.end();
    this.options.onEnd(this);
  }

  private end(): void {
    clearTimeout(this.expiry);
    this.ended.abort();
  }
}

/** The holder of a lease, as stored. */
export interface LeaseRecord {
  /** The lease's name. */
  readonly id: string;
  readonly epoch: number;
  /** A token of this one holding; null when released. */
  readonly holder: string | null;
  /** Grows with every renewal: others see by it that the holder lives. */
  readonly beat: number;
}

/** Milliseconds until the next multiple of `everyMs` on the monotonic clock: what has the same period happens together. */
export function untilNext(everyMs: number): number {
  return everyMs - (performance.now() % everyMs);
}

/**
 * The records of all leases, as one process writes them: it may hold many, which are renewed at the same moments and
 * then cost one write and one read together.
 */
export class LeaseRecords {
  private waiting: { readonly document: LeaseRecord; readonly guard: Filter }[] = [];
  private writing: Promise<void> | undefined;

  constructor(private readonly records: Collection<LeaseRecord>) {}

  get(name: string): Promise<LeaseRecord | undefined> {
    return this.records.get(name);
  }

  /** Answers whether there was none. */
  insert(record: LeaseRecord): Promise<boolean> {
    return this.records.insert(record);
  }

  /** Answers whether the record was still the one that was seen. */
  take(record: LeaseRecord, { epoch, beat, holder }: LeaseRecord): Promise<boolean> {
    return this.records.replace(record, { epoch, beat, holder });
  }

  /**
   * Writes a holder's renewal or release, and answers whether it was still the holder. A write that arrives late, when its
   * answer is no longer waited for, does not undo a later one.
   * @param holder null to release the lease
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
