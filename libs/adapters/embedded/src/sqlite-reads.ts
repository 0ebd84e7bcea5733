import { type SqliteConnection, LIMIT_CLAUSE_SQL } from './sqlite-database.ts';
import type {
  SqliteEventsReadAnswer,
  EventsReadRequest,
  ReadRequest,
  RowsAnswer,
  SqlRowsReadRequest,
  ReaderThreadScanAnswer,
  CollectionScanRequest,
  SqlValue,
} from './storage-threads.ts';

/**
 * Limits of one request: number of events visited, characters of JSON returned, and characters that the caller parses
 * at once.
 */
const MAX_VISITED_EVENTS = 20_000;
const MAX_EVENT_CHARACTERS_PER_SQLITE_READ = 1_000_000;
const JSON_CHUNK_CHARACTERS = 250_000;

/** Event streams with a prefix range from the prefix to the last code point after it. */
const LAST_UNICODE_CODE_POINT = '\u{10FFFF}';

function readEventRows(
  database: SqliteConnection,
  { after, prefixes, limit }: EventsReadRequest,
): SqliteEventsReadAnswer {
  const head = Number(database.readFirstValueOfQuery('SELECT max(position) FROM events') ?? 0);
  const last = Math.min(after + MAX_VISITED_EVENTS, head);
  const matching = prefixes.map(() => '(stream >= ? AND stream < ?)').join(' OR ') || 'FALSE';
  const rows = database.iterateSqlQueryRows(
    `SELECT position, stream, revision, id, type, data, metadata FROM events
     WHERE position > ? AND position <= ? AND (${matching}) ORDER BY position ${LIMIT_CLAUSE_SQL}`,
    [after, last, ...prefixes.flatMap((prefix) => [prefix, prefix + LAST_UNICODE_CODE_POINT]), limit],
  );
  const parts: string[][] = [];
  let position = after;
  let count = 0;
  let characters = 0;
  for (const row of rows) {
    const event = formatEventRowAsJson(row);
    (parts[Math.floor(characters / JSON_CHUNK_CHARACTERS)] ??= []).push(event);
    position = Number(row[0]);
    count += 1;
    characters += event.length;
    if (characters >= MAX_EVENT_CHARACTERS_PER_SQLITE_READ) break;
  }
  const complete = count < limit && characters < MAX_EVENT_CHARACTERS_PER_SQLITE_READ;
  // An event that is larger than one part of the answer leaves the following parts empty.
  const json = Object.values(parts).map((part) => `[${part.join(',')}]`);
  return { json, position: complete ? Math.max(last, after) : position, head };
}

/** Data and metadata are JSON texts, which the caller parses. */
function formatEventRowAsJson([position, stream, revision, id, type, data, metadata]: readonly SqlValue[]): string {
  return `{"at":${position},"stream":${JSON.stringify(stream)},"revision":${revision},"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"data":${data},"metadata":${metadata}}`;
}

function runSqlDocumentScan(
  database: SqliteConnection,
  { sql, visit, limit, maxBytes }: CollectionScanRequest,
): ReaderThreadScanAnswer {
  const documents = new BoundedJsonArrayBuilder(maxBytes);
  let last: readonly SqlValue[] = [];
  let visited = 0;
  for (const row of database.iterateSqlQueryRows(sql.text, sql.values)) {
    const [document = null] = row;
    if (document !== null && !documents.addTextIfItFits(document)) break;
    last = row;
    visited += 1;
    if (documents.count >= limit) break;
  }
  const { json, isCut } = documents;
  const hasEnded = !isCut && visited < visit && documents.count < limit;
  return { json, next: hasEnded ? null : last.slice(1), isCut };
}

function readRows(database: SqliteConnection, { sql, maxBytes }: SqlRowsReadRequest): RowsAnswer {
  const found = new BoundedJsonArrayBuilder(maxBytes);
  for (const [json = null] of database.iterateSqlQueryRows(sql.text, sql.values))
    if (!found.addTextIfItFits(json)) break;
  return { json: found.json, isCut: found.isCut };
}

/** Builder of a JSON array from JSON texts, with a size limit. */
class BoundedJsonArrayBuilder {
  private readonly parts: SqlValue[] = [];
  private bytes = 0;
  private readonly maxBytes: number;
  isCut = false;

  // The class has no parameter property, because worker threads run this file with types stripped.
  constructor(maxBytes = Infinity) {
    this.maxBytes = maxBytes;
  }

  get count(): number {
    return this.parts.length;
  }

  get json(): string {
    return `[${this.parts.join(',')}]`;
  }

  /** Adds a text. Returns false and adds nothing if it does not fit. */
  addTextIfItFits(value: SqlValue): boolean {
    if (this.maxBytes < Infinity) this.bytes += Buffer.byteLength(String(value));
    this.isCut = this.parts.length > 0 && this.bytes > this.maxBytes;
    if (!this.isCut) this.parts.push(value);
    return !this.isCut;
  }
}

/** Performs a read request and returns its answer. */
export function performReadRequest(
  database: SqliteConnection,
  request: ReadRequest,
): SqliteEventsReadAnswer | RowsAnswer | ReaderThreadScanAnswer {
  switch (request.kind) {
    case 'events':
      return readEventRows(database, request);
    case 'rows':
      return readRows(database, request);
    case 'scan':
      return runSqlDocumentScan(database, request);
  }
}
