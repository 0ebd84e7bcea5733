import { randomBytes } from 'node:crypto';
import { DomainError } from '@tracking/contracts';
import type { Actor, Timestamp, User } from '@tracking/contracts';
import type { Clock, Collection, Document, DocumentStore } from '@tracking/ports';
import { FIRST_ADMIN_LINKS_COLLECTION_SPEC } from './collections.ts';
import type { AuditLog } from './audit-log.ts';
import type { ChangeResult, IdentityCommand } from './identity-command.ts';
import {
  hashSecretKeyForStorage,
  derivePrefixedId,
  type OneTimeLinkHolderCommand,
  type OneTimeLinkDetails,
  type OneTimeLinkHolder,
  createOneTimeLink,
  type RedeemOneTimeLinkInput,
  createMissingFieldError,
  type OneTimeLink,
  createUnknownLinkError,
} from './secrets.ts';
import { validateAndTrimStoredName } from './records.ts';
import { requirePasswordMeetsPolicy, type Passwords } from './passwords.ts';
import { toPublicUser, type UserStore } from './user-store.ts';

/** The stored link for creating the first admin of a workspace. */
interface FirstAdminLinkDocument extends Document {
  /** Id of the workspace. */
  readonly id: string;
  /** Random value from which the token derives, so that every replica shows the same link. */
  readonly made_by: string;
  readonly made_at: Timestamp;
  readonly link_hash: string;
}

/** Minimum validity of a link when it is shown. */
const MIN_FIRST_ADMIN_LINK_VALIDITY_MS = 86_400_000;
const FIRST_ADMIN_ACTOR: Actor = { type: 'system', id: 'first_admin' };

interface FirstAdminOptions {
  readonly passwords: Passwords;
  readonly auditLog: Pick<AuditLog, 'beginAuditEntry' | 'completeAuditEntry' | 'withdrawAuditEntry'>;
  readonly clock: Clock;
  /** Secret from which the token of the link derives. */
  readonly secret: Uint8Array;
  /** Id of the workspace `default`, which gets its first admin. */
  readonly workspace_id: string;
}

/**
 * Creates the first admin of the workspace `default`. Does nothing if the workspace has an admin. The user's id derives
 * from the workspace, so that only one admin is created, however many replicas and links there are.
 */
export class FirstAdminCreator {
  private constructor(
    private readonly store: UserStore,
    private readonly links: Collection<FirstAdminLinkDocument>,
    private readonly options: FirstAdminOptions,
  ) {}

  static async openFirstAdminCreator(
    documentStore: DocumentStore,
    store: UserStore,
    options: FirstAdminOptions,
  ): Promise<FirstAdminCreator> {
    return new FirstAdminCreator(store, await documentStore.collection(FIRST_ADMIN_LINKS_COLLECTION_SPEC), options);
  }

  /** Returns true if the workspace has no admin yet. */
  async isAdminMissing(): Promise<boolean> {
    return !(await this.store.admins.hasActiveAdmin(this.options.workspace_id));
  }

  /**
   * Returns the one-time link for creating the first admin, to be shown on the console. Every replica returns the same
   * link while it is valid for at least a day, then a new one that replaces it. Undefined if the workspace has an
   * admin.
   */
  async getFirstAdminLink(): Promise<OneTimeLink | undefined> {
    const { workspace_id, secret, clock } = this.options;
    for (;;) {
      if (await this.store.admins.hasActiveAdmin(workspace_id)) return undefined;
      const present = await this.links.get(workspace_id);
      const link = present && createOneTimeLink(secret, 'first_admin', rebuildCommandOfFirstAdminLink(present));
      const now = clock();
      const isGood = link && Date.parse(link.expires_at) - now.getTime() > MIN_FIRST_ADMIN_LINK_VALIDITY_MS;
      if (isGood && hashSecretKeyForStorage(link.token) === present.link_hash) return link;
      await this.#replaceFirstAdminLink(present, { id: randomBytes(16).toString('hex'), at: now.toISOString() });
    }
  }

