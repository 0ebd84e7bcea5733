import type { Collection, Document, DocumentStore } from '@tracking/ports';
import { type NewDelivery, newDelivery } from '@tracking/webhooks-domain';
import { type DeliveryDocument, toDocument } from './delivery-document.ts';
import type { OwnerWakeUps } from './owner-wake-ups.ts';

const NAME = 'webhook_bundles';
const AT_ONCE = 20;

/** Many new deliveries in one document, as development versions stored them (docs/adr/0016-recording.md). */
export interface BundleDocument extends Document, Pick<NewDelivery, Shared> {
  readonly deliveries: readonly (Omit<NewDelivery, Shared | 'sandbox'> & Pick<DeliveryDocument, 'created_at'>)[];
}
type Shared = 'workspace_id' | 'environment' | 'endpoint_id' | 'event_type';

/** Makes each of them a document of its own, unless it is one. May be interrupted anywhere, and done by several at once. */
export async function unpackBundles(
  store: Pick<DocumentStore, 'collection' | 'collectionNames' | 'dropCollection'>,
  deliveries: Collection<DeliveryDocument>,
  wakeUps: Pick<OwnerWakeUps, 'request'>,
): Promise<void> {
  if (!(await store.collectionNames(NAME)).includes(NAME)) return;
  const bundles = await store.collection<BundleDocument>({ name: NAME, indexes: [] });
  for (;;) {
    const some = await bundles.find({ filter: {}, sort: { fields: ['id'] }, limit: AT_ONCE });
    if (some.length === 0) break;
    await deliveries.writeMany(some.flatMap(unpacked).map((document) => ({ kind: 'insert', document })));
    // Another process may own them already, and have read what waits.
    await wakeUps.request([...new Set(some.map(({ endpoint_id }) => endpoint_id))]);
    await bundles.writeMany(some.map(({ id }) => ({ kind: 'delete', id })));
  }
  await store.dropCollection(NAME);
}

function unpacked({ deliveries, ...bundle }: BundleDocument): DeliveryDocument[] {
  const { workspace_id, environment, endpoint_id, event_type } = bundle;
  const shared = { workspace_id, environment, endpoint_id, event_type, sandbox: false };
  return deliveries.map(({ created_at, ...own }) => toDocument(newDelivery({ ...own, ...shared }, created_at)));
}
