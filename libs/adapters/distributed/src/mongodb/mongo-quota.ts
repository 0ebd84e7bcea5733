import {
  UnavailableError,
  type Clock,
  type Collection,
  type CollectionSpec,
  type DocumentStore,
  type RequestQuota,
  type QuotaDecision,
} from '@tracking/ports';
import { withDeadline } from '@tracking/resilience';
import { KeyQuotaReserver, type QuotaRecord, QUOTA_STORE_UNREACHABLE_RESULT } from './quota-key.ts';

/** The records have derived durability: a crash of the store may lose the counts of one minute. */
export const QUOTA_COLLECTION_SPEC: CollectionSpec = {
  name: 'quota',
  indexes: [{ name: 'newest', fields: ['newest'] }],
  durability: 'derived',
};
/** Age in seconds after which no process counts a record, even if the clocks of the processes differ. */
const MAX_QUOTA_RECORD_AGE_SECONDS = 120;
const DELETE_BATCH_SIZE = 1_000;
/** Milliseconds that a request waits for the store before this process counts locally. */
const QUOTA_STORE_TIMEOUT_MS = 1_000;
/** Milliseconds of counting locally before a request tries the store again. */
const LOCAL_COUNTING_MS = 1_000;
const QUOTA_DELETE_INTERVAL_MS = 60_000;
/** Maximum milliseconds from the start of a second to the sweep. It spreads the writes of several processes. */
const SWEEP_SPREAD_MS = 20;

/**
 * Quota over all processes that share a document store, with one guarded record per key. Seconds come from the
 * processes' clocks, so the minute is as exact as these agree.
 */
export class MongoQuota implements RequestQuota {
  private readonly keys = new Map<string, KeyQuotaReserver>();
  private readonly sweepOffsetMs = 1 + Math.random() * SWEEP_SPREAD_MS;
  private sweeper: NodeJS.Timeout | undefined;
  private localUntil = -Infinity;
  private deletedOldAt = -Infinity;
  private closed = false;

  constructor(
    private readonly store: DocumentStore,
    private readonly clock: Clock = () => new Date(),
  ) {
    this.scheduleQuotaSweep();
  }

  async takeQuotaForRequest(key: string, limit: number): Promise<QuotaDecision> {
    if (this.closed) throw new UnavailableError('quota', 'closed');
    return this.getOrCreateKeyQuotaReserver(key).takeQuotaForRequest(limit);
  }

  reserveExpectedRequests(key: string, limit: number): void {
    if (!this.closed) this.getOrCreateKeyQuotaReserver(key).reserveExpectedRequests(limit);
  }

  /** Returns all reserved requests. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.sweeper);
    await Promise.allSettled([...this.keys.values()].map((key) => key.returnReservedRequests()));
    this.keys.clear();
  }

  /** Renews the reservations of all keys and deletes old records. Runs at the start of every second. */
  async renewAndSweepQuotaReservations(): Promise<void> {
    await Promise.allSettled([...this.keys.values()].map((key) => key.returnUnusedQuotaAndReserveMore()));
    for (const [id, key] of this.keys) if (key.idle) this.keys.delete(id);
    await this.deleteOldQuotaRecords().catch(() => undefined);
  }

  private getOrCreateKeyQuotaReserver(key: string): KeyQuotaReserver {
    let known = this.keys.get(key);
    if (known === undefined) this.keys.set(key, (known = new KeyQuotaReserver(key, this.clock, this.runOnStore)));
    return known;
  }

  /** Sweeps at the start of each second of the clock, because a reservation is valid for one second. */
  private scheduleQuotaSweep(): void {
    const leftMs = 1_000 - (this.clock().getTime() % 1_000);
    this.sweeper = setTimeout(() => {
      void this.renewAndSweepQuotaReservations();
      this.scheduleQuotaSweep();
    }, leftMs + this.sweepOffsetMs).unref();
  }

  /**
   * Old records are deleted, because clients can create any number of keys. Every process deletes them; deleting a
   * record twice is harmless. Requests still use the store if this takes long.
   */
  private async deleteOldQuotaRecords(): Promise<void> {
    const now = this.clock().getTime();
    if (this.isCountingLocally || Math.abs(now - this.deletedOldAt) < QUOTA_DELETE_INTERVAL_MS) return;
    this.deletedOldAt = now;
    const filter = { newest: { lt: now / 1_000 - MAX_QUOTA_RECORD_AGE_SECONDS } };
    const records = await this.store.collection<QuotaRecord>(QUOTA_COLLECTION_SPEC);
    const old = await records.find({ filter, sort: { fields: ['newest'] }, limit: DELETE_BATCH_SIZE });
    // Skips records that are in use again.
    await records.writeMany(old.map(({ id, version }) => ({ kind: 'delete', id, guard: { version } })));
    if (old.length === DELETE_BATCH_SIZE) this.deletedOldAt = -Infinity;
  }

  private get isCountingLocally(): boolean {
    return performance.now() < this.localUntil;
  }

  private readonly runOnStore = async <R>(
    operation: (records: Collection<QuotaRecord>) => Promise<R>,
  ): Promise<R | typeof QUOTA_STORE_UNREACHABLE_RESULT> => {
    if (this.isCountingLocally) return QUOTA_STORE_UNREACHABLE_RESULT;
    try {
      const done = this.store.collection<QuotaRecord>(QUOTA_COLLECTION_SPEC).then(operation);
      return await withDeadline(
        done,
        QUOTA_STORE_TIMEOUT_MS,
        () => new UnavailableError('quota', 'the document store did not respond in time'),
      );
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      this.localUntil = performance.now() + LOCAL_COUNTING_MS;
      return QUOTA_STORE_UNREACHABLE_RESULT;
    }
  };
}
