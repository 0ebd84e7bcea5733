import type { BodyOf, WebhookEndpoint, WebhookReplay } from '@tracking/client';
import { type EventType, getEventLabel } from '../../values/event-types.ts';
import type { DeliveryStatus, FailureReason } from './webhook-search.ts';

interface StatusLabelAndColor {
  readonly label: string;
  readonly color: string;
}

export const ENDPOINT_STATUS_LABELS: Readonly<Record<WebhookEndpoint['status'], StatusLabelAndColor>> = {
  pending_verification: { label: 'Pending verification', color: 'yellow' },
  verified: { label: 'Verified, not enabled', color: 'blue' },
  enabled: { label: 'Enabled', color: 'green' },
  disabled: { label: 'Disabled', color: 'gray' },
};

export const DISABLED_REASON_LABELS: Readonly<Record<NonNullable<WebhookEndpoint['disabled_reason']>, string>> = {
  manual: 'Disabled by a user.',
  gone: 'The endpoint responded with 410 Gone: it accepts no more events.',
};

export const DELIVERY_STATUS_LABELS: Readonly<Record<DeliveryStatus, StatusLabelAndColor>> = {
  pending: { label: 'Pending', color: 'gray' },
  retrying: { label: 'Retrying', color: 'yellow' },
  succeeded: { label: 'Succeeded', color: 'green' },
  dead_lettered: { label: 'Dead letter', color: 'red' },
  discarded: { label: 'Discarded', color: 'gray' },
};

export const FAILURE_REASON_LABELS: Readonly<Record<FailureReason, string>> = {
  unexpected_status: 'Non-2xx response',
  redirect_not_followed: 'Redirect response',
  timeout: 'Timed out',
  dns_failed: 'DNS lookup failed',
  connection_refused: 'Connection refused',
  connection_failed: 'Connection failed',
  connection_reset: 'Connection reset',
  tls_failed: 'TLS failed',
  address_not_allowed: 'Address not allowed',
  url_not_allowed: 'URL not allowed',
  invalid_response: 'Invalid response',
};

/** Labels of reasons that only failed verifications and dead letters without a known reason have. */
const REASON_LABELS_OF_OTHER_FAILURES: Readonly<Record<string, string>> = {
  challenge_mismatch: 'Response without the token',
  unknown: 'Unknown reason',
};

export function getFailureReasonLabel(code: string): string {
  return FAILURE_REASON_LABELS[code as FailureReason] ?? REASON_LABELS_OF_OTHER_FAILURES[code] ?? code;
}

export const REPLAY_STATUS_LABELS: Readonly<Record<WebhookReplay['status'], StatusLabelAndColor>> = {
  running: { label: 'Running', color: 'blue' },
  completed: { label: 'Completed', color: 'green' },
  canceled: { label: 'Canceled', color: 'gray' },
};

export const REPLAYED_STATUS_CHOICE_LABELS: Readonly<Record<WebhookReplay['statuses'][number], string>> = {
  dead_lettered: 'Dead letters',
  missed: 'Missed: never sent to this endpoint, including events from before it was created',
  discarded: 'Discarded',
  succeeded: 'Succeeded: sent again',
};

/** Converts labels to the options of a select field. */
export const toSelectOptions = <Value extends string>(words: Readonly<Record<Value, StatusLabelAndColor | string>>) =>
  (Object.entries(words) as [Value, StatusLabelAndColor | string][]).map(([value, text]) => ({
    value,
    label: typeof text === 'string' ? text : text.label,
  }));

export type ReplayedStatus = WebhookReplay['statuses'][number];

/** Values of the replay form. An empty list selects all event types or statuses. */
export interface ReplayFormValues {
  since: string | undefined;
  until: string | undefined;
  event_types: EventType[];
  statuses: ReplayedStatus[];
}

export const DEFAULT_REPLAY_VALUES: ReplayFormValues = {
  since: undefined,
  until: undefined,
  event_types: [],
  statuses: ['dead_lettered', 'missed'],
};

export function buildReplayBody({
  since,
  until,
  event_types,
  statuses,
}: ReplayFormValues): BodyOf<'createWebhookReplay'> {
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(event_types.length > 0 && { event_types }),
    statuses,
  };
}

/** Calculates the percentages of the progress bar. For a completed replay without deliveries, the result is 100 %. */
export function calculateReplayProgressPercentages({ status, matched, done, failed }: WebhookReplay): {
  done: number;
  failed: number;
} {
  if (matched === 0) return { done: status === 'completed' ? 100 : 0, failed: 0 };
  return { done: (100 * done) / matched, failed: (100 * failed) / matched };
}

const REPLAY_TIME_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const REPLAYED_STATUS_LABELS: Readonly<Record<ReplayedStatus, string>> = {
  dead_lettered: 'dead letters',
  missed: 'missed',
  discarded: 'discarded',
  succeeded: 'succeeded',
};

/** Describes a replay in words, such as "dead letters, missed; from 1 Nov". */
export function describeReplay(replay: WebhookReplay): string {
  const { since, until, event_types, statuses, reasons, delivery_ids } = replay;
  if (delivery_ids !== null) return `${delivery_ids.length} selected`;
  const parts = [
    statuses.map((status) => REPLAYED_STATUS_LABELS[status]).join(', '),
    since === null ? undefined : `from ${REPLAY_TIME_FORMAT.format(new Date(since))}`,
    `to ${REPLAY_TIME_FORMAT.format(new Date(until))}`,
    event_types?.map(getEventLabel).join(', '),
    reasons?.map(getFailureReasonLabel).join(', '),
  ];
  return parts.filter((part) => part !== undefined).join('; ');
}
