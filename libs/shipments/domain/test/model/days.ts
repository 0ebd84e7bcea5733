import type { TimeOrDay, TimePrecision, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from '../../src/index.ts';
import { scenarioPlacesStub } from '../scenario.ts';

const HALF_HOUR_MS = 30 * 60_000;

/** Returns true for a date such as `2026-01-05`. */
export function isDateText(time: string): boolean {
  return !time.includes('T');
}

/** Returns the time zone of a place; UTC−12 if it is not known. */
function getTimeZoneOfPlace(place: string | null): string {
  return (place === null ? null : scenarioPlacesStub.find(place)?.timezone) ?? 'Etc/GMT+12';
}

const calendarsByZone = new Map<string, Intl.DateTimeFormat>();

/** Returns the date that calendars at the place show. */
export function toDateAtPlace(time: Timestamp, place: string | null): string {
  const zone = getTimeZoneOfPlace(place);
  const calendar = calendarsByZone.get(zone) ?? new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' });
  calendarsByZone.set(zone, calendar);
  return calendar.format(new Date(time));
}

const endsOfDaysByZone = new Map<string, Timestamp>();

/** Returns the time in UTC: of a date, the last millisecond in which calendars at the place show it. */
export function convertToUtcAtPlace(time: TimeOrDay, place: string | null): Timestamp {
  if (!isDateText(time)) return time;
  const key = `${time} ${getTimeZoneOfPlace(place)}`;
  let end = endsOfDaysByZone.get(key);
  if (end === undefined) {
    let next = Date.parse(time);
    while (toDateAtPlace(new Date(next).toISOString(), place) <= time) next += HALF_HOUR_MS;
    end = new Date(next - 1).toISOString();
    endsOfDaysByZone.set(key, end);
  }
  return end;
}

/** Returns the first millisecond of a date at the place, or the time itself. All tested days have 24 hours. */
export function computeStartOfDateAtPlace(time: TimeOrDay, place: string | null): Timestamp {
  return isDateText(time)
    ? new Date(Date.parse(convertToUtcAtPlace(time, place)) + 1 - 24 * 3_600_000).toISOString()
    : time;
}

/** Returns the precision of a time as clients send it. */
export function getPrecisionOfSentTime(time: TimeOrDay | null): TimePrecision {
  return time !== null && isDateText(time) ? 'day' : 'time';
}

/** Returns the milestone with its time in UTC. */
export function convertDayToUtcAtPlace<T extends Pick<MilestoneInput, 'occurred_at' | 'location'>>(milestone: T): T {
  const { occurred_at, location } = milestone;
  if (!isDateText(occurred_at)) return { ...milestone, occurred_at_precision: 'time' };
  return { ...milestone, occurred_at: convertToUtcAtPlace(occurred_at, location), occurred_at_precision: 'day' };
}

/** Returns the time of a milestone as it was sent: its date, or its time. */
export function getTimeAsSent({
  occurred_at,
  occurred_at_precision,
  location,
}: Pick<MilestoneInput, 'occurred_at' | 'occurred_at_precision' | 'location'>): TimeOrDay {
  return occurred_at_precision === 'day' ? toDateAtPlace(occurred_at, location) : occurred_at;
}
