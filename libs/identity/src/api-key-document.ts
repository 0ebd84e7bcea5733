import type { ApiKey, Role, Timestamp } from '@tracking/contracts';
import { versionOf } from './identity-command.ts';
import type { VersionedDocument } from './identity-command.ts';

/** A stored key. Its permissions are its owner's, looked up at each use: a changed role changes every key. */
export interface ApiKeyDocument extends Omit<ApiKey, 'role'>, VersionedDocument {
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
  /** The owner's once more, to be found by. Keys from before there were users' lack it. */
  readonly owner_id: string;
}

/** The key as it is answered: never with its hash, and with what older documents lack. */
export function apiKey(document: ApiKeyDocument, role: Role): ApiKey {
  const { hash: _, owner_id: _owner, changed_by: _by, changed_from: _from, ...key } = document;
  return {
    ...key,
    role,
    expires_at: key.expires_at ?? null,
    rotated_to: key.rotated_to ?? null,
    version: versionOf(key),
  };
}

/** Whether a key that ends then has ended at that time. */
export function hasEnded(expires_at: Timestamp | null, at: Timestamp): boolean {
  return expires_at !== null && expires_at <= at;
}
