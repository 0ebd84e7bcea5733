import {
  type ApiKey,
  DomainError,
  type Environment,
  type KeyOwner,
  type CreatedApiKeyWithSecret,
  type ItemPage,
  type PageRequest,
  type Role,
  type Timestamp,
} from '@tracking/contracts';
import type { Collection, DocumentStore } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { API_KEYS_COLLECTION_SPEC } from './collections.ts';
import {
  changeVersionedDocumentOfWorkspace,
  type ChangeResult,
  type IdentityCommand,
  insertDocumentOfCommand,
  createNotFoundError,
  throwIfIdentityVersionDiffers,
  type VersionedDocument,
} from './identity-command.ts';
import {
  type AccessToApiKeys,
  getMaxRoleOfKey,
  isKeyAccessible,
  requirePermissionToRotateKey,
  requireKeyAccess,
} from './principal.ts';
import { validateAndTrimStoredName, findAllMatchingDocuments, readFilteredPageNewestFirst } from './records.ts';
import { deriveCredentialBytes, hashSecretKeyForStorage, derivePrefixedId, encodeApiKey } from './secrets.ts';
import type { KeyOwnerReader } from './service-accounts.ts';

export interface NewKeyRequest {
  readonly name: string;
  readonly environment: Environment;
  readonly owner: KeyOwner;
  readonly expires_at?: Timestamp | null;
}

interface ApiKeysOptions {
  readonly owners: KeyOwnerReader;
  /** Secret from which keys derive. */
  readonly secret: Uint8Array;
  /** Maximum number of valid keys of one owner. */
  readonly maxPerOwner: number;
  /** Callback for every stored change that may invalidate a key. Runs only in the process that made the change. */
  readonly onChanged: (key: ApiKeyDocument) => void;
}

/** The result of a rotation: the old key before and after, and the new key. */
export interface KeyRotationResult {
  readonly old: ChangeResult<ApiKey>;
  readonly made: CreatedApiKeyWithSecret;
}

const API_KEY_NOUN = 'key';

/** Creates, lists, rotates and revokes API keys that the caller may manage. */
export class ApiKeys {
  private constructor(
    readonly documents: Collection<ApiKeyDocument>,
    private readonly options: ApiKeysOptions,
  ) {}

  static async openStoreOfApiKeys(documentStore: DocumentStore, options: ApiKeysOptions): Promise<ApiKeys> {
    const documents = await documentStore.collection<ApiKeyDocument>(API_KEYS_COLLECTION_SPEC);
    return new ApiKeys(documents, options);
  }

  /**
   * Creates a key. Only the returned `after` contains the key itself.
   * @throws DomainError `validation_failed`; `not_found` if the workspace has no such owner; `user_not_active`;
   *   `permission_denied`; `too_many_keys`; `secret_unreadable` if an earlier attempt of the command created the key
   *   with another secret
   */
  async createKey(
    command: IdentityCommand,
    reach: AccessToApiKeys,
    request: NewKeyRequest,
  ): Promise<{ readonly before: null; readonly after: CreatedApiKeyWithSecret }> {
    const { environment, owner, expires_at = null } = request;
    const name = validateAndTrimStoredName(request.name);
    if (isExpiredAt(expires_at, command.at)) throw createKeyExpiryInPastError();
    const { role } = await this.options.owners.requireActiveOwner(command.workspace_id, owner);
    requireKeyAccess(reach, { owner, role, environment });
    const fields = { name, environment, owner, expires_at, max_role: getMaxRoleOfKey(reach, owner) };
    return { before: null, after: await this.insertApiKey(command, fields, role, 'Revoke one first.') };
  }

  /** Returns the keys that the caller may manage, newest first, including expired and revoked keys. */
  async listKeys(workspace_id: string, reach: AccessToApiKeys, request: PageRequest): Promise<ItemPage<ApiKey>> {
    const isOwn = reach.service_accounts === 'none' && !reach.other_users && reach.user_id !== null;
    const filter = { workspace_id, ...(isOwn && { owner_id: reach.user_id }) };
    return readFilteredPageNewestFirst(this.documents, filter, request, async (documents) =>
      (await this.toApiKeysWithRoles(documents)).filter((key) => isKeyAccessible(reach, key)),
    );
  }

  /** Returns all keys of the workspace, oldest first, including expired and revoked keys. */
  async listWorkspaceKeys(workspace_id: string): Promise<readonly ApiKey[]> {
    return this.toApiKeysWithRoles(
      await findAllMatchingDocuments(this.documents, { workspace_id }, ['created_at', 'id']),
    );
  }

