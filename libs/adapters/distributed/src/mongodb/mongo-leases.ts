import { randomUUID } from 'node:crypto';
import {
  type CollectionSpec,
  type CountRetry,
  type DocumentStore,
  type Lease,
  type Leases,
  type Metrics,
  retryCounter,
  Unavailable,
} from '@tracking/ports';
import { WakeUpSignal } from '@tracking/resilience';
import { HeldLease, type LeaseRecord, LeaseRecords, msUntilNextTick } from './held-lease.ts';

export const LEASES_COLLECTION: CollectionSpec = { name: 'leases', indexes: [] };
/** Poll interval of waiting processes, as a fraction of the time to live. */
const POLL_INTERVAL_FRACTION = 1 / 9;

/** Record as a waiting process last saw it, and the time since when it has not changed. */
interface ObservedRecord {
  readonly record: LeaseRecord;
  /** Monotonic time of this process. */
  readonly since: number;
}

/**
 * Leases as records of a document store, one per name. Records are never deleted, so epochs only grow. Each process
 * uses only its own clock: a holder stops after ⅔ of the time to live without a renewal, and another process takes the
 * lease when the record did not change for the full time. If the store is unreachable, waiting processes wait and
 * holders lose their leases.
 */
export class MongoLeases implements Leases {
  private readonly ttlMs: number;
  private opening: Promise<LeaseRecords> | undefined;
  private readonly held = new Set<HeldLease>();
  private readonly acquiring = new Set<Promise<unknown>>();
  /** Wake-ups of callers waiting for a lease, used when a lease of this process ends. */
  private readonly waiting = new Set<WakeUpSignal>();
  private readonly closing = new AbortController();
  private readonly countRetry: CountRetry;

  /**
   * @param options ttlMs: milliseconds without a renewal after which another process takes the lease; 9,000 by default
   */
  constructor(
    private readonly store: DocumentStore,
    metrics: Metrics,
    options: { readonly ttlMs?: number } = {},
  ) {
    this.countRetry = retryCounter(metrics);
    this.ttlMs = options.ttlMs ?? 9_000;
  }

  async acquire(name: string, signal: AbortSignal): Promise<Lease> {
    const acquiring = this.waitForLease(name, AbortSignal.any([signal, this.closing.signal]));
    this.acquiring.add(acquiring);
    try {
      return await acquiring;
    } finally {
      this.acquiring.delete(acquiring);
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Unavailable('leases', 'closed'));
    await Promise.allSettled(this.acquiring);
    await Promise.all([...this.held].map((lease) => lease.release()));
  }

  /**
   * Polling does not use retries with backoff, because all waiting callers of this process poll at the same time and
   * share one read.
   */
  private async waitForLease(name: string, signal: AbortSignal): Promise<Lease> {
    const holder = randomUUID();
    const wakeUp = new WakeUpSignal();
    this.waiting.add(wakeUp);
    try {
      let seen: ObservedRecord | undefined;
      for (;;) {
        signal.throwIfAborted();
        const found = await this.tryAcquire(name, holder, seen).catch((error: unknown) => {
          if (signal.aborted || !(error instanceof Unavailable)) throw error;
          this.countRetry('acquiring a lease');
          return seen;
        });
        if (found instanceof HeldLease) return await releaseIfAborted(found, signal);
        seen = found;
        await wakeUp.wait(msUntilNextTick(POLL_INTERVAL_FRACTION * this.ttlMs), signal);
      }
    } finally {
      this.waiting.delete(wakeUp);
    }
  }

  /** Acquires the lease if it is free; otherwise returns its record. */
  private async tryAcquire(
    name: string,
    holder: string,
    seen: ObservedRecord | undefined,
  ): Promise<HeldLease | ObservedRecord | undefined> {
    const records = await this.openRecords();
    const record = await records.get(name);
    const now = performance.now();
    if (record === undefined) {
      const first = { id: name, epoch: 1, holder, beat: 0 };
      return (await records.insert(first)) ? this.createHeldLease(records, first, now) : undefined;
    }
    const still = seen !== undefined && isSameRecord(seen.record, record) ? seen : { record, since: now };
    // An earlier attempt of this call succeeded although its response was lost, so the call needs no new epoch.
    const own = record.holder === holder;
    if (!own && record.holder !== null && now - still.since < this.ttlMs) return still;
    const next = { id: name, epoch: own ? record.epoch : record.epoch + 1, holder, beat: record.beat + 1 };
    return (await records.takeOver(next, record)) ? this.createHeldLease(records, next, now) : undefined;
  }

  /** Records shared by all leases of this process. */
  private openRecords(): Promise<LeaseRecords> {
    if (this.opening === undefined) {
      this.opening = this.store.collection<LeaseRecord>(LEASES_COLLECTION).then((records) => new LeaseRecords(records));
      this.opening.catch(() => (this.opening = undefined));
    }
    return this.opening;
  }

  private createHeldLease(records: LeaseRecords, record: LeaseRecord, sentAt: number): HeldLease {
    const onFailure = () => this.countRetry('renewing a lease');
    const onEnd = (ended: HeldLease) => {
      this.held.delete(ended);
      for (const wakeUp of this.waiting) wakeUp.wake();
    };
    const lease = new HeldLease({ records, record, sentAt, ttlMs: this.ttlMs, onFailure, onEnd });
    this.held.add(lease);
    return lease;
  }
}

/** Releases the lease if its caller has stopped waiting for it. */
async function releaseIfAborted(lease: HeldLease, signal: AbortSignal): Promise<HeldLease> {
  if (signal.aborted) await lease.release();
  signal.throwIfAborted();
  return lease;
}

function isSameRecord(one: LeaseRecord, other: LeaseRecord): boolean {
  return one.epoch === other.epoch && one.holder === other.holder && one.beat === other.beat;
}
