import type { PublishedEvent } from '@tracking/contracts';
import type { ReplayFilter, ReplayedStatus } from '@tracking/webhooks-domain';

/** An event, and its state for the endpoint before the replay. */
export interface EventBeforeReplay {
  readonly event: PublishedEvent;
  /** State of the event: `waiting` is recorded and due later; `sandbox` was sent by a test and succeeded. */
  readonly fate: ReplayedStatus | 'waiting' | 'sandbox';
  /** Error code of the delivery (`last_error.code`). */
  readonly reason: string | null;
}

/** Returns the ids of the events that a replay should send again, following the reference's rules one by one. */
export function selectReplayedEvents(
  past: readonly EventBeforeReplay[],
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
    // A missed event has no error code, like a success.
    if (reasons !== null && (reason === null || !reasons.includes(reason))) continue;
    found.add(event.id);
  }
  return found;
}
