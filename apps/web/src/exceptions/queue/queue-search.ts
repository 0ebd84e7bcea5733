import type { ShipmentException } from '@tracking/client';
import {
  EXCEPTION_LABELS,
  type ExceptionStatus,
  type ExceptionType,
  SEVERITY_LABELS,
  type Severity,
} from '../exception-labels.ts';
import type { Live } from '../../live/live-events.ts';
import type { Age, QueueSearch } from './queue-address.ts';

export const SEVERITIES = Object.keys(SEVERITY_LABELS) as readonly Severity[];
export const TYPES = Object.keys(EXCEPTION_LABELS) as readonly ExceptionType[];
/** Types with a day or time in their metrics by which something has to be done. */
export const DUE_TYPES = ['demurrage_risk', 'detention_risk', 'missed_connection'] as const;
export const WAITING: readonly ExceptionStatus[] = ['open', 'acknowledged'];

/** As the API's filters, but for the time, which passes while somebody looks. */
export function filterOf({ view, severity, type, status, sort }: QueueSearch, me: string) {
  const [types, severities] = [listed(TYPES, type), listed(SEVERITIES, severity)];
  return {
    status: view === 'resolved' ? (['resolved'] as const) : status === undefined ? WAITING : [status],
    ...(view === 'mine' && { assignee: me }),
    ...(view === 'unassigned' && { unassigned: true }),
    ...(severities.length > 0 && { severity: severities }),
    ...(sort === 'due' && { type: types.length === 0 ? DUE_TYPES : dueAmong(types) }),
    ...(sort !== 'due' && types.length > 0 && { type: types }),
  };
}

/** When those of the age were opened. */
export function openedOf(age: Age | undefined, now: number): { opened_from?: string; opened_to?: string } {
  if (age === undefined) return {};
  const at = new Date(now - Number(age.slice(1)) * 3_600_000).toISOString();
  return age.startsWith('<') ? { opened_from: at } : { opened_to: at };
}

/** Whether a list of what is asked for would have it. */
export function belongs(exception: ShipmentException, search: QueueSearch, me: string, now: number): boolean {
  const { status, severity, type, assignee, unassigned } = { unassigned: false, ...filterOf(search, me) };
  const { opened_from = '', opened_to = '9' } = openedOf(search.age, now);
  return (
    includes(status, exception.status) &&
    includes(severity, exception.severity) &&
    includes(type, exception.type) &&
    (assignee === undefined || exception.assignee === assignee) &&
    (!unassigned || exception.assignee === null) &&
    exception.opened_at >= opened_from &&
    exception.opened_at <= opened_to
  );
}

/**
 * Whether a list may lack an exception that no event reported. Its order can change: an exception that becomes graver between
 * two pages moves to a place that is already read. The stream reports it; without the stream, a list of several pages may lack it.
 */
export function mayLack({ isOn, gaps }: Live, knownGaps: number, pages: number): boolean {
  return gaps > knownGaps || (isOn === false && pages > 1);
}

/** Whether anything but the view and the order is asked for. */
export function isNarrowed({ severity, type, status, age }: QueueSearch): boolean {
  return [severity, type, status, age].some((filter) => filter !== undefined);
}

export function listed<T extends string>(all: readonly T[], text: string | undefined): T[] {
  const named = text?.split(',') ?? [];
  return all.filter((one) => named.includes(one));
}

const dueAmong = (types: readonly ExceptionType[]) => {
  const some = DUE_TYPES.filter((type) => types.includes(type));
  return some.length === 0 ? DUE_TYPES : some;
};

function includes<T extends string>(some: readonly T[] | undefined, value: T): boolean {
  return some === undefined || some.includes(value);
}
