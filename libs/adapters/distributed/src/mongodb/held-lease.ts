import { setTimeout } from 'node:timers/promises';
import { Unavailable, type Collection, type Lease } from '@tracking/ports';

/** Who has the lease, in the store. */
export interface LeaseRecord {
  /** The lease's name. */
  readonly id: string;
  readonly epoch: number;
  /** A token of this one holding; null when released. */
  readonly holder: string | null;
  /** Grows with every renewal: that it changes is what others go by. */
  readonly beat: number;
}

/** Part of the time to live: a lease is renewed that often. */
const RENEWED_EVERY = 1 / 3;
/** Pause after a renewal that failed. */
const TRIED_AGAIN_AFTER = 1 / 18;
/** A holder that was not renewed for as long stops, well before others, who wait for a whole time to live, may go on. */
const RELIED_ON_FOR = 2 / 3;

/** A lease of this process: renews itself until it is released or cannot be relied on any more. */
export class HeldLease implements Lease {
  readonly name: string;
  readonly epoch: number;
  readonly lost: AbortSignal;
  private readonly ended = new AbortController();
  private expiry: NodeJS.Timeout | undefined;
  private releasing: Promise<void> | undefined;

  /**
   * @param record as this process wrote it
   * @param sentAt by the monotonic clock, when it sent what made the lease its own
   * @param onEnd called once: when the lease was handed over, or lost
   */
  constructor(
    private readonly records: Collection<LeaseRecord>,
    private record: LeaseRecord,
    sentAt: number,
    private readonly ttlMs: number,
    private readonly onEnd: (lease: HeldLease) => void,
  ) {
    this.name = record.id;
    this.epoch = record.epoch;
    this.lost = this.ended.signal;
    this.reliedOnSince(sentAt);
    void this.renewForever();
  }

  release(): Promise<void> {
    return (this.releasing ??= this.handOver());
  }

  private async handOver(): Promise<void> {
    if (this.lost.aborted) return;
    this.end();
    try {
      await this.write(null);
    } catch (error) {
      // Others have it when its time to live is over.
      if (!(error instanceof Unavailable)) throw error;
    } finally {
      this.onEnd(this);
    }
  }

  private async renewForever(): Promise<void> {
    let pause = RENEWED_EVERY;
    while (await this.slept(pause * this.ttlMs)) {
      const sentAt = performance.now();
      try {
        if (!(await this.write(this.record.holder))) return this.lose();
        this.reliedOnSince(sentAt);
        pause = RENEWED_EVERY;
      } catch {
        // Whatever it was: until the lease expires the next attempt may do better.
        pause = TRIED_AGAIN_AFTER;
      }
    }
  }

  /** Answers false when the lease ended meanwhile. */
  private slept(ms: number): Promise<boolean> {
    return setTimeout(ms, true, { signal: this.ended.signal, ref: false }).catch(() => false);
  }

  /** One that comes late, when its answer is no longer waited for, must not undo a later one: hence the guard. */
  private write(holder: string | null): Promise<boolean> {
    const { id, epoch, holder: own, beat } = this.record;
    this.record = { ...this.record, beat: beat + 1 };
    return this.records.replace({ id, epoch, holder, beat: beat + 1 }, { epoch, holder: own, beat: { lte: beat } });
  }

  private reliedOnSince(sentAt: number): void {
    clearTimeout(this.expiry);
    if (this.lost.aborted) return;
    const left = sentAt + RELIED_ON_FOR * this.ttlMs - performance.now();
    this.expiry = globalThis.setTimeout(() => this.lose(), left).unref();
  }

  private lose(): void {
    if (this.lost.aborted) return;
    this.end();
    this.onEnd(this);
  }

  private end(): void {
    clearTimeout(this.expiry);
    this.ended.abort();
  }
}
