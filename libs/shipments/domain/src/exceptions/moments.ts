import type { Timestamp } from '@tracking/contracts';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** @param hours fractions too; less than 0: before it */
export function hoursAfter(time: Timestamp, hours: number): Timestamp {
  return new Date(Date.parse(time) + Math.round(hours * HOUR_MS)).toISOString();
}

/** When a day begins and ends in a time zone; summer time makes days of 23 and 25 hours. */
interface LocalDay {
  readonly from: Timestamp;
  /** Of the day after it. */
  readonly until: Timestamp;
}

/** Asking the platform for the time in a zone is a thousand times dearer than a look-up, and containers share their days. */
const known = new Map<string, LocalDay>();
const MAX_KNOWN = 10_000;
const clocks = new Map<string, Clock>();

/**
 * @param day as `2026-11-21`
 * @param zone its IANA name; UTC where the platform does not know it
 */
export function localDay(day: string, zone: string): LocalDay {
  const key = `${day} ${zone}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const clock = clocks.get(zone) ?? clockOf(zone);
  clocks.set(zone, clock);
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const found = { from: beginning(midnight, clock), until: beginning(midnight + DAY_MS, clock) };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, found);
  return found;
}

/** What the clocks of a zone show at an instant, as if it were UTC; in ms. */
type Clock = (instant: number) => number;

function clockOf(zone: string): Clock {
  try {
    const format = new Intl.DateTimeFormat('en', { ...CLOCK_FORMAT, timeZone: zone });
    return (instant) => shownBy(format, instant);
  } catch {
    return (instant) => instant;
  }
}

const CLOCK_FORMAT: Intl.DateTimeFormatOptions = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
};

function shownBy(format: Intl.DateTimeFormat, instant: number): number {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

/**
 * The first instant of a day: midnight by the offset of the day before or, where clocks were changed before it, by that of
 * the day after it.
 * @param midnight of the day, in UTC
 */
function beginning(midnight: number, clock: Clock): Timestamp {
  const byOffsetAt = (instant: number) => midnight - (clock(instant) - instant);
  const before = byOffsetAt(midnight - DAY_MS);
  const isFirst = clock(before) >= midnight && clock(before - 1) < midnight;
  return new Date(isFirst ? before : byOffsetAt(midnight + DAY_MS)).toISOString();
}
