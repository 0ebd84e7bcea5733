import { unescapeCell } from '../../values/files.ts';

export const MAX_IMPORT_FILE_ROWS = 50_000;
const MAX_IMPORT_COLUMNS = 200;
/** Number of rows that are examined to guess the delimiter. */
const DELIMITER_SAMPLE_ROWS = 100;
export const MAX_FILE_BYTES = 30 * 1024 * 1024;

/** Headers and rows of an imported CSV file. */
export interface ImportFileContent {
  readonly name: string;
  readonly headers: readonly string[];
  /** Cells of each row. A row has more cells than the file has headers only if the additional cells contain text. */
  readonly rows: readonly (readonly string[])[];
  /**
   * Row number that a spreadsheet shows for the first row after the header. The number is 2 unless empty lines precede
   * the header.
   */
  readonly firstRow: number;
}

/** Decodes the bytes of a text file: UTF-8, UTF-16 with a byte order mark, or Windows-1252. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * Parses a CSV file into headers and rows.
 * @throws Error with a message for the user
 */
export async function parseCsvSheet(name: string, bytes: Uint8Array): Promise<ImportFileContent> {
  if (bytes.length > MAX_FILE_BYTES)
    throw new Error(`The file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB. Split the file.`);
  const { parse } = (await import('papaparse')).default;
  const text = decodeText(bytes);
  // The parser keeps empty lines, so that row numbers match those of a spreadsheet.
  // The parser ignores empty lines when it guesses the delimiter.
  const { delimiter } = parse(text, { skipEmptyLines: 'greedy', preview: DELIMITER_SAMPLE_ROWS }).meta;
  const { data, errors } = parse<string[]>(text, { delimiter });
  const open = errors.find(({ code }) => code === 'MissingQuotes');
  if (open !== undefined)
    throw new Error(`A quote that begins in or before line ${(open.row ?? 0) + 1} is not closed.`);
  const top = data.findIndex(hasNonEmptyCell);
  const [headers = [], ...rows] = top < 0 ? [] : data.slice(top, data.findLastIndex(hasNonEmptyCell) + 1);
  if (headers.length < 2 && rows.length === 0)
    throw new Error('The file has no rows. The first line must contain the column names.');
  if (headers.some((header) => header.includes('\0')))
    throw new Error('This is not a text file. Save it as CSV first.');
  if (rows.length === 0) throw new Error('The file has column names but no rows.');
  if (rows.length > MAX_IMPORT_FILE_ROWS)
    throw new Error(
      `The file has ${rows.length} rows. At most ${MAX_IMPORT_FILE_ROWS} can be imported at once. Split the file.`,
    );
  if (headers.length > MAX_IMPORT_COLUMNS)
    throw new Error(
      `The file has ${headers.length} columns. At most ${MAX_IMPORT_COLUMNS} can be imported. Remove some.`,
    );
  const trimmed = headers.map((header, index) => header.trim() || `Column ${index + 1}`);
  return {
    name,
    headers: trimmed,
    rows: rows.map((row) => fitCsvRowToColumns(row, headers.length)),
    firstRow: top + 2,
  };
}

export function hasNonEmptyCell(row: readonly string[]): boolean {
  return row.some((cell) => cell.trim() !== '');
}

function fitCsvRowToColumns(row: readonly string[], columns: number): readonly string[] {
  const last = row.findLastIndex((cell) => cell.trim() !== '');
  return Array.from({ length: Math.max(columns, last + 1) }, (_, index) => unescapeCell((row[index] ?? '').trim()));
}
