import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable, type CountRetry, type Logger } from '@tracking/ports';
import { portError, reasonOf } from './eventstoredb-errors.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Repeats what did not answer until the time is over. What is given up may still happen.
 * @param attempt is told how many milliseconds it has
 * @throws Unavailable, VersionConflict, or why the node refuses
 */
export async function repeated<T>(timeoutMs: number, attempt: (leftMs: number) => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    const left = Math.max(deadline - performance.now(), 1);
    try {
      return await attempt(left);
    } catch (error) {
      const failure = portError(error);
      if (!(failure instanceof Unavailable) || deadline - performance.now() <= wait) throw failure;
    }
    await pause(wait);
  }
}

/** What the promise resolves with, or undefined where `stop` comes first. */
export async function unless<T>(stop: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  const stopped = Promise.withResolvers<undefined>();
  const giveUp = () => stopped.resolve(undefined);
  stop.addEventListener('abort', giveUp);
  if (stop.aborted) giveUp();
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    stop.removeEventListener('abort', giveUp);
  }
}

/** Told of every try that failed. */
export interface Complaints {
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

/** Repeats what fails until it is done, for as long as the process lives; undefined where `stop` comes first. */
export async function patiently<T>(
  stop: AbortSignal,
  { logger, countRetry }: Complaints,
  attempt: () => Promise<T>,
): Promise<T | undefined> {
  for (let wait = FIRST_PAUSE_MS; !stop.aborted; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    try {
      return await unless(stop, attempt());
    } catch (error) {
      countRetry('catching up');
      logger.warn({ reason: reasonOf(error) }, 'event store: catching up is tried again');
    }
    await pause(wait, undefined, { signal: stop }).catch(() => undefined);
  }
  return undefined;
}
