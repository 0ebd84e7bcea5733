import {
  type CredentialsOwner,
  type Environment,
  API_KEY_PERMISSIONS,
  type Principal,
  type Role,
  type SessionPrincipal,
  type Timestamp,
} from '@tracking/contracts';
import type { Clock, Collection, Logger } from '@tracking/ports';
import { RecentLookUpCache, type RecentLookUpsOptions } from '@tracking/resilience';
import { toApiKey, type ApiKeyDocument, isExpiredAt } from './api-keys.ts';
import { getKeyPermissions, getPermissionsOfRole } from './principal.ts';
import { hashSecretKeyForStorage, hasApiKeyForm, hasSecretTokenForm } from './secrets.ts';
import type { KeyOwnerReader, ServiceAccounts } from './service-accounts.ts';
import { isSessionValidInEpoch, type SessionDocument, type Sessions } from './sessions.ts';
import type { UserDocument } from './user-store.ts';
import type { Workspaces } from './workspaces.ts';

interface CredentialsOwnerLookupDependencies {
  readonly workspaces: Workspaces;
  readonly users: Collection<UserDocument>;
  readonly accounts: Pick<ServiceAccounts, 'getServiceAccountsByIds'>;
  readonly keys: Collection<ApiKeyDocument>;
  readonly sessions: Sessions;
}

type Owner = Pick<CredentialsOwner, 'user' | 'service_account' | 'role'>;

/**
 * Returns the user or service account of a key or session, as shown to this user or account. Undefined if the key or
 * session no longer exists.
 */
export async function findCredentialsHolder(
  parts: CredentialsOwnerLookupDependencies,
  principal: Principal,
): Promise<CredentialsOwner | undefined> {
  const { workspace_id, environment } = principal;
  const [owner, workspace, credential] = await Promise.all([
    findOwnerOfCredentials(parts, principal),
    parts.workspaces.getWorkspace(workspace_id),
    findExpiryAndRoleLimitOfCredential(parts, principal),
  ]);
  if (!owner || !credential) return undefined;
  const { expires_at, max_role } = credential;
  const allowed = getKeyPermissions(owner.role, { environment, max_role });
  const permissions = API_KEY_PERMISSIONS.filter((permission) => allowed.has(permission));
  return { ...owner, workspace: { id: workspace.id, name: workspace.name }, permissions, environment, expires_at };
}

async function findOwnerOfCredentials(
  { users, accounts }: CredentialsOwnerLookupDependencies,
  principal: Principal,
): Promise<Owner | undefined> {
  const { id } = principal.actor;
  if (principal.type === 'service_account_key') {
    const [account] = await accounts.getServiceAccountsByIds([id]);
    return account && { user: null, service_account: { id, name: account.name }, role: account.role };
  }
  const user = await users.get(id);
  return user && { user: { id, name: user.name, email: user.email }, service_account: null, role: user.role };
}

/** Returns the expiry and the role limit of the key or session; undefined if the key or session no longer exists. */
async function findExpiryAndRoleLimitOfCredential(
  { keys, sessions }: CredentialsOwnerLookupDependencies,
  { type, credential_id }: Principal,
): Promise<{ readonly expires_at: Timestamp | null; readonly max_role: Role | null } | undefined> {
  const found = type === 'session' ? await sessions.documents.get(credential_id) : await keys.get(credential_id);
  return found && { expires_at: found.expires_at, max_role: 'max_role' in found ? (found.max_role ?? null) : null };
}

const LAST_USE_RECORD_INTERVAL_MS = 60_000;

interface CachedApiKey extends KnownCredential {
  readonly principal: Principal;
}

interface KeyAuthenticationOptions extends CredentialCacheOptions {
  readonly keys: Collection<ApiKeyDocument>;
  readonly owners: KeyOwnerReader;
  readonly logger: Logger;
}

/** Authenticates API keys: finds the owner of a key, and the owner's present permissions. */
export class KeyAuthentication {
  readonly #cache: CredentialCache<CachedApiKey>;
  readonly #writes: BackgroundWrites;

  constructor(private readonly options: KeyAuthenticationOptions) {
    this.#cache = new CredentialCache(options);
    this.#writes = new BackgroundWrites(options.logger, 'could not record the last use of a key');
  }

