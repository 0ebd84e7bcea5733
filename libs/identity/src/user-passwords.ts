import { DomainError } from '@tracking/contracts';
import type { User } from '@tracking/contracts';
import { noSuch } from './identity-command.ts';
import type { Changed, IdentityCommand } from './identity-command.ts';
import { checkPassword } from './password-rules.ts';
import type { Passwords } from './passwords.ts';
import { publicly } from './user-document.ts';
import type { UserDocument } from './user-document.ts';
import type { UserStore } from './user-store.ts';

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
