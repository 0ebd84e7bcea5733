import { isUtf8 } from 'node:buffer';

export interface CsvRecord {
  readonly fields: readonly string[];
  /** Line on which it begins, from 1. */
  readonly line: number;
}

const LINE_FEED = 0x0a;
/** A record longer than this, in bytes, is no record: its quote was never closed, or the file is no text. */
const MAX_RECORD = 64 * 1024;

/**
 * The records of a CSV file (RFC 4180; a field may hold line breaks). Text is UTF-8 or, record by record, Latin-1, so
 * that files of both kinds may be joined. Byte order marks are dropped wherever a file began.
 * @throws Error naming the line, where a quote is never closed or the bytes are no text
 */
export async function* csvRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    let from = 0;
    let lines = 1;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      const text = decode(bytes.subarray(start, end));
      from = end + 1;
      if (isOpen(text)) {
        lines += 1;
        if (from - start > MAX_RECORD) break;
        continue;
      }
      yield record(text, line);
      line += lines;
      lines = 1;
      start = from;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_RECORD) throw unreadable(line);
  }
  if (rest.length === 0) return;
  const text = decode(rest);
  if (isOpen(text)) throw unreadable(line);
  yield record(text, line);
}

function record(text: string, line: number): CsvRecord {
  if (text.includes('\0')) throw new Error(`line ${line} is no text`);
  return { fields: split(text.endsWith('\r') ? text.slice(0, -1) : text), line };
}

function unreadable(line: number): Error {
  return new Error(`line ${line} has a quote that is never closed, or is no text`);
}

function decode(bytes: Buffer): string {
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  return text.replace(/^(\ufeff|\xef\xbb\xbf)/, '');
}

/** Whether a quoted field goes on in the next line: quotes come in pairs, doubled ones inside a field too. */
function isOpen(text: string): boolean {
  let open = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) open = !open;
  return open;
}

function split(text: string): readonly string[] {
  const fields: string[] = [];
  for (let at = 0; at <= text.length;) {
    const quoted = text.startsWith('"', at);
    let end = text.indexOf(',', quoted ? closingQuote(text, at) : at);
    if (end < 0) end = text.length;
    const field = text.slice(at, end).trim();
    fields.push(quoted ? unquoted(field) : field);
    at = end + 1;
  }
  return fields;
}

function closingQuote(text: string, opening: number): number {
  let at = text.indexOf('"', opening + 1);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at < 0 ? text.length : at;
}

function unquoted(field: string): string {
  const inner = field.endsWith('"') ? field.slice(1, -1) : field.slice(1);
  return (inner.includes('"') ? inner.replaceAll('""', '"') : inner).trim();
}