  /** @throws DomainError `not_found`, also for a key out of reach */
  async findAccessibleApiKeyOrThrow(workspace_id: string, reach: AccessToApiKeys, id: string): Promise<ApiKey> {
    const document = await this.documents.get(id);
    if (document?.workspace_id !== workspace_id) throw createNotFoundError(API_KEY_NOUN);
    const [key] = await this.toApiKeysWithRoles([document]);
    if (!key || !isKeyAccessible(reach, key)) throw createNotFoundError(API_KEY_NOUN);
    return key;
  }

  /**
   * Revokes a key permanently: immediately in this process, within seconds in all others. Revoking a revoked key
   * changes nothing.
   * @throws DomainError `not_found`, also for a key out of reach; `precondition_failed`
   */
  async revokeKey(command: IdentityCommand, reach: AccessToApiKeys, id: string): Promise<ChangeResult<ApiKey>> {
    const { role } = await this.findAccessibleApiKeyOrThrow(command.workspace_id, reach, id);
    return this.changeApiKey(command, id, role, ({ revoked_at }) =>
      revoked_at === null ? { revoked_at: command.at } : {},
    );
  }

  /** Returns the ids of the valid keys of an owner, and of those that an earlier attempt of the command revoked. */
  async listKeyIdsOfOwnerToRevoke(
    { id, at, workspace_id }: IdentityCommand,
    owner_id: string,
  ): Promise<readonly string[]> {
    const keys = await findAllMatchingDocuments(this.documents, { workspace_id, owner_id }, ['created_at', 'id']);
    const isValid = ({ revoked_at, expires_at }: ApiKeyDocument) => revoked_at === null && !isExpiredAt(expires_at, at);
    return keys.filter((key) => isValid(key) || key.changed_by === id).map((key) => key.id);
  }

  /**
   * Replaces a key with a new one with the same owner, environment and expiry. The old key expires after the grace
   * period.
   * The new key is stored first: a crash in between leaves an unused key, never a client without a valid key. A
   * repeat of the command completes the rotation. If two rotations run at once, one is refused.
   * @param grace_seconds time for which the old key stays valid
   * @throws DomainError `not_found`, also for a key out of reach; `key_not_active` if it was rotated or revoked or has
   *   expired; `precondition_failed`; `user_not_active`; `permission_denied` for a key of another user;
   *   `too_many_keys` if both keys would be valid during the grace period
   */
  async rotateKey(
    command: IdentityCommand,
    reach: AccessToApiKeys,
    id: string,
    grace_seconds: number,
  ): Promise<KeyRotationResult> {
    const { if_match: _, ...unconditional } = command;
    const old = await this.findAccessibleApiKeyOrThrow(command.workspace_id, reach, id);
    requirePermissionToRotateKey(reach, old);
    const rotated_to = derivePrefixedId('key', command.id);
    const isDone = (present: Pick<ApiKey, 'rotated_to'>) => present.rotated_to === rotated_to;
    const requireRotatable = (present: ApiKey) => {
      throwIfIdentityVersionDiffers(present, command);
      requireActiveKey(present, command.at);
    };
    if (!isDone(old)) {
      requireRotatable(old);
      await this.options.owners.requireActiveOwner(command.workspace_id, old.owner);
    }
    const remedy = grace_seconds > 0 ? 'Revoke one first, or rotate without a grace period.' : undefined;
    const max_role = old.max_role ?? getMaxRoleOfKey(reach, old.owner);
    const made = await this.insertApiKey(command, { ...old, max_role }, old.role, remedy);
    const graceEnds = new Date(Date.parse(command.at) + 1_000 * grace_seconds).toISOString();
    try {
      const changed = await this.changeApiKey(unconditional, id, old.role, (document) => {
        const present = toApiKey(document, old.role);
        if (isDone(present)) return {};
        requireRotatable(present);
        const { expires_at } = present;
        return { rotated_to, expires_at: expires_at !== null && expires_at < graceEnds ? expires_at : graceEnds };
      });
      return { old: changed, made };
    } catch (error) {
      // Delete the new key: repeated commands are refused too, so no client ever receives it.
      if (error instanceof DomainError) await this.documents.delete(rotated_to);
      throw error;
    }
  }

