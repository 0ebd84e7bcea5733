import type { Logger } from '@tracking/ports';
import { pino } from 'pino';
import { readable } from './readable.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Field names whose values never reach a line, at the top or one level below. A net under those who never log any. */
const SECRET_FIELDS = ['authorization', 'password', 'secret', 'key', 'token', 'cookie'];
const REDACTED = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);

/** JSON lines on standard output; a readable line for each record when that is a terminal. */
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
    redact: { paths: REDACTED, censor: '[redacted]' },
  };
  const destination = options.destination ?? process.stdout;
  const isTerminal = 'isTTY' in destination && destination.isTTY === true;
  if (!isTerminal) {
    const logger: Logger = pino(settings, destination);
    return logger;
  }
  // Only a person at a terminal pays for loading the formatter.
  const { prettyFactory } = await import('pino-pretty');
  const line = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    hideObject: true,
    messageFormat: (record) => readable(record),
  });
  // Written at once: what is said last is not lost when the process ends.
  const pretty: Logger = pino(settings, { write: (record: string) => void destination.write(line(record)) });
  return pretty;
}
