import { instantOf } from '../../values/zones.ts';

/** How a file writes days that begin with neither a year nor a name. */
export type DayOrder = 'day-first' | 'month-first';

const ISO = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;
const PARTS = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[ T]+(\d{1,2}):(\d{2})(?::\d{2})?)?$/;

/** What a clock shows, and its offset where one is said. */
interface Written {
  readonly date: string;
  readonly hour: string;
  readonly minute: string;
  readonly offset: string | undefined;
}

/**
 * The instant that a cell means.
 * @param zone in which clocks show what has no offset of its own; undefined where it is not known
 * @throws Error that says what is wrong with it
 */
export function readMoment(text: string, order: DayOrder, zone: string | undefined): string {
  const written = writtenIso(text) ?? writtenInParts(text, order);
  if (written === undefined) throw new Error('is no date: write it as 2026-12-24 or 2026-12-24 18:00');
  const { date, hour, minute, offset } = written;
  const wall = `${date}T${hour.padStart(2, '0')}:${minute}`;
  if (!isDay(date) || Number(hour) > 23 || Number(minute) > 59) throw new Error('is no date that there is');
  if (offset !== undefined) return new Date(`${wall}${offset}`).toISOString();
  if (zone === undefined)
    throw new Error('has no offset, and the zone of its port is not known: write +01:00 behind it');
  const at = instantOf(wall, zone);
  if (at === undefined) throw new Error('is no date that there is');
  return at;
}

function writtenIso(text: string): Written | undefined {
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const [, year = '', month = '', day = '', hour = '0', minute = '00', offset] = found;
  return { date: dateOf(year, month, day), hour, minute, offset: offset === undefined ? undefined : offsetOf(offset) };
}

function writtenInParts(text: string, order: DayOrder): Written | undefined {
  const found = PARTS.exec(text);
  if (found === null) return undefined;
  const [, first = '', second = '', year = '', hour = '0', minute = '00'] = found;
  const [day, month] = order === 'day-first' ? [first, second] : [second, first];
  return { date: dateOf(year, month, day), hour, minute, offset: undefined };
}

function dateOf(year: string, month: string, day: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function isDay(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

function offsetOf(text: string): string {
  if (text.toUpperCase() === 'Z') return 'Z';
  return text.includes(':') ? text : `${text.slice(0, 3)}:${text.slice(3)}`;
}

/** Which comes first, as far as days above 12 tell. */
export function guessDayOrder(texts: readonly string[]): DayOrder {
  const days = texts.map((text) => PARTS.exec(text.trim())).filter((found) => found !== null);
  return days.some(([, , second]) => Number(second) > 12) ? 'month-first' : 'day-first';
}
