import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse/sync';

const HEADER = 'change,country,location';
/** Change, Country, Location, Name, NameWoDiacritics, Subdivision, Status, Function, Date, IATA, Coordinates, Remarks. */
const COLUMNS = 12;
/** UNECE's list has 7 MB. */
const MAX_BYTES = 64 * 2 ** 20;
const FILE_ERRORS = new Map([
  ['ENOENT', 'no such file'],
  ['EACCES', 'may not be read'],
  ['EISDIR', 'is a folder'],
]);
/** In characters. What is longer is no record: its quote was never closed, or the file is no text. */
const MAX_RECORD_CHARACTERS = 64 * 1024;
/** A byte order mark in UTF-8, as its bytes are read here. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** ISO 3166-1 alpha-2, officially assigned codes. */
const ISO_3166_1 =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
  'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
  'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO ' +
  'JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR ' +
  'MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ' +
  'RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV ' +
  'TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW';
/** User-assigned codes in general use: UN/LOCODE's own XZ (installations in international waters), and XK (Kosovo). */
const USER_ASSIGNED = 'XK XZ';
/** The first two letters that a UN/LOCODE may have. */
export const COUNTRIES: ReadonlySet<string> = new Set(`${ISO_3166_1} ${USER_ASSIGNED}`.split(' '));

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
      if ((await stat(file)).size > MAX_BYTES) throw new Error('is too large for a list of places');
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
function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return FILE_ERRORS.get(code) ?? message;
}

/**
 * Reads a CSV file (RFC 4180). Text is UTF-8 or, field by field, Latin-1, so that files of both kinds may be joined; byte
 * order marks are dropped wherever a file began.
 * @param onRecord is told the fields of each record, trimmed, and the line on which it begins, from 1
 * @throws Error naming the line, where a quote is never closed or the bytes are no text
 */
export function readCsv(file: Buffer, onRecord: (fields: readonly string[], line: number) => void): void {
  // Bytes as characters of the same numbers: all that has a meaning in CSV is ASCII, in both encodings.
  const bytes = file.toString('latin1').replaceAll(BYTE_ORDER_MARK, '').replaceAll('\r\n', '\n');
  let line = 1;
  try {
    parse(bytes, {
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: MAX_RECORD_CHARACTERS,
      on_record: (fields: readonly string[], { lines }) => {
        onRecord(
          fields.map((field) => decoded(field, line)),
          line,
        );
        line = lines + 1;
        // Kept nowhere.
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Error(`line ${line} has a quote that is never closed, or is no text`, { cause: error });
  }
}

function decoded(field: string, line: number): string {
  if (/^[\x20-\x7e]*$/.test(field)) return field.trim();
  if (field.includes('\0')) throw new Error(`line ${line} is no text`);
  const bytes = Buffer.from(field, 'latin1');
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1').trim();
}
