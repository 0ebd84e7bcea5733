import { QUOTA_COLLECTION } from '@tracking/distributed';
import { RESERVATIONS_COLLECTION } from '@tracking/documents';
import { CLAIMS_COLLECTION } from '@tracking/http';
import { IDENTITY_COLLECTIONS } from '@tracking/identity';
import type { CollectionSpec, DocumentStore } from '@tracking/ports';
import { listReadModelCollections } from '@tracking/read-models';
import { INDEXED_WEBHOOK_COLLECTIONS } from '@tracking/webhooks';
import { SETTINGS_DOCUMENTS } from '@tracking/workspace-settings';

/** Returns all collections that have indexes, and whose indexes services therefore cannot change. @throws Unavailable */
export async function listIndexedCollections(store: DocumentStore): Promise<readonly CollectionSpec[]> {
  return [
    ...IDENTITY_COLLECTIONS,
    CLAIMS_COLLECTION,
    QUOTA_COLLECTION,
    SETTINGS_DOCUMENTS,
    RESERVATIONS_COLLECTION,
    ...INDEXED_WEBHOOK_COLLECTIONS,
    ...(await listReadModelCollections(store)),
  ];
}
