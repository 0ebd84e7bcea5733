import type { Actor, User } from '@tracking/contracts';
import type { Clock } from '@tracking/ports';
import type { FirstAdminCreator } from './first-admin.ts';
import type { ChangeResult } from './identity-command.ts';
import {
  hasSecretTokenForm,
  type OneTimeLinkHolderCommand,
  type OneTimeLinkDetails,
  hashLinkToken,
  type OneTimeLinkHolder,
  type RedeemOneTimeLinkInput,
  createMissingFieldError,
  createUnknownLinkError,
} from './secrets.ts';
import { validateAndTrimStoredName } from './records.ts';
import type { PasswordQueuePlace } from './password-queue.ts';
import { requirePasswordMeetsPolicy, type Passwords } from './passwords.ts';
import { toPasswordQueueClient } from './sign-in.ts';
import { toPublicUserChange, type UserDocument, type UserStore } from './user-store.ts';

/** Finds and uses one-time links. All invalid links get the same error. */
export class OneTimeLinks {
  constructor(
    private readonly store: UserStore,
    private readonly firstAdmin: FirstAdminCreator,
    private readonly passwords: Passwords,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` */
  async getLinkDetails(token: string): Promise<OneTimeLinkDetails> {
    const at = this.clock().toISOString();
    const link_hash = hashLinkToken(token);
    const user = await this.#findUserOfLink(link_hash);
    if (!user) return this.firstAdmin.getLinkDetails(link_hash, at);
    const { purpose, expires_at } = requireUsableLink(user, { id: '', at });
    const { workspace_id, email, role } = user;
    return { purpose, workspace_id, email, role, expires_at };
  }

  /**
   * Sets the password and activates the user, who signs in afterwards. A refused request leaves the link valid.
   * @throws DomainError `not_found`, `validation_failed`, for the first admin `user_exists`; BusyError
   */
  async redeemOneTimeLink(
    command: OneTimeLinkHolderCommand,
    token: string,
    use: RedeemOneTimeLinkInput,
  ): Promise<ChangeResult<User>> {
    const link_hash = hashLinkToken(token);
    const user = await this.#findUserOfLink(link_hash);
    if (!user) return this.firstAdmin.createAdminFromLink(command, link_hash, use);
    requireUsableLink(user, command);
    const set = await this.#createUserFieldsFromLink(user, command, use);
    const actor: Actor = { type: 'user', id: user.id };
    const { workspace_id, id } = user;
    const changed = await this.store.changeUser({ ...command, actor, workspace_id }, id, (present) => {
      if (present.link_hash !== link_hash) throw createUnknownLinkError();
      const link = requireUsableLink(present, command);
      // Change nothing: the command is a repeat, and the user was changed later.
      if (link.used_by !== null) return {};
      const sessions_epoch = present.sessions_epoch + 1;
      return { ...set, status: 'active', sessions_epoch, link: { ...link, used_by: command.id } };
    });
    return toPublicUserChange(changed);
  }

  /**
   * Returns the holder and purpose of a link; undefined for an unknown link. Also returns the holder of a used or
   * replaced link.
   */
  async findHolderOfOneTimeLink(token: string): Promise<OneTimeLinkHolder | undefined> {
    if (!hasSecretTokenForm(token)) return undefined;
    const link_hash = hashLinkToken(token);
    const user = await this.#findUserOfLink(link_hash);
    if (!user) return this.firstAdmin.findHolderOfFirstAdminLink(link_hash);
    const { id: user_id, workspace_id, link } = user;
    return { user_id, workspace_id, purpose: link?.purpose ?? 'invitation' };
  }

  async #findUserOfLink(link_hash: string): Promise<UserDocument | undefined> {
    const [user] = await this.store.documents.find({ filter: { link_hash }, limit: 1 });
    return user;
  }

  async #createUserFieldsFromLink(
    user: UserDocument,
    command: OneTimeLinkHolderCommand,
    { name, password }: RedeemOneTimeLinkInput,
  ) {
    if (user.link?.used_by === command.id) return {};
    const named = name === undefined ? user.name : validateAndTrimStoredName(name);
    if (named === null && user.link?.purpose === 'invitation') throw createMissingFieldError('name');
    requirePasswordMeetsPolicy(password, user.email);
    const hash = (place: PasswordQueuePlace) => this.passwords.hashPassword(password, place);
    return { name: named, password_hash: await this.passwords.runInPasswordQueue(toPasswordQueueClient(user), hash) };
  }
}

/** Returns the link of the user if the command may use it or has used it. @throws DomainError `not_found` */
function requireUsableLink({ link, status }: UserDocument, { id, at }: OneTimeLinkHolderCommand) {
  if (link === null) throw createUnknownLinkError();
  if (link.used_by === id) return link;
  const isFor = link.purpose === 'invitation' ? 'invited' : 'active';
  if (link.used_by !== null || link.expires_at <= at || status !== isFor) throw createUnknownLinkError();
  return link;
}
