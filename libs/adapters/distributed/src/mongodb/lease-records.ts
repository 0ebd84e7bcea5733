import { setImmediate } from 'node:timers/promises';
import type { Collection, Filter } from '@tracking/ports';

/** Who has the lease, in the store. */
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
