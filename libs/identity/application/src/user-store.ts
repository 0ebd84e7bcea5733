import { DomainError, type FieldErrorCode, type User } from '@tracking/contracts';
import { type Collection, type Document, type DocumentStore, DuplicateKeyError } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { isEmail } from 'class-validator';
import { ADMIN_CHANGES_COLLECTION_SPEC, USERS_COLLECTION_SPEC } from './collections.ts';
import {
  changeVersionedDocumentOfWorkspace,
  type ChangeResult,
  type IdentityCommand,
  type VersionedDocumentCollectionDescription,
  insertDocumentOncePerCommand,
  type VersionedDocument,
  type Versionless,
} from './identity-command.ts';
import { HIDDEN_CHARACTERS_MESSAGE, hasHiddenCharacters } from './records.ts';
import { derivePrefixedId, type StoredOneTimeLink } from './secrets.ts';

/** A stored user. */
export interface UserDocument extends User, VersionedDocument {
  /** The e-mail address in normalised form, for comparison. */
  readonly email_key: string;
  /** Password hash as a PHC string; null until a password is set. */
  readonly password_hash: string | null;
  /**
   * Number that grows when all sessions of the user end: with a new password, a password reset, and a deactivation. A
   * session stores its epoch, and is not valid in another one.
   */
  readonly sessions_epoch: number;
  /**
   * The session that changed the password, and the epoch that began with the change, in which the session stays valid.
   * Without effect in later epochs. Only earlier versions set this field.
   */
  readonly kept_session?: { readonly id: string; readonly epoch: number } | null;
  /** The latest link of this user; no earlier one is valid. */
  readonly link: StoredOneTimeLink | null;
  /** SHA-256 of the link's token, in hex. */
  readonly link_hash: string | null;
}

/** Returns the user as the API shows it. */
export function toPublicUser(document: UserDocument): User {
  const { id, workspace_id, name, email, role, status, created_by, created_at, last_seen_at, version } = document;
  return { id, workspace_id, name, email, role, status, created_by, created_at, last_seen_at, version };
}

/** Returns true for an admin who counts when a workspace must keep one. Invited admins do not count. */
function isActiveAdmin({ role, status }: Pick<User, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 'active';
}

/** Returns a change as the API shows it. */
export function toPublicUserChange({ before, after }: ChangeResult<UserDocument>): ChangeResult<User> {
  return { before: before && toPublicUser(before), after: toPublicUser(after) };
}

/** The fields of a new user. By default the user is invited, without a name, password and link. */
type UserToCreate = Pick<UserDocument, 'email' | 'role'> &
  Partial<Pick<UserDocument, 'id' | 'name' | 'status' | 'password_hash' | 'link' | 'link_hash'>>;

/** The stored users. All changes of users go through this class, except `last_seen_at` and renewed hashes. */
export class UserStore {
  readonly #kind: VersionedDocumentCollectionDescription<UserDocument>;

  private constructor(
    readonly documents: Collection<UserDocument>,
    readonly admins: LastAdminGuard,
    private readonly onChanged: (user: UserDocument) => void,
  ) {
    const write: VersionedDocumentCollectionDescription<UserDocument>['write'] = async (present, set) =>
      admins.writeUserUnlessLastAdmin(present, set);
    this.#kind = { documents, name: 'user', forgotten: ['password_hash'], write };
  }

  /** @param onChanged callback for every stored change. Runs only in the process that made the change */
  static async openUserStore(
    documentStore: DocumentStore,
    onChanged: (user: UserDocument) => void,
  ): Promise<UserStore> {
    const documents = await documentStore.collection<UserDocument>(USERS_COLLECTION_SPEC);
    return new UserStore(documents, await LastAdminGuard.openLastAdminGuard(documentStore, documents), onChanged);
  }

