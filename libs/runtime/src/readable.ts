/** A log record as it would stand in its JSON line. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** What a line begins with, or what says the same for every line of a process. */
const APART = new Set(['level', 'time', 'pid', 'hostname', 'service', 'msg']);
/** What a request's line begins with, and what nobody looks for at a terminal: it fits into one line then. */
const OF_REQUESTS = new Set(['method', 'route', 'path', 'status', 'duration_ms', 'client', 'key_id', 'workspace_id']);

/** A record for people, without time and level: a line, below which only what has lines itself (a stack) stands. */
export function readable(record: LogRecord): string {
  const { msg, method, path, status, duration_ms } = record;
  const isRequest = msg === 'request' && typeof path === 'string';
  const what = isRequest ? `${String(method)} ${path} ${String(status)} ${String(duration_ms)} ms` : String(msg);
  const fields = Object.entries(record)
    .filter(([name, value]) => value !== undefined && !APART.has(name) && !(isRequest && OF_REQUESTS.has(name)))
    .map(([name, value]) => [name, textOf(value)] as const);
  const isLong = ([, text]: readonly [string, string]) => text.includes('\n');
  const short = fields.filter((field) => !isLong(field)).map(([name, text]) => `${name}=${shown(text)}`);
  const long = fields
    .filter(isLong)
    .map(([name, text]) => `\n    ${name}: ${text.split('\n').map(shown).join('\n    ')}`);
  return [shown(what), ...short].join('  ') + long.join('');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { stack } = Object(value) as { readonly stack?: unknown };
  return typeof stack === 'string' ? stack : JSON.stringify(value);
}

/** Nothing that a stranger sent may command the terminal. */
function shown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}
