import { DomainError, type Timestamp, type User } from '@tracking/contracts';
import { isErrorWithoutEffect, type Logger } from '@tracking/ports';
import type { AuditLog } from './audit-log.ts';
import { BackgroundWrites } from './authentication.ts';
import { type ChangeResult, type IdentityCommand, createNotFoundError } from './identity-command.ts';
import type { ClientInPasswordQueue, PasswordQueuePlace } from './password-queue.ts';
import { requirePasswordMeetsPolicy, type Passwords } from './passwords.ts';
import { type StartedSession, describeDevice, type Sessions, type SignInOrigin } from './sessions.ts';
import { toPublicUserChange, type UserDocument, type UserStore } from './user-store.ts';
import type { Users } from './users.ts';
import type { Workspaces } from './workspaces.ts';

/** Command to sign in: its id and its time. A repeat with the same id begins the same session. */
export interface SignInCommand {
  readonly id: string;
  readonly at: Timestamp;
}

export interface SignInRequest extends SignInOrigin {
  readonly email: string;
  readonly password: string;
  /** Name or id of the workspace, for users who are in several. */
  readonly workspace?: string | undefined;
  /** Id of the request, for the audit log. */
  readonly request_id: string;
  /** The client's share of the queue of password hashes; by default that of a stranger at the address. */
  readonly client?: ClientInPasswordQueue | undefined;
}

interface SignInDependencies {
  readonly workspaces: Pick<Workspaces, 'findWorkspaceByName'>;
  readonly users: Pick<Users, 'findByEmail'>;
  readonly userPasswords: Pick<UserPasswordChanger, 'rehashPassword'>;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly auditLog: Pick<AuditLog, 'beginAuditEntry' | 'completeAuditEntry' | 'withdrawAuditEntry'>;
  readonly logger: Logger;
}

/**
 * Maximum number of users whose passwords are tried if no workspace is named. A refusal always takes this many hashes,
 * whether or not a user has the e-mail address. The number is small, because other requests wait for each hash.
 */
const MAX_USERS_TRIED_AT_SIGN_IN = 3;

/** Length of the date and hour in a timestamp such as `2026-11-21T09:30:00.000Z`. */
const TIMESTAMP_HOUR_PREFIX_LENGTH = '2026-11-21T09'.length;

/**
 * Signs users in by e-mail and password. The audit log has an entry for each session, and for the first refused sign-in
 * of a user in each hour, so that an attacker cannot fill it. Unknown e-mail addresses have none.
 */
export class SignInService {
  readonly #refusals: BackgroundWrites;

  constructor(private readonly parts: SignInDependencies) {
    this.#refusals = new BackgroundWrites(parts.logger, 'could not record a refused sign-in in the audit log');
  }

  /** Resolves when all pending audit entries are written. */
  waitForPendingAuditEntries(): Promise<void> {
    return this.#refusals.waitForWrites();
  }

  /**
   * Begins a session. A repeated command returns the same session. A refusal takes the same work and has the same
   * message whether or not a user has the e-mail address, in any number of workspaces.
   * @throws DomainError `invalid_credentials`; BusyError, UnavailableError
   */
  async signIn(command: SignInCommand, { client, ...request }: SignInRequest): Promise<StartedSession> {
    const { email, password, workspace } = request;
    const stranger = { shares: [request.address], isKnown: false };
    const user = await this.parts.passwords.runInPasswordQueue(client ?? stranger, async (place) => {
      const candidates = await this.#findUsersToSignIn(email, workspace);
      const hashes = workspace === undefined ? MAX_USERS_TRIED_AT_SIGN_IN : 1;
      const found = await this.#findUserWithPassword({ password, place }, candidates, hashes);
      // In the background, because the response must take the same time for an unknown e-mail address.
      if (!found)
        for (const each of candidates)
          this.#refusals.addBackgroundWrite(this.#recordSignInRefusal(command, each, request), {});
      return found;
    });
    if (!user) throw new DomainError('invalid_credentials', 'No active user has this e-mail address and password.');
    const begun = await this.#beginSession(command, user, request);
    // Update the hash in the background. If the update fails, the old hash stays valid.
    void this.parts.userPasswords.rehashPassword(user, password).catch(() => undefined);
    return begun;
  }

