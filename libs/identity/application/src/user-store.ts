import { DomainError, type FieldErrorCode, type User } from '@tracking/contracts';
import { type Collection, type Document, type DocumentStore, DuplicateKey } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { isEmail } from 'class-validator';
import {
  change,
  type Changed,
  type IdentityCommand,
  type Kind,
  make,
  type VersionedDocument,
  type Versionless,
} from './identity-command.ts';
import { idFor, type StoredLink } from './secrets.ts';

/** A stored user. */
export interface UserDocument extends User, VersionedDocument {
  /** The e-mail as it is compared. */
  readonly email_key: string;
  /** A PHC string; null until a password is set. */
  readonly password_hash: string | null;
  /**
   * Grows when all sessions of the user are to end: with a new password, and when they are deactivated. A session
   * stores the one that it was begun in, and is worth nothing in another.
   */
  readonly sessions_epoch: number;
  /**
   * The session that changed the password, with the epoch that this made: it lives on. Of former passwords where the
   * epoch is another one.
   */
  readonly kept_session?: { readonly id: string; readonly epoch: number } | null;
  /** The one link that is good for this user, or was the last. */
  readonly link: StoredLink | null;
  /** SHA-256 of its token, in hex. */
  readonly link_hash: string | null;
}

/** The user as it is answered. */
export function userOf(document: UserDocument): User {
  const { id, workspace_id, name, email, role, status, created_by, created_at, last_seen_at, version } = document;
  return { id, workspace_id, name, email, role, status, created_by, created_at, last_seen_at, version };
}

/** Who counts where a workspace must keep one: whoever was only invited does not. */
function isActiveAdmin({ role, status }: Pick<User, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 'active';
}

/** A change as it is answered. */
export function publicly({ before, after }: Changed<UserDocument>): Changed<User> {
  return { before: before && userOf(before), after: userOf(after) };
}

/** A user to be made: who they are, and how much further than invited they are. */
type UserToMake = Pick<UserDocument, 'email' | 'role'> &
  Partial<Pick<UserDocument, 'id' | 'name' | 'status' | 'password_hash' | 'link' | 'link_hash'>>;

/** Where users are kept: the only way to write who they are. */
export class UserStore {
  readonly #kind: Kind<UserDocument>;

  private constructor(
    readonly documents: Collection<UserDocument>,
    readonly admins: Admins,
    private readonly onChanged: (user: UserDocument) => void,
  ) {
    const write: Kind<UserDocument>['write'] = async (present, set) => admins.write(present, set);
    this.#kind = { documents, name: 'user', forgotten: ['password_hash'], write };
  }

  /** @param onChanged told in this process as soon as a change is stored */
  static async open(documentStore: DocumentStore, onChanged: (user: UserDocument) => void): Promise<UserStore> {
    const documents = await documentStore.collection<UserDocument>({
      name: 'users',
      indexes: [
        { name: 'email', fields: ['workspace_id', 'email_key'], unique: true },
        { name: 'sign_in', fields: ['email_key', 'status', 'created_at', 'id'] },
        { name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] },
        { name: 'role', fields: ['workspace_id', 'role', 'status'] },
        { name: 'link', fields: ['link_hash'] },
      ],
    });
    return new UserStore(documents, await Admins.open(documentStore, documents), onChanged);
  }

  /**
   * Makes a user; the one that the command made before, where it is repeated.
   * @throws DomainError `validation_failed`, `user_exists`
   */
  async make(command: IdentityCommand, user: UserToMake): Promise<UserDocument> {
    const email = checkedEmail(user.email);
    try {
      return await make(this.documents, command, {
        id: idFor('usr', command.id),
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
        email_key: emailKey(email),
      });
    } catch (error) {
      if (!(error instanceof DuplicateKey)) throw error;
      throw new DomainError('user_exists', 'There is a user with this e-mail in the workspace already.');
    }
  }

  /** @throws DomainError `not_found`, `precondition_failed`, `last_admin`, and whatever `decide` throws */
  async change(
    command: IdentityCommand,
    id: string,
    decide: (user: UserDocument) => Partial<Versionless<UserDocument>>,
  ): Promise<Changed<UserDocument>> {
    // None is decided beside a demotion that is half done.
    await this.admins.settle(command.workspace_id);
    const changed = await change(this.#kind, id, command, decide);
    if (changed.before !== changed.after) this.onChanged(changed.after);
    return changed;
  }

  /** In whatever status. */
  async find(workspace_id: string, email: string): Promise<UserDocument | undefined> {
    const [user] = await this.documents.find({ filter: { workspace_id, email_key: emailKey(email) }, limit: 1 });
    return user;
  }
}

/** One for each workspace in which an admin was ever demoted or deactivated. */
interface AdminChangeDocument extends Document {
  /** Of the workspace. */
  readonly id: string;
  /** Grows with each write. */
  readonly version: number;
  readonly is_pending: boolean;
  /** The demotion or deactivation that is under way. */
  readonly pending: {
    readonly user_id: string;
    /** The version of the user that it is a change of. */
    readonly user_version: number;
    readonly set: Partial<UserDocument>;
  } | null;
}

