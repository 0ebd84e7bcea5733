import { setTimeout } from 'node:timers/promises';
import { Unavailable, type Lease } from '@tracking/ports';
import { untilNext, type LeaseRecord, type LeaseRecords } from './lease-records.ts';

/** Part of the time to live: a lease is renewed that often. */
const RENEWED_EVERY = 1 / 3;
/** Pause after a renewal that failed. */
const TRIED_AGAIN_AFTER = 1 / 18;
/** A holder that could not renew for as long stops: well before others take the lease, who wait for a whole time to live. */
const RELIED_ON_FOR = 2 / 3;

export interface HeldLeaseOptions {
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
  private reliedOnUntil = -Infinity;
  private expiry: NodeJS.Timeout | undefined;
  private releasing: Promise<void> | undefined;

  constructor(private readonly options: HeldLeaseOptions) {
    this.record = options.record;
    this.name = options.record.id;
    this.epoch = options.record.epoch;
    this.lost = this.ended.signal;
    this.reliedOnSince(options.sentAt);
    void this.renewUntilEnded();
  }

  /** By the clock: a timer may come late, after other events of a process that stood still. */
  isHeld(): boolean {
    if (performance.now() >= this.reliedOnUntil) this.lose();
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
    let every = RENEWED_EVERY;
    while (await this.slept(untilNext(every * this.options.ttlMs))) {
      const sentAt = performance.now();
      try {
        if (!(await this.write(this.record.holder))) return this.lose();
        this.reliedOnSince(sentAt);
        every = RENEWED_EVERY;
      } catch {
        // Whatever it was: until the lease expires the next attempt may do better.
        every = TRIED_AGAIN_AFTER;
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

  private reliedOnSince(sentAt: number): void {
    clearTimeout(this.expiry);
    if (this.lost.aborted) return;
    this.reliedOnUntil = sentAt + RELIED_ON_FOR * this.options.ttlMs;
    this.expiry = globalThis.setTimeout(() => this.lose(), Math.max(1, this.reliedOnUntil - performance.now())).unref();
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
