import { DomainError } from '@tracking/contracts';
import type { Actor, ApiKey, Environment, KeyOwner, NewApiKey, Role, Timestamp } from '@tracking/contracts';
import type { Clock, Collection, DocumentStore } from '@tracking/ports';
import { findAll } from './find-all.ts';
import { checkedName } from './names.ts';
import { hashOf, keyOf, newId } from './secrets.ts';
import type { RandomBytes } from './secrets.ts';

export interface ServiceAccountDocument {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly role: Role;
  readonly created_by: Actor;
  readonly created_at: Timestamp;
}
/** A stored key. Its permissions are its owner's, looked up at each use: a changed role changes every key. */
export interface ApiKeyDocument extends Omit<ApiKey, 'role'> {
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
}

export interface NewKeyRequest {
  readonly workspace_id: string;
  readonly name: string;
  readonly environment: Environment;
  /** The role of the service account that is made for the key. */
  readonly role: Role;
  readonly created_by: Actor;
}

export interface ApiKeysOptions {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Told in this process as soon as a revocation is stored. */
  readonly onRevoked: (key: ApiKeyDocument) => void;
}

/** Makes, lists and revokes API keys. */
export class ApiKeys {
  private constructor(
    readonly documents: Collection<ApiKeyDocument>,
    readonly accounts: Collection<ServiceAccountDocument>,
    private readonly options: ApiKeysOptions,
  ) {}

  static async open(documentStore: DocumentStore, options: ApiKeysOptions): Promise<ApiKeys> {
    const [documents, accounts] = await Promise.all([
      documentStore.collection<ApiKeyDocument>({
        name: 'api_keys',
        indexes: [
          { name: 'hash', fields: ['hash'], unique: true },
          { name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] },
        ],
      }),
      documentStore.collection<ServiceAccountDocument>({ name: 'service_accounts', indexes: [] }),
    ]);
    return new ApiKeys(documents, accounts, options);
  }

  /**
   * Makes a service account and its key. The account comes first: a crash between the two leaves one that nobody can
   * use, never a key without an owner.
   * @throws DomainError `validation_failed`
   */
  async create({ workspace_id, name, environment, role, created_by }: NewKeyRequest): Promise<NewApiKey> {
    const { clock, randomBytes } = this.options;
    const checked = checkedName(name);
    const created_at = clock().toISOString();
    const owner: KeyOwner = { type: 'service_account', id: newId('sva', randomBytes) };
    await this.accounts.insert({ id: owner.id, workspace_id, name: checked, role, created_by, created_at });
    const key = keyOf(environment, randomBytes(32));
    const document: ApiKeyDocument = {
      id: newId('key', randomBytes),
      workspace_id,
      name: checked,
      environment,
      prefix: key.slice(0, 'sk_live_'.length + 4),
      last_four: key.slice(-4),
      owner,
      created_by,
      created_at,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      rotated_to: null,
      version: 1,
      hash: hashOf(key),
    };
    await this.documents.insert(document);
    return { ...apiKey(document, role), key };
  }

  /** All keys of the workspace, revoked ones too, oldest first. */
  async list(workspaceId: string): Promise<readonly ApiKey[]> {
    const documents = await findAll(this.documents, { workspace_id: workspaceId }, ['created_at', 'id']);
    const owners = await this.accounts.getMany([...new Set(documents.map(({ owner }) => owner.id))]);
    const roles = new Map(owners.map(({ id, role }) => [id, role]));
    return documents.map((document) => apiKey(document, roleOf(document, roles.get(document.owner.id))));
  }

  /**
   * Revokes the key at once in this process, within seconds in every other; once revoked it stays so, and revoking it
   * again answers the same.
   * @throws DomainError `not_found`, also for a key of another workspace
   */
  async revoke(workspaceId: string, keyId: string): Promise<ApiKey> {
    const filter = { id: keyId, workspace_id: workspaceId };
    const revoked =
      (await this.documents.claim(
        { filter: { ...filter, revoked_at: null } },
        { revoked_at: this.options.clock().toISOString() },
      )) ?? (await this.documents.find({ filter, limit: 1 }))[0];
    if (!revoked) throw new DomainError('not_found', 'No such key in this workspace.');
    this.options.onRevoked(revoked);
    return apiKey(revoked, roleOf(revoked, (await this.accounts.get(revoked.owner.id))?.role));
  }
}

function roleOf(key: ApiKeyDocument, role: Role | undefined): Role {
  if (!role) throw new Error(`key ${key.id}: its service account ${key.owner.id} is missing`);
  return role;
}

/** The key as it is answered: never with its hash. */
function apiKey({ hash: _hash, ...key }: ApiKeyDocument, role: Role): ApiKey {
  return { ...key, role };
}
