import type { StorageQuotaLimiter } from '@tracking/documents';
import type { HttpDependencies } from '@tracking/http';
import type { ObjectStore } from '@tracking/ports';
import type { ShipmentsHttpDependencies } from '@tracking/shipments-http';

/** Dependencies of the routes about documents. */
export interface DocumentsHttpDependencies extends HttpDependencies {
  /**
   * The shipments feature, in this process or behind the service channel. Documents are parts of shipments: their
   * commands and queries are those of shipments.
   */
  readonly shipments: ShipmentsHttpDependencies['shipments'];
  /** Read models behind the list of documents, each with the position that it has reached. */
  readonly readModels: ShipmentsHttpDependencies['readModels'];
  /** The bytes of documents. */
  readonly objects: Pick<ObjectStore, 'putObject' | 'getObject' | 'deleteObject'>;
  /** The limit of the bytes of each workspace's documents. */
  readonly storageQuota: StorageQuotaLimiter;
}
