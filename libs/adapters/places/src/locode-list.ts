import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse/sync';

const LOCODE_LIST_HEADER_START = 'change,country,location';
/**
 * Columns: Change, Country, Location, Name, NameWoDiacritics, Subdivision, Status, Function, Date, IATA, Coordinates,
 * Remarks.
 */
const LOCODE_COLUMN_COUNT = 12;
/** Maximum file size. UNECE's list has 7 MB. */
const MAX_FILE_BYTES = 64 * 2 ** 20;
const FILE_ERROR_MESSAGES = new Map([
  ['ENOENT', 'the file does not exist'],
  ['EACCES', 'the file cannot be read; grant the process read permission'],
  ['EISDIR', 'the path is a folder; specify a file'],
]);
/** Maximum characters of a record. A longer one has an unclosed quote, or the file is not text. */
const MAX_CSV_RECORD_CHARACTERS = 64 * 1024;
/** UTF-8 byte order mark, decoded byte by byte. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** Officially assigned country codes of ISO 3166-1 alpha-2. */
const ISO_3166_1 =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
  'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
  'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO ' +
  'JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR ' +
  'MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ' +
  'RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV ' +
  'TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW';
/** User-assigned codes in general use: XZ of UN/LOCODE (installations in international waters) and XK (Kosovo). */
const USER_ASSIGNED_CODES = 'XK XZ';
/** Country codes that a UN/LOCODE can start with. */
export const COUNTRY_CODES: ReadonlySet<string> = new Set(`${ISO_3166_1} ${USER_ASSIGNED_CODES}`.split(' '));

/** The operator's list cannot be used. The message is one line with the file and, if known, the line number. */
export class PlacesFileError extends Error {
  override readonly name = 'PlacesFileError';
}

/** A location of the list. UN/LOCODE has no time zones. */
export interface LocodeLocation {
  readonly name: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/**
 * A UN/LOCODE code list in UNECE's format (Recommendation 16): CSV with the columns above, in one file or several
 * concatenated, with or without headers. Country headings, references (`Wien = Vienna`) and malformed codes are
 * skipped; entries marked for removal are kept.
 */
export class LocodeList {
  /** Maps code to `name TAB coordinates`. Strings for 116,000 locations use a third of the memory of objects. */
  readonly #locations = new Map<string, string>();

  static async readLocodeListFile(file: string): Promise<LocodeList> {
    const list = new LocodeList();
    try {
      if ((await stat(file)).size > MAX_FILE_BYTES)
        throw new Error('the file is larger than any UN/LOCODE list; specify a UN/LOCODE list as CSV');
      readCsv(await readFile(file), (fields, line) => list.#addLocationOfLine(fields, line));
    } catch (error) {
      throw new PlacesFileError(`PLACES_FILE ${file}: ${describeFileError(error)}`, { cause: error });
    }
    if (list.#locations.size === 0)
      throw new PlacesFileError(`PLACES_FILE ${file}: contains no location; use a UN/LOCODE list as CSV`);
    return list;
  }

  get codes(): Iterable<string> {
    return this.#locations.keys();
  }

  containsLocationCode(code: string): boolean {
    return this.#locations.has(code);
  }

  findLocation(code: string): LocodeLocation | undefined {
    const stored = this.#locations.get(code);
    if (stored === undefined) return undefined;
    const [name = '', coordinates = ''] = stored.split('\t');
    const [latitude = '', longitude = ''] = coordinates.split(' ');
    return {
      name: name === '' ? null : name,
      latitude: parseDegrees(latitude, 90),
      longitude: parseDegrees(longitude, 180),
    };
  }

  #addLocationOfLine(fields: readonly string[], line: number): void {
    if (fields.length === 1 && fields[0] === '') return;
    if (fields.slice(0, 3).join().toLowerCase() === LOCODE_LIST_HEADER_START) return;
    const [, country = '', location = '', name = '', plainName = ''] = fields;
    if (fields.length !== LOCODE_COLUMN_COUNT) {
      throw new Error(
        `line ${line} has ${fields.length} columns; expected ${LOCODE_COLUMN_COUNT}, separated by commas`,
      );
    }
    if (!/^[A-Z]{2}$/.test(country)) throw new Error(`line ${line} has no country code in its second column`);
    if (!/^[A-Z2-9]{3}$/.test(location)) return;
    const known = (name || plainName).replaceAll('\t', ' ');
    // The fields are joined and not concatenated, so that the string does not keep its whole line in memory.
    this.#locations.set(country + location, [known, fields[10]].join('\t'));
  }
}

/** Converts degrees and minutes (`4230N` or `00131E`) to degrees; null if malformed. */
function parseDegrees(text: string, limit: number): number | null {
  const [, whole, minutes, side] = /^(\d{2,3})(\d{2})([NSEW])$/.exec(text) ?? [];
  if (!whole || !minutes || Number(minutes) > 59) return null;
  const value = Math.round((Number(whole) + Number(minutes) / 60) * 1e4) / 1e4;
  if (value > limit) return null;
  return side === 'S' || side === 'W' ? -value : value;
}
function describeFileError(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return FILE_ERROR_MESSAGES.get(code) ?? message;
}

/**
 * Reads a CSV file (RFC 4180). Each field can be UTF-8 or Latin-1, so that files of both kinds can be concatenated.
 * Byte order marks are dropped at every file start.
 * @param onRecord called with the trimmed fields of each record and the number of its first line, from 1
 * @throws Error naming the line of an unclosed quote or of bytes that are not text
 */
export function readCsv(file: Buffer, onRecord: (fields: readonly string[], line: number) => void): void {
  // Decodes each byte as the character with the same number, because CSV syntax is ASCII in both encodings.
  const bytes = file.toString('latin1').replaceAll(BYTE_ORDER_MARK, '').replaceAll('\r\n', '\n');
  let line = 1;
  try {
    parse(bytes, {
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: MAX_CSV_RECORD_CHARACTERS,
      on_record: (fields: readonly string[], { lines }) => {
        onRecord(
          fields.map((field) => decodeText(field, line)),
          line,
        );
        line = lines + 1;
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Error(`line ${line} has an unclosed quote, or is not encoded as text`, { cause: error });
  }
}

function decodeText(field: string, line: number): string {
  if (/^[\x20-\x7e]*$/.test(field)) return field.trim();
  if (field.includes('\0')) throw new Error(`line ${line} is not encoded as text`);
  const bytes = Buffer.from(field, 'latin1');
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1').trim();
}
