import { Text, Tooltip } from '@mantine/core';
import { getDateIfWholeDay, formatDate, isDateOnly } from './zones.ts';

const DATE_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const DATE_TIME_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const CURRENT_YEAR_FORMAT = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const DATE_TIME_SECONDS_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const UTC_DATE_TIME_FORMAT = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

const INSTANT_PATTERN = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Replaces the UTC times in a text from the API with times in the user's time zone. */
export function localizeTimesInText(text: string): string {
  return text.replace(INSTANT_PATTERN, (instant) => DATE_TIME_FORMAT.format(new Date(instant)));
}

/** Shows a date such as "2026-11-24". No time zone is applied. */
export function CalendarDateText({ date }: { readonly date: string }) {
  return <time dateTime={date}>{formatDate(date)}</time>;
}

interface ExpectedTimeProps extends Pick<LocalTimeProps, 'value'> {
  /** IANA time zone of the place. Undefined if it is unknown. */
  readonly zone: string | null | undefined;
}

/** Shows an expected time whose precision is not at hand. A whole day is shown as its date. */
export function ExpectedTimeText({ value, zone }: ExpectedTimeProps) {
  const date = value === null ? undefined : getDateIfWholeDay(value, zone);
  return date === undefined ? <UserLocalTimeText value={value} /> : <CalendarDateText date={date} />;
}

/** Shows a time as a user enters it: a time in UTC, or only a date. */
export function TimeAsEnteredText({ value }: Pick<LocalTimeProps, 'value'>) {
  return value !== null && isDateOnly(value) ? <CalendarDateText date={value} /> : <UserLocalTimeText value={value} />;
}

interface LocalTimeProps {
  /** ISO 8601 time to show. If null, a dash is shown. */
  readonly value: string | null;
  /** True if only the date is shown. */
  readonly day?: boolean;
  /** True if seconds are shown. */
  readonly seconds?: boolean;
  /** True if the year is hidden for times in the current year. */
  readonly brief?: boolean;
}

/** Shows a time in the user's time zone. Hovering or focusing it shows the time in UTC. */
export function UserLocalTimeText({ value, day = false, seconds = false, brief = false }: LocalTimeProps) {
  if (value === null)
    return (
      <Text span c="dimmed" inherit>
        —
      </Text>
    );
  const at = new Date(value);
  const isOfThisYear = at.getFullYear() === new Date().getFullYear();
  const moment = brief && isOfThisYear ? CURRENT_YEAR_FORMAT : seconds ? DATE_TIME_SECONDS_FORMAT : DATE_TIME_FORMAT;
  return (
    <Tooltip label={`${UTC_DATE_TIME_FORMAT.format(at)} UTC`} openDelay={300}>
      <time dateTime={value}>{(day ? DATE_FORMAT : moment).format(at)}</time>
    </Tooltip>
  );
}
