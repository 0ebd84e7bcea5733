import type { Timestamp } from '@tracking/contracts';
import type { Lease } from '@tracking/ports';
import { type CountedAttempt, type HourCounts, HourCounter } from '@tracking/webhooks-domain';
import type { HourDocument } from './hour-document.ts';

/** The endpoint whose attempts are counted, and the lease under which this process makes them. */
export interface CountedEndpoint {
  readonly id: string;
  readonly lease: Lease;
}

/** An hour of an endpoint that this process counts in: what is stored of it, and what is to be. */
export class OpenHour {
  /** Outcomes that are being stored. */
  storing = 0;
  /** Attempts counted, ever: tells whether any came in between. */
  counted = 0;
  /** Whether it differs from what is stored. */
  isDirty = false;
  /** Another process owns the endpoint: what is counted here is lost, but for a request to count anew. */
  isLost = false;
  /** When it was last counted in, on the monotonic clock. */
  usedAt = performance.now();
  /** While it is being read, or closed. */
  settling: Promise<void> | undefined;
  private counter = new HourCounter();
  private isIncomplete = false;

  constructor(
    readonly id: string,
    readonly endpoint: CountedEndpoint,
    readonly hour: Timestamp,
  ) {}

  /** Takes over what is stored. */
  goOnFrom(stored: HourDocument): void {
    this.counter = new HourCounter(stored);
    this.isIncomplete = stored.is_incomplete ?? false;
  }

  count(attempt: CountedAttempt): void {
    this.counter.count(attempt);
    this.counted += 1;
    this.isDirty = true;
    this.usedAt = performance.now();
  }

  /** Takes what was counted anew instead: both parts, or one of them. */
  replace({ attempts, discarded }: { readonly attempts?: HourCounts; readonly discarded?: number }): void {
    const before = this.counter.counts;
    this.counter = new HourCounter({ ...(attempts ?? before), discarded: discarded ?? before.discarded });
    this.isDirty = true;
  }

  /** The log cannot tell what is missing. */
  giveUp(): void {
    this.isIncomplete = true;
    this.isDirty = true;
  }

  /** @param openIn the shard; undefined once all that was stored is counted */
  document(openIn: number | undefined): HourDocument {
    const { counts } = this.counter;
    const { id: endpoint_id, lease } = this.endpoint;
    return {
      ...{ id: this.id, endpoint_id, hour: this.hour, epoch: lease.epoch },
      ...(openIn !== undefined && { open_in: openIn }),
      ...counts,
      last_error_at: counts.last_error?.at ?? null,
      ...(this.isIncomplete && { is_incomplete: true }),
    };
  }
}
