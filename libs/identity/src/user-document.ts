import type { User } from '@tracking/contracts';
import type { Changed, VersionedDocument } from './identity-command.ts';
import type { StoredLink } from './links.ts';

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
export function isActiveAdmin({ role, status }: Pick<User, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 'active';
}

/** A change as it is answered. */
export function publicly({ before, after }: Changed<UserDocument>): Changed<User> {
  return { before: before && userOf(before), after: userOf(after) };
}
