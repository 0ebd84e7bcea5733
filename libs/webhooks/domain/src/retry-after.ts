/** Shortest hold, for `Retry-After: 0` and dates that have passed: without it the next attempt would begin at once. */
const MIN_HOLD_MS = 1_000;
/** Longest time that an endpoint can hold us back with one answer. */
const MAX_HOLD_MS = 3_600_000;

/** The forms of a date in HTTP, of which all but the first are former ones (RFC 9110, section 5.6.7). */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
/** It names no zone, and is in UTC too. */
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * How long a `Retry-After` holds the endpoint back, in milliseconds: from a second to an hour.
 * @param value whole seconds, or an HTTP date (RFC 9110, section 10.2.3)
 * @param date the `Date` header of the same answer: a date is measured from it, so a receiver's clock may be wrong
 * @param now epoch milliseconds, in place of a `Date` header that is missing or malformed
 * @returns undefined for a malformed value: the answer is then a failure like any other
 */
export function holdMs(value: string | undefined, date: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return bounded(Number(text) * 1000);
  const until = httpDate(text);
  if (Number.isNaN(until)) return undefined;
  const answeredAt = httpDate(date?.trim() ?? '');
  return bounded(until - (Number.isNaN(answeredAt) ? now : answeredAt));
}

function bounded(wait: number): number {
  return Math.min(Math.max(wait, MIN_HOLD_MS), MAX_HOLD_MS);
}

function httpDate(text: string): number {
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`);
  return HTTP_DATES.some((form) => form.test(text)) ? Date.parse(text) : NaN;
}
