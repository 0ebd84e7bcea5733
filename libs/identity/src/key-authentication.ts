import type { Clock, Collection, Logger } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import type { ApiKeyDocument, ServiceAccountDocument } from './api-keys.ts';
import { permissionsOf } from './permissions.ts';
import type { Principal } from './principal.ts';
import { hashOf, hasKeyForm } from './secrets.ts';

/** What a look-up found is used this long, counted from its beginning: a revocation holds everywhere within 5 s. */
const TRUSTED_FOR_MS = 3_000;
/** Keys kept of each kind. Apart from each other, so that made-up keys never push out real ones. */
const MAX_KEPT = 10_000;
const USE_NOTED_EVERY_MS = 60_000;

interface LookedUpKey {
  readonly principal: Principal | undefined;
  /** By the monotonic clock. */
  readonly until: number;
}

export interface KeyAuthenticationOptions {
  readonly keys: Collection<ApiKeyDocument>;
  readonly accounts: Collection<ServiceAccountDocument>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Monotonic time in milliseconds. */
  readonly elapsed: () => number;
}

/** Tells whose key it is. Asks the document store at most once per key and three seconds. */
export class KeyAuthentication {
  readonly #valid = new LRUCache<string, LookedUpKey>({ max: MAX_KEPT });
  readonly #invalid = new LRUCache<string, LookedUpKey>({ max: MAX_KEPT });
  /** Look-ups under way: requests with the same key share one. */
  readonly #lookups = new Map<string, Promise<Principal | undefined>>();
  readonly #notes = new Set<Promise<void>>();

  constructor(private readonly options: KeyAuthenticationOptions) {}

  /**
   * The principal of a key that exists and is not revoked.
   * @throws Unavailable
   */
  async authenticate(key: string): Promise<Principal | undefined> {
    if (!hasKeyForm(key)) return undefined;
    const hash = hashOf(key);
    const known = this.#valid.get(hash) ?? this.#invalid.get(hash);
    if (known && this.options.elapsed() < known.until) return known.principal;
    return this.#lookups.get(hash) ?? this.#begin(hash);
  }

  /** Forgets what is known of a key, look-ups under way included: what they read may be of before. */
  forget({ hash }: Pick<ApiKeyDocument, 'hash'>): void {
    this.#valid.delete(hash);
    this.#invalid.delete(hash);
    this.#lookups.delete(hash);
  }

  /** Waits until every use that was seen is written. */
  async close(): Promise<void> {
    await Promise.all(this.#notes);
  }

  #begin(hash: string): Promise<Principal | undefined> {
    const until = this.options.elapsed() + TRUSTED_FOR_MS;
    const lookup = this.#lookUp(hash)
      .then((principal) => {
        if (this.#lookups.get(hash) === lookup) this.#keep(hash, { principal, until });
        return principal;
      })
      .finally(() => {
        if (this.#lookups.get(hash) === lookup) this.#lookups.delete(hash);
      });
    this.#lookups.set(hash, lookup);
    return lookup;
  }

  #keep(hash: string, found: LookedUpKey): void {
    const [kind, other] = found.principal ? [this.#valid, this.#invalid] : [this.#invalid, this.#valid];
    kind.set(hash, found);
    other.delete(hash);
  }

  async #lookUp(hash: string): Promise<Principal | undefined> {
    const [key] = await this.options.keys.find({ filter: { hash }, limit: 1 });
    if (!key || key.revoked_at !== null) return undefined;
    const account = await this.options.accounts.get(key.owner.id);
    if (!account) return undefined;
    this.#noteUse(key);
    return {
      type: 'service_account_key',
      credential_id: key.id,
      workspace_id: key.workspace_id,
      environment: key.environment,
      actor: { type: 'service_account', id: key.owner.id },
      permissions: permissionsOf(account.role, key.environment),
    };
  }

  /**
   * `last_used_at`, once a minute and beside the request. A key in use is looked up every few seconds, so nothing has
   * to be counted per request; of several replicas that see the same old value one writes.
   */
  #noteUse({ id, last_used_at }: ApiKeyDocument): void {
    const now = this.options.clock();
    if (last_used_at !== null && now.getTime() - Date.parse(last_used_at) < USE_NOTED_EVERY_MS) return;
    const note = this.options.keys
      .claim({ filter: { id, last_used_at, revoked_at: null } }, { last_used_at: now.toISOString() })
      .then(
        () => undefined,
        (error: unknown) => this.options.logger.warn({ key_id: id, error: String(error) }, 'use of a key not noted'),
      )
      .finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }
}
