import { UnavailableError } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import { monotonicMs, withDeadline } from './retry.ts';

/** Milliseconds during which a result is used, counted from the start of its look-up. */
const LOOK_UP_CACHE_DURATION_MS = 3_000;
/**
 * Timeout of a look-up in milliseconds. A result that arrives later is not used, so no cached result is older than 5 s.
 */
const CACHE_LOOK_UP_TIMEOUT_MS = 4_000;
/** Maximum number of cached values. The same maximum applies to cached misses. */
const MAX_CACHED_LOOK_UPS = 10_000;
/** Limit of a cache by total size. With `max`, the cache would allocate memory for all entries when it is created. */
const RECENT_LOOK_UP_CACHE_OPTIONS = { maxSize: MAX_CACHED_LOOK_UPS, sizeCalculation: () => 1 };

export interface RecentLookUpsOptions {
  /** Monotonic time in milliseconds. */
  readonly elapsed?: () => number;
  /** Timeout of a look-up in milliseconds; {@link CACHE_LOOK_UP_TIMEOUT_MS} by default. */
  readonly timeoutMs?: number;
}

interface CachedResult<T> {
  readonly found: T | undefined;
  /** Expiry of the result in monotonic milliseconds. */
  readonly expiresAt: number;
}

/**
 * Caches look-ups in the document store. Each key is looked up at most once in three seconds, and changes by another
 * replica are visible within five seconds, even if the store is slow.
 */
export class RecentLookUpCache<T> {
  readonly #found = new LRUCache<string, CachedResult<T>>(RECENT_LOOK_UP_CACHE_OPTIONS);
  /** Cached misses, stored separately so that invented keys never evict values. */
  readonly #absent = new LRUCache<string, CachedResult<T>>(RECENT_LOOK_UP_CACHE_OPTIONS);
  /** Look-ups in progress by key; concurrent callers share one. */
  readonly #lookUps = new Map<string, Promise<T | undefined>>();
  readonly #elapsed: () => number;
  readonly #timeoutMs: number;

  constructor({ elapsed = monotonicMs, timeoutMs = CACHE_LOOK_UP_TIMEOUT_MS }: RecentLookUpsOptions = {}) {
    this.#elapsed = elapsed;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns the value of the key; undefined if there is none.
   * @throws UnavailableError if the look-up times out; any error of `lookUp`
   */
  async getOrLookUpValue(key: string, lookUp: (key: string) => Promise<T | undefined>): Promise<T | undefined> {
    const kept = this.#found.get(key) ?? this.#absent.get(key);
    if (kept !== undefined && this.#elapsed() < kept.expiresAt) return kept.found;
    return this.#lookUps.get(key) ?? this.#beginLookUp(key, lookUp);
  }

  /**
   * Removes the result cached for a key, so that the next call looks the key up again. The next call does not reuse a
   * look-up in progress, which may have read the previous value.
   */
  removeCachedLookUp(key: string): void {
    this.#found.delete(key);
    this.#absent.delete(key);
    this.#lookUps.delete(key);
  }

  /** Removes all values that match, and all cached misses. */
  removeMatchingCachedLookUps(matches: (found: T) => boolean): void {
    for (const [key, { found }] of this.#found) if (found !== undefined && matches(found)) this.#found.delete(key);
    this.#absent.clear();
    this.#lookUps.clear();
  }

  #beginLookUp(key: string, lookUp: (key: string) => Promise<T | undefined>): Promise<T | undefined> {
    const startedAt = this.#elapsed();
    const pending = this.#withTimeout(startedAt, lookUp(key))
      .then((found) => {
        if (this.#lookUps.get(key) === pending)
          this.#cacheLookUpResult(key, { found, expiresAt: startedAt + LOOK_UP_CACHE_DURATION_MS });
        return found;
      })
      .finally(() => {
        if (this.#lookUps.get(key) === pending) this.#lookUps.delete(key);
      });
    this.#lookUps.set(key, pending);
    return pending;
  }

  async #withTimeout(began: number, lookUp: Promise<T | undefined>): Promise<T | undefined> {
    const withinMs = this.#timeoutMs;
    const late = () =>
      new UnavailableError('document store', `the document store did not respond within ${withinMs} ms`);
    const found = await withDeadline(lookUp, withinMs, late);
    // If the process was paused, timers of the process are late too.
    if (this.#elapsed() - began > withinMs) throw late();
    return found;
  }

  #cacheLookUpResult(key: string, kept: CachedResult<T>): void {
    const [kind, other] = kept.found === undefined ? [this.#absent, this.#found] : [this.#found, this.#absent];
    kind.set(key, kept);
    other.delete(key);
  }
}
