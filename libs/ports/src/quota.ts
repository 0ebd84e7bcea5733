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
