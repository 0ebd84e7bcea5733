import type { Document, Lease } from '@tracking/ports';
import { LeaseDistributor, pauseFor } from '@tracking/resilience';
import { noMetrics, silentLogger } from '@tracking/testing';
import { MongoConnection } from '../../src/mongodb/mongo-connection.ts';
import { MongoDocumentStore } from '../../src/mongodb/mongo-document-store.ts';
import { MongoLeases } from '../../src/mongodb/mongo-leases.ts';

/**
 * A process that shares leases, to be killed: `sharing-process MONGODB_URL NAME LEASES`. Under each lease, it counts in
 * a document of the lease's name. It prints `counted <lease> <count>` for each stored count, and `conflict <lease>` if
 * a write was refused although the lease is held.
 */
const [url = '', processName = '', leaseCount = ''] = process.argv.slice(2);
const PAUSE_BETWEEN_COUNTER_WRITES_MS = 20;

interface CountDocument extends Document {
  readonly epoch: number;
  readonly count: number;
}

const mongoConnection = new MongoConnection({ url, metrics: noMetrics });
const documentStore = new MongoDocumentStore(mongoConnection);
const mongoLeases = new MongoLeases(documentStore, noMetrics);
const leaseDistributorOfTestProcess = new LeaseDistributor({
  leases: mongoLeases,
  member: { name: processName },
  logger: silentLogger,
  metrics: noMetrics,
});
const stopController = new AbortController();
process.once('SIGTERM', () => stopController.abort(new Error('stopped')));

async function incrementStoredCountWhileLeaseIsHeld(lease: Lease, ending: AbortSignal): Promise<void> {
  const counts = await documentStore.collection<CountDocument>({ name: 'counts', indexes: [] });
  await counts.insert({ id: lease.name, epoch: 0, count: 0 });
  const known = await counts.claim({ filter: { id: lease.name, epoch: { lte: lease.epoch } } }, { epoch: lease.epoch });
  for (let count = known?.count ?? 0; !ending.aborted && lease.isLeaseHeld(); count += 1) {
    const next = { id: lease.name, epoch: lease.epoch, count: count + 1 };
    const isStored = await counts.replace(next, { epoch: lease.epoch, count });
    if (isStored) process.stdout.write(`counted ${lease.name} ${count + 1}\n`);
    else if (lease.isLeaseHeld()) process.stdout.write(`conflict ${lease.name}\n`);
    if (!isStored) return;
    await pauseFor(PAUSE_BETWEEN_COUNTER_WRITES_MS, ending);
  }
}

async function holdTestLease(name: string): Promise<void> {
  const { signal } = stopController;
  while (!signal.aborted) {
    try {
      const lease = await leaseDistributorOfTestProcess.getOrCreateLeaseGroup('work').acquireLease(name, signal);
      const ending = AbortSignal.any([signal, lease.lost, lease.handOverRequested]);
      await incrementStoredCountWhileLeaseIsHeld(lease, ending).finally(() => lease.releaseLease());
    } catch {
      // The store was unavailable; the process tries again.
      await pauseFor(PAUSE_BETWEEN_COUNTER_WRITES_MS, signal);
    }
  }
}

process.stdout.write('ready\n');
await Promise.all(Array.from({ length: Number(leaseCount) }, (_, number) => holdTestLease(`work-${number}`)));
await mongoLeases.close();
await mongoConnection.closeConnection();
