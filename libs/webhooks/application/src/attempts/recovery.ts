import type { Clock } from '@tracking/ports';
import { broughtForward, isAttempted } from '@tracking/webhooks-domain';
import { type DeliveryDocument, toDocument } from '../deliveries/delivery-document.ts';
import type { Lane } from './lane.ts';
import type { Queues } from './queues.ts';
import { toWaiting } from './waiting-list.ts';

const AT_ONCE = 64;

/** Whether more of what waits should be brought forward: the endpoint recovers and has nothing else to do. */
export function wantsRecovery({ pace, backlog, recovering, endpoint }: Lane, now: number): boolean {
  if (pace === undefined || pace.recoveringSince === null || recovering || !isAttempted(endpoint)) return false;
  return backlog.scheduled.first === undefined || backlog.scheduled.first.due > now;
}

/**
 * Brings the next few waiting deliveries of an endpoint that answers again forward to now. Called whenever it has caught
 * up with the ones before, so that it is never flooded; those that have failed again since keep their schedule.
 */
export async function recover(lane: Lane, queues: Queues, clock: Clock): Promise<void> {
  const since = lane.pace?.recoveringSince ?? null;
  if (since === null) return;
  const upTo = lane.recovered?.since === since ? lane.recovered.upTo : undefined;
  const page = await queues.scheduled(lane.id, upTo, AT_ONCE);
  const last = page.at(-1);
  if (last?.due_at === undefined) {
    if (lane.pace?.recoveringSince === since) lane.pace.recoveringSince = null;
    return;
  }
  lane.recovered = { since, upTo: [last.due_at, last.id] };
  const at = clock().toISOString();
  const changes = page
    .filter(({ id, last_attempt_at: tried }) => !lane.busy.has(id) && (tried === null || Date.parse(tried) < since))
    .map((delivery): readonly [DeliveryDocument, DeliveryDocument] => [
      delivery,
      toDocument(broughtForward(delivery, at)),
    ])
    .filter(([before, after]) => after.revision !== before.revision);
  if (changes.length === 0) return;
  await queues.replace(changes);
  const knownAt = performance.now();
  for (const [, delivery] of changes) {
    lane.backlog.noteChange(delivery.id);
    lane.backlog.scheduled.take(({ id }) => id === delivery.id);
    lane.backlog.add(toWaiting(delivery, knownAt), lane.room);
  }
}