  /**
   * Creates a key whose id and secret derive from the command.
   * @param remedy advice if the owner has too many keys; undefined if the new key replaces a valid one at once
   */
  private async insertApiKey(
    command: IdentityCommand,
    { name, environment, owner, expires_at, max_role }: Required<NewKeyRequest> & Pick<ApiKey, 'max_role'>,
    role: Role,
    remedy: string | undefined,
  ): Promise<CreatedApiKeyWithSecret> {
    const key = encodeApiKey(environment, deriveCredentialBytes(this.options.secret, 'api key', command.id));
    const content = {
      id: derivePrefixedId('key', command.id),
      workspace_id: command.workspace_id,
      name,
      environment,
      prefix: key.slice(0, 'sk_live_'.length + 4),
      last_four: key.slice(-4),
      owner,
      owner_id: owner.id,
      created_by: command.actor,
      created_at: command.at,
      expires_at,
      last_used_at: null,
      revoked_at: null,
      rotated_to: null,
      max_role,
      hash: hashSecretKeyForStorage(key),
    };
    // Check one key at a time, so that only keys above the maximum are refused if several are created at once.
    const document = await retryConflicts(this.documents, `the keys of ${owner.id}`, async () => {
      const stored = await insertDocumentOfCommand(this.documents, command, content);
      if (stored.isNew && remedy !== undefined)
        await this.deleteNewKeyAndThrowIfAboveLimit(stored.document, command.at, remedy);
      return stored.document;
    });
    if (document.hash === hashSecretKeyForStorage(key)) return { ...toApiKey(document, role), key };
    throw new DomainError(
      'secret_unreadable',
      'The key exists but cannot be shown again, because it was created with another SECRETS_KEY. Revoke it and create a new one.',
    );
  }

  /**
   * Deletes the new key again if its owner now has too many. The check follows the insert. If several keys are created
   * concurrently, the check of the last one finds all others, so the maximum is never exceeded.
   * @throws DomainError `too_many_keys`
   */
  private async deleteNewKeyAndThrowIfAboveLimit(
    { id, workspace_id, owner }: ApiKeyDocument,
    at: Timestamp,
    remedy: string,
  ): Promise<void> {
    const { maxPerOwner } = this.options;
    const filter = { workspace_id, owner_id: owner.id, revoked_at: null };
    const options = { index: 'valid', atMost: maxPerOwner + 1 };
    const [permanent, temporary] = await Promise.all([
      this.documents.count({ ...filter, expires_at: null }, options),
      this.documents.count({ ...filter, expires_at: { gt: at } }, options),
    ]);
    if (permanent + temporary <= maxPerOwner) return;
    await this.documents.delete(id);
    const name = owner.type === 'user' ? 'user' : 'service account';
    throw new DomainError('too_many_keys', `The ${name} has ${maxPerOwner} valid keys, the maximum. ${remedy}`);
  }

  private async changeApiKey(
    command: IdentityCommand,
    id: string,
    role: Role,
    decide: (present: ApiKeyDocument) => Partial<ApiKeyDocument>,
  ): Promise<ChangeResult<ApiKey>> {
    const { before, after } = await changeVersionedDocumentOfWorkspace(
      { documents: this.documents, name: API_KEY_NOUN },
      id,
      command,
      decide,
    );
    this.options.onChanged(after);
    return { before: before && toApiKey(before, role), after: toApiKey(after, role) };
  }

  private async toApiKeysWithRoles(documents: readonly ApiKeyDocument[]): Promise<readonly ApiKey[]> {
    const owners = await this.options.owners.getKeyOwnersByIds(documents.map(({ owner }) => owner));
    return documents.map((document) => {
      const owner = owners.get(document.owner.id);
      if (!owner) throw new Error(`key ${document.id}: its owner ${document.owner.id} is missing`);
      return toApiKey(document, owner.role);
    });
  }
}

/** @throws DomainError `key_not_active` */
function requireActiveKey(key: ApiKey, at: Timestamp): void {
  if (key.rotated_to !== null) throw createKeyNotActiveError(`was already rotated, to ${key.rotated_to}`);
  if (key.revoked_at !== null) throw createKeyNotActiveError('is revoked');
  if (isExpiredAt(key.expires_at, at)) throw createKeyNotActiveError('has expired');
}

function createKeyNotActiveError(how: string): DomainError {
  return new DomainError('key_not_active', `The key ${how}.`);
}

function createKeyExpiryInPastError(): DomainError {
  return new DomainError('validation_failed', 'The key would expire immediately.', [
    { param: 'expires_at', code: 'invalid_value', message: 'Must be in the future.' },
  ]);
}

/** A stored key. A key has the current permissions of its owner, so a changed role applies to all keys of the owner. */
export interface ApiKeyDocument extends Omit<ApiKey, 'role' | 'max_role'>, VersionedDocument {
  /** Role that limits the key's permissions. Absent on keys of earlier versions, which have no limit. */
  readonly max_role?: Role | null;
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
  /** The owner's id, for the index. */
  readonly owner_id: string;
}

/** The key as the API returns it, without its hash. */
export function toApiKey(document: ApiKeyDocument, role: Role): ApiKey {
  const { hash: _, owner_id: _owner, changed_by: _by, changed_from: _from, ...key } = document;
  return { ...key, role, max_role: document.max_role ?? null };
}

/** Returns true if a key that expires at `expires_at` is no longer valid at `at`. */
export function isExpiredAt(expires_at: Timestamp | null, at: Timestamp): boolean {
  return expires_at !== null && expires_at <= at;
}
