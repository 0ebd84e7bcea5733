import { DomainError } from '@tracking/contracts';
import type { ItemPage, PageRequest, Role, User } from '@tracking/contracts';
import {
  normalizeEmailForComparison,
  toPublicUserChange,
  type UserDocument,
  toPublicUser,
  type UserStore,
} from './user-store.ts';
import { validateAndTrimStoredName, findAllMatchingDocuments, readPageNewestFirst } from './records.ts';
import { createNotFoundError } from './identity-command.ts';
import type { ChangeResult, IdentityCommand } from './identity-command.ts';
import { hashSecretKeyForStorage, createOneTimeLink, type OneTimeLink } from './secrets.ts';
import { requirePasswordMeetsPolicy, type Passwords } from './passwords.ts';

export interface NewUser {
  readonly email: string;
  readonly role: Role;
}
/** Fields of a change. Omitted fields keep their value. */
export interface UserChanges {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
}
/** A change that created a one-time link. */
export interface ChangedUserWithLink extends ChangeResult<User> {
  readonly link: OneTimeLink;
}

/** A reactivation. The link is null if the user has a password, or was not deactivated. */
interface ReactivatedUser extends ChangeResult<User> {
  readonly link: OneTimeLink | null;
}

/** The users of a workspace, for its admins. */
export class Users {
  /** @param secret from which tokens of links derive */
  constructor(
    private readonly store: UserStore,
    private readonly passwords: Passwords,
    private readonly secret: Uint8Array,
  ) {}

  /**
   * Invites a user, who sets a name and a password with the returned link.
   * @throws DomainError `validation_failed`, `user_exists`
   */
  async inviteUser(command: IdentityCommand, { email, role }: NewUser): Promise<ChangedUserWithLink> {
    const made = createOneTimeLink(this.secret, 'invitation', command);
    const link = { purpose: 'invitation', expires_at: made.expires_at, used_by: null } as const;
    const after = await this.store.createUser(command, {
      email,
      role,
      link,
      link_hash: hashSecretKeyForStorage(made.token),
    });
    return { before: null, after: toPublicUser(after), link: made };
  }

  /**
   * Creates a user who is active immediately.
   * @throws DomainError `validation_failed`, `user_exists`; BusyError
   */
  async createUser(
    command: IdentityCommand,
    { email, role, password }: NewUser & { readonly password: string },
  ): Promise<ChangeResult<User>> {
    requirePasswordMeetsPolicy(password, email);
    const password_hash = await this.passwords.hashPassword(password);
    return {
      before: null,
      after: toPublicUser(await this.store.createUser(command, { email, role, password_hash, status: 'active' })),
    };
  }

  /** Returns a page of the users of a workspace, newest first. */
  async listUsers(workspace_id: string, request: PageRequest): Promise<ItemPage<User>> {
    const { items, next } = await readPageNewestFirst(this.store.documents, { workspace_id }, request);
    return { items: items.map(toPublicUser), next };
  }

  /** Returns all users of a workspace, oldest first. */
  async listWorkspaceUsers(workspace_id: string): Promise<readonly User[]> {
    return (await findAllMatchingDocuments(this.store.documents, { workspace_id }, ['created_at', 'id'])).map(
      toPublicUser,
    );
  }

  /** @throws DomainError `not_found`, also for a user of another workspace */
  async getUser(workspace_id: string, id: string): Promise<User> {
    const user = await this.store.documents.get(id);
    if (user?.workspace_id !== workspace_id) throw createNotFoundError('user');
    return toPublicUser(user);
  }

  /**
   * Returns the user of a workspace with this e-mail address, in any status. @throws DomainError `not_found` naming the
   * address
   */
  async findUserByEmail(workspace_id: string, email: string): Promise<User> {
    const user = await this.store.findByEmail(workspace_id, email);
    if (!user) throw new DomainError('not_found', `This workspace has no user ${email}.`);
    return toPublicUser(user);
  }

  /** Returns the active users with an e-mail address, in all workspaces or in one, oldest first; at most 100. */
  async findByEmail(email: string, workspace_id?: string): Promise<readonly UserDocument[]> {
    if (workspace_id !== undefined) {
      const user = await this.store.findByEmail(workspace_id, email);
      return user?.status === 'active' ? [user] : [];
    }
    const filter = { email_key: normalizeEmailForComparison(email), status: 'active' };
    return this.store.documents.find({ filter, sort: { fields: ['created_at', 'id'] }, limit: 100 });
  }

  /** @throws DomainError `not_found`, `precondition_failed`, `validation_failed`, `last_admin` */
  async changeUser(command: IdentityCommand, id: string, { name, role }: UserChanges): Promise<ChangeResult<User>> {
    const changes = {
      ...(name !== undefined && { name: validateAndTrimStoredName(name) }),
      ...(role !== undefined && { role }),
    };
    return toPublicUserChange(await this.store.changeUser(command, id, () => changes));
  }

  /**
   * Deactivates a user: ends every session and the link; requests with the user's keys are refused with 401.
   * @throws DomainError `not_found`, `precondition_failed`, `last_admin`
   */
  async deactivateUser(command: IdentityCommand, id: string): Promise<ChangeResult<User>> {
    const changed = await this.store.changeUser(command, id, ({ status, sessions_epoch }) =>
      status === 'deactivated'
        ? {}
        : { status: 'deactivated', sessions_epoch: sessions_epoch + 1, link: null, link_hash: null },
    );
    return toPublicUserChange(changed);
  }

  /**
   * Reactivates a user: active, or invited with a new link if the user never set a password.
   * @throws DomainError `not_found`, `precondition_failed`
   */
  async reactivateUser(command: IdentityCommand, id: string): Promise<ReactivatedUser> {
    const made = createOneTimeLink(this.secret, 'invitation', command);
    const link_hash = hashSecretKeyForStorage(made.token);
    const link = { purpose: 'invitation', expires_at: made.expires_at, used_by: null } as const;
    const changed = await this.store.changeUser(command, id, ({ status, password_hash }) => {
      if (status !== 'deactivated') return {};
      return password_hash === null ? { status: 'invited', link, link_hash } : { status: 'active' };
    });
    return { ...toPublicUserChange(changed), link: changed.after.link_hash === link_hash ? made : null };
  }

  /**
   * Creates a link with which the user sets a new password, and ends all sessions of the user; for an invited user,
   * creates a new invitation. Earlier links become invalid; the present password stays valid until the new link is used.
   * @throws DomainError `not_found`, `precondition_failed`, `user_not_active`
   */
  async resetPassword(command: IdentityCommand, id: string): Promise<ChangedUserWithLink> {
    const { token, expires_at } = createOneTimeLink(this.secret, 'password_reset', command);
    const changed = await this.store.changeUser(command, id, ({ status, sessions_epoch }) => {
      if (status === 'deactivated') {
        throw new DomainError('user_not_active', 'The user is deactivated. Reactivate the user first.');
      }
      const purpose = status === 'invited' ? 'invitation' : 'password_reset';
      const link = { purpose, expires_at, used_by: null } as const;
      return { link, link_hash: hashSecretKeyForStorage(token), sessions_epoch: sessions_epoch + 1 };
    });
    const purpose = changed.after.link?.purpose ?? 'password_reset';
    return { ...toPublicUserChange(changed), link: { purpose, token, expires_at } };
  }
}
