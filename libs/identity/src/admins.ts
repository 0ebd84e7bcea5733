import { DomainError } from '@tracking/contracts';
import type { Collection, Document, DocumentStore } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { isActiveAdmin } from './user-document.ts';
import type { UserDocument } from './user-document.ts';

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
export class Admins {
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
