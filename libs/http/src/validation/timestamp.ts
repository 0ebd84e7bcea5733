import type { Timestamp } from '@tracking/contracts';

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Longest timestamp, in characters. The fraction has no limit of its own. */
const MAX_TIMESTAMP_CHARS = 64;

/** Range of years that freight data can have; other years are typing errors. */
const MIN_YEAR = 1900;
const MAX_YEAR = 2999;

const DAYS_OF_EACH_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Returns an RFC 3339 timestamp with an offset in UTC, with milliseconds and `Z`; undefined if it is malformed, if its
 * date or time does not exist, or if its year is not within 1900 to 2999. Fractions of a millisecond are truncated. A
 * leap second, which is valid only at the end of a UTC day, becomes the next second, as in POSIX time.
 */
export function parseTimestamp(text: string): Timestamp | undefined {
  return parseTimestampOrFault(text).time;
}

/** Forms of a time that a field accepts in addition to a time with an offset. */
export interface AcceptedTimeFormatFlags {
  /** A date such as `2026-11-21`. */
  readonly day?: true;
  /** A time without an offset such as `2026-11-21T09:30`, whose zone another field states. */
  readonly local?: true;
}

/**
 * Returns the time in UTC as `parseTimestamp`, or in its own form: a date as it is, a local time with milliseconds and
 * without `Z`. Undefined if it is malformed, or has a form that is not accepted.
 */
export function parseTimeInAcceptedForm(text: string, forms: AcceptedTimeFormatFlags): string | undefined {
  if (forms.day && DATE_WITHOUT_TIME_PATTERN.test(text))
    return describeDateFault(text) === undefined ? text : undefined;
  if (!forms.local || !LOCAL_TIME_PATTERN.test(text)) return parseTimestamp(text);
  return parseTimestamp(addSecondsAndOffset(text))?.slice(0, -1);
}

/** Returns the fault of a time in words; undefined if it has one of the forms and is valid. */
export function describeTimeFault(text: string, forms: AcceptedTimeFormatFlags): string | undefined {
  if (forms.day && DATE_WITHOUT_TIME_PATTERN.test(text)) return describeDateFault(text);
  return describeTimestampFault(forms.local && LOCAL_TIME_PATTERN.test(text) ? addSecondsAndOffset(text) : text);
}

/** Adds missing seconds and `Z` to a local time. */
function addSecondsAndOffset(text: string): string {
  return `${text}${text.length === 'YYYY-MM-DDTHH:mm'.length ? ':00' : ''}Z`;
}

/** Returns the fault of a timestamp in words; undefined if it is valid. */
export function describeTimestampFault(text: string): string | undefined {
  return parseTimestampOrFault(text).fault;
}

/** Returns the fault of a date such as `2026-11-21` in words; undefined if it is valid. */
export function describeDateFault(text: string): string | undefined {
  if (!DATE_WITHOUT_TIME_PATTERN.test(text)) return 'Must be a date such as 2026-11-21, without a time.';
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  if (day < 1 || day > countDaysOfMonth(year, month)) return `The date ${text} does not exist.`;
  return year >= MIN_YEAR && year <= MAX_YEAR ? undefined : YEAR_OUT_OF_RANGE_MESSAGE;
}

type ParsedTime =
  { readonly time: Timestamp; readonly fault?: undefined } | { readonly time?: undefined; readonly fault: string };

function parseTimestampOrFault(text: string): ParsedTime {
  if (text.length > MAX_TIMESTAMP_CHARS || !RFC_3339.test(text)) return { fault: describeTimestampFormatFault(text) };
  const parts = splitTimestampIntoParts(text);
  const fault = describeNonexistentTimestampPart(text, parts);
  if (fault !== undefined) return { fault };

  const { year, month, day, hour, minute, second, offset } = parts;
  const leap = second === 60;
  const milliseconds = leap ? 0 : parseFractionMs(text);
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds) - offset * 60_000);
  if (leap && time.getTime() % 86_400_000 !== 0) {
    return {
      fault: `The time ${text.slice(11, 19)} does not exist: a leap second is possible only at the end of a UTC day.`,
    };
  }
  const utcYear = time.getUTCFullYear();
  return utcYear >= MIN_YEAR && utcYear <= MAX_YEAR
    ? { time: time.toISOString() }
    : { fault: YEAR_OUT_OF_RANGE_MESSAGE };
}

