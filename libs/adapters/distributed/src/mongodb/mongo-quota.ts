import { setTimeout as after } from 'node:timers/promises';
import {
  Unavailable,
  type Clock,
  type Collection,
  type CollectionSpec,
  type DocumentStore,
  type Quota,
  type QuotaDecision,
} from '@tracking/ports';
import { QuotaKey, UNREACHABLE, type QuotaRecord } from './quota-key.ts';

/** Nobody misses a minute's counts after a crash of the store: written like what can be made again. */
const RECORDS: CollectionSpec = { name: 'quota', indexes: [], durability: 'derived' };
/** A request waits no longer than this for the store before this process counts alone. */
const PATIENCE_MS = 1_000;
/** How long it then counts alone before a request tries again. */
const ALONE_MS = 1_000;
const SWEEP_MS = 1_000;

/**
 * Quota over all processes that share a document store: one record per key, written with a guard. The seconds are those
 * of the processes' clocks: the minute is as exact as these agree.
 */
export class MongoQuota implements Quota {
  private readonly keys = new Map<string, QuotaKey>();
  private readonly sweeper: NodeJS.Timeout;
  private aloneUntil = -Infinity;
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
    if (known === undefined) this.keys.set(key, (known = new QuotaKey(key, this.clock, this.reach)));
    return known.take(limit);
  }

  /** Gives back all that was reserved. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeper);
    await Promise.allSettled([...this.keys.values()].map((key) => key.giveBack(true)));
    this.keys.clear();
  }

  private async sweep(): Promise<void> {
    await Promise.allSettled([...this.keys.values()].map((key) => key.giveBack()));
    for (const [id, key] of this.keys) if (key.idle) this.keys.delete(id);
  }

  private readonly reach = async <R>(
    operation: (records: Collection<QuotaRecord>) => Promise<R>,
  ): Promise<R | typeof UNREACHABLE> => {
    if (performance.now() < this.aloneUntil) return UNREACHABLE;
    const enough = new AbortController();
    try {
      return await Promise.race([
        this.store.collection<QuotaRecord>(RECORDS).then(operation),
        after(PATIENCE_MS, undefined, { signal: enough.signal }).then(() => {
          throw new Unavailable('quota', 'the store takes too long');
        }),
      ]);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.aloneUntil = performance.now() + ALONE_MS;
      return UNREACHABLE;
    } finally {
      enough.abort();
    }
  };
}
