import type { Leg, PlaceLookup, TimeOrDay, TimePrecision, Timestamp } from '@tracking/contracts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;
const LOCAL_TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/;

/** IANA name of UTC−12, where each day ends last. It is the zone of places whose zone is not known. */
const WESTERNMOST_TIME_ZONE = 'Etc/GMT+12';

/** A time, with its date if its precision is `day`. */
export interface UtcTimeWithLocalDay {
  /** The time in UTC. The time of a day is its last millisecond at the place. */
  readonly value: Timestamp | null;
  /** The local date at the place; null if the precision is `time`. */
  readonly day: string | null;
}

/** Returns true for a date such as `2026-12-09`. */
export function isDateWithoutTime(time: TimeOrDay): boolean {
  return time.length === 10 && DAY_PATTERN.test(time);
}

/** Returns true for a normalized time without an offset, such as `2026-12-09T10:30:00.000`. */
export function isLocalTime(time: string): boolean {
  return time.length === 23 && LOCAL_TIME_PATTERN.test(time);
}

/** Returns the time zone of a port; null if it is not known. */
export function getTimeZoneOfPort(port: string | null, places: PlaceLookup): string | null {
  return port === null ? null : (places.find(port)?.timezone ?? null);
}

/**
 * Converts a time or date as a client sent it.
 * @param zone time zone of the place; null if it is not known
 */
export function convertStatedDateToTime(given: TimeOrDay | null, zone: string | null): UtcTimeWithLocalDay {
  if (given === null || !isDateWithoutTime(given)) return { value: given, day: null };
  return { value: computeEndOfDay(given, zone), day: given };
}

/** Restores a stated time from a stored time and its precision. */
export function buildStatedTimeFromStoredTime(
  value: Timestamp | null,
  precision: TimePrecision | undefined,
  zone: string | null,
): UtcTimeWithLocalDay {
  return { value, day: value !== null && precision === 'day' ? toLocalDate(value, zone) : null };
}

/** Describes an expected time in texts: `on` a day, or `at` a time. */
export function describeStatedTime({ value, day }: UtcTimeWithLocalDay): string {
  return day === null ? `at ${value}` : `on ${day}`;
}

export function getTimePrecision({ day }: UtcTimeWithLocalDay): TimePrecision {
  return day === null ? 'time' : 'day';
}

/** Returns the last millisecond of a local day. */
export function computeEndOfDay(day: string, zone: string | null): Timestamp {
  return new Date(Date.parse(getBoundsOfLocalDay(day, zone ?? WESTERNMOST_TIME_ZONE).until) - 1).toISOString();
}

/** Returns the first millisecond of the day, or the time itself if its precision is `time`. */
export function computeStartOfStatedTime({ value, day }: UtcTimeWithLocalDay, zone: string | null): Timestamp | null {
  return day === null ? value : getBoundsOfLocalDay(day, zone ?? WESTERNMOST_TIME_ZONE).from;
}

/** Returns the date that calendars at the place show at a time. */
export function toLocalDate(time: Timestamp, zone: string | null): string {
  return new Date(getTimeZoneClock(zone ?? WESTERNMOST_TIME_ZONE)(Date.parse(time))).toISOString().slice(0, 10);
}

/** A stated time with the time zone of its place. */
export interface StatedTimeWithZone extends UtcTimeWithLocalDay {
  readonly zone: string | null;
}

/** Restores a stated time as {@link buildStatedTimeFromStoredTime}, and adds the time zone of its place. */
export function toUtcTimeWithLocalDayAndZone(
  value: Timestamp | null,
  precision: TimePrecision | undefined,
  zone: string | null,
): StatedTimeWithZone {
  return { ...buildStatedTimeFromStoredTime(value, precision, zone), zone };
}

/**
 * Returns the milliseconds from one time to another, negative if the other is earlier; NaN if one is missing. If one of
 * them is a day, the local dates are compared, and each day has 24 hours.
 */
export function computeMsBetweenTimesOrDays(from: StatedTimeWithZone, to: StatedTimeWithZone): number {
  if (from.value === null || to.value === null) return NaN;
  if (from.day === null && to.day === null) return Date.parse(to.value) - Date.parse(from.value);
  const dateOf = ({ day, zone }: StatedTimeWithZone, value: Timestamp) => Date.parse(day ?? toLocalDate(value, zone));
  return dateOf(to, to.value) - dateOf(from, from.value);
}

/** Converts milliseconds to hours, rounded to hundredths. */
export function convertMsToRoundedHours(milliseconds: number): number {
  return Math.round((milliseconds / HOUR_MS) * 100) / 100;
}

type FindZone = (port: string | null) => string | null;

