import { QUOTA_COLLECTION_SPEC } from '@tracking/distributed';
import { STORAGE_RESERVATIONS_COLLECTION_SPEC } from '@tracking/documents';
import { IDEMPOTENCY_CLAIMS_COLLECTION_SPEC } from '@tracking/http';
import { IDENTITY_COLLECTIONS } from '@tracking/identity';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import { listReadModelCollections } from '@tracking/read-models';
import { INDEXED_WEBHOOK_COLLECTIONS } from '@tracking/webhooks';
import { WORKSPACE_SETTINGS_COLLECTION_SPEC } from '@tracking/workspace-settings';

/**
 * Returns all collections that have indexes, and whose indexes services therefore cannot change.
 * @throws UnavailableError
 */
export async function listIndexedCollections(store: DocumentStore): Promise<readonly CollectionSpec[]> {
  return [
    ...IDENTITY_COLLECTIONS,
    IDEMPOTENCY_CLAIMS_COLLECTION_SPEC,
    QUOTA_COLLECTION_SPEC,
    WORKSPACE_SETTINGS_COLLECTION_SPEC,
    STORAGE_RESERVATIONS_COLLECTION_SPEC,
    ...INDEXED_WEBHOOK_COLLECTIONS,
    ...(await listReadModelCollections(store)),
  ];
}
