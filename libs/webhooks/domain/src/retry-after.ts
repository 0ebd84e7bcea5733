/** Longest time that an endpoint can hold us back with one answer. */
const MAX_HOLD_MS = 3_600_000;

const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

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
  else if (IMF_FIXDATE.test(text)) wait = Date.parse(text) - now;
  return wait > 0 ? Math.min(wait, MAX_HOLD_MS) : undefined;
}