  /**
   * Returns the principal of a key that exists, is neither revoked nor expired, and whose owner is active.
   * @throws UnavailableError
   */
  async authenticateKey(key: string): Promise<Principal | undefined> {
    if (!hasApiKeyForm(key)) return undefined;
    const known = await this.#cache.findCredential(hashSecretKeyForStorage(key), (hash) =>
      this.#findActiveApiKey(hash),
    );
    return known?.principal;
  }

  forgetCachedApiKey({ hash }: Pick<ApiKeyDocument, 'hash'>): void {
    this.#cache.forgetCredential(hash);
  }

  /** Removes the keys of an owner from the cache. Call this method when the owner changed. */
  forgetKeysOfOwner(ownerId: string): void {
    this.#cache.forgetCredentialsOfOwner(ownerId);
  }

  /** Resolves when all pending times of use are written. */
  close(): Promise<void> {
    return this.#writes.waitForWrites();
  }

  async #findActiveApiKey(hash: string): Promise<CachedApiKey | undefined> {
    const [key] = await this.options.keys.find({ filter: { hash }, limit: 1 });
    if (!key || key.revoked_at !== null) return undefined;
    const owner = await this.options.owners.getRoleAndStatusOfKeyOwner(key.owner);
    if (owner?.status !== 'active') return undefined;
    const { expires_at: ends_at } = toApiKey(key, owner.role);
    if (!isExpiredAt(ends_at, this.options.clock().toISOString())) this.#recordKeyUse(key);
    return { principal: createPrincipalOfKey(key, owner.role), owner_id: key.owner.id, ends_at };
  }

  /**
   * Sets `last_used_at` in the background, at most once a minute. Only look-ups record a use, because a key in use is
   * looked up every few seconds. If several replicas record the same use, one of them writes.
   */
  #recordKeyUse({ id, last_used_at }: ApiKeyDocument): void {
    const now = this.options.clock();
    if (last_used_at !== null && now.getTime() - Date.parse(last_used_at) < LAST_USE_RECORD_INTERVAL_MS) return;
    const filter = { id, last_used_at, revoked_at: null };
    this.#writes.addBackgroundWrite(this.options.keys.claim({ filter }, { last_used_at: now.toISOString() }), {
      key_id: id,
    });
  }
}

function createPrincipalOfKey(key: ApiKeyDocument, role: Role): Principal {
  const { id, workspace_id, environment, owner, max_role = null } = key;
  const permissions = getKeyPermissions(role, { environment, max_role });
  const access = { credential_id: id, workspace_id, environment, permissions };
  return owner.type === 'user'
    ? { type: 'user_key', actor: { type: 'user', id: owner.id }, ...access }
    : { type: 'service_account_key', actor: { type: 'service_account', id: owner.id }, ...access };
}

interface CachedSession extends KnownCredential {
  readonly id: string;
  readonly workspace_id: string;
  readonly role: Role;
}

interface SessionAuthenticationOptions extends CredentialCacheOptions {
  readonly sessions: Sessions;
  readonly users: Collection<UserDocument>;
  readonly logger: Logger;
}

/** Authenticates sessions: finds the user of a session, and the user's present permissions. */
export class CachedSessionAuthenticator {
  readonly #cache: CredentialCache<CachedSession>;
  readonly #writes: BackgroundWrites;

  constructor(private readonly options: SessionAuthenticationOptions) {
    this.#cache = new CredentialCache(options);
    this.#writes = new BackgroundWrites(options.logger, 'could not record the last use of a session');
  }

  /**
   * Returns the principal of a session that has not ended.
   * @param environment environment of the request. A session has access to both environments
   * @throws UnavailableError
   */
  async authenticateSession(token: string, environment: Environment): Promise<SessionPrincipal | undefined> {
    if (!hasSecretTokenForm(token)) return undefined;
    const known = await this.#cache.findCredential(hashSecretKeyForStorage(token), (hash) => this.#findSession(hash));
    if (!known) return undefined;
    const { id, owner_id, workspace_id, role } = known;
    const permissions = getPermissionsOfRole(role, environment);
    const actor = { type: 'user', id: owner_id } as const;
    return { type: 'session', credential_id: id, workspace_id, environment, actor, permissions };
  }

  forgetCachedSession({ hash }: Pick<SessionDocument, 'hash'>): void {
    this.#cache.forgetCredential(hash);
  }

