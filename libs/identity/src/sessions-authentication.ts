import type { Environment, Role, Timestamp } from '@tracking/contracts';
import type { Collection, Logger } from '@tracking/ports';
import { CredentialCache } from './credential-cache.ts';
import type { CredentialCacheOptions, KnownCredential } from './credential-cache.ts';
import { permissionsOf } from './permissions.ts';
import type { SessionPrincipal } from './principal.ts';
import { hashOf, hasTokenForm } from './secrets.ts';
import { isOfEpoch } from './sessions.ts';
import type { SessionDocument, Sessions } from './sessions.ts';
import type { UserDocument } from './user-document.ts';

const USE_NOTED_EVERY_MS = 60_000;

interface KnownSession extends KnownCredential {
  readonly id: string;
  readonly workspace_id: string;
  readonly role: Role;
}

export interface SessionAuthenticationOptions extends CredentialCacheOptions {
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
