import { randomBytes as strongRandomBytes } from 'node:crypto';
import type { CredentialsOwner, Environment, Principal, SessionPrincipal } from '@tracking/contracts';
import type { Clock, DocumentStore, Logger } from '@tracking/ports';
import { type ApiKeyDocument, ApiKeys } from './api-keys.ts';
import { AuditLog } from './audit-log.ts';
import type { NamesOf } from './audit-log.ts';
import { findCredentialsHolder, KeyAuthentication, CachedSessionAuthenticator } from './authentication.ts';
import { FirstAdminCreator } from './first-admin.ts';
import { KeyOwnerReader, ServiceAccounts } from './service-accounts.ts';
import { OneTimeLinks } from './one-time-links.ts';
import { Passwords } from './passwords.ts';
import type { PasswordsOptions } from './passwords.ts';
import { derivePrefixedId } from './secrets.ts';
import type { RandomBytes } from './secrets.ts';
import { Sessions } from './sessions.ts';
import type { StartedSession, SessionDocument } from './sessions.ts';
import { SignInService, type SignInCommand, type SignInRequest, UserPasswordChanger } from './sign-in.ts';
import { UserStore } from './user-store.ts';
import { Users } from './users.ts';
import { DEFAULT_WORKSPACE, Workspaces } from './workspaces.ts';

const DEFAULT_MAX_KEYS_PER_OWNER = 25;

export interface IdentityOptions {
  readonly documentStore: DocumentStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Secret from which keys and link tokens derive: 32 bytes, the same on every replica. */
  readonly secret: Uint8Array;
  /** Cost of password hashes, and the number of hashes that may wait. */
  readonly passwords?: PasswordsOptions;
  /** Maximum number of valid keys of one user or service account; 25 by default. */
  readonly maxKeysPerOwner?: number;
  readonly randomBytes?: RandomBytes;
  /** Monotonic time in milliseconds. */
  readonly elapsed?: () => number;
}

type IdentityParts = Pick<IdentityServices, 'workspaces' | 'serviceAccounts' | 'keys' | 'users' | 'userPasswords'> &
  Pick<IdentityServices, 'links' | 'firstAdmin' | 'sessions' | 'auditLog'> & {
    readonly userStore: UserStore;
    readonly namesOf: NamesOf;
    readonly keyAuthentication: KeyAuthentication;
    readonly sessionAuthentication: CachedSessionAuthenticator;
    readonly signIn: SignInService;
  };

/**
 * Workspaces, their users, service accounts, and the API keys of both. The document store is the only place of these
 * records, so back it up. They are not derived from events.
 */
export class IdentityServices {
  readonly workspaces: Workspaces;
  readonly serviceAccounts: ServiceAccounts;
  readonly keys: ApiKeys;
  readonly users: Users;
  readonly userPasswords: UserPasswordChanger;
  readonly links: OneTimeLinks;
  readonly firstAdmin: FirstAdminCreator;
  readonly sessions: Sessions;
  readonly auditLog: AuditLog;
  readonly #parts: IdentityParts;

  private constructor(parts: IdentityParts) {
    this.#parts = parts;
    this.workspaces = parts.workspaces;
    this.serviceAccounts = parts.serviceAccounts;
    this.keys = parts.keys;
    this.users = parts.users;
    this.userPasswords = parts.userPasswords;
    this.links = parts.links;
    this.firstAdmin = parts.firstAdmin;
    this.sessions = parts.sessions;
    this.auditLog = parts.auditLog;
  }

