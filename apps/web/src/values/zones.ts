/** The reader's own. */
export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Limits of date fields: years with fewer or more digits are typing errors. */
export const DAYS = { min: '1900-01-01', max: '2999-12-31' } as const;
/** Limits of fields for a date and time. */
export const TIMES = { min: `${DAYS.min}T00:00`, max: `${DAYS.max}T23:59` } as const;
/** By their zones: to make one takes long. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/** What a clock there shows, as `2026-11-21T10:30`; empty for null. */
export function wallClockOf(instant: string | null, zone: string): string {
  if (instant === null) return '';
  return new Date(shownAt(Date.parse(instant), zone)).toISOString().slice(0, 'YYYY-MM-DDTHH:mm'.length);
}

/**
 * The instant, as `2026-11-21T09:30:00.000Z`, at which a clock there shows this: the first of two where it is put back; where
 * it is put forward past this, the one at which it would have shown this. Undefined where this is no time.
 * @param wallClock `2026-11-21T10:30`, seconds optional
 */
export function instantOf(wallClock: string, zone: string): string | undefined {
  const shown = Date.parse(`${wallClock}Z`);
  if (Number.isNaN(shown)) return undefined;
  // Zones change their clocks once in two days at most.
  const before = shown - aheadAt(shown - DAY_MS, zone);
  const after = shown - aheadAt(shown + DAY_MS, zone);
  const found = [before, after].find((instant) => shownAt(instant, zone) === shown);
  return new Date(found ?? before).toISOString();
}

/** "Shanghai, UTC+8": of `Asia/Shanghai` at that instant. */
export function zoneLabel(zone: string, instant: string | null): string {
  const minutes = Math.round(aheadAt(instant === null ? Date.now() : Date.parse(instant), zone) / MINUTE_MS);
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = `${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
  const city = zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone;
  return minutes === 0 ? `${city}, UTC` : `${city}, UTC${offset}`;
}

/** "24 Nov 2026, 14:00 GMT+8", in the reader's language. */
export function momentIn(instant: string, zone: string): string {
  const parts = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat(undefined, { ...parts, timeZone: zone, timeZoneName: 'short' }).format(
    new Date(instant),
  );
}

/** Whether clocks in both show the same then. */
export function isSameClock(instant: string, one: string, other: string): boolean {
  return wallClockOf(instant, one) === wallClockOf(instant, other);
}

/** "2026-11-24": the day that it is there. */
export function dayIn(instant: string, zone: string): string {
  return wallClockOf(instant, zone).slice(0, 10);
}

/** Whole days from one day to another, both as "2026-11-24"; negative where the other is before. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** A day local to a place, for people: no zone moves it. */
export function dayLabel(day: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));
}

/** What a clock there shows then, as if it were UTC; both as milliseconds. Never by the reader's own clock: that skips an hour. */
function shownAt(instant: number, zone: string): number {
  const parts = clockOf(zone).formatToParts(instant);
  const [year, month, day, hour, minute, second] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  ) as [number, number, number, number, number, number];
  const shown = new Date(0);
  shown.setUTCFullYear(year, month - 1, day);
  return shown.setUTCHours(hour, minute, second, new Date(instant).getUTCMilliseconds());
}

/** By how many milliseconds clocks there are ahead of UTC then. */
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

/** A time of the API in the form of a `datetime-local` field, in the reader's zone; empty where there is none. */
export function toLocalInput(time: string | undefined): string {
  if (time === undefined) return '';
  const at = new Date(time);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The time in such a field, in UTC; undefined if the field is empty or holds no time. */
export function fromLocalInput(text = ''): string | undefined {
  const at = text === '' ? NaN : new Date(text).getTime();
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** What an address says of a time, in UTC; undefined where it is none. */
export function readTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
