import { LIMIT, type Database } from './sqlite-database.ts';
import type {
  EventsAnswer,
  EventsRequest,
  ReadRequest,
  RowsAnswer,
  ScanAnswer,
  ScanRequest,
  SqlValue,
} from './storage-protocol.ts';

/** How many events one request looks at, how much JSON it answers, and how much of that the caller parses in one go. */
const WINDOW = 20_000;
const MOST_CHARACTERS = 1_000_000;
const PART_CHARACTERS = 250_000;

/** A prefix's streams: from it to the last code point after it. */
const LAST_CODE_POINT = '\u{10FFFF}';

function events(database: Database, { after, prefixes, limit }: EventsRequest): EventsAnswer {
  const head = Number(database.value('SELECT max(position) FROM events') ?? 0);
  const last = Math.min(after + WINDOW, head);
  const matching = prefixes.map(() => '(stream >= ? AND stream < ?)').join(' OR ') || 'FALSE';
  const rows = database.each(
    `SELECT position, stream, revision, id, type, data, metadata FROM events
     WHERE position > ? AND position <= ? AND (${matching}) ORDER BY position ${LIMIT}`,
    [after, last, ...prefixes.flatMap((prefix) => [prefix, prefix + LAST_CODE_POINT]), limit],
  );
  const parts: string[][] = [];
  let position = after;
  let count = 0;
  let characters = 0;
  for (const row of rows) {
    const event = eventJson(row);
    (parts[Math.floor(characters / PART_CHARACTERS)] ??= []).push(event);
    position = Number(row[0]);
    count += 1;
    characters += event.length;
    if (characters >= MOST_CHARACTERS) break;
  }
  const complete = count < limit && characters < MOST_CHARACTERS;
  // One that is larger than a part leaves the places behind it empty.
  const json = Object.values(parts).map((part) => `[${part.join(',')}]`);
  return { json, position: complete ? Math.max(last, after) : position, head };
}

/** Data and metadata are JSON already: parsed once, by the caller. */
function eventJson([position, stream, revision, id, type, data, metadata]: readonly SqlValue[]): string {
  return `{"at":${position},"stream":${JSON.stringify(stream)},"revision":${revision},"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"data":${data},"metadata":${metadata}}`;
}

function scan(database: Database, { sql, visit, limit }: ScanRequest): ScanAnswer {
  const documents: SqlValue[] = [];
  let last: readonly SqlValue[] = [];
  let visited = 0;
  for (const row of database.each(sql.text, sql.values)) {
    const [document = null] = row;
    last = row;
    visited += 1;
    if (document !== null) documents.push(document);
    if (documents.length >= limit) break;
  }
  const hasEnded = visited < visit && documents.length < limit;
  return { json: `[${documents.join(',')}]`, next: hasEnded ? null : last.slice(1) };
}

/** What a request asks for, read in one go. */
export function answerRead(database: Database, request: ReadRequest): EventsAnswer | RowsAnswer | ScanAnswer {
  switch (request.kind) {
    case 'events':
      return events(database, request);
    case 'rows':
      return { json: database.jsonArray(request.sql) };
    case 'scan':
      return scan(database, request);
  }
}
