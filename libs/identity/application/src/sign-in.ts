import { DomainError, type Timestamp, type User } from '@tracking/contracts';
import { type Changed, type IdentityCommand, noSuch } from './identity-command.ts';
import type { PasswordClient, PasswordPlace } from './password-queue.ts';
import { checkPassword, type Passwords } from './passwords.ts';
import type { BegunSession, Sessions, SignInOrigin } from './sessions.ts';
import { publicly, type UserDocument, type UserStore } from './user-store.ts';
import type { Users } from './users.ts';
import type { Workspaces } from './workspaces.ts';

/** Id of the command. A repeat with the same id begins the same session. */
export interface SignInCommand {
  readonly id: string;
  readonly at: Timestamp;
}

export interface SignInRequest extends SignInOrigin {
  readonly email: string;
  readonly password: string;
  /** Name or id of the workspace, for users who are in several. */
  readonly workspace?: string | undefined;
  /** The client's share of the queue of password hashes; by default that of a stranger at the address. */
  readonly client?: PasswordClient | undefined;
}

interface SignInParts {
  readonly workspaces: Pick<Workspaces, 'find'>;
  readonly users: Pick<Users, 'findByEmail'>;
  readonly userPasswords: Pick<UserPasswords, 'renew'>;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
}

/**
 * Maximum number of users whose passwords are tried if no workspace is named. A refusal always takes this many hashes,
 * whether or not a user has the e-mail address. The number is small, because other requests wait for each hash.
 */
const MAX_USERS_TRIED = 3;

/** Signs users in by e-mail and password. */
export class SignIn {
  constructor(private readonly parts: SignInParts) {}

  /**
   * Begins a session; a repeat of the command returns the same one. A refusal takes the same work and has the same
   * message whether or not a user has the e-mail address, in any number of workspaces.
   * @throws DomainError `invalid_credentials`; Busy, Unavailable
   */
  async signIn(command: SignInCommand, { client, ...request }: SignInRequest): Promise<BegunSession> {
    const { email, password, workspace, ...origin } = request;
    const stranger = { shares: [origin.address], isKnown: false };
    const user = await this.parts.passwords.queue(client ?? stranger, async (place) => {
      const candidates = await this.#candidates(email, workspace);
      const hashes = workspace === undefined ? MAX_USERS_TRIED : 1;
      return this.#userWith({ password, place }, candidates, hashes);
    });
    if (!user) throw new DomainError('invalid_credentials', 'No active user has this e-mail address and password.');
    const begun = await this.parts.sessions.begin(command, user, origin);
    // Runs in the background; if it fails, the old hash stays valid.
    void this.parts.userPasswords.renew(user, password).catch(() => undefined);
    return begun;
  }

  async #candidates(email: string, workspace: string | undefined): Promise<readonly UserDocument[]> {
    if (workspace === undefined) return (await this.parts.users.findByEmail(email)).slice(0, MAX_USERS_TRIED);
    const named = await this.parts.workspaces.find(workspace);
    return this.parts.users.findByEmail(email, named?.id ?? workspace);
  }

  /**
   * Returns the oldest user with this password. If no user has it, returns undefined after `hashes` hashes, so that the
   * duration does not reveal whether a user has the e-mail.
   */
  async #userWith(
    { password, place }: { readonly password: string; readonly place: PasswordPlace },
    candidates: readonly UserDocument[],
    hashes: number,
  ): Promise<UserDocument | undefined> {
    const { passwords } = this.parts;
    for (const user of candidates) {
      if (await passwords.verify(password, user.password_hash, place)) return user;
    }
    for (let n = candidates.length; n < hashes; n += 1) await passwords.verify(password, undefined, place);
    return undefined;
  }
}

export interface PasswordChange {
  readonly current_password: string;
  readonly new_password: string;
}

/** Password changes by users. */
export class UserPasswords {
  constructor(
    private readonly store: UserStore,
    private readonly passwords: Passwords,
  ) {}

  /**
   * Sets a new password, which ends all sessions and the link. The session of the request can be renewed for the returned
   * epoch: see {@link Sessions.renew}.
   * @throws DomainError `invalid_credentials` if the current password is wrong, `validation_failed`; Busy
   */
  async change(
    command: IdentityCommand,
    user_id: string,
    { current_password, new_password }: PasswordChange,
  ): Promise<Changed<User> & { readonly sessions_epoch: number }> {
    const user = await this.store.documents.get(user_id);
    if (user?.workspace_id !== command.workspace_id) throw noSuch('user');
    // A repeated command carries the former password as the current one.
    const password_hash =
      user.changed_by === command.id ? user.password_hash : await this.#newHash(user, current_password, new_password);
    const changed = await this.store.change(command, user_id, (present) => {
      // Another command has changed the password since it was checked.
      if (present.status !== 'active' || present.password_hash !== user.password_hash) throw wrongPassword();
      return { password_hash, sessions_epoch: present.sessions_epoch + 1, link: null, link_hash: null };
    });
    return { ...publicly(changed), sessions_epoch: changed.after.sessions_epoch };
  }

  /** Hashes a correct password again if its stored hash has another cost than new ones. */
  async renew({ id, password_hash }: UserDocument, password: string): Promise<void> {
    if (password_hash === null || !this.passwords.isOutdated(password_hash)) return;
    const renewed = await this.passwords.hash(password);
    await this.store.documents.claim({ filter: { id, password_hash } }, { password_hash: renewed });
  }

  async #newHash(user: UserDocument, current: string, next: string): Promise<string> {
    return this.passwords.queue(clientOf(user), async (place) => {
      if (!(await this.passwords.verify(current, user.password_hash, place))) throw wrongPassword();
      checkPassword(next, user.email, 'new_password');
      return this.passwords.hash(next, place);
    });
  }
}

/** Returns the share of a user who has a session, a key or a one-time link. */
export function clientOf({ id }: Pick<UserDocument, 'id'>): PasswordClient {
  return { shares: [id], isKnown: true };
}

function wrongPassword(): DomainError {
  return new DomainError('invalid_credentials', 'The current password is wrong.');
}
