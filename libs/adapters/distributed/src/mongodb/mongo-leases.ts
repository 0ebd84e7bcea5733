import { randomUUID } from 'node:crypto';
import {
  Unavailable,
  retryCounter,
  type CollectionSpec,
  type CountRetry,
  type DocumentStore,
  type Lease,
  type Leases,
  type Metrics,
} from '@tracking/ports';
import { HeldLease } from './held-lease.ts';
import { LeaseRecords, untilNext, type LeaseRecord } from './lease-records.ts';

const RECORDS: CollectionSpec = { name: 'leases', indexes: [] };
/** Part of the time to live: who waits looks that often. */
const LOOKS_EVERY = 1 / 9;

/** What a waiting process saw last, and since when it has seen nothing else. */
interface Sight {
  readonly record: LeaseRecord;
  /** By the monotonic clock of this process. */
  readonly since: number;
}

/**
 * Leases as records of a document store, one per name, which are never deleted, so that epochs only grow. No clock but
 * this process's own counts: a holder stops after ⅔ of the time to live without a renewal, a taker waits until the record
 * stood still for a whole one. A store that cannot be reached makes takers wait and holders lose.
 */
export class MongoLeases implements Leases {
  private readonly ttlMs: number;
  private opening: Promise<LeaseRecords> | undefined;
  private readonly held = new Set<HeldLease>();
  private readonly acquiring = new Set<Promise<unknown>>();
  /** Wakes those who wait when a lease of this process ends. */
  private readonly waiting = new Set<() => void>();
  private readonly closing = new AbortController();
  private readonly countRetry: CountRetry;

  /** @param options ttlMs: after as many milliseconds without a renewal another process takes the lease; 9,000 by default */
  constructor(
    private readonly store: DocumentStore,
    metrics: Metrics,
    options: { readonly ttlMs?: number } = {},
  ) {
    this.countRetry = retryCounter(metrics);
    this.ttlMs = options.ttlMs ?? 9_000;
  }

  async acquire(name: string, signal: AbortSignal): Promise<Lease> {
    const acquiring = this.waitFor(name, AbortSignal.any([signal, this.closing.signal]));
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

  private async waitFor(name: string, impatience: AbortSignal): Promise<Lease> {
    const holder = randomUUID();
    let sight: Sight | undefined;
    for (;;) {
      impatience.throwIfAborted();
      try {
        const seen = await this.look(name, holder, sight);
        if (seen instanceof HeldLease) {
          if (impatience.aborted) await seen.release();
          impatience.throwIfAborted();
          return seen;
        }
        sight = seen;
      } catch (error) {
        if (impatience.aborted || !(error instanceof Unavailable)) throw error;
        this.countRetry('acquiring a lease');
      }
      await this.pause(impatience);
    }
  }

  /** Takes the lease if it can be had now; answers what it saw otherwise. */
  private async look(name: string, holder: string, sight: Sight | undefined): Promise<HeldLease | Sight | undefined> {
    const records = await this.records();
    const record = await records.get(name);
    const now = performance.now();
    if (record === undefined) {
      const first = { id: name, epoch: 1, holder, beat: 0 };
      return (await records.insert(first)) ? this.hold(records, first, now) : undefined;
    }
    const still = sight !== undefined && same(sight.record, record) ? sight : { record, since: now };
    // An earlier attempt of this very call was not answered, but done: no need for another epoch.
    const own = record.holder === holder;
    if (!own && record.holder !== null && now - still.since < this.ttlMs) return still;
    const next = { id: name, epoch: own ? record.epoch : record.epoch + 1, holder, beat: record.beat + 1 };
    return (await records.take(next, record)) ? this.hold(records, next, now) : undefined;
  }

  /** One for all leases of this process. */
  private records(): Promise<LeaseRecords> {
    if (this.opening === undefined) {
      this.opening = this.store.collection<LeaseRecord>(RECORDS).then((records) => new LeaseRecords(records));
      this.opening.catch(() => (this.opening = undefined));
    }
    return this.opening;
  }

  private hold(records: LeaseRecords, record: LeaseRecord, sentAt: number): HeldLease {
    const failed = () => this.countRetry('renewing a lease');
    const lease = new HeldLease(records, record, sentAt, this.ttlMs, failed, (ended) => {
      this.held.delete(ended);
      for (const wake of this.waiting) wake();
    });
    this.held.add(lease);
    return lease;
  }

  /** Until the next look is due, a lease of this process ended, or patience has. */
  private pause(impatience: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        impatience.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, untilNext(LOOKS_EVERY * this.ttlMs));
      this.waiting.add(wake);
      impatience.addEventListener('abort', wake, { once: true });
    });
  }
}

function same(one: LeaseRecord, other: LeaseRecord): boolean {
  return one.epoch === other.epoch && one.holder === other.holder && one.beat === other.beat;
}