  /**
   * Creates a user; a repeat of the command returns the same user.
   * @throws DomainError `validation_failed`, `user_exists`
   */
  async createUser(command: IdentityCommand, user: UserToCreate): Promise<UserDocument> {
    const email = normalizeEmail(user.email);
    try {
      return await insertDocumentOncePerCommand(this.documents, command, {
        id: derivePrefixedId('usr', command.id),
        workspace_id: command.workspace_id,
        name: null,
        status: 'invited',
        created_by: command.actor,
        created_at: command.at,
        last_seen_at: null,
        password_hash: null,
        sessions_epoch: 1,
        link: null,
        link_hash: null,
        ...user,
        email,
        email_key: normalizeEmailForComparison(email),
      });
    } catch (error) {
      if (!(error instanceof DuplicateKeyError)) throw error;
      throw new DomainError('user_exists', 'A user with this e-mail address exists already in the workspace.');
    }
  }

  /** @throws DomainError `not_found`, `precondition_failed`, `last_admin`, and errors of `decide` */
  async changeUser(
    command: IdentityCommand,
    id: string,
    decide: (user: UserDocument) => Partial<Versionless<UserDocument>>,
  ): Promise<ChangeResult<UserDocument>> {
    // Complete a demotion that was interrupted before reading the user.
    await this.admins.completePendingAdminChange(command.workspace_id);
    const changed = await changeVersionedDocumentOfWorkspace(this.#kind, id, command, decide);
    if (changed.before !== changed.after) this.onChanged(changed.after);
    return changed;
  }

  /** Returns the user of the workspace with this e-mail address, in any status. */
  async findByEmail(workspace_id: string, email: string): Promise<UserDocument | undefined> {
    const [user] = await this.documents.find({
      filter: { workspace_id, email_key: normalizeEmailForComparison(email) },
      limit: 1,
    });
    return user;
  }
}

/** Record of a workspace in which an admin was ever demoted or deactivated. */
interface PendingAdminRemovalDocument extends Document {
  /** Id of the workspace. */
  readonly id: string;
  /** Version number, which grows with each write. */
  readonly version: number;
  readonly is_pending: boolean;
  /** The demotion or deactivation in progress. */
  readonly pending: {
    readonly user_id: string;
    /** The version of the user to which the change applies. */
    readonly user_version: number;
    readonly set: Partial<UserDocument>;
  } | null;
}

/**
 * Ensures that a workspace with an active admin keeps one, without a transaction over two users. A change that removes
 * an admin is first written as a whole to the workspace's one record, guarded by the record's version. Between reading
 * that version and writing the change, the process checks that there is another active admin. The record holds at most
 * one change. A process that finds a pending change completes it, then starts again. So while the record is at a
 * version without a change, no admin can be demoted: the other admin is still there when the change is written, and no
 * further change can follow before this one is completed. Completing is guarded by the user's version, so it takes
 * effect once. After a crash, the next command or the next start completes the change. Adding an admin needs no record.
 */
class LastAdminGuard {
  private constructor(
    private readonly changes: Collection<PendingAdminRemovalDocument>,
    private readonly users: Collection<UserDocument>,
  ) {}

  static async openLastAdminGuard(
    documentStore: DocumentStore,
    users: Collection<UserDocument>,
  ): Promise<LastAdminGuard> {
    const changes = await documentStore.collection<PendingAdminRemovalDocument>(ADMIN_CHANGES_COLLECTION_SPEC);
    const admins = new LastAdminGuard(changes, users);
    await admins.#completePendingAdminChanges();
    return admins;
  }

  /** Returns true if the workspace has an active admin, other than the given one. */
  async hasActiveAdmin(workspace_id: string, otherThan?: string): Promise<boolean> {
    const filter = { workspace_id, role: 'admin', status: 'active' };
    const found = await this.users.find({ filter, limit: 2 });
    return found.some(({ id }) => id !== otherThan);
  }

