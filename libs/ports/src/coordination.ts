/**
 * Exclusive right of this process until the lease is lost. The `epoch` is greater than that of every earlier holder of
 * the same name. Writes that a former holder must not make contain the epoch, and are refused if a newer epoch was
 * seen.
 */
export interface Lease {
  readonly name: string;
  readonly epoch: number;
  /** Signal that aborts when the lease is lost or released. Stop immediately when it aborts. */
  readonly lost: AbortSignal;
  /**
   * True if the lease is valid right now; if false, `lost` has aborted. Check it before work that must never run beside
   * the next holder, because after a pause of the process such work may run before the timer that reports the loss.
   */
  isHeld(): boolean;
  /** Releases the lease without waiting for the end of its time to live. Idempotent. */
  release(): Promise<void>;
}

export interface Leases {
  /**
   * Waits until this process holds the named lease. The lease renews itself until it is released or lost. At most one
   * process holds a lease without having been notified of its loss. Clocks of different machines are never compared.
   * @throws the signal's reason if it aborts first
   */
  acquire(name: string, signal: AbortSignal): Promise<Lease>;
  /** Releases all leases of this process. */
  close(): Promise<void>;
}

export interface QuotaDecision {
  readonly admitted: boolean;
  readonly limit: number;
  /** Number of further requests that the quota would admit now. */
  readonly remaining: number;
  /** Epoch seconds at which the full limit is available again if no further request is admitted. */
  readonly resetAt: number;
  /** Whole seconds until the quota would admit the next request; 0 if this request was admitted. */
  readonly retryAfter: number;
}

/**
 * Request quotas per sliding minute, counted in 60 buckets of one second over all processes that share the store. Never
 * admits more than the limit, and at most 1 % less per process. If the store is unreachable, each process counts alone.
 */
export interface Quota {
  /** Requests one of `limit` requests per minute under `key`. A refused request does not count. */
  take(key: string, limit: number): Promise<QuotaDecision>;
  close(): Promise<void>;
}
