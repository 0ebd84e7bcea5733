import type { Timestamp } from '@tracking/contracts';
import type { Clock } from '@tracking/ports';
import { RecentLookUps } from '@tracking/resilience';
import type { RecentLookUpsOptions } from '@tracking/resilience';

/** What is known of a valid key or session. */
export interface KnownCredential {
  /** The user or service account whose rights it has. */
  readonly owner_id: string;
  /** From then on it is refused; null: never. */
  readonly ends_at: Timestamp | null;
}

export interface CredentialCacheOptions extends RecentLookUpsOptions {
  readonly clock: Clock;
}

/** Credentials that were looked up a moment ago, keys and sessions alike. */
export class CredentialCache<T extends KnownCredential> {
  readonly #recent: RecentLookUps<T>;

  constructor(private readonly options: CredentialCacheOptions) {
    this.#recent = new RecentLookUps(options);
  }

  /**
   * What is known of the credential with this hash; undefined where there is none, or it has ended.
   * @throws Unavailable, also where the look-up takes too long; whatever `lookUp` throws
   */
  async find(hash: string, lookUp: (hash: string) => Promise<T | undefined>): Promise<T | undefined> {
    const found = await this.#recent.find(hash, lookUp);
    // To the moment, however long it is remembered.
    return found && this.#hasEnded(found) ? undefined : found;
  }

  forget(hash: string): void {
    this.#recent.forget(hash);
  }

  /** The same for every credential of a user or service account, and for those of whom nobody knows whose they are. */
  forgetOwner(ownerId: string): void {
    this.#recent.forgetWhere(({ owner_id }) => owner_id === ownerId);
  }

  #hasEnded({ ends_at }: T): boolean {
    return ends_at !== null && this.options.clock().toISOString() >= ends_at;
  }
}
