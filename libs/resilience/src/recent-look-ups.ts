import { Unavailable } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import { monotonicMs, withDeadline } from './retry.ts';

/** How long a result is used, counted from the beginning of its look-up. */
const CACHE_MS = 3_000;
/** A look-up that takes longer is given up, and what it finds is not used: nothing that is answered is older than 5 s. */
const LOOK_UP_TIMEOUT_MS = 4_000;
/** Kept of what was found, and of what was not. */
const MAX_CACHED = 10_000;
/** As sizes: with `max` the cache takes the memory of all of them when it is made. */
const CACHE_OPTIONS = { maxSize: MAX_CACHED, sizeCalculation: () => 1 };

export interface RecentLookUpsOptions {
  /** Monotonic time in milliseconds. */
  readonly elapsed?: () => number;
  /** {@link LOOK_UP_TIMEOUT_MS}, unless told. */
  readonly timeoutMs?: number;
}

interface CachedResult<T> {
  readonly found: T | undefined;
  /** By the monotonic clock. */
  readonly expiresAt: number;
}

/**
 * Caches look-ups in the document store: it is asked at most once per key and three seconds, and whatever
 * was changed on another replica holds here within five, also where the store is slow.
 */
export class RecentLookUps<T> {
  readonly #found = new LRUCache<string, CachedResult<T>>(CACHE_OPTIONS);
  /** Apart from what was found, so that made-up keys never push out real ones. */
  readonly #absent = new LRUCache<string, CachedResult<T>>(CACHE_OPTIONS);
  /** Under way: whoever asks for the same shares one. */
  readonly #lookUps = new Map<string, Promise<T | undefined>>();
  readonly #elapsed: () => number;
  readonly #answeredWithinMs: number;

  constructor({ elapsed = monotonicMs, timeoutMs: timeoutMs = LOOK_UP_TIMEOUT_MS }: RecentLookUpsOptions = {}) {
    this.#elapsed = elapsed;
    this.#answeredWithinMs = timeoutMs;
  }

  /**
   * What there is under the key; undefined where there is nothing.
   * @throws Unavailable where the look-up takes too long; whatever `lookUp` throws
   */
  async find(key: string, lookUp: (key: string) => Promise<T | undefined>): Promise<T | undefined> {
    const kept = this.#found.get(key) ?? this.#absent.get(key);
    if (kept !== undefined && this.#elapsed() < kept.expiresAt) return kept.found;
    return this.#lookUps.get(key) ?? this.#begin(key, lookUp);
  }

  /** Looks it up anew, whatever is under way: what that read may be of before. */
  forget(key: string): void {
    this.#found.delete(key);
    this.#absent.delete(key);
    this.#lookUps.delete(key);
  }

  /** The same for everything of which this holds, and for all of which nothing is known. */
  forgetWhere(matches: (found: T) => boolean): void {
    for (const [key, { found }] of this.#found) if (found !== undefined && matches(found)) this.#found.delete(key);
    this.#absent.clear();
    this.#lookUps.clear();
  }

  #begin(key: string, lookUp: (key: string) => Promise<T | undefined>): Promise<T | undefined> {
    const startedAt = this.#elapsed();
    const pending = this.#inTime(startedAt, lookUp(key))
      .then((found) => {
        if (this.#lookUps.get(key) === pending) this.#keep(key, { found, expiresAt: startedAt + CACHE_MS });
        return found;
      })
      .finally(() => {
        if (this.#lookUps.get(key) === pending) this.#lookUps.delete(key);
      });
    this.#lookUps.set(key, pending);
    return pending;
  }

  async #inTime(began: number, lookUp: Promise<T | undefined>): Promise<T | undefined> {
    const withinMs = this.#answeredWithinMs;
    const late = () => new Unavailable('document store', `did not answer within ${withinMs} ms`);
    const found = await withDeadline(lookUp, withinMs, late);
    // In a process that stood still its own timers are late as well.
    if (this.#elapsed() - began > withinMs) throw late();
    return found;
  }

  #keep(key: string, kept: CachedResult<T>): void {
    const [kind, other] = kept.found === undefined ? [this.#absent, this.#found] : [this.#found, this.#absent];
    kind.set(key, kept);
    other.delete(key);
  }
}