/** Returns the time with its day, if it is a day, at the port. */
export function moveStatedDayToPortZone<T extends UtcTimeWithLocalDay>(
  time: T,
  port: string | null,
  { findZone }: { readonly findZone: FindZone },
): T {
  return time.day === null ? time : { ...time, value: computeEndOfDay(time.day, findZone(port)) };
}

/** Converts an ETD and an ETA to the fields that a shipment or leg has for them: each time and its precision. */
export function toScheduledTimes(etd: UtcTimeWithLocalDay, eta: UtcTimeWithLocalDay) {
  return { etd: etd.value, etd_precision: getTimePrecision(etd), eta: eta.value, eta_precision: getTimePrecision(eta) };
}

/** Returns the expected times of a shipment or leg in responses, each with the zone of its port. */
export function restoreScheduleTimesWithZones(journey: ScheduledJourney, findZone: FindZone) {
  const [origin, destination] = [findZone(journey.origin_port), findZone(journey.destination_port)];
  return {
    etd: toUtcTimeWithLocalDayAndZone(journey.etd, journey.etd_precision, origin),
    eta: toUtcTimeWithLocalDayAndZone(journey.eta, journey.eta_precision, destination),
  };
}
type ScheduledJourney = Pick<
  Leg,
  'origin_port' | 'destination_port' | 'etd' | 'etd_precision' | 'eta' | 'eta_precision'
>;

/**
 * Converts a local time without an offset to UTC. If the local time occurs twice, returns the first instant. If a change
 * of clocks skips it, uses the offset before the change.
 * @param time normalized local time, see {@link isLocalTime}
 */
export function convertLocalTimeToUtc(time: string, zone: string): Timestamp {
  const clock = getTimeZoneClock(zone);
  const shown = Date.parse(`${time}Z`);
  const second = Math.floor(shown / 1_000) * 1_000;
  const byOffsetAt = (instant: number) => shown - (clock(instant) - instant);
  // A zone changes its offset at most once in two days.
  const [before, after] = [byOffsetAt(second - DAY_MS), byOffsetAt(second + DAY_MS)];
  const found = [before, after].find((instant) => clock(Math.floor(instant / 1_000) * 1_000) === second);
  return new Date(found ?? before).toISOString();
}

/** Start and end of a day in a time zone. With daylight saving time, a day can have 23 or 25 hours. */
interface LocalDayBounds {
  readonly from: Timestamp;
  /** Start of the next day. */
  readonly until: Timestamp;
}

/**
 * Cache of local days by day and zone. Computing a local day takes a thousand times as long as a lookup, and containers
 * share their days.
 */
const localDaysByZone = new Map<string, LocalDayBounds>();
const MAX_CACHED_LOCAL_DAYS = 10_000;
const clocksByZone = new Map<string, Clock>();

/**
 * Returns the start and end of a local day.
 * @param day date such as `2026-11-21`
 * @param zone IANA name of the time zone; UTC is used if the platform does not know the zone
 */
export function getBoundsOfLocalDay(day: string, zone: string): LocalDayBounds {
  const key = `${day} ${zone}`;
  const before = localDaysByZone.get(key);
  if (before !== undefined) return before;
  const clock = getTimeZoneClock(zone);
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const found = { from: computeStartOfDay(midnight, clock), until: computeStartOfDay(midnight + DAY_MS, clock) };
  if (localDaysByZone.size >= MAX_CACHED_LOCAL_DAYS) localDaysByZone.clear();
  localDaysByZone.set(key, found);
  return found;
}

/**
 * Returns a clock for the zone. It converts an instant to the local time in milliseconds, as if the local time were
 * UTC.
 */
type Clock = (instant: number) => number;

function getTimeZoneClock(zone: string): Clock {
  const clock = clocksByZone.get(zone) ?? createWallClockConverter(zone);
  clocksByZone.set(zone, clock);
  return clock;
}

function createWallClockConverter(zone: string): Clock {
  try {
    const format = new Intl.DateTimeFormat('en', { ...LOCAL_TIME_FORMAT_OPTIONS, timeZone: zone });
    return (instant) => convertInstantToWallClock(format, instant);
  } catch {
    return (instant) => instant;
  }
}

const LOCAL_TIME_FORMAT_OPTIONS: Intl.DateTimeFormatOptions = {
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

function convertInstantToWallClock(format: Intl.DateTimeFormat, instant: number): number {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

/**
 * Returns the first instant of a local day: midnight with the UTC offset of the previous day. If the clocks were
 * changed before midnight, the offset of the day itself is used.
 * @param midnight midnight of the day in UTC
 */
function computeStartOfDay(midnight: number, clock: Clock): Timestamp {
  const byOffsetAt = (instant: number) => midnight - (clock(instant) - instant);
  const before = byOffsetAt(midnight - DAY_MS);
  const isFirst = clock(before) >= midnight && clock(before - 1) < midnight;
  return new Date(isFirst ? before : byOffsetAt(midnight + DAY_MS)).toISOString();
}
