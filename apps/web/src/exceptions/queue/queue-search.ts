import type { ShipmentException } from '@tracking/client';
import type { LiveStreamStatus } from '../../live/live-events.tsx';
import {
  EXCEPTION_LABELS,
  type ExceptionStatus,
  type ExceptionType,
  SEVERITY_LABELS,
  type Severity,
} from '../exception-labels.ts';

export type View = 'all' | 'mine' | 'unassigned' | 'resolved';
export type QueueSort = '-severity' | 'opened_at' | '-opened_at' | 'due';
/** Values of the age filter, in hours since the exception was opened. */
const EXCEPTION_AGE_FILTERS = ['<24', '>24', '>72', '>168'] as const;
export type Age = (typeof EXCEPTION_AGE_FILTERS)[number];

/** State of the exceptions queue in the page URL: view, filters, sort order and opened exception. */
export interface ExceptionQueueUrlParameters {
  /** Name of the selected view. The default is `all`. */
  readonly view?: Exclude<View, 'all'> | undefined;
  /** Comma-separated values of the filter. */
  readonly severity?: string | undefined;
  /** Comma-separated values of the filter. */
  readonly type?: string | undefined;
  readonly status?: 'open' | 'acknowledged' | undefined;
  readonly age?: Age | undefined;
  /** Sort order of the queue. The default is `-severity`. */
  readonly sort?: Exclude<QueueSort, '-severity'> | undefined;
  /** Id of the opened exception. */
  readonly at?: string | undefined;
}

