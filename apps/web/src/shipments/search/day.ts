/** A day of the reader's calendar: `2026-12-01`, or counted from today: `today`, `today+7`, `today-1`. */
export type Day = string;

const RELATIVE = /^today(?:([+-])(\d{1,3}))?$/;
const ABSOLUTE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function isDay(text: string): boolean {
  return RELATIVE.test(text) || dateOf(text) !== undefined;
}

/** When it begins where the reader is. */
export function startOf(day: Day, now: Date): Date {
  const relative = RELATIVE.exec(day);
  if (relative === null) return dateOf(day) ?? now;
  const [, sign, days = '0'] = relative;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + Number(days) * (sign === '-' ? -1 : 1));
}

/** Its last millisecond. */
export function endOf(day: Day, now: Date): Date {
  const next = new Date(startOf(day, now));
  next.setDate(next.getDate() + 1);
  return new Date(next.getTime() - 1);
}

/** `2026-12-01`, as fields for dates take it. */
export function isoDay(day: Day, now: Date): string {
  const date = startOf(day, now);
  const digits = (count: number, part: number) => String(part).padStart(count, '0');
  return `${digits(4, date.getFullYear())}-${digits(2, date.getMonth() + 1)}-${digits(2, date.getDate())}`;
}

export function dayLabel(day: Day): string {
  const relative = RELATIVE.exec(day);
  if (relative === null) return DATE.format(dateOf(day));
  const [, sign, days = '0'] = relative;
  const size = Number(days);
  if (size === 0) return 'today';
  if (size === 1) return sign === '-' ? 'yesterday' : 'tomorrow';
  return sign === '-' ? `${size} days ago` : `in ${size} days`;
}

/** Undefined where there is no such day. */
function dateOf(day: Day): Date | undefined {
  const [, year, month, date] = (ABSOLUTE.exec(day) ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const found = new Date(2000, 0, 1);
  // The constructor would take a year below 100 for one of the last century.
  found.setFullYear(year, month - 1, date);
  return found.getMonth() === month - 1 && found.getDate() === date ? found : undefined;
}