  /**
   * Creates the first admin without a link and outside of any request, with an audit log entry. Returns undefined if
   * the workspace has an admin.
   * @throws DomainError `validation_failed`, `user_exists` if another user has the e-mail address
   */
  async createFirstAdminIfMissing({
    email,
    password,
  }: {
    readonly email: string;
    readonly password: string;
  }): Promise<User | undefined> {
    const { workspace_id, clock, auditLog } = this.options;
    if (await this.store.admins.hasActiveAdmin(workspace_id)) return undefined;
    const command = { id: FIRST_START_COMMAND_ID, at: clock().toISOString() };
    const entry = await auditLog.beginAuditEntry({
      command_id: command.id,
      at: command.at,
      workspace_id,
      actor: FIRST_ADMIN_ACTOR,
      type: 'user.created',
      target_id: this.#userId,
      request_id: FIRST_START_COMMAND_ID,
      address: null,
    });
    try {
      const { after } = await this.#createFirstAdminUser(command, { email, password, name: null });
      const changes = { email: after.email, role: after.role, status: after.status };
      const fields = Object.entries(changes).map(([field, to]) => [field, { from: null, to }]);
      await auditLog.completeAuditEntry(entry, after.id, Object.fromEntries(fields));
      return after;
    } catch (error) {
      if (error instanceof DomainError) await auditLog.withdrawAuditEntry(entry);
      throw error;
    }
  }

  /** @throws DomainError `not_found` */
  async getLinkDetails(link_hash: string, at: Timestamp): Promise<OneTimeLinkDetails> {
    const { expires_at } = await this.#findUsableLink(link_hash, at);
    return { purpose: 'first_admin', workspace_id: this.options.workspace_id, email: null, role: 'admin', expires_at };
  }

  /** Returns the holder of a link: the future admin; undefined for an unknown link. */
  async findHolderOfFirstAdminLink(link_hash: string): Promise<OneTimeLinkHolder | undefined> {
    const [found] = await this.links.find({ filter: { link_hash }, limit: 1 });
    return found && { user_id: this.#userId, workspace_id: found.id, purpose: 'first_admin' };
  }

  /** @throws DomainError `not_found`, `validation_failed`, `user_exists`; BusyError */
  async createAdminFromLink(
    command: OneTimeLinkHolderCommand,
    link_hash: string,
    { name, email, password }: RedeemOneTimeLinkInput,
  ): Promise<ChangeResult<User>> {
    const made = await this.store.documents.get(this.#userId);
    if (made?.changed_by === command.id) return { before: null, after: toPublicUser(made) };
    await this.#findUsableLink(link_hash, command.at);
    if (name === undefined) throw createMissingFieldError('name');
    if (email === undefined) throw createMissingFieldError('email');
    const user = await this.#createFirstAdminUser(command, { name: validateAndTrimStoredName(name), email, password });
    // Return the same error as for a used link: another request used the link first.
    if (user.made_by !== command.id) throw createUnknownLinkError();
    return user;
  }

  get #userId(): string {
    return derivePrefixedId('usr', `first admin of ${this.options.workspace_id}`);
  }

  async #createFirstAdminUser(
    command: OneTimeLinkHolderCommand,
    { name, email, password }: { readonly name: string | null; readonly email: string; readonly password: string },
  ): Promise<ChangeResult<User> & { readonly made_by: string }> {
    requirePasswordMeetsPolicy(password, email);
    const password_hash = await this.options.passwords.hashPassword(password);
    const actor: Actor = command.id === FIRST_START_COMMAND_ID ? FIRST_ADMIN_ACTOR : { type: 'user', id: this.#userId };
    const making: IdentityCommand = { ...command, actor, workspace_id: this.options.workspace_id };
    const user = { id: this.#userId, name, email, role: 'admin', status: 'active', password_hash } as const;
    const made = await this.store.createUser(making, user);
    return { before: null, after: toPublicUser(made), made_by: made.changed_by };
  }

  async #findUsableLink(link_hash: string, at: Timestamp): Promise<OneTimeLink> {
    const [found] = await this.links.find({ filter: { link_hash }, limit: 1 });
    if (!found) throw createUnknownLinkError();
    const link = createOneTimeLink(this.options.secret, 'first_admin', rebuildCommandOfFirstAdminLink(found));
    if (link.expires_at <= at || (await this.store.admins.hasActiveAdmin(found.id))) throw createUnknownLinkError();
    return link;
  }

  async #replaceFirstAdminLink(
    present: FirstAdminLinkDocument | undefined,
    { id: made_by, at: made_at }: OneTimeLinkHolderCommand,
  ): Promise<void> {
    const { workspace_id: id, secret } = this.options;
    const { token } = createOneTimeLink(secret, 'first_admin', { id: made_by, at: made_at });
    const document = { id, made_by, made_at, link_hash: hashSecretKeyForStorage(token) };
    if (!present) await this.links.insert(document);
    else await this.links.replace(document, { link_hash: present.link_hash });
  }
}

/** Id of the command that creates the admin at an unattended first start: the same on every replica. */
const FIRST_START_COMMAND_ID = 'first start';

function rebuildCommandOfFirstAdminLink({ made_by, made_at }: FirstAdminLinkDocument): OneTimeLinkHolderCommand {
  return { id: made_by, at: made_at };
}
