import { DomainError, type Timestamp, type User } from '@tracking/contracts';
import { type Changed, type IdentityCommand, noSuch } from './identity-command.ts';
import { checkPassword, type Passwords } from './passwords.ts';
import type { BegunSession, Sessions, SignInOrigin } from './sessions.ts';
import { publicly, type UserDocument, type UserStore } from './user-store.ts';
import type { Users } from './users.ts';
import type { Workspaces } from './workspaces.ts';

/** By which a session that was begun is known, when it is begun again. */
export interface SignInCommand {
  readonly id: string;
  readonly at: Timestamp;
}

export interface SignInRequest extends SignInOrigin {
  readonly email: string;
  readonly password: string;
  /** Name or id of the workspace, for those who are in several. */
  readonly workspace?: string | undefined;
}

interface SignInParts {
  readonly workspaces: Pick<Workspaces, 'find'>;
  readonly users: Pick<Users, 'findByEmail'>;
  readonly userPasswords: Pick<UserPasswords, 'renew'>;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
}

/**
 * Users whose passwords are tried where no workspace is named, and what a refusal costs then, whoever has the e-mail: each
 * is a hash that others wait for.
 */
const MOST_TRIED = 3;

/** Who comes with an e-mail and a password. */
export class SignIn {
  constructor(private readonly parts: SignInParts) {}

  /**
   * Begins a session; a repeat of the command answers the same one. Where nobody has the e-mail it takes as much work as
   * where somebody does, in however many workspaces, and is refused in the same words.
   * @throws DomainError `invalid_credentials`; Busy, Unavailable
   */
  async signIn(
    command: SignInCommand,
    { email, password, workspace, ...origin }: SignInRequest,
  ): Promise<BegunSession> {
    const candidates = await this.#candidates(email, workspace);
    const user = await this.#whoHas(password, candidates, workspace === undefined ? MOST_TRIED : 1);
    if (!user) throw new DomainError('invalid_credentials', 'There is no active user with this e-mail and password.');
    const begun = await this.parts.sessions.begin(command, user, origin);
    // Nobody waits for it, nor misses it: the hash of before is as good as it was.
    void this.parts.userPasswords.renew(user, password).catch(() => undefined);
    return begun;
  }

  async #candidates(email: string, workspace: string | undefined): Promise<readonly UserDocument[]> {
    if (workspace === undefined) return (await this.parts.users.findByEmail(email)).slice(0, MOST_TRIED);
    const named = await this.parts.workspaces.find(workspace);
    return this.parts.users.findByEmail(email, named?.id ?? workspace);
  }

  /** The oldest whose password it is; where it is nobody's, after so many hashes, so that the time does not tell whose it could be. */
  async #whoHas(
    password: string,
    candidates: readonly UserDocument[],
    hashes: number,
  ): Promise<UserDocument | undefined> {
    for (const user of candidates) {
      if (await this.parts.passwords.verify(password, user.password_hash)) return user;
    }
    for (let n = candidates.length; n < hashes; n += 1) await this.parts.passwords.verify(password, undefined);
    return undefined;
  }
}

export interface PasswordChange {
  readonly current_password: string;
  readonly new_password: string;
  /** The session that asks for it, if one does. */
  readonly session_id?: string | undefined;
}

/** What users do about their own passwords. */
export class UserPasswords {
  constructor(
    private readonly store: UserStore,
    private readonly passwords: Passwords,
  ) {}

  /**
   * Sets a new password, which ends all sessions and the link; the session that asked for it takes over the new epoch.
   * @throws DomainError `invalid_credentials` where the current one is wrong, `validation_failed`; Busy
   */
  async change(
    command: IdentityCommand,
    user_id: string,
    { current_password, new_password, session_id }: PasswordChange,
  ): Promise<Changed<User> & { readonly sessions_epoch: number }> {
    const user = await this.store.documents.get(user_id);
    if (user?.workspace_id !== command.workspace_id) throw noSuch('user');
    // A repeat of what is done brings the password that is not the current one any more.
    const password_hash =
      user.changed_by === command.id ? user.password_hash : await this.#newHash(user, current_password, new_password);
    const changed = await this.store.change(command, user_id, (present) => {
      // Set by another one meanwhile: what was checked is not the current one any more.
      if (present.status !== 'active' || present.password_hash !== user.password_hash) throw wrongPassword();
      const epoch = present.sessions_epoch + 1;
      // In the one write: whatever comes of this process, the session that asked lives on.
      const kept_session = session_id === undefined ? null : { id: session_id, epoch };
      return { password_hash, sessions_epoch: epoch, kept_session, link: null, link_hash: null };
    });
    return { ...publicly(changed), sessions_epoch: changed.after.sessions_epoch };
  }

  /** Hashes a password that was right once more, where its stored hash is of a former cost. */
  async renew({ id, password_hash }: UserDocument, password: string): Promise<void> {
    if (password_hash === null || !this.passwords.isOutdated(password_hash)) return;
    const renewed = await this.passwords.hash(password);
    await this.store.documents.claim({ filter: { id, password_hash } }, { password_hash: renewed });
  }

  async #newHash(user: UserDocument, current: string, next: string): Promise<string> {
    if (!(await this.passwords.verify(current, user.password_hash))) throw wrongPassword();
    checkPassword(next, user.email, 'new_password');
    return this.passwords.hash(next);
  }
}

function wrongPassword(): DomainError {
  return new DomainError('invalid_credentials', 'The current password is wrong.');
}
