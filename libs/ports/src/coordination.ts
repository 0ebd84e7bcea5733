/**
 * The right to do something alone, until it is lost. `epoch` is greater than that of every earlier holder of the same
 * name: writes that must not be done by a former holder carry it and are refused when a newer one was seen.
 */
export interface Lease {
  readonly name: string;
  readonly epoch: number;
  /** Aborts when the lease can no longer be relied on, also by its release: stop at once. */
  readonly lost: AbortSignal;
  /**
   * Whether it can be relied on at this very moment; where not, `lost` has aborted. For what must never be done beside the
   * next holder: a process that stood still for long may come to other work before the timer that tells of the loss.
   */
  isHeld(): boolean;
  /** Hands it over now rather than after the time to live. Idempotent. */
  release(): Promise<void>;
}

export interface Leases {
  /**
   * Waits until the named lease is this process's. Renews itself until released or lost.
   * At most one holder at a time that has not been told that it lost it; never compares two machines' clocks.
   * @throws the signal's reason when it aborts first
   */
  acquire(name: string, signal: AbortSignal): Promise<Lease>;
  /** Releases all that this process holds. */
  close(): Promise<void>;
}

export interface QuotaDecision {
  readonly admitted: boolean;
  readonly limit: number;
  /** How many more would be admitted now. */
  readonly remaining: number;
  /** Epoch seconds at which the whole limit is free again if nothing more is taken. */
  readonly resetAt: number;
  /** Whole seconds after which one more will be admitted; 0 when admitted. */
  readonly retryAfter: number;
}

/**
 * Requests per sliding minute, counted in 60 buckets of a second, exact over all processes that share the store: never
 * more than the limit, and at most 1 % less per process. When the store cannot be reached each process counts alone.
 */
export interface Quota {
  /** Takes one of `limit` per minute under `key`. A refused request takes nothing. */
  take(key: string, limit: number): Promise<QuotaDecision>;
  close(): Promise<void>;
}
