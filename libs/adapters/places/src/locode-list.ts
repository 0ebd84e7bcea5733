import { readFile, stat } from 'node:fs/promises';
import { readCsv } from './csv-records.ts';

/** The operator's list cannot be used. The message is one line that names the file and, where there is one, the line. */
export class PlacesFileError extends Error {
  override readonly name = 'PlacesFileError';
}

/** A location of the list; UN/LOCODE knows no time zones. */
export interface Location {
  readonly name: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

const HEADER = 'change,country,location';
/** Change, Country, Location, Name, NameWoDiacritics, Subdivision, Status, Function, Date, IATA, Coordinates, Remarks. */
const COLUMNS = 12;
/** UNECE's list has 7 MB. */
const MOST_BYTES = 64 * 2 ** 20;

/**
 * A UN/LOCODE code list as UNECE publishes it (Recommendation 16): CSV with the columns above, in one file or several
 * in a row, with headers or without. Headings of countries, references (`Wien = Vienna`) and codes of an impossible
 * form name no location and are passed over; entries marked for removal still count.
 */
export class LocodeList {
  /** code -> `name TAB coordinates`: 116,000 strings are a third of the memory of as many objects. */
  readonly #locations = new Map<string, string>();

  static async load(file: string): Promise<LocodeList> {
    const list = new LocodeList();
    try {
      if ((await stat(file)).size > MOST_BYTES) throw new Error('is too large for a list of places');
      readCsv(await readFile(file), (fields, line) => list.#add(fields, line));
    } catch (error) {
      throw new PlacesFileError(`PLACES_FILE ${file}: ${reason(error)}`, { cause: error });
    }
    if (list.#locations.size === 0) throw new PlacesFileError(`PLACES_FILE ${file}: holds no location`);
    return list;
  }

  get codes(): Iterable<string> {
    return this.#locations.keys();
  }

  has(code: string): boolean {
    return this.#locations.has(code);
  }

  find(code: string): Location | undefined {
    const stored = this.#locations.get(code);
    if (stored === undefined) return undefined;
    const [name = '', coordinates = ''] = stored.split('\t');
    const [latitude = '', longitude = ''] = coordinates.split(' ');
    return { name: name === '' ? null : name, latitude: degrees(latitude, 90), longitude: degrees(longitude, 180) };
  }

  #add(fields: readonly string[], line: number): void {
    if (fields.length === 1 && fields[0] === '') return;
    if (fields.slice(0, 3).join().toLowerCase() === HEADER) return;
    const [, country = '', location = '', name = '', plainName = ''] = fields;
    if (fields.length !== COLUMNS) {
      throw new Error(`line ${line} has ${fields.length} columns, not ${COLUMNS} separated by commas`);
    }
    if (!/^[A-Z]{2}$/.test(country)) throw new Error(`line ${line} names no country in its second column`);
    if (!/^[A-Z2-9]{3}$/.test(location)) return;
    const known = (name || plainName).replaceAll('\t', ' ');
    // joined, not concatenated: a copy that does not keep its whole line in memory
    this.#locations.set(country + location, [known, fields[10]].join('\t'));
  }
}

/** `4230N` or `00131E`, degrees and minutes, in degrees; null for what is no such thing. */
function degrees(text: string, limit: number): number | null {
  const [, whole, minutes, side] = /^(\d{2,3})(\d{2})([NSEW])$/.exec(text) ?? [];
  if (!whole || !minutes || Number(minutes) > 59) return null;
  const value = Math.round((Number(whole) + Number(minutes) / 60) * 1e4) / 1e4;
  if (value > limit) return null;
  return side === 'S' || side === 'W' ? -value : value;
}

const FILE_ERRORS = new Map([
  ['ENOENT', 'no such file'],
  ['EACCES', 'may not be read'],
  ['EISDIR', 'is a folder'],
]);
function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return FILE_ERRORS.get(code) ?? message;
}
