import type { BodyOf, WebhookReplay } from '@tracking/client';
import { type EventType, eventLabel } from '../../../values/event-types.ts';
import { reasonLabel } from '../webhook-words.ts';

export type ReplayedStatus = WebhookReplay['statuses'][number];

/** What a person asks to be replayed; empty lists are all. */
export interface ReplayValues {
  since: string | undefined;
  until: string | undefined;
  event_types: EventType[];
  statuses: ReplayedStatus[];
}

export const FAILED_OR_MISSED: ReplayValues = {
  since: undefined,
  until: undefined,
  event_types: [],
  statuses: ['dead_lettered', 'missed'],
};

export function replayBody({ since, until, event_types, statuses }: ReplayValues): BodyOf<'createWebhookReplay'> {
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(event_types.length > 0 && { event_types }),
    statuses,
  };
}

/** Shares of what was found, 0 to 100, for a bar; all of nothing is done once it is completed. */
export function progressOf({ status, matched, done, failed }: WebhookReplay): { done: number; failed: number } {
  if (matched === 0) return { done: status === 'completed' ? 100 : 0, failed: 0 };
  return { done: (100 * done) / matched, failed: (100 * failed) / matched };
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const ENDS: Readonly<Record<ReplayedStatus, string>> = {
  dead_lettered: 'dead letters',
  missed: 'missed',
  discarded: 'discarded',
  succeeded: 'succeeded',
};

/** "dead letters, missed; from 1 Nov" */
export function replayAbout(replay: WebhookReplay): string {
  const { since, until, event_types, statuses, reasons, delivery_ids } = replay;
  if (delivery_ids !== null) return `${delivery_ids.length} chosen`;
  const parts = [
    statuses.map((status) => ENDS[status]).join(', '),
    since === null ? undefined : `from ${DAY.format(new Date(since))}`,
    `to ${DAY.format(new Date(until))}`,
    event_types?.map(eventLabel).join(', '),
    reasons?.map(reasonLabel).join(', '),
  ];
  return parts.filter((part) => part !== undefined).join('; ');
}
