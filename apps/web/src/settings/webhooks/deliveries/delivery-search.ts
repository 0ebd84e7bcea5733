import { EVENT_TYPES, type EventType } from '../../../values/event-types.ts';
import { readTime } from '../../../values/zones.ts';
import {
  DELIVERY_STATUS_NAMES,
  type DeliveryStatus,
  FAILURE_REASON_NAMES,
  type FailureReason,
} from '../delivery-values.ts';

/** What of a list of deliveries stands in the address. */
export interface DeliverySearch {
  readonly endpoint_id?: string | undefined;
  readonly event_id?: string | undefined;
  readonly event_type?: EventType | undefined;
  /** Separated by commas. */
  readonly status?: string | undefined;
  readonly reason?: FailureReason | undefined;
  /** ISO 8601, of the events' creation. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const idOf = (prefix: string, value: unknown) =>
  typeof value === 'string' && value.trim().startsWith(`${prefix}_`) ? value.trim() : undefined;
const oneOf = <T extends string>(all: readonly T[], value: unknown) => all.find((each) => each === value);

/** Those that are named, separated by commas. */
export function statusesOf(named: unknown): readonly DeliveryStatus[] {
  const names = typeof named === 'string' ? named.split(',') : [];
  return DELIVERY_STATUS_NAMES.filter((known) => names.includes(known));
}

/** What an address says; what it says wrongly counts as not said. */
export function readDeliverySearch(raw: Record<string, unknown>): DeliverySearch {
  const status = statusesOf(raw['status']);
  const said: DeliverySearch = {
    endpoint_id: idOf('whe', raw['endpoint_id']),
    event_id: idOf('evt', raw['event_id']),
    event_type: oneOf(EVENT_TYPES, raw['event_type']),
    status: status.length > 0 ? status.join(',') : undefined,
    reason: oneOf(FAILURE_REASON_NAMES, raw['reason']),
    since: readTime(raw['since']),
    until: readTime(raw['until']),
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}