  /** Removes the sessions of a user from the cache. Call this method when the user changed. */
  forgetSessionsOfUser(userId: string): void {
    this.#cache.forgetCredentialsOfOwner(userId);
  }

  /** Resolves when all pending times of use are written. */
  close(): Promise<void> {
    return this.#writes.waitForWrites();
  }

  async #findSession(hash: string): Promise<CachedSession | undefined> {
    const [session] = await this.options.sessions.documents.find({ filter: { hash }, limit: 1 });
    const now = this.options.clock().toISOString();
    if (!session || session.ends_at <= now) return undefined;
    const user = await this.options.users.get(session.user_id);
    if (user?.status !== 'active' || !isSessionValidInEpoch(session, user)) return undefined;
    this.#recordSessionUse(session, user, now);
    const { id, workspace_id, ends_at } = session;
    return { id, workspace_id, owner_id: user.id, role: user.role, ends_at };
  }

  /** Sets `last_seen_at` in the background, at most once a minute: a session in use is looked up every few seconds. */
  #recordSessionUse(session: SessionDocument, user: UserDocument, now: Timestamp): void {
    const isDue = (seen: Timestamp | null) =>
      seen === null || Date.parse(now) - Date.parse(seen) >= LAST_USE_RECORD_INTERVAL_MS;
    const write = (writing: Promise<unknown>) => this.#writes.addBackgroundWrite(writing, { session_id: session.id });
    // Complete the work of an earlier version, which may have ended before storing the new epoch on the session.
    if (session.epoch !== user.sessions_epoch)
      write(this.options.sessions.keepSessionValidInNewEpoch(session, user.sessions_epoch));
    if (isDue(session.last_seen_at)) write(this.options.sessions.storeSessionUseTime(session, now));
    if (!isDue(user.last_seen_at)) return;
    const { id, last_seen_at } = user;
    write(this.options.users.claim({ filter: { id, last_seen_at } }, { last_seen_at: now }));
  }
}

/** Runs writes for which no request waits. A failed write is only logged. */
export class BackgroundWrites {
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly logger: Logger,
    private readonly failure: string,
  ) {}

  addBackgroundWrite(writing: Promise<unknown>, about: object): void {
    const write = writing
      .then(
        () => undefined,
        (error: unknown) => this.logger.warn({ ...about, error: String(error) }, this.failure),
      )
      .finally(() => this.#underWay.delete(write));
    this.#underWay.add(write);
  }

  /** Resolves when all added writes have ended. */
  async waitForWrites(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}

/** The fields of a valid key or session that a cache needs. */
export interface KnownCredential {
  /** Id of the user or service account whose permissions the credential has. */
  readonly owner_id: string;
  /** Time from which the credential is refused; null if it never ends. */
  readonly ends_at: Timestamp | null;
}

interface CredentialCacheOptions extends RecentLookUpsOptions {
  readonly clock: Clock;
}

/** Cache of recently looked up credentials, for both keys and sessions. */
export class CredentialCache<T extends KnownCredential> {
  readonly #recent: RecentLookUpCache<T>;

  constructor(private readonly options: CredentialCacheOptions) {
    this.#recent = new RecentLookUpCache(options);
  }

  /**
   * Returns the credential with this hash; undefined if there is none, or if it has ended.
   * @throws UnavailableError, also if the look-up takes too long; and what `getOrLookUpValue` throws
   */
  async findCredential(hash: string, lookUp: (hash: string) => Promise<T | undefined>): Promise<T | undefined> {
    const found = await this.#recent.getOrLookUpValue(hash, lookUp);
    // Check the expiry again, because a credential can expire while it is cached.
    return found && this.#hasCredentialExpired(found) ? undefined : found;
  }

  forgetCredential(hash: string): void {
    this.#recent.removeCachedLookUp(hash);
  }

  /** Removes all credentials of a user or service account from the cache, and all hashes that were not found. */
  forgetCredentialsOfOwner(ownerId: string): void {
    this.#recent.removeMatchingCachedLookUps(({ owner_id }) => owner_id === ownerId);
  }

  #hasCredentialExpired({ ends_at }: T): boolean {
    return ends_at !== null && this.options.clock().toISOString() >= ends_at;
  }
}
