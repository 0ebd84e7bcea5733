import { ENVIRONMENTS, type Scope } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { type DeliveryDocument, toDocument } from './delivery-document.ts';
import { firstOfEach } from './skip-scan.ts';

const AT_ONCE = 200;
const ORDER = ['created_at', 'id'] as const;

/** Gives dead letters that an earlier version stored the field by which they are counted. May be interrupted anywhere. */
export async function giveReasons(deliveries: Collection<DeliveryDocument>, ending: AbortSignal): Promise<void> {
  const byScope = ['workspace_id', 'environment', 'status', ...ORDER] as const;
  for await (const { workspace_id } of firstOfEach(deliveries, byScope)) {
    for (const environment of ENVIRONMENTS) await giveReasonsIn(deliveries, { workspace_id, environment }, ending);
  }
}

async function giveReasonsIn(deliveries: Collection<DeliveryDocument>, scope: Scope, ending: AbortSignal) {
  const { workspace_id, environment } = scope;
  const filter = { workspace_id, environment, status: 'dead_lettered', reason: { exists: false } };
  while (!ending.aborted) {
    const some = await deliveries.find({ filter, sort: { fields: ORDER }, limit: AT_ONCE });
    if (some.length === 0) return;
    await deliveries.writeMany(
      some.map((each) => ({ kind: 'upsert', document: toDocument(each), guard: { revision: each.revision } })),
    );
  }
}
