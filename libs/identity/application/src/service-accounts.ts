import {
  DomainError,
  type KeyOwner,
  type ItemPage,
  type PageRequest,
  type Role,
  type ServiceAccount,
} from '@tracking/contracts';
import type { Collection, DocumentStore } from '@tracking/ports';
import { SERVICE_ACCOUNTS_COLLECTION_SPEC } from './collections.ts';
import {
  changeVersionedDocumentOfWorkspace,
  type ChangeResult,
  type IdentityCommand,
  insertDocumentOncePerCommand,
  createNotFoundError,
  type VersionedDocument,
} from './identity-command.ts';
import { validateAndTrimStoredName, readPageNewestFirst } from './records.ts';
import { derivePrefixedId } from './secrets.ts';

/** A stored service account. */
type ServiceAccountDocument = ServiceAccount & VersionedDocument;

const SERVICE_ACCOUNT_RESOURCE_NAME = 'service account';

/** The service accounts of workspaces, for other systems. Each has one role, which applies to all its keys. */
export class ServiceAccounts {
  private constructor(
    private readonly documents: Collection<ServiceAccountDocument>,
    private readonly onChanged: (accountId: string) => void,
  ) {}

  /**
   * @param onChanged callback for every stored change that affects keys. Runs only in the process that made the change
   */
  static async openServiceAccounts(
    documentStore: DocumentStore,
    onChanged: (accountId: string) => void,
  ): Promise<ServiceAccounts> {
    const documents = await documentStore.collection<ServiceAccountDocument>(SERVICE_ACCOUNTS_COLLECTION_SPEC);
    return new ServiceAccounts(documents, onChanged);
  }

  /** @throws DomainError `validation_failed` */
  async createServiceAccount(
    command: IdentityCommand,
    fields: { name: string; role: Role },
  ): Promise<ChangeResult<ServiceAccount>> {
    const document = await insertDocumentOncePerCommand(this.documents, command, {
      id: derivePrefixedId('sva', command.id),
      workspace_id: command.workspace_id,
      name: validateAndTrimStoredName(fields.name),
      role: fields.role,
      status: 'active' as const,
      created_by: command.actor,
      created_at: command.at,
    });
    return { before: null, after: toServiceAccount(document) };
  }

  /** Returns the service accounts of the workspace, newest first. */
  async listServiceAccounts(workspaceId: string, request: PageRequest): Promise<ItemPage<ServiceAccount>> {
    const { items, next } = await readPageNewestFirst(this.documents, { workspace_id: workspaceId }, request);
    return { items: items.map(toServiceAccount), next };
  }

  /** @throws DomainError `not_found`, also in another workspace */
  async getServiceAccount(workspaceId: string, id: string): Promise<ServiceAccount> {
    const document = await this.documents.get(id);
    if (document?.workspace_id !== workspaceId) throw createNotFoundError(SERVICE_ACCOUNT_RESOURCE_NAME);
    return toServiceAccount(document);
  }

  /** Returns the service accounts with these ids, in any workspace; unknown ids are omitted. */
  async getServiceAccountsByIds(ids: readonly string[]): Promise<readonly ServiceAccount[]> {
    return (await this.documents.getMany(ids)).map(toServiceAccount);
  }

  /**
   * Changes name and role. A new role applies to all keys of the account immediately.
   * @throws DomainError `not_found`, `precondition_failed`, `validation_failed`
   */
  async changeServiceAccount(
    command: IdentityCommand,
    id: string,
    { name, role }: { readonly name?: string; readonly role?: Role },
  ): Promise<ChangeResult<ServiceAccount>> {
    const fields = {
      ...(name !== undefined && { name: validateAndTrimStoredName(name) }),
      ...(role !== undefined && { role }),
    };
    return this.writeServiceAccountChange(command, id, fields);
  }

  /**
   * Deactivates an account: its keys are refused until it is reactivated. Revoked and expired keys stay invalid.
   * @throws DomainError `not_found`, `precondition_failed`
   */
  async deactivateServiceAccount(command: IdentityCommand, id: string): Promise<ChangeResult<ServiceAccount>> {
    return this.writeServiceAccountChange(command, id, { status: 'deactivated' });
  }

  /** @throws DomainError `not_found`, `precondition_failed` */
  async reactivateServiceAccount(command: IdentityCommand, id: string): Promise<ChangeResult<ServiceAccount>> {
    return this.writeServiceAccountChange(command, id, { status: 'active' });
  }

  private async writeServiceAccountChange(
    command: IdentityCommand,
    id: string,
    fields: Partial<Pick<ServiceAccount, 'name' | 'role' | 'status'>>,
  ): Promise<ChangeResult<ServiceAccount>> {
    const { before, after } = await changeVersionedDocumentOfWorkspace(
      { documents: this.documents, name: SERVICE_ACCOUNT_RESOURCE_NAME },
      id,
      command,
      (present) => (fields.status === toServiceAccount(present).status ? {} : fields),
    );
    this.onChanged(id);
    return { before: before && toServiceAccount(before), after: toServiceAccount(after) };
  }
}

/** Returns the account as the API shows it. */
function toServiceAccount(document: ServiceAccountDocument): ServiceAccount {
  const { id, workspace_id, name, role, status, created_by, created_at, version } = document;
  return { id, workspace_id, name, role, status, created_by, created_at, version };
}

/** The fields of a user or service account that determine the validity of its keys. */
interface KeyOwnerState {
  readonly id: string;
  readonly workspace_id: string;
  readonly role: Role;
  /** Status of the owner, whose keys are valid only while it is `active`. */
  readonly status: string;
}

/** Looks up users. */
interface KeyOwnerLookUp {
  /** Returns the users with these ids, in any order; unknown ids are omitted. */
  getMany(ids: readonly string[]): Promise<readonly KeyOwnerState[]>;
}

/** Users and service accounts as owners of keys: a key has the present permissions of its owner. */
export class KeyOwnerReader {
  constructor(
    private readonly accounts: Pick<ServiceAccounts, 'getServiceAccountsByIds'>,
    private readonly users: KeyOwnerLookUp,
  ) {}

  async getRoleAndStatusOfKeyOwner(owner: KeyOwner): Promise<KeyOwnerState | undefined> {
    return (await this.getKeyOwnersByIds([owner])).get(owner.id);
  }

  /** Returns the owners by their ids. */
  async getKeyOwnersByIds(owners: readonly KeyOwner[]): Promise<ReadonlyMap<string, KeyOwnerState>> {
    const idsOf = (type: KeyOwner['type']) => [
      ...new Set(owners.filter((one) => one.type === type).map(({ id }) => id)),
    ];
    const [accounts, users] = [idsOf('service_account'), idsOf('user')];
    const found = await Promise.all([
      accounts.length > 0 ? this.accounts.getServiceAccountsByIds(accounts) : [],
      users.length > 0 ? this.users.getMany(users) : [],
    ]);
    return new Map(found.flat().map((owner) => [owner.id, owner]));
  }

  /** Returns an owner who may get keys. @throws DomainError `not_found`, also in another workspace; `user_not_active` */
  async requireActiveOwner(workspaceId: string, owner: KeyOwner): Promise<KeyOwnerState> {
    const found = await this.getRoleAndStatusOfKeyOwner(owner);
    const name = owner.type === 'user' ? 'user' : 'service account';
    if (found?.workspace_id !== workspaceId) throw createNotFoundError(name);
    if (found.status === 'active') return found;
    throw new DomainError('user_not_active', `The ${name} is not active, so it has no valid keys.`);
  }
}
