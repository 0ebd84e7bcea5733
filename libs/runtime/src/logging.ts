import type { Logger } from '@tracking/ports';
import { pino } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Field names whose values never reach a line, at the top or one level below. A net under those who never log any. */
const SECRET_FIELDS = ['authorization', 'password', 'secret', 'key', 'token', 'cookie'];
const REDACTED = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);

/** JSON lines on standard output; readable ones when that is a terminal. */
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
  const readable = 'isTTY' in destination && destination.isTTY === true;
  if (!readable) {
    const logger: Logger = pino(settings, destination);
    return logger;
  }
  // Only a person at a terminal pays for loading the formatter.
  const { PinoPretty } = await import('pino-pretty');
  const pretty: Logger = pino(
    settings,
    PinoPretty({ ignore: 'pid,hostname,service', translateTime: 'SYS:HH:MM:ss.l', destination: 1 }),
  );
  return pretty;
}
