import { writeSync } from 'node:fs';
import { pino } from 'pino';
import type { Logger } from '@tracking/ports';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/**
 * Names of fields whose values are redacted, at the top level or one level below. Redaction is a safety net: callers
 * must not log secrets.
 */
const SECRET_FIELDS = ['authorization', 'password', 'secret', 'key', 'token', 'cookie'];
const REDACTED_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
/** Fields that a terminal shows at the start of a line, or that are equal in all lines of a process. */
const COMMON_LOG_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'service', 'msg']);
/** Fields of a request that a terminal shows first, or omits so that the request fits into one line. */
const SPECIALLY_LOGGED_REQUEST_FIELDS = new Set([
  'method',
  'route',
  'path',
  'status',
  'duration_ms',
  'client',
  'key_id',
  'workspace_id',
]);
const MAX_LOGGED_CAUSES = 3;
/** Patterns of credentials in text. */
const SECRET_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\/\/[^/\s@]+@/g, '//[redacted]@'],
  [/\b(sk_live|sk_test|whsec)_[\w+/=-]+/g, '$1_[redacted]'],
  [/\b(Bearer|Basic)\s+[\w.+/=~-]+/gi, '$1 [redacted]'],
];

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Maximum milliseconds that a line waits until the reader of the output continues to read. */
const MAX_LOG_WRITE_WAIT_MS = 3_000;
const LOG_WRITE_RETRY_DELAY_MS = 10;

/**
 * Writes lines to a file descriptor. A line that cannot be written is dropped and counted, so that a full disk, a closed
 * pipe or a stalled reader never ends or stops the process. Later lines are tried again.
 */
export class LogLineWriter {
  private droppedLines = 0;
  private hasFailed = false;
  /** True if only a part of the last line was written. */
  private isInLine = false;

  /** @param onFailure called with the error code at the first dropped line, and again after the output had recovered */
  constructor(
    private readonly descriptor: number,
    private readonly onFailure: (code: string) => void = () => undefined,
  ) {}

  /** Number of lines that were completely or partly dropped. */
  get dropped(): number {
    return this.droppedLines;
  }

  /** Writes the text before it returns, so that the last lines are not lost when the process exits. */
  write(line: string): void {
    let rest: Uint8Array = Buffer.from(this.isInLine ? `\n${line}` : line);
    try {
      while (rest.length > 0) {
        const written = this.writeOutputChunk(rest);
        this.isInLine = written < rest.length;
        rest = rest.subarray(written);
      }
      this.hasFailed = false;
    } catch (error) {
      this.droppedLines += 1;
      if (this.hasFailed) return;
      this.hasFailed = true;
      this.onFailure((error as NodeJS.ErrnoException).code ?? String(error));
    }
  }

  /** Waits for a slow reader, but only once until the output has recovered. */
  private writeOutputChunk(bytes: Uint8Array): number {
    const deadline = performance.now() + MAX_LOG_WRITE_WAIT_MS;
    for (;;) {
      try {
        return writeSync(this.descriptor, bytes);
      } catch (error) {
        const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!isFull || this.hasFailed || performance.now() > deadline) throw error;
        Atomics.wait(ATOMICS_WAIT_BUFFER, 0, 0, LOG_WRITE_RETRY_DELAY_MS);
      }
    }
  }
}

const ATOMICS_WAIT_BUFFER = new Int32Array(new SharedArrayBuffer(4));
/** Writer for the standard error of this process. */
export const standardErrorWriter = new LogLineWriter(2);
/** Writer for the log on the standard output of this process. */
export const standardOutputLogWriter = new LogLineWriter(1, (code) =>
  standardErrorWriter.write(
    `standard output fails (${code}): log lines are dropped and counted in log_lines_dropped_total\n`,
  ),
);

/** Creates a logger that writes JSON lines to standard output, or readable lines if it is a terminal. */
export async function createLogger(options: {
  level: LogLevel;
  service: string;
  destination?: NodeJS.WritableStream;
}): Promise<Logger> {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
  };
  const destination: Pick<LogLineWriter, 'write'> | NodeJS.WritableStream =
    options.destination ?? standardOutputLogWriter;
  const stream = options.destination ?? process.stdout;
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  // Libraries also write to this stream. An error of a stream without a listener would end the process.
  for (const output of [process.stdout, process.stderr]) {
    if (!output.listeners('error').includes(ignoreLogWriteError)) output.on('error', ignoreLogWriteError);
  }
  if (!isTerminal) {
    const logger: Logger = pino(settings, destination);
    return logger;
  }
  // The formatter is loaded only when the output is a terminal.
  const { prettyFactory } = await import('pino-pretty');
  const line = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    hideObject: true,
    messageFormat: (record) => formatLogRecord(record),
  });
  // Lines are written immediately, so that the last lines are not lost when the process exits.
  const pretty: Logger = pino(settings, { write: (record: string) => void destination.write(line(record)) });
  return pretty;
}

function ignoreLogWriteError(): void {
  // The log reports failures of its output: see `LogLineWriter`.
}

/** A log record with the fields of its JSON line. */
type LogRecord = Readonly<Record<string, unknown>>;

/**
 * Formats a record for people, without time and level. Only fields with several lines, such as a stack, follow below
 * the line.
 */
function formatLogRecord(record: LogRecord): string {
  const { msg, method, path, status, duration_ms } = record;
  const isRequest = msg === 'request' && typeof path === 'string';
  const what = isRequest ? `${String(method)} ${path} ${String(status)} ${String(duration_ms)} ms` : String(msg);
  const fields = Object.entries(record)
    .filter(
      ([name, value]) =>
        value !== undefined &&
        !COMMON_LOG_FIELDS.has(name) &&
        !(isRequest && SPECIALLY_LOGGED_REQUEST_FIELDS.has(name)),
    )
    .map(([name, value]) => [name, convertLogValueToText(value)] as const);
  const isLong = ([, text]: readonly [string, string]) => text.includes('\n');
  const short = fields
    .filter((field) => !isLong(field))
    .map(([name, text]) => `${name}=${replaceControlCharacters(text)}`);
  const long = fields
    .filter(isLong)
    .map(([name, text]) => `\n    ${name}: ${text.split('\n').map(replaceControlCharacters).join('\n    ')}`);
  return [replaceControlCharacters(what), ...short].join('  ') + long.join('');
}

function convertLogValueToText(value: unknown): string {
  if (typeof value === 'string') return value;
  const { stack } = Object(value) as { readonly stack?: unknown };
  return typeof stack === 'string' ? stack : JSON.stringify(value);
}

/** Replaces control characters, so that text from outside cannot control the terminal. */
function replaceControlCharacters(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/** Formats an error for a log line: the stacks of the error and its causes, without other properties and secrets. */
export function formatError(error: unknown): string {
  const shown: string[] = [];
  for (
    let at = error;
    at !== undefined && shown.length <= MAX_LOGGED_CAUSES;
    at = at instanceof Error ? at.cause : undefined
  ) {
    shown.push(at instanceof Error ? (at.stack ?? String(at)) : String(at));
  }
  return SECRET_PATTERNS.reduce(
    (text, [secret, instead]) => text.replaceAll(secret, instead),
    shown.join('\ncaused by '),
  );
}
