import { DomainError } from '@tracking/contracts';
import { DuplicateKey } from '@tracking/ports';
import type { Collection, DocumentStore } from '@tracking/ports';
import { Admins } from './admins.ts';
import { checkedEmail, emailKey } from './emails.ts';
import { change, make } from './identity-command.ts';
import type { Changed, IdentityCommand, Kind, Versionless } from './identity-command.ts';
import { idFor } from './secrets.ts';
import type { UserDocument } from './user-document.ts';

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