  /**
   * Writes a change of a user; returns undefined if the user was changed since it was read.
   * @throws DomainError `last_admin` if the workspace would have no active admin left; BusyError
   */
  async writeUserUnlessLastAdmin(user: UserDocument, set: Partial<UserDocument>): Promise<UserDocument | undefined> {
    const { id, workspace_id, version } = user;
    if (!isActiveAdmin(user) || isActiveAdmin({ ...user, ...set })) {
      return this.users.claim({ filter: { id, version } }, set);
    }
    const change = await retryConflicts(this.changes, `the admins of ${workspace_id}`, async () => {
      const record = await this.#completePendingAdminChange(workspace_id);
      if (!record) return undefined;
      if (!(await this.hasActiveAdmin(workspace_id, id))) {
        throw new DomainError(
          'last_admin',
          'The user is the only active admin of the workspace. Give another user the role admin first.',
        );
      }
      const pending = { user_id: id, user_version: version, set };
      const next = { id: workspace_id, version: record.version + 1, is_pending: true, pending };
      const isWritten =
        record.version === 0
          ? await this.changes.insert(next)
          : await this.changes.replace(next, { version: record.version });
      return isWritten ? next : undefined;
    });
    return this.#executePendingAdminChange(change);
  }

  /**
   * Completes the pending change of a workspace. Call this method before each change of a user, because a demotion may
   * have been interrupted.
   */
  completePendingAdminChange(workspace_id: string): Promise<PendingAdminRemovalDocument> {
    return retryConflicts(this.changes, `the admins of ${workspace_id}`, () =>
      this.#completePendingAdminChange(workspace_id),
    );
  }

  /** Returns the record if it has no change in progress. Otherwise completes the change and returns undefined. */
  async #completePendingAdminChange(workspace_id: string): Promise<PendingAdminRemovalDocument | undefined> {
    const record = await this.changes.get(workspace_id);
    if (!record) return { id: workspace_id, version: 0, is_pending: false, pending: null };
    if (!record.pending) return record;
    await this.#executePendingAdminChange(record);
    return undefined;
  }

  async #executePendingAdminChange({
    id,
    version,
    pending,
  }: PendingAdminRemovalDocument): Promise<UserDocument | undefined> {
    if (!pending) return undefined;
    const { user_id, user_version, set } = pending;
    const written = await this.users.claim({ filter: { id: user_id, version: user_version } }, set);
    await this.changes.replace({ id, version: version + 1, is_pending: false, pending: null }, { version });
    if (written) return written;
    // If nothing was written, another process completed the change, or the user was changed before.
    const user = await this.users.get(user_id);
    return user?.changed_by === set.changed_by ? user : undefined;
  }

  async #completePendingAdminChanges(): Promise<void> {
    for (;;) {
      const left = await this.changes.find({ filter: { is_pending: true }, limit: 100 });
      if (left.length === 0) return;
      for (const record of left) await this.#executePendingAdminChange(record);
    }
  }
}

/** Longest e-mail address that mail can be sent to (RFC 5321, 4.5.3.1.3). */
export const MAX_EMAIL_LENGTH = 254;

/** Returns the fault of an e-mail address; undefined if it is valid. */
export function describeEmailFault(
  text: string,
): { readonly code: FieldErrorCode; readonly message: string } | undefined {
  if (text.length > MAX_EMAIL_LENGTH) {
    return { code: 'too_long', message: `Must have at most ${MAX_EMAIL_LENGTH} characters.` };
  }
  // Also refuses unpaired surrogates, on which the syntax check would throw.
  if (hasHiddenCharacters(text)) return { code: 'invalid_value', message: HIDDEN_CHARACTERS_MESSAGE };
  return isEmail(text)
    ? undefined
    : { code: 'invalid_value', message: 'Must be an e-mail address such as jo@example.com.' };
}

/**
 * Returns the e-mail address in its stored form.
 * @throws DomainError `validation_failed` naming `email`
 */
function normalizeEmail(text: string): string {
  const email = text.trim().normalize('NFC');
  const fault = describeEmailFault(email);
  if (fault)
    throw new DomainError('validation_failed', 'The e-mail address is not valid.', [{ param: 'email', ...fault }]);
  return email;
}

/** Returns the e-mail address in normalised form, for comparison; case does not matter. */
export function normalizeEmailForComparison(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