/** Parses the state of the exceptions queue from the page URL. Invalid parameters are ignored. */
export function readExceptionQueueUrlParameters(raw: Record<string, unknown>): ExceptionQueueUrlParameters {
  const values = {
    view: parseAllowedValue(['mine', 'unassigned', 'resolved'] as const, raw['view']),
    severity: parseCommaSeparatedNames(raw['severity']),
    type: parseCommaSeparatedNames(raw['type']),
    status: parseAllowedValue(['open', 'acknowledged'] as const, raw['status']),
    age: parseAllowedValue(EXCEPTION_AGE_FILTERS, raw['age']),
    sort: parseAllowedValue(['opened_at', '-opened_at', 'due'] as const, raw['sort']),
    at: typeof raw['at'] === 'string' && raw['at'].startsWith('exc_') ? raw['at'] : undefined,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/**
 * Parses a comma-separated list of names. Only the syntax is checked here, since this code is loaded with the start
 * page. The list page checks the names.
 */
function parseCommaSeparatedNames(value: unknown): string | undefined {
  return typeof value === 'string' && /^[a-z_]+(,[a-z_]+)*$/.test(value) ? value : undefined;
}

function parseAllowedValue<const T extends string>(all: readonly T[], value: unknown): T | undefined {
  return all.find((each) => each === value);
}

export const SEVERITY_VALUES = Object.keys(SEVERITY_LABELS) as readonly Severity[];
export const EXCEPTION_TYPES = Object.keys(EXCEPTION_LABELS) as readonly ExceptionType[];
/** Exception types whose metrics include a due date or due time. */
export const EXCEPTION_TYPES_WITH_DUE_DATE = ['demurrage_risk', 'detention_risk', 'missed_connection'] as const;
export const UNRESOLVED_EXCEPTION_STATUSES: readonly ExceptionStatus[] = ['open', 'acknowledged'];

/** Builds the API filters of the queue. The range of opening times depends on the current time and is added later. */
export function buildExceptionFilter({ view, severity, type, status, sort }: ExceptionQueueUrlParameters, me: string) {
  const [types, severities] = [
    parseCommaSeparatedKnownNames(EXCEPTION_TYPES, type),
    parseCommaSeparatedKnownNames(SEVERITY_VALUES, severity),
  ];
  return {
    status:
      view === 'resolved' ? (['resolved'] as const) : status === undefined ? UNRESOLVED_EXCEPTION_STATUSES : [status],
    ...(view === 'mine' && { assignee: me }),
    ...(view === 'unassigned' && { unassigned: true }),
    ...(severities.length > 0 && { severity: severities }),
    ...(sort === 'due' && { type: types.length === 0 ? EXCEPTION_TYPES_WITH_DUE_DATE : selectTypesWithDueDate(types) }),
    ...(sort !== 'due' && types.length > 0 && { type: types }),
  };
}

/** Calculates the range of opening times for an age filter. */
export function calculateOpeningTimeRange(
  age: Age | undefined,
  now: number,
): { opened_from?: string; opened_to?: string } {
  if (age === undefined) return {};
  const at = new Date(now - Number(age.slice(1)) * 3_600_000).toISOString();
  return age.startsWith('<') ? { opened_from: at } : { opened_to: at };
}

/** Checks if an exception matches the view and all filters of the queue. */
export function matchesExceptionQueueFilters(
  exception: ShipmentException,
  search: ExceptionQueueUrlParameters,
  me: string,
  now: number,
): boolean {
  const { status, severity, type, assignee, unassigned } = { unassigned: false, ...buildExceptionFilter(search, me) };
  const { opened_from = '', opened_to = '9' } = calculateOpeningTimeRange(search.age, now);
  return (
    isAnyOrListedValue(status, exception.status) &&
    isAnyOrListedValue(severity, exception.severity) &&
    isAnyOrListedValue(type, exception.type) &&
    (assignee === undefined || exception.assignee === assignee) &&
    (!unassigned || exception.assignee === null) &&
    exception.opened_at >= opened_from &&
    exception.opened_at <= opened_to
  );
}

/**
 * Checks if the list may lack exceptions. If an exception becomes more severe while pages are read, it can move to a
 * page that was already read. The event stream reports this change. While the stream is disconnected, a list of several
 * pages may therefore be incomplete.
 */
export function isListPossiblyIncomplete(
  { isConnected, gaps }: LiveStreamStatus,
  knownGaps: number,
  pages: number,
): boolean {
  return gaps > knownGaps || (isConnected === false && pages > 1);
}

/** Checks if any filter of the queue is set. The view and the sort order are not filters. */
export function hasQueueFilters({ severity, type, status, age }: ExceptionQueueUrlParameters): boolean {
  return [severity, type, status, age].some((filter) => filter !== undefined);
}

export function parseCommaSeparatedKnownNames<T extends string>(all: readonly T[], text: string | undefined): T[] {
  const named = text?.split(',') ?? [];
  return all.filter((one) => named.includes(one));
}

const selectTypesWithDueDate = (types: readonly ExceptionType[]) => {
  const some = EXCEPTION_TYPES_WITH_DUE_DATE.filter((type) => types.includes(type));
  return some.length === 0 ? EXCEPTION_TYPES_WITH_DUE_DATE : some;
};

function isAnyOrListedValue<T extends string>(some: readonly T[] | undefined, value: T): boolean {
  return some === undefined || some.includes(value);
}

type ExceptionMetrics = Pick<ShipmentException, 'type' | 'metrics'>;

/** Milliseconds from the start of a UTC day until this day has ended in the earliest time zone, UTC+14. */
const EARLIEST_ZONE_DAY_END_MS = 10 * 3_600_000;

/** Date or time by which the user must act on an exception. A date is in the local time of the port. */
interface DueDateOrTimeOfException {
  readonly kind: 'day' | 'moment';
  /** The due date, such as `2026-12-24`, or the due time in RFC 3339. */
  readonly value: string;
  /** Label of the due date, such as "Last free day". */
  readonly label: string;
}

const DUE_DATE_BY_EXCEPTION_TYPE: Readonly<
  Partial<Record<ShipmentException['type'], Omit<DueDateOrTimeOfException, 'value'> & { readonly metric: string }>>
> = {
  demurrage_risk: { metric: 'last_free_day', kind: 'day', label: 'Last free day' },
  detention_risk: { metric: 'empty_return_by', kind: 'day', label: 'Return empty by' },
  missed_connection: { metric: 'next_etd', kind: 'moment', label: 'Next leg departs' },
};

/**
 * Returns the due date of an exception. Returns undefined if the exception type has no due date, or if the date is
 * unknown.
 */
export function getExceptionDueDate({ type, metrics }: ExceptionMetrics): DueDateOrTimeOfException | undefined {
  const due = DUE_DATE_BY_EXCEPTION_TYPE[type];
  const value = due && metrics[due.metric];
  if (due === undefined || typeof value !== 'string') return undefined;
  return { kind: due.kind, label: due.label, value };
}

/**
 * Compares two exceptions by due date, soonest first. Exceptions without a due date sort last, the oldest of them
 * first.
 */
export function compareByDueDate(one: ShipmentException, other: ShipmentException): number {
  return (
    getExceptionDueTimestamp(one) - getExceptionDueTimestamp(other) || one.opened_at.localeCompare(other.opened_at)
  );
}

/**
 * Returns the due date in epoch milliseconds. Because the time zone of the port is unknown, a day ends at midnight UTC.
 */
function getExceptionDueTimestamp(exception: ExceptionMetrics): number {
  const due = getExceptionDueDate(exception);
  if (due === undefined) return Number.MAX_SAFE_INTEGER;
  return Date.parse(due.kind === 'day' ? `${due.value}T23:59:59.999Z` : due.value);
}

/**
 * Checks if the due date has passed. When a day has ended in the local time of the port, the service sets the severity
 * to critical. A workspace can configure this severity from the start. Therefore the day must also have ended in the
 * earliest time zone.
 */
export function isExceptionOverdue(
  exception: ExceptionMetrics & Pick<ShipmentException, 'severity'>,
  now: number,
): boolean {
  const due = getExceptionDueDate(exception);
  if (due === undefined) return false;
  const at = Date.parse(due.value);
  return due.kind === 'moment' ? at < now : exception.severity === 'critical' && at + EARLIEST_ZONE_DAY_END_MS <= now;
}

/** Formats the time since an exception was opened, such as "3 d". */
export function formatAge(openedAt: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(openedAt)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
