import { setTimeout } from 'node:timers/promises';
import { Unavailable, type Lease } from '@tracking/ports';
import { untilNext, type LeaseRecord, type LeaseRecords } from './lease-records.ts';

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
   * @param failed told of every renewal that did
   * @param onEnd called once: when the lease was handed over, or lost
   */
  constructor(
    private readonly records: LeaseRecords,
    private record: LeaseRecord,
    sentAt: number,
    private readonly ttlMs: number,
    private readonly failed: () => void,
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
      await this.say(null);
    } catch (error) {
      // Others have it when its time to live is over.
      if (!(error instanceof Unavailable)) throw error;
    } finally {
      this.onEnd(this);
    }
  }

  private async renewForever(): Promise<void> {
    let every = RENEWED_EVERY;
    while (await this.slept(untilNext(every * this.ttlMs))) {
      const sentAt = performance.now();
      try {
        if (!(await this.say(this.record.holder))) return this.lose();
        this.reliedOnSince(sentAt);
        every = RENEWED_EVERY;
      } catch {
        // Whatever it was: until the lease expires the next attempt may do better.
        every = TRIED_AGAIN_AFTER;
        this.failed();
      }
    }
  }

  /** Answers false when the lease ended meanwhile. */
  private slept(ms: number): Promise<boolean> {
    return setTimeout(ms, true, { signal: this.ended.signal, ref: false }).catch(() => false);
  }

  private say(holder: string | null): Promise<boolean> {
    this.record = { ...this.record, beat: this.record.beat + 1 };
    return this.records.say(this.record, holder);
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
