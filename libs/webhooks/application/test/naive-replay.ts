import type { PublishedEvent } from '@tracking/contracts';
import type { ReplayFilter, ReplayedStatus } from '@tracking/webhooks-domain';

/** An event, and what became of it for the endpoint before the replay. */
export interface PastEvent {
  readonly event: PublishedEvent;
  /** `waiting`: recorded, and due later; `sandbox`: came of a test, and succeeded. */
  readonly fate: ReplayedStatus | 'waiting' | 'sandbox';
  /** Code of the delivery's last error. */
  readonly reason: string | null;
}

/** Ids of what a replay is to send again, by the sentences of the reference, one after the other. */
export function toBeReplayed(
  past: readonly PastEvent[],
  subscribed: readonly string[],
  { since, until, event_types, statuses, reasons }: ReplayFilter,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { event, fate, reason } of past) {
    if (fate === 'waiting' || fate === 'sandbox') continue;
    if (!statuses.includes(fate)) continue;
    if (since !== null && Date.parse(event.created_at) < Date.parse(since)) continue;
    if (Date.parse(event.created_at) > Date.parse(until)) continue;
    if (event_types !== null && !event_types.includes(event.type)) continue;
    if (fate === 'missed' && !subscribed.includes(event.type)) continue;
    // What was missed has no error, as a success has none.
    if (reasons !== null && (reason === null || !reasons.includes(reason))) continue;
    found.add(event.id);
  }
  return found;
}
