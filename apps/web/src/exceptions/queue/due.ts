import type { ShipmentException } from '@tracking/client';

type Measured = Pick<ShipmentException, 'type' | 'metrics'>;

/** After the beginning of a day in UTC: when it ends where it ends first. */
const FIRST_END_MS = 10 * 3_600_000;

/** By when something has to be done: a day where the place is, or a moment. */
export interface Due {
  readonly kind: 'day' | 'moment';
  /** `2026-12-24`, or RFC 3339. */
  readonly value: string;
  /** "Last free day" */
  readonly label: string;
}

const DUES: Readonly<Partial<Record<ShipmentException['type'], Omit<Due, 'value'> & { readonly metric: string }>>> = {
  demurrage_risk: { metric: 'last_free_day', kind: 'day', label: 'Last free day' },
  detention_risk: { metric: 'empty_return_by', kind: 'day', label: 'Return empty by' },
  missed_connection: { metric: 'next_etd', kind: 'moment', label: 'Next leg departs' },
};

/** Undefined where its type has none, or it is not known. */
export function dueOf({ type, metrics }: Measured): Due | undefined {
  const due = DUES[type];
  const value = due && metrics[due.metric];
  if (due === undefined || typeof value !== 'string') return undefined;
  return { kind: due.kind, label: due.label, value };
}

/** The soonest first; what is due at no known time last, the longest open first. */
export function byDue(one: ShipmentException, other: ShipmentException): number {
  return dueEnd(one) - dueEnd(other) || one.opened_at.localeCompare(other.opened_at);
}

/** Of a day its end, in UTC: where the place is, is not said. */
function dueEnd(exception: Measured): number {
  const due = dueOf(exception);
  if (due === undefined) return Number.MAX_SAFE_INTEGER;
  return Date.parse(due.kind === 'day' ? `${due.value}T23:59:59.999Z` : due.value);
}

/**
 * Whether that is past. When a day is over at its place the service says, by its severity; settings may have it be that grave
 * from the beginning, but no day is over before it is so anywhere.
 */
export function isOverdue(exception: Measured & Pick<ShipmentException, 'severity'>, now: number): boolean {
  const due = dueOf(exception);
  if (due === undefined) return false;
  const at = Date.parse(due.value);
  return due.kind === 'moment' ? at < now : exception.severity === 'critical' && at + FIRST_END_MS <= now;
}

/** "3 d" of how long it is open. */
export function ageLabel(openedAt: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(openedAt)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
