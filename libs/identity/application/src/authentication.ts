import {
  type CredentialsHolder,
  type Environment,
  PERMISSIONS,
  type Principal,
  type Role,
  type SessionPrincipal,
  type Timestamp,
} from '@tracking/contracts';
import type { Clock, Collection, Logger } from '@tracking/ports';
import { RecentLookUps, type RecentLookUpsOptions } from '@tracking/resilience';
import { apiKey, type ApiKeyDocument, hasEnded } from './api-keys.ts';
import { permissionsOf } from './principal.ts';
import { hashOf, hasKeyForm, hasTokenForm } from './secrets.ts';
import type { KeyOwners, ServiceAccounts } from './service-accounts.ts';
import { isOfEpoch, type SessionDocument, type Sessions } from './sessions.ts';
import type { UserDocument } from './user-store.ts';
import type { Workspaces } from './workspaces.ts';

interface CredentialsHolderParts {
  readonly workspaces: Workspaces;
  readonly users: Collection<UserDocument>;
  readonly accounts: Pick<ServiceAccounts, 'getMany'>;
  readonly keys: Collection<ApiKeyDocument>;
  readonly sessions: Sessions;
}

type Owner = Pick<CredentialsHolder, 'user' | 'service_account' | 'role'>;

/** Who makes a request, as they ask it themselves. */
export async function credentialsHolder(
  parts: CredentialsHolderParts,
  principal: Principal,
): Promise<CredentialsHolder | undefined> {
  const { workspace_id, environment } = principal;
  const [owner, workspace, expires_at] = await Promise.all([
    ownerOf(parts, principal),
    parts.workspaces.get(workspace_id),
    endOf(parts, principal),
  ]);
  if (!owner || expires_at === undefined) return undefined;
  const allowed = permissionsOf(owner.role, environment);
  const permissions = PERMISSIONS.filter((permission) => allowed.has(permission));
  return { ...owner, workspace: { id: workspace.id, name: workspace.name }, permissions, environment, expires_at };
}

async function ownerOf({ users, accounts }: CredentialsHolderParts, principal: Principal): Promise<Owner | undefined> {
  const { id } = principal.actor;
  if (principal.type === 'service_account_key') {
    const [account] = await accounts.getMany([id]);
    return account && { user: null, service_account: { id, name: account.name }, role: account.role };
  }
  const user = await users.get(id);
  return user && { user: { id, name: user.name, email: user.email }, service_account: null, role: user.role };
}

/** Undefined where the key or session is not there any more. */
async function endOf(
  { keys, sessions }: CredentialsHolderParts,
  { type, credential_id }: Principal,
): Promise<Timestamp | null | undefined> {
  if (type === 'session') return (await sessions.documents.get(credential_id))?.expires_at;
  return (await keys.get(credential_id))?.expires_at;
}

const USE_NOTED_EVERY_MS = 60_000;

interface KnownKey extends KnownCredential {
  readonly principal: Principal;
}

interface KeyAuthenticationOptions extends CredentialCacheOptions {
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

interface KnownSession extends KnownCredential {
  readonly id: string;
  readonly workspace_id: string;
  readonly role: Role;
}

interface SessionAuthenticationOptions extends CredentialCacheOptions {
  readonly sessions: Sessions;
  readonly users: Collection<UserDocument>;
  readonly logger: Logger;
}

/** Tells whose session it is, and what its user may do now. */
export class SessionAuthentication {
  readonly #cache: CredentialCache<KnownSession>;
  readonly #notes = new Set<Promise<void>>();

  constructor(private readonly options: SessionAuthenticationOptions) {
    this.#cache = new CredentialCache(options);
  }

  /**
   * The principal of a session that has not ended.
   * @param environment where the request works: a session sees both
   * @throws Unavailable
   */
  async authenticate(token: string, environment: Environment): Promise<SessionPrincipal | undefined> {
    if (!hasTokenForm(token)) return undefined;
    const known = await this.#cache.find(hashOf(token), (hash) => this.#lookUp(hash));
    if (!known) return undefined;
    const { id, owner_id, workspace_id, role } = known;
    const permissions = permissionsOf(role, environment);
    const actor = { type: 'user', id: owner_id } as const;
    return { type: 'session', credential_id: id, workspace_id, environment, actor, permissions };
  }

  forget({ hash }: Pick<SessionDocument, 'hash'>): void {
    this.#cache.forget(hash);
  }

  /** Told when a user changed. */
  forgetOwner(userId: string): void {
    this.#cache.forgetOwner(userId);
  }

  /** Waits until every use that was seen is written. */
  async close(): Promise<void> {
    await Promise.all(this.#notes);
  }

  async #lookUp(hash: string): Promise<KnownSession | undefined> {
    const [session] = await this.options.sessions.documents.find({ filter: { hash }, limit: 1 });
    const now = this.options.clock().toISOString();
    if (!session || session.ends_at <= now) return undefined;
    const user = await this.options.users.get(session.user_id);
    if (user?.status !== 'active' || !isOfEpoch(session, user)) return undefined;
    this.#noteUse(session, user, now);
    const { id, workspace_id, ends_at } = session;
    return { id, workspace_id, owner_id: user.id, role: user.role, ends_at };
  }

  /** `last_seen_at`, once a minute and beside the request: a session in use is looked up every few seconds. */
  #noteUse(session: SessionDocument, user: UserDocument, now: Timestamp): void {
    const isDue = (seen: Timestamp | null) => seen === null || Date.parse(now) - Date.parse(seen) >= USE_NOTED_EVERY_MS;
    // The process may have ended before the session took over the number that its change of the password made.
    if (session.epoch !== user.sessions_epoch)
      this.#note(session, this.options.sessions.keep(session.id, user.sessions_epoch));
    if (isDue(session.last_seen_at)) this.#note(session, this.options.sessions.noteUse(session, now));
    if (!isDue(user.last_seen_at)) return;
    const { id, last_seen_at } = user;
    this.#note(session, this.options.users.claim({ filter: { id, last_seen_at } }, { last_seen_at: now }));
  }

  #note({ id }: SessionDocument, writing: Promise<unknown>): void {
    const note = writing
      .then(
        () => undefined,
        (error: unknown) =>
          this.options.logger.warn({ session_id: id, error: String(error) }, 'use of a session not noted'),
      )
      .finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }
}

/** What is known of a valid key or session. */
export interface KnownCredential {
  /** The user or service account whose rights it has. */
  readonly owner_id: string;
  /** From then on it is refused; null: never. */
  readonly ends_at: Timestamp | null;
}

interface CredentialCacheOptions extends RecentLookUpsOptions {
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
