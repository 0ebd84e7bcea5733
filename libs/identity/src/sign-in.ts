import { DomainError } from '@tracking/contracts';
import type { Timestamp } from '@tracking/contracts';
import type { Passwords } from './passwords.ts';
import type { BegunSession, Sessions, SignInOrigin } from './sessions.ts';
import type { UserDocument } from './user-document.ts';
import type { UserPasswords } from './user-passwords.ts';
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

export interface SignInParts {
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
