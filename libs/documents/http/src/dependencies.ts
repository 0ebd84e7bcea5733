import type { HttpDependencies } from '@tracking/http';
import type { ObjectStore } from '@tracking/ports';
import type { ShipmentsHttpDependencies } from '@tracking/shipments-http';

export interface DocumentsHttpDependencies extends HttpDependencies {
  /** Documents are parts of shipments: their commands and queries are those of shipments. */
  readonly shipments: ShipmentsHttpDependencies['shipments'];
  readonly readModels: ShipmentsHttpDependencies['readModels'];
  /** The bytes of documents. */
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'delete'>;
}
