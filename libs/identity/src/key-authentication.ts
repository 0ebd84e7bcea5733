import type { Role } from '@tracking/contracts';
import type { Collection, Logger } from '@tracking/ports';
import { apiKey, hasEnded } from './api-key-document.ts';
import type { ApiKeyDocument } from './api-key-document.ts';
import { CredentialCache } from './credential-cache.ts';
import type { CredentialCacheOptions, KnownCredential } from './credential-cache.ts';
import type { KeyOwners } from './key-owners.ts';
import { permissionsOf } from './permissions.ts';
import type { Principal } from './principal.ts';
import { hashOf, hasKeyForm } from './secrets.ts';

const USE_NOTED_EVERY_MS = 60_000;

interface KnownKey extends KnownCredential {
  readonly principal: Principal;
}

export interface KeyAuthenticationOptions extends CredentialCacheOptions {
  readonly keys: Collection<ApiKeyDocument>;
  readonly owners: KeyOwners;
  readonly logger: Logger;
}

/** Tells whose key it is, and what its owner may do now. */
export class KeyAuthentication {
  readonly #cache: CredentialCache<KnownKey>;
  readonly #notes = new Set<Promise<void>>();

  constructor(private readonly options: KeyAuthenticationOptions) {
    this.#cache = new CredentialCache(options);
  }

  /**
   * The principal of a key that exists, is neither revoked nor expired, and whose owner is active.
   * @throws Unavailable
   */
  async authenticate(key: string): Promise<Principal | undefined> {
    if (!hasKeyForm(key)) return undefined;
    const known = await this.#cache.find(hashOf(key), (hash) => this.#lookUp(hash));
    return known?.principal;
  }

  forget({ hash }: Pick<ApiKeyDocument, 'hash'>): void {
    this.#cache.forget(hash);
  }

  /** Told when a service account or user changed. */
  forgetOwner(ownerId: string): void {
    this.#cache.forgetOwner(ownerId);
  }

  /** Waits until every use that was seen is written. */
  async close(): Promise<void> {
    await Promise.all(this.#notes);
  }

  async #lookUp(hash: string): Promise<KnownKey | undefined> {
    const [key] = await this.options.keys.find({ filter: { hash }, limit: 1 });
    if (!key || key.revoked_at !== null) return undefined;
    const owner = await this.options.owners.get(key.owner);
    if (owner?.status !== 'active') return undefined;
    const { expires_at: ends_at } = apiKey(key, owner.role);
    if (!hasEnded(ends_at, this.options.clock().toISOString())) this.#noteUse(key);
    return { principal: principalOf(key, owner.role), owner_id: key.owner.id, ends_at };
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

function principalOf({ id, workspace_id, environment, owner }: ApiKeyDocument, role: Role): Principal {
  const access = { credential_id: id, workspace_id, environment, permissions: permissionsOf(role, environment) };
  return owner.type === 'user'
    ? { type: 'user_key', actor: { type: 'user', id: owner.id }, ...access }
    : { type: 'service_account_key', actor: { type: 'service_account', id: owner.id }, ...access };
}
