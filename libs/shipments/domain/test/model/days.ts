import { places } from '../scenario.ts';

const QUARTER_MS = 900_000;

/** The time zone of a place; UTC where none is known. */
export function zoneOf(place: string | null): string {
  return (place === null ? undefined : places.find(place)?.timezone) ?? 'UTC';
}

const found = new Map<string, number>();

/** When a day, as `2026-01-20`, begins in a zone: by looking at the calendar there every quarter of an hour. */
export function startOfDay(day: string, zone: string): number {
  const known = found.get(`${day} ${zone}`);
  if (known !== undefined) return known;
  const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  let moment = Date.parse(`${day}T00:00:00Z`) - 16 * 4 * QUARTER_MS;
  while (calendar.format(moment) < day) moment += QUARTER_MS;
  found.set(`${day} ${zone}`, moment);
  return moment;
}

/** The day after it. */
export function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T12:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
