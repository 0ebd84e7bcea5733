import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';

/** In characters. What is longer is no record: its quote was never closed, or the file is no text. */
const LONGEST_RECORD = 64 * 1024;
/** A byte order mark in UTF-8, as its bytes are read here. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

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
      max_record_size: LONGEST_RECORD,
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
