import type { BodyOf, QueryOf, WebhookDelivery } from '@tracking/client';
import { EVENT_TYPES, type EventType } from '../../values/event-types.ts';
import { parseUrlTime } from '../../values/zones.ts';

/** Filters of the delivery list that the page URL contains. */
export interface DeliveryListUrlParameters {
  readonly endpoint_id?: string | undefined;
  readonly event_id?: string | undefined;
  readonly event_type?: EventType | undefined;
  /** Delivery statuses, separated by commas. */
  readonly status?: string | undefined;
  readonly reason?: FailureReason | undefined;
  /** Start of the period in which the event was created, ISO 8601. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const parseIdWithPrefix = (prefix: string, value: unknown) =>
  typeof value === 'string' && value.trim().startsWith(`${prefix}_`) ? value.trim() : undefined;
const parseAllowedValue = <T extends string>(all: readonly T[], value: unknown) => all.find((each) => each === value);

/** Returns the known delivery statuses of a comma-separated list. */
export function parseDeliveryStatuses(named: unknown): readonly DeliveryStatus[] {
  const names = typeof named === 'string' ? named.split(',') : [];
  return DELIVERY_STATUS_URL_VALUES.filter((known) => names.includes(known));
}

/** Parses the filters of the delivery list from the page URL. Invalid values are ignored. */
export function readDeliveryListUrlParameters(raw: Record<string, unknown>): DeliveryListUrlParameters {
  const status = parseDeliveryStatuses(raw['status']);
  const values: DeliveryListUrlParameters = {
    endpoint_id: parseIdWithPrefix('whe', raw['endpoint_id']),
    event_id: parseIdWithPrefix('evt', raw['event_id']),
    event_type: parseAllowedValue(EVENT_TYPES, raw['event_type']),
    status: status.length > 0 ? status.join(',') : undefined,
    reason: parseAllowedValue(FILTERABLE_FAILURE_REASONS, raw['reason']),
    since: parseUrlTime(raw['since']),
    until: parseUrlTime(raw['until']),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Filters of the dead letters that the page URL contains. */
export type DeadLetterUrlParameters = Omit<DeliveryListUrlParameters, 'status' | 'event_id'>;

export function readDeadLetterUrlParameters(raw: Record<string, unknown>): DeadLetterUrlParameters {
  const { status: _same, event_id: _one, ...search } = readDeliveryListUrlParameters(raw);
  return search;
}

/** Converts the filters to the query of the dead-letter summary. */
export const toDeadLetterSummaryQuery = (search: DeadLetterUrlParameters): QueryOf<'summarizeWebhookDeadLetters'> =>
  search;

/**
 * Returns the selection of dead letters for a request: the selected deliveries, otherwise the filters for all that
 * match.
 */
export function toDeadLetterSelection(
  search: DeadLetterUrlParameters,
  chosen: ReadonlySet<string>,
): BodyOf<'replayWebhookDeadLetters'> {
  if (chosen.size > 0) return { delivery_ids: [...chosen] };
  const { event_type, reason, ...same } = search;
  return {
    ...same,
    ...(event_type !== undefined && { event_types: [event_type] }),
    ...(reason !== undefined && { reasons: [reason] }),
  };
}

const ENDPOINT_TABS = ['overview', 'deliveries', 'replays', 'configuration'] as const;
export type EndpointTab = (typeof ENDPOINT_TABS)[number];

/**
 * State of the endpoint page in the page URL: the open tab, the time window of the statistics and the filters of the
 * deliveries.
 */
export interface EndpointPageUrlParameters extends Omit<DeliveryListUrlParameters, 'endpoint_id'> {
  /** Name of the open tab. The default is `overview`. */
  readonly tab?: EndpointTab | undefined;
  /** Time window of the statistics. The default is one day. */
  readonly window?: StatsWindow | undefined;
}

export function readEndpointUrlParameters(raw: Record<string, unknown>): EndpointPageUrlParameters {
  const { endpoint_id: _path, ...deliveries } = readDeliveryListUrlParameters(raw);
  const tab = ENDPOINT_TABS.find((known) => known === raw['tab']);
  const window = STATS_WINDOW_OPTIONS.find(({ value }) => value === raw['window'])?.value;
  return { ...deliveries, ...(tab && { tab }), ...(window && { window }) };
}

/** Length of each time window and of its chart columns, in hours. */
export const STATS_WINDOW_LENGTHS = {
  day: { label: '24 hours', hours: 24, hoursPerColumn: 1 },
  week: { label: '7 days', hours: 168, hoursPerColumn: 6 },
  month: { label: '30 days', hours: 720, hoursPerColumn: 24 },
} as const;
export type StatsWindow = keyof typeof STATS_WINDOW_LENGTHS;
export const STATS_WINDOW_OPTIONS = (Object.keys(STATS_WINDOW_LENGTHS) as StatsWindow[]).map((value) => ({
  value,
  label: STATS_WINDOW_LENGTHS[value].label,
}));

export type DeliveryStatus = WebhookDelivery['status'];
export type FailureReason = Extract<NonNullable<QueryOf<'listWebhookDeliveries'>['reason']>, string>;

/**
 * Delivery statuses that a page URL may contain. Their labels are in another file, because every page loads this list.
 */
export const DELIVERY_STATUS_URL_VALUES: readonly DeliveryStatus[] = [
  'pending',
  'retrying',
  'succeeded',
  'dead_lettered',
  'discarded',
];
export const FILTERABLE_FAILURE_REASONS: readonly FailureReason[] = [
  'unexpected_status',
  'redirect_not_followed',
  'timeout',
  'dns_failed',
  'connection_refused',
  'connection_failed',
  'connection_reset',
  'tls_failed',
  'address_not_allowed',
  'url_not_allowed',
  'invalid_response',
];
