import dayjs from 'dayjs';
import timezone from 'dayjs/plugin/timezone.js';
import utc from 'dayjs/plugin/utc.js';

dayjs.extend(utc);
dayjs.extend(timezone);

/** The reader's own. */
export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What a clock there shows, as `2026-11-21T10:30`; empty for null. */
export function wallClockOf(instant: string | null, zone: string): string {
  return instant === null ? '' : dayjs(instant).tz(zone).format('YYYY-MM-DDTHH:mm');
}

/**
 * The instant, as `2026-11-21T09:30:00.000Z`, at which a clock there shows this.
 * @param wallClock `2026-11-21T10:30`, seconds optional
 */
export function instantOf(wallClock: string, zone: string): string {
  return dayjs.tz(wallClock, zone).toISOString();
}

/** "Shanghai, UTC+8": of `Asia/Shanghai` at that instant. */
export function zoneLabel(zone: string, instant: string | null): string {
  const at = instant === null ? dayjs() : dayjs(instant);
  const minutes = at.tz(zone).utcOffset();
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
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);
}

/** A day local to a place, for people: no zone moves it. */
export function dayLabel(day: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));
}
