import {
  Unavailable,
  type Clock,
  type Collection,
  type CollectionSpec,
  type DocumentStore,
  type Quota,
  type QuotaDecision,
} from '@tracking/ports';
import { withDeadline } from '@tracking/resilience';
import { QuotaKey, type QuotaRecord, UNREACHABLE } from './quota-key.ts';

/** A minute's counts may be lost in a crash of the store: written like what can be made again. */
export const QUOTA: CollectionSpec = {
  name: 'quota',
  indexes: [{ name: 'newest', fields: ['newest'] }],
  durability: 'derived',
};
/** Age after which no sliding minute contains a record, whichever process's clock counts. */
const OLD_SECONDS = 120;
const DELETE_BATCH_SIZE = 1_000;
/** A request waits no longer than this for the store; then this process counts locally. */
const STORE_TIMEOUT_MS = 1_000;
/** How long it then counts locally before a request tries the store again. */
const LOCAL_MS = 1_000;
const SWEEP_MS = 1_000;
const DELETE_INTERVAL_MS = 60_000;

/**
 * Quota over all processes that share a document store: one record per key, written with a guard. The seconds are those
 * of the processes' clocks: the minute is as exact as these agree.
 */
export class MongoQuota implements Quota {
  private readonly keys = new Map<string, QuotaKey>();
  private readonly sweeper: NodeJS.Timeout;
  private localUntil = -Infinity;
  private deletedOldAt = -Infinity;
  private closed = false;

  constructor(
    private readonly store: DocumentStore,
    private readonly clock: Clock = () => new Date(),
  ) {
    this.sweeper = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  async take(key: string, limit: number): Promise<QuotaDecision> {
    if (this.closed) throw new Unavailable('quota', 'closed');
    let known = this.keys.get(key);
    if (known === undefined) this.keys.set(key, (known = new QuotaKey(key, this.clock, this.onStore)));
    return known.take(limit);
  }

  /** Gives back all that was reserved. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeper);
    await Promise.allSettled([...this.keys.values()].map((key) => key.giveBack(true)));
    this.keys.clear();
  }

  /** Gives back what was not taken in its second, and deletes what counts no more: by itself every second. */
  async sweep(): Promise<void> {
    await Promise.allSettled([...this.keys.values()].map((key) => key.giveBack()));
    for (const [id, key] of this.keys) if (key.idle) this.keys.delete(id);
    await this.deleteOld().catch(() => undefined);
  }

  /** Anybody may ask by a name that nobody asks by again. Each process does so: what is gone is not deleted twice. */
  private async deleteOld(): Promise<void> {
    const now = this.clock().getTime();
    if (Math.abs(now - this.deletedOldAt) < DELETE_INTERVAL_MS) return;
    this.deletedOldAt = now;
    const filter = { newest: { lt: now / 1_000 - OLD_SECONDS } };
    await this.onStore(async (records) => {
      const old = await records.find({ filter, sort: { fields: ['newest'] }, limit: DELETE_BATCH_SIZE });
      // Not those that count again.
      await records.writeMany(old.map(({ id, version }) => ({ kind: 'delete', id, guard: { version } })));
      if (old.length === DELETE_BATCH_SIZE) this.deletedOldAt = -Infinity;
    });
  }

  private readonly onStore = async <R>(
    operation: (records: Collection<QuotaRecord>) => Promise<R>,
  ): Promise<R | typeof UNREACHABLE> => {
    if (performance.now() < this.localUntil) return UNREACHABLE;
    try {
      const done = this.store.collection<QuotaRecord>(QUOTA).then(operation);
      return await withDeadline(done, STORE_TIMEOUT_MS, () => new Unavailable('quota', 'the store takes too long'));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.localUntil = performance.now() + LOCAL_MS;
      return UNREACHABLE;
    }
  };
}