  /** Creates the workspace `default` at the first start. */
  static async openIdentity(options: IdentityOptions): Promise<IdentityServices> {
    const { documentStore, clock, logger, secret } = options;
    const { randomBytes = strongRandomBytes, elapsed = () => performance.now() } = options;
    const { maxKeysPerOwner: maxPerOwner = DEFAULT_MAX_KEYS_PER_OWNER } = options;
    const forgetOwner = (ownerId: string) => {
      keyAuthentication.forgetKeysOfOwner(ownerId);
      sessionAuthentication.forgetSessionsOfUser(ownerId);
    };
    const passwords = new Passwords(options.passwords);
    const workspaces = await Workspaces.openWorkspacesCreatingDefault(documentStore, clock, randomBytes);
    const serviceAccounts = await ServiceAccounts.openServiceAccounts(documentStore, forgetOwner);
    const userStore = await UserStore.openUserStore(documentStore, ({ id }) => forgetOwner(id));
    const namesOf: NamesOf = async (actors) => {
      const ids = [...new Set(actors.map(({ id }) => id))];
      const known = await Promise.all([userStore.documents.getMany(ids), serviceAccounts.getServiceAccountsByIds(ids)]);
      return new Map(known.flat().map(({ id, name }) => [id, name]));
    };
    const auditLog = await AuditLog.openStoreOfAuditLog(documentStore, namesOf);
    const workspace_id = derivePrefixedId('wsp', DEFAULT_WORKSPACE);
    const firstAdmin = await FirstAdminCreator.openFirstAdminCreator(documentStore, userStore, {
      passwords,
      auditLog,
      clock,
      secret,
      workspace_id,
    });
    const owners = new KeyOwnerReader(serviceAccounts, userStore.documents);
    const onChanged = (key: ApiKeyDocument) => keyAuthentication.forgetCachedApiKey(key);
    const keys = await ApiKeys.openStoreOfApiKeys(documentStore, { owners, secret, maxPerOwner, onChanged });
    const keyAuthentication = new KeyAuthentication({ keys: keys.documents, owners, clock, logger, elapsed });
    const onEnded = (session: Pick<SessionDocument, 'hash'>) => sessionAuthentication.forgetCachedSession(session);
    const sessions = await Sessions.openSessions(documentStore, { users: userStore.documents, clock, secret, onEnded });
    const sessionAuthentication = new CachedSessionAuthenticator({
      sessions,
      users: userStore.documents,
      clock,
      logger,
      elapsed,
    });
    const users = new Users(userStore, passwords, secret);
    const userPasswords = new UserPasswordChanger(userStore, passwords);
    return new IdentityServices({
      workspaces,
      serviceAccounts,
      keys,
      users,
      userPasswords,
      links: new OneTimeLinks(userStore, firstAdmin, passwords, clock),
      firstAdmin,
      sessions,
      auditLog,
      namesOf,
      userStore,
      keyAuthentication,
      sessionAuthentication,
      signIn: new SignInService({ workspaces, users, userPasswords, passwords, sessions, auditLog, logger }),
    });
  }

  /**
   * Returns the principal of a key; undefined if the key is malformed, unknown, revoked or expired, or if its owner is
   * not active.
   * @throws UnavailableError if the document store does not respond
   */
  authenticateKey(key: string): Promise<Principal | undefined> {
    return this.#parts.keyAuthentication.authenticateKey(key);
  }

  /**
   * Returns the principal of a session; undefined if it is unknown or has ended.
   * @param environment in which the request works
   * @throws UnavailableError if the document store does not respond
   */
  authenticateSession(token: string, environment: Environment): Promise<SessionPrincipal | undefined> {
    return this.#parts.sessionAuthentication.authenticateSession(token, environment);
  }

  /**
   * Begins a session: see {@link SignInService}.
   * @throws DomainError `invalid_credentials`; BusyError, UnavailableError
   */
  signIn(command: SignInCommand, request: SignInRequest): Promise<StartedSession> {
    return this.#parts.signIn.signIn(command, request);
  }

  /** Returns the holder of a request's credentials, for the holder; undefined if the key or session has just ended. */
  findCredentialsHolder(principal: Principal): Promise<CredentialsOwner | undefined> {
    const { workspaces, serviceAccounts: accounts, keys, sessions, userStore } = this.#parts;
    const parts = { workspaces, accounts, sessions, keys: keys.documents, users: userStore.documents };
    return findCredentialsHolder(parts, principal);
  }

  /** Returns the present names of users and service accounts, including deactivated ones. @throws UnavailableError */
  get namesOf(): NamesOf {
    return this.#parts.namesOf;
  }

  /** Waits for writes in progress. Call this method before closing the document store. */
  async closeIdentityAfterPendingWrites(): Promise<void> {
    const { keyAuthentication, sessionAuthentication, signIn } = this.#parts;
    await Promise.all([keyAuthentication.close(), sessionAuthentication.close(), signIn.waitForPendingAuditEntries()]);
  }
}
