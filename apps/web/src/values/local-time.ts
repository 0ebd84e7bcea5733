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
