/** The user's time zone. */
export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Limits of date fields: years with fewer or more digits are typing errors. */
export const DAYS = { min: '1900-01-01', max: '2999-12-31' } as const;
/** Limits of fields for a date and time. */
export const TIMES = { min: `${DAYS.min}T00:00`, max: `${DAYS.max}T23:59` } as const;
/** Formatters by time zone: creating one is slow. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/** The local time in a zone, such as `2026-11-21T10:30`; empty for null. */
export function wallClockOf(instant: string | null, zone: string): string {
  if (instant === null) return '';
  return new Date(shownAt(Date.parse(instant), zone)).toISOString().slice(0, 'YYYY-MM-DDTHH:mm'.length);
}

/**
 * The instant of a local time, such as `2026-11-21T09:30:00.000Z`. If clocks are put back, the first of the two; if they are
 * put forward past this time, the instant at which they would have shown it. Undefined if the text is no time.
 * @param wallClock `2026-11-21T10:30`, seconds optional
 */
export function instantOf(wallClock: string, zone: string): string | undefined {
  const shown = Date.parse(`${wallClock}Z`);
  if (Number.isNaN(shown)) return undefined;
  // A zone changes its clocks at most once in two days.
  const before = shown - aheadAt(shown - DAY_MS, zone);
  const after = shown - aheadAt(shown + DAY_MS, zone);
  const found = [before, after].find((instant) => shownAt(instant, zone) === shown);
  return new Date(found ?? before).toISOString();
}

/** Names a zone and its offset at an instant: "Shanghai, UTC+8" for `Asia/Shanghai`. */
export function zoneLabel(zone: string, instant: string | null): string {
  const minutes = Math.round(aheadAt(instant === null ? Date.now() : Date.parse(instant), zone) / MINUTE_MS);
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = `${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
  const city = zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone;
  return minutes === 0 ? `${city}, UTC` : `${city}, UTC${offset}`;
}

/** Formats an instant in a zone in the user's language, such as "24 Nov 2026, 14:00 GMT+8". */
export function momentIn(instant: string, zone: string): string {
  const parts = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat(undefined, { ...parts, timeZone: zone, timeZoneName: 'short' }).format(
    new Date(instant),
  );
}

/** Checks if clocks in both zones show the same time. */
export function isSameClock(instant: string, one: string, other: string): boolean {
  return wallClockOf(instant, one) === wallClockOf(instant, other);
}

/** The date in a zone, such as "2026-11-24". */
export function dayIn(instant: string, zone: string): string {
  return wallClockOf(instant, zone).slice(0, 10);
}

/** Whole days between two dates such as "2026-11-24"; negative if the second is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** Formats a date without applying a time zone. */
export function dayLabel(day: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));
}

/** The local time in a zone as if it were UTC, in milliseconds. Does not use the user's clock, which skips an hour. */
function shownAt(instant: number, zone: string): number {
  const parts = clockOf(zone).formatToParts(instant);
  const [year, month, day, hour, minute, second] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  ) as [number, number, number, number, number, number];
  const shown = new Date(0);
  shown.setUTCFullYear(year, month - 1, day);
  return shown.setUTCHours(hour, minute, second, new Date(instant).getUTCMilliseconds());
}

/** The offset of a zone from UTC at an instant, in milliseconds. */
function aheadAt(instant: number, zone: string): number {
  return shownAt(instant, zone) - instant;
}

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  const clock = new Intl.DateTimeFormat('en-US', { ...date, ...time, timeZone: zone });
  clocks.set(zone, clock);
  return clock;
}

/** The value of a `datetime-local` field in the user's time zone; empty without a time. */
export function toLocalInput(time: string | undefined): string {
  if (time === undefined) return '';
  const at = new Date(time);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The UTC time of such a field; undefined if it is empty or invalid. */
export function fromLocalInput(text = ''): string | undefined {
  const at = text === '' ? NaN : new Date(text).getTime();
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** Reads a time from an address as UTC; undefined if it is none. */
export function readTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
