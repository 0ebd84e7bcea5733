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
 * How long a `Retry-After` holds the endpoint back, in milliseconds, at most an hour. Undefined where it asks for no wait
 * at all or makes no sense: then the answer is a failure like any other.
 * @param value whole seconds, or an HTTP date (RFC 9110, section 10.2.3)
 * @param now epoch milliseconds
 */
export function holdMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  let wait = NaN;
  if (/^\d+$/.test(text)) wait = Number(text) * 1000;
  else wait = httpDate(text) - now;
  return wait > 0 ? Math.min(wait, MAX_HOLD_MS) : undefined;
}

function httpDate(text: string): number {
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`);
  return HTTP_DATES.some((form) => form.test(text)) ? Date.parse(text) : NaN;
}