/**
 * Sees to it that a workspace which has an active admin keeps one, without a transaction over two users.
 *
 * Whoever would take one away writes the whole change into the one record of the workspace first, guarded by the record's
 * version, and looks for another active admin between reading that version and writing. A record has room for one change:
 * who finds one there carries it out, then begins anew. So while the record stands at a version without a change, no
 * admin can cease to be one: the other one that was found is still there when the change is written, and no further
 * change gets in before this one is carried out. Carrying out is guarded by the user's version: once anybody tried, later
 * tries do nothing. After a crash in between, the change is carried out by whoever comes next, at the next start at the
 * latest. Making admins needs none of this: more of them never harm.
 */
class Admins {
  private constructor(
    private readonly changes: Collection<AdminChangeDocument>,
    private readonly users: Collection<UserDocument>,
  ) {}

  static async open(documentStore: DocumentStore, users: Collection<UserDocument>): Promise<Admins> {
    const changes = await documentStore.collection<AdminChangeDocument>({
      name: 'admin_changes',
      indexes: [{ name: 'pending', fields: ['is_pending'] }],
    });
    const admins = new Admins(changes, users);
    await admins.#settleAll();
    return admins;
  }

  /** Whether the workspace has an active admin, other than the one given. */
  async exist(workspace_id: string, otherThan?: string): Promise<boolean> {
    const filter = { workspace_id, role: 'admin', status: 'active' };
    const found = await this.users.find({ filter, limit: 2 });
    return found.some(({ id }) => id !== otherThan);
  }

  /**
   * Writes a change of a user; undefined where the user is not as it was read any more.
   * @throws DomainError `last_admin` where it would leave the workspace without one; Busy
   */
  async write(user: UserDocument, set: Partial<UserDocument>): Promise<UserDocument | undefined> {
    const { id, workspace_id, version } = user;
    if (!isActiveAdmin(user) || isActiveAdmin({ ...user, ...set })) {
      return this.users.claim({ filter: { id, version } }, set);
    }
    const change = await retryConflicts(`the admins of ${workspace_id}`, async () => {
      const record = await this.settle(workspace_id);
      if (!(await this.exist(workspace_id, id))) {
        throw new DomainError('last_admin', 'It is the only active admin of the workspace: make another one first.');
      }
      const pending = { user_id: id, user_version: version, set };
      const next = { id: workspace_id, version: record.version + 1, is_pending: true, pending };
      const isWritten =
        record.version === 0
          ? await this.changes.insert(next)
          : await this.changes.replace(next, { version: record.version });
      return isWritten ? next : undefined;
    });
    return this.#carryOut(change);
  }

  /** Carries out what is under way. Before changes of users, so that none is decided beside a demotion half done. */
  settle(workspace_id: string): Promise<AdminChangeDocument> {
    return retryConflicts(`the admins of ${workspace_id}`, async () => {
      const record = await this.changes.get(workspace_id);
      if (!record) return { id: workspace_id, version: 0, is_pending: false, pending: null };
      if (!record.pending) return record;
      await this.#carryOut(record);
      return undefined;
    });
  }

  async #carryOut({ id, version, pending }: AdminChangeDocument): Promise<UserDocument | undefined> {
    if (!pending) return undefined;
    const { user_id, user_version, set } = pending;
    const written = await this.users.claim({ filter: { id: user_id, version: user_version } }, set);
    await this.changes.replace({ id, version: version + 1, is_pending: false, pending: null }, { version });
    if (written) return written;
    // Somebody else carried it out, or the user had changed before.
    const user = await this.users.get(user_id);
    return user?.changed_by === set.changed_by ? user : undefined;
  }

  async #settleAll(): Promise<void> {
    for (;;) {
      const left = await this.changes.find({ filter: { is_pending: true }, limit: 100 });
      if (left.length === 0) return;
      for (const record of left) await this.#carryOut(record);
    }
  }
}

/** Of an address that mail can be sent to (RFC 5321, 4.5.3.1.3). */
export const MAX_EMAIL_LENGTH = 254;

/** What is wrong with an e-mail; undefined when nothing is. */
export function emailFault(text: string): { readonly code: FieldErrorCode; readonly message: string } | undefined {
  if (text.length > MAX_EMAIL_LENGTH) {
    return { code: 'too_long', message: `Must have at most ${MAX_EMAIL_LENGTH} characters.` };
  }
  // Half a surrogate pair: the check of the form would end with it.
  if (!text.isWellFormed()) return { code: 'invalid_value', message: 'Must not hold half a surrogate pair.' };
  return isEmail(text) ? undefined : { code: 'invalid_value', message: 'Must be an e-mail as jo@example.com.' };
}

/**
 * An e-mail as it is stored.
 * @throws DomainError `validation_failed` naming `email`
 */
function checkedEmail(text: string): string {
  const email = text.trim().normalize('NFC');
  const fault = emailFault(email);
  if (fault) throw new DomainError('validation_failed', 'The e-mail is not valid.', [{ param: 'email', ...fault }]);
  return email;
}

/** An e-mail as it is compared: whatever its case. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
