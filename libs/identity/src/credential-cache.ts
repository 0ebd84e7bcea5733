import type { Timestamp } from '@tracking/contracts';
import { Unavailable } from '@tracking/ports';
import type { Clock } from '@tracking/ports';
import { withDeadline } from '@tracking/resilience';
import { LRUCache } from 'lru-cache';

/** What a look-up found is used this long, counted from its beginning. */
const TRUSTED_FOR_MS = 3_000;
/** A look-up that takes longer is given up, and what it finds is not used: nothing that lets in is older than 5 s. */
const ANSWERED_WITHIN_MS = 4_000;
/** Credentials kept of each kind. Apart from each other, so that made-up ones never push out real ones. */
const MAX_KEPT = 10_000;

/** What is known of a valid key or session. */
export interface KnownCredential {
  /** The user or service account whose rights it has. */
  readonly owner_id: string;
  /** From then on it is refused; null: never. */
  readonly ends_at: Timestamp | null;
}

export interface CredentialCacheOptions {
  readonly clock: Clock;
  /** Monotonic time in milliseconds. */
  readonly elapsed: () => number;
  /** {@link ANSWERED_WITHIN_MS}, unless told. */
  readonly answeredWithinMs?: number;
}

interface Kept<T> {
  /** Undefined: there is no such credential. */
  readonly found: T | undefined;
  /** By the monotonic clock. */
  readonly until: number;
}

/**
 * The one rule by which credentials are remembered, of keys and of sessions alike: the document store is asked at most
 * once per credential and three seconds, and whatever was changed on another replica holds here within five.
 */
export class CredentialCache<T extends KnownCredential> {
  readonly #valid = new LRUCache<string, Kept<T>>({ max: MAX_KEPT });
  readonly #invalid = new LRUCache<string, Kept<T>>({ max: MAX_KEPT });
  /** Look-ups under way: requests with the same credential share one. */
  readonly #lookups = new Map<string, Promise<T | undefined>>();

  constructor(private readonly options: CredentialCacheOptions) {}

  /**
   * What is known of the credential with this hash; undefined where there is none, or it has ended.
   * @throws Unavailable, also where the look-up takes too long; whatever `lookUp` throws
   */
  async find(hash: string, lookUp: (hash: string) => Promise<T | undefined>): Promise<T | undefined> {
    const kept = this.#valid.get(hash) ?? this.#invalid.get(hash);
    const isTrusted = kept !== undefined && this.options.elapsed() < kept.until;
    const found = isTrusted ? kept.found : await (this.#lookups.get(hash) ?? this.#begin(hash, lookUp));
    // To the moment, however long it is remembered.
    return found && this.#hasEnded(found) ? undefined : found;
  }

  /** Forgets what is known of a credential, look-ups under way included: what they read may be of before. */
  forget(hash: string): void {
    this.#valid.delete(hash);
    this.#invalid.delete(hash);
    this.#lookups.delete(hash);
  }

  /** The same for every credential of a user or service account. */
  forgetOwner(ownerId: string): void {
    for (const [hash, { found }] of this.#valid) if (found?.owner_id === ownerId) this.#valid.delete(hash);
    // Of these nobody knows whose they are.
    this.#invalid.clear();
    this.#lookups.clear();
  }

  #begin(hash: string, lookUp: (hash: string) => Promise<T | undefined>): Promise<T | undefined> {
    const began = this.options.elapsed();
    const lookup = this.#inTime(began, lookUp(hash))
      .then((found) => {
        if (this.#lookups.get(hash) === lookup) this.#keep(hash, { found, until: began + TRUSTED_FOR_MS });
        return found;
      })
      .finally(() => {
        if (this.#lookups.get(hash) === lookup) this.#lookups.delete(hash);
      });
    this.#lookups.set(hash, lookup);
    return lookup;
  }

  async #inTime(began: number, answer: Promise<T | undefined>): Promise<T | undefined> {
    const { elapsed, answeredWithinMs = ANSWERED_WITHIN_MS } = this.options;
    const late = () => new Unavailable('document store', `did not answer within ${answeredWithinMs} ms`);
    const found = await withDeadline(answer, answeredWithinMs, late);
    // In a process that stood still its own timers are late as well.
    if (elapsed() - began > answeredWithinMs) throw late();
    return found;
  }

  #keep(hash: string, kept: Kept<T>): void {
    const [kind, other] = kept.found ? [this.#valid, this.#invalid] : [this.#invalid, this.#valid];
    kind.set(hash, kept);
    other.delete(hash);
  }

  #hasEnded({ ends_at }: T): boolean {
    return ends_at !== null && this.options.clock().toISOString() >= ends_at;
  }
}
