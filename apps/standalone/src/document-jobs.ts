import { DeletedDocuments, OrphanSweep } from '@tracking/documents';
import type { Clock, DocumentStore, Leases, Logger, Metrics, ObjectStore } from '@tracking/ports';
import type { ReadModels } from '@tracking/read-models';
import type { ShipmentsService } from '@tracking/shipments';

interface DocumentJobsParts {
  readonly objects: ObjectStore;
  readonly documentStore: DocumentStore;
  readonly leases: Leases;
  readonly readModels: ReadModels;
  readonly shipments: ShipmentsService;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What destroys bytes that no document needs. */
export function documentJobs({ readModels, shipments, ...parts }: DocumentJobsParts) {
  const { documents } = readModels.queries;
  const orphans = new OrphanSweep({
    ...parts,
    neededObjects: (shipment_id) => shipments.documentObjects({ shipment_id, now: parts.clock().toISOString() }),
  });
  const deleted = new DeletedDocuments({
    ...parts,
    deletedSince: (place, limit) => documents.deletedSince(place, limit),
  });
  return {
    start(): void {
      orphans.job.start();
      void readModels.ready.then(() => deleted.job.start());
    },
    async stop(): Promise<void> {
      await Promise.all([orphans.job.stop(), deleted.job.stop()]);
    },
  };
}