  async #beginSession(command: SignInCommand, user: UserDocument, request: SignInRequest): Promise<StartedSession> {
    const { sessions, auditLog, logger } = this.parts;
    const entry = await auditLog.beginAuditEntry({
      ...createSignInAuditFields(command, user, request),
      type: 'session.started',
    });
    const end = (ending: Promise<void>) =>
      ending.catch((error: unknown) =>
        logger.warn(
          { entry: entry.id, error: String(error) },
          'could not complete an audit entry; its outcome stays unknown',
        ),
      );
    try {
      const begun = await sessions.beginSession(command, user, request);
      const { id, device, address } = begun.session;
      await end(
        auditLog.completeAuditEntry(entry, id, {
          device: { from: null, to: device },
          address: { from: null, to: address },
        }),
      );
      return begun;
    } catch (error) {
      if (isErrorWithoutEffect(error)) await end(auditLog.withdrawAuditEntry(entry));
      throw error;
    }
  }

  async #recordSignInRefusal(command: SignInCommand, user: UserDocument, request: SignInRequest): Promise<void> {
    const { auditLog } = this.parts;
    const command_id = `refused sign-in of ${user.id} in ${command.at.slice(0, TIMESTAMP_HOUR_PREFIX_LENGTH)}`;
    const refused = {
      ...createSignInAuditFields(command, user, request),
      command_id,
      type: 'session.refused',
    } as const;
    const entry = await auditLog.beginAuditEntry(refused);
    if (entry.isRepeated) return;
    await auditLog.completeAuditEntry(entry, null, { device: { from: null, to: describeDevice(request.user_agent) } });
  }

  async #findUsersToSignIn(email: string, workspace: string | undefined): Promise<readonly UserDocument[]> {
    if (workspace === undefined)
      return (await this.parts.users.findByEmail(email)).slice(0, MAX_USERS_TRIED_AT_SIGN_IN);
    const named = await this.parts.workspaces.findWorkspaceByName(workspace);
    return this.parts.users.findByEmail(email, named?.id ?? workspace);
  }

  /**
   * Returns the oldest user with this password. If no user has it, returns undefined after `hashes` hashes, so that the
   * duration does not reveal whether a user has the e-mail.
   */
  async #findUserWithPassword(
    { password, place }: { readonly password: string; readonly place: PasswordQueuePlace },
    candidates: readonly UserDocument[],
    hashes: number,
  ): Promise<UserDocument | undefined> {
    const { passwords } = this.parts;
    for (const user of candidates) {
      if (await passwords.verifyPassword(password, user.password_hash, place)) return user;
    }
    for (let n = candidates.length; n < hashes; n += 1) await passwords.verifyPassword(password, undefined, place);
    return undefined;
  }
}

function createSignInAuditFields(
  { id, at }: SignInCommand,
  user: UserDocument,
  { request_id, address }: SignInRequest,
) {
  const { id: user_id, workspace_id } = user;
  const actor = { type: 'user', id: user_id } as const;
  return { command_id: id, at, workspace_id, actor, target_id: null, request_id, address };
}

export interface PasswordChange {
  readonly current_password: string;
  readonly new_password: string;
}

/** Password changes by users. */
export class UserPasswordChanger {
  constructor(
    private readonly store: UserStore,
    private readonly passwords: Passwords,
  ) {}

  /**
   * Sets a new password, which ends all sessions and the link. The session of the request can be renewed for the
   * returned epoch: see {@link Sessions.replaceSessionTokenForNewEpoch}.
   * @throws DomainError `invalid_credentials` if the current password is wrong, `validation_failed`; BusyError
   */
  async changePassword(
    command: IdentityCommand,
    user_id: string,
    { current_password, new_password }: PasswordChange,
  ): Promise<ChangeResult<User> & { readonly sessions_epoch: number }> {
    const user = await this.store.documents.get(user_id);
    if (user?.workspace_id !== command.workspace_id) throw createNotFoundError('user');
    // Accept a repeated command, whose current password is now the former one.
    const password_hash =
      user.changed_by === command.id
        ? user.password_hash
        : await this.#verifyAndHashPassword(user, current_password, new_password);
    const changed = await this.store.changeUser(command, user_id, (present) => {
      // Refuse the change: another command has changed the password since it was checked.
      if (present.status !== 'active' || present.password_hash !== user.password_hash) throw createWrongPasswordError();
      return { password_hash, sessions_epoch: present.sessions_epoch + 1, link: null, link_hash: null };
    });
    return { ...toPublicUserChange(changed), sessions_epoch: changed.after.sessions_epoch };
  }

  /** Hashes a correct password again if its stored hash has another cost than new ones. */
  async rehashPassword({ id, password_hash }: UserDocument, password: string): Promise<void> {
    if (password_hash === null || !this.passwords.isOutdatedHash(password_hash)) return;
    const renewed = await this.passwords.hashPassword(password);
    await this.store.documents.claim({ filter: { id, password_hash } }, { password_hash: renewed });
  }

  async #verifyAndHashPassword(user: UserDocument, current: string, next: string): Promise<string> {
    return this.passwords.runInPasswordQueue(toPasswordQueueClient(user), async (place) => {
      if (!(await this.passwords.verifyPassword(current, user.password_hash, place))) throw createWrongPasswordError();
      requirePasswordMeetsPolicy(next, user.email, 'new_password');
      return this.passwords.hashPassword(next, place);
    });
  }
}

/** Returns the share of a user who has a session, a key or a one-time link. */
export function toPasswordQueueClient({ id }: Pick<UserDocument, 'id'>): ClientInPasswordQueue {
  return { shares: [id], isKnown: true };
}

function createWrongPasswordError(): DomainError {
  return new DomainError('invalid_credentials', 'The current password is wrong.');
}
