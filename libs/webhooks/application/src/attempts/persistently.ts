import { setTimeout as pause } from 'node:timers/promises';
import { type Logger, Unavailable } from '@tracking/ports';

const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/**
 * Does something against an engine until the engine has done it.
 * @throws what is no loss of the engine, and the signal's reason once it aborts while the engine is away
 */
export async function persistently<T>(
  ended: AbortSignal,
  logger: Logger,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  for (let wait = FIRST_MS; ; wait = Math.min(2 * wait, LONGEST_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      ended.throwIfAborted();
      logger.warn({ reason: error.message, retry_in_ms: wait }, `${what} failed; trying again`);
      await pause(wait, undefined, { signal: ended });
    }
  }
}
