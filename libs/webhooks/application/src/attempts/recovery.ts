import type { Clock } from '@tracking/ports';
import { broughtForward, isAttempted } from '@tracking/webhooks-domain';
import { type DeliveryDocument, toDocument } from '../store/delivery-document.ts';
import { BEGINNING, type DeliveryQueues, positionOf } from '../store/delivery-queues.ts';
import type { OwnedEndpoint } from './owned-endpoint.ts';
import { toPending } from './priority-queue.ts';

const AT_ONCE = 64;
const NEVER = '1970-01-01T00:00:00.000Z';

/** Whether more of what waits should be brought forward: the endpoint recovers and has nothing else to do. */
export function wantsRecovery({ concurrency, window, recovering, endpoint }: OwnedEndpoint, now: number): boolean {
  const since = concurrency?.recoveringSince ?? null;
  if (since === null || recovering || !isAttempted(endpoint)) return false;
  return window.scheduled.first === undefined || window.scheduled.first.due > now;
}

/**
 * Brings the next few waiting deliveries of an endpoint that answers again forward to now. Called whenever it has caught
 * up with the ones before, so that it is never flooded; those that have failed again since keep their schedule.
 */
export async function recover(owned: OwnedEndpoint, queues: DeliveryQueues, clock: Clock): Promise<void> {
  const since = owned.concurrency?.recoveringSince ?? null;
  if (since === null) return;
  const upTo = owned.recovered?.since === since ? owned.recovered.upTo : BEGINNING;
  const page = await queues.scheduledAfter(upTo, owned.id, AT_ONCE);
  const last = page.at(-1);
  if (last === undefined) {
    if (owned.concurrency?.recoveringSince === since) owned.concurrency.recoveringSince = null;
    return;
  }
  owned.recovered = { since, upTo: positionOf(last) };
  const at = clock().toISOString();
  const changes = page
    .filter(({ id, last_attempt_at: tried }) => !owned.busy.has(id) && Date.parse(tried ?? NEVER) < since)
    .map((delivery): readonly [DeliveryDocument, DeliveryDocument] => [
      delivery,
      toDocument(broughtForward(delivery, at)),
    ])
    .filter(([before, after]) => after.revision !== before.revision);
  if (changes.length === 0) return;
  await queues.replace(changes);
  const knownAt = performance.now();
  for (const [, delivery] of changes) {
    owned.window.noteChange(delivery.id);
    owned.window.scheduled.take(({ id }) => id === delivery.id);
    owned.window.add(toPending(delivery, knownAt), owned.room);
  }
}