/** Numbers in one timestamp, as written. They can be out of range. */
interface TimestampParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Offset in minutes east of UTC; NaN if there is no such offset. */
  readonly offset: number;
}

function splitTimestampIntoParts(text: string): TimestampParts {
  return {
    year: parseTwoDigits(text, 0) * 100 + parseTwoDigits(text, 2),
    month: parseTwoDigits(text, 5),
    day: parseTwoDigits(text, 8),
    hour: parseTwoDigits(text, 11),
    minute: parseTwoDigits(text, 14),
    second: parseTwoDigits(text, 17),
    offset: parseOffsetMinutes(text),
  };
}

/** Returns the fault of a date, time or offset that does not exist; undefined if all exist. */
function describeNonexistentTimestampPart(
  text: string,
  { year, month, day, hour, minute, second, offset }: TimestampParts,
): string | undefined {
  if (day < 1 || day > countDaysOfMonth(year, month)) return `The date ${text.slice(0, 10)} does not exist.`;
  if (hour > 23 || minute > 59 || second > 60) return `The time ${text.slice(11, 19)} does not exist.`;
  if (Number.isNaN(offset)) return `The offset ${text.slice(-6)} does not exist.`;
  // Date.UTC reads years below 100 as years of the twentieth century.
  return year < MIN_YEAR - 1 ? YEAR_OUT_OF_RANGE_MESSAGE : undefined;
}

const YEAR_OUT_OF_RANGE_MESSAGE = `Must have a year from ${MIN_YEAR} to ${MAX_YEAR}.`;
const NOT_RFC_3339_MESSAGE = 'Must be an RFC 3339 time such as 2026-11-21T09:30:00Z or 2026-11-21T17:30:00.000+08:00.';
const DATE_WITHOUT_TIME_PATTERN = /^\d{4}-\d\d-\d\d$/;
const LOCAL_TIME_PATTERN = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,40})?)?$/;
const MISSING_OFFSET_PATTERN = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** Matches a blank in place of a `+`, which a query has if the `+` was not percent-encoded. */
const TIMESTAMP_WITH_BLANK_PATTERN = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)? \d\d:\d\d$/;

/** Describes why a text is not an RFC 3339 time. Recognizes common mistakes. */
function describeTimestampFormatFault(text: string): string {
  if (text.length > MAX_TIMESTAMP_CHARS) return NOT_RFC_3339_MESSAGE;
  if (MISSING_OFFSET_PATTERN.test(text)) return 'Must have a time zone offset: Z for UTC, or for example +08:00.';
  if (TIMESTAMP_WITH_BLANK_PATTERN.test(text))
    return 'Has a blank before its offset. In a query, write the sign + as %2B.';
  if (DATE_WITHOUT_TIME_PATTERN.test(text)) return 'Must also have a time and an offset, such as 2026-11-21T09:30:00Z.';
  return NOT_RFC_3339_MESSAGE;
}

function parseTwoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/** Returns the offset at the end of a timestamp in minutes east of UTC, 0 for Z; NaN for an offset such as +25:00. */
function parseOffsetMinutes(text: string): number {
  const sign = text.at(-6);
  if (sign !== '+' && sign !== '-') return 0;
  const hours = parseTwoDigits(text, text.length - 5);
  const minutes = parseTwoDigits(text, text.length - 2);
  if (hours > 23 || minutes > 59) return Number.NaN;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** Returns the milliseconds, from the first three digits after the decimal point. */
function parseFractionMs(text: string): number {
  if (text[19] !== '.') return 0;
  const digits = /^\d{1,3}/.exec(text.slice(20))?.[0] ?? '';
  return Number(digits.padEnd(3, '0'));
}

/** Returns the number of days in the month; 0 for a month that does not exist. */
function countDaysOfMonth(year: number, month: number): number {
  const leapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && leapYear ? 29 : (DAYS_OF_EACH_MONTH[month - 1] ?? 0);
}
