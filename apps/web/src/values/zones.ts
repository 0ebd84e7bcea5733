/** IANA name of the user's time zone. */
export const USER_TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Limits of date fields. A year outside these limits is a typing error. */
export const DATE_LIMITS = { min: '1900-01-01', max: '2999-12-31' } as const;
/** Limits of form fields for a date and a time. */
export const DATE_TIME_LIMITS = { min: `${DATE_LIMITS.min}T00:00`, max: `${DATE_LIMITS.max}T23:59` } as const;
/** Cache of formatters by time zone, because creating a formatter is slow. */
const zoneFormatters = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns an instant as local time in a time zone, such as `2026-11-21T10:30`. For null, the result is an empty text.
 */
export function toWallClock(instant: string | null, zone: string): string {
  if (instant === null) return '';
  return new Date(getLocalTimeMs(Date.parse(instant), zone)).toISOString().slice(0, 'YYYY-MM-DDTHH:mm'.length);
}

/**
 * Converts a local time in a time zone to UTC, such as `2026-11-21T09:30:00.000Z`. If the local time occurs twice, the
 * first one is used. If a daylight saving change skips it, the offset before the change is used. Returns undefined if
 * the text is not a time.
 * @param wallClock local time such as `2026-11-21T10:30`, seconds optional
 */
export function convertLocalTimeToUtc(wallClock: string, zone: string): string | undefined {
  const shown = Date.parse(`${wallClock}Z`);
  if (Number.isNaN(shown)) return undefined;
  // The offsets one day before and after are compared, because a time zone changes its offset at most once in two days.
  const before = shown - getUtcOffsetMs(shown - DAY_MS, zone);
  const after = shown - getUtcOffsetMs(shown + DAY_MS, zone);
  const found = [before, after].find((instant) => getLocalTimeMs(instant, zone) === shown);
  return new Date(found ?? before).toISOString();
}

/** Formats a time zone with its UTC offset at an instant, such as "Shanghai, UTC+8" for `Asia/Shanghai`. */
export function formatZone(zone: string, instant: string | null): string {
  const minutes = Math.round(getUtcOffsetMs(instant === null ? Date.now() : Date.parse(instant), zone) / MINUTE_MS);
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = `${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
  const city = zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone;
  return minutes === 0 ? `${city}, UTC` : `${city}, UTC${offset}`;
}

/** Formats an instant as local time in a time zone, such as "24 Nov 2026, 14:00 GMT+8". */
export function formatInstantInZone(instant: string, zone: string): string {
  const parts = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat(undefined, { ...parts, timeZone: zone, timeZoneName: 'short' }).format(
    new Date(instant),
  );
}

/** Checks if two time zones have the same local time at an instant. */
export function haveSameLocalTime(instant: string, one: string, other: string): boolean {
  return toWallClock(instant, one) === toWallClock(instant, other);
}

/** Returns the date of an instant in a time zone, such as "2026-11-24". */
export function getDateInZone(instant: string, zone: string): string {
  return toWallClock(instant, zone).slice(0, 10);
}

/** Time zone of UTC−12. The API ends a day at a place without a known time zone when it ends there. */
export const WESTERNMOST_TIME_ZONE = 'Etc/GMT+12';

/**
 * Returns the date of a whole day, such as "2026-11-24".
 * @param end last millisecond of the day, as the API returns it
 * @param zone time zone of the place, if it is known
 */
export function getDayAtPlace(end: string, zone: string | null | undefined): string {
  return getDateInZone(end, zone ?? WESTERNMOST_TIME_ZONE);
}

const END_OF_DAY_PATTERN = /:(?:14|29|44|59):59\.999Z$/;

/**
 * Returns the date of a whole day, if the instant is the last millisecond of a day in some time zone. For times whose
 * precision is not at hand. Without the zone, the date of a day at UTC+12 or later is one day too early.
 * @param zone time zone of the place, if it is known; the day of another place is found too
 */
export function getDateIfWholeDay(instant: string, zone?: string | null): string | undefined {
  if (!END_OF_DAY_PATTERN.test(instant)) return undefined;
  const endsAtPlace = zone != null && toWallClock(instant, zone).endsWith('T23:59');
  return getDayAtPlace(instant, endsAtPlace ? zone : null);
}

/** Checks if the value of a form is a date without a time, such as "2026-11-24". */
export function isDateOnly(value: string): boolean {
  return value.length === 'YYYY-MM-DD'.length && !value.includes('T');
}

/**
 * Returns the number of whole days between two dates such as "2026-11-24". The number is negative if the second date is
 * earlier.
 */
export function countDaysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** Formats a date such as "2026-11-24" for display. No time zone is applied. */
export function formatDate(day: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));
}

/**
 * Returns the local time of an instant in a time zone, as the epoch milliseconds of the same clock time in UTC. The
 * user's own local time is not used, because it skips an hour at daylight saving changes.
 */
function getLocalTimeMs(instant: number, zone: string): number {
  const parts = getZoneFormatter(zone).formatToParts(instant);
  const [year, month, day, hour, minute, second] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  ) as [number, number, number, number, number, number];
  const shown = new Date(0);
  shown.setUTCFullYear(year, month - 1, day);
  return shown.setUTCHours(hour, minute, second, new Date(instant).getUTCMilliseconds());
}

/** Returns the UTC offset of a time zone at an instant, in milliseconds. */
function getUtcOffsetMs(instant: number, zone: string): number {
  return getLocalTimeMs(instant, zone) - instant;
}

function getZoneFormatter(zone: string): Intl.DateTimeFormat {
  const known = zoneFormatters.get(zone);
  if (known !== undefined) return known;
  const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  const clock = new Intl.DateTimeFormat('en-US', { ...date, ...time, timeZone: zone });
  zoneFormatters.set(zone, clock);
  return clock;
}

/**
 * Formats an instant in the user's time zone, for a `datetime-local` field. Without an instant, the result is an empty
 * text.
 */
export function toLocalInputValue(time: string | undefined): string {
  if (time === undefined) return '';
  const at = new Date(time);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/**
 * Parses the value of a `datetime-local` field, and returns it as UTC. Returns undefined if the value is empty or
 * invalid.
 */
export function parseLocalInputValue(text = ''): string | undefined {
  const at = text === '' ? NaN : new Date(text).getTime();
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** Parses a time from the page URL, and returns it as UTC. Returns undefined if the parameter is not a time. */
export function parseUrlTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
