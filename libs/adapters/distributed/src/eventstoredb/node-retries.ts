import { Unavailable, type CountRetry, type Logger } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import { portError, reasonOf } from './eventstoredb-errors.ts';

const PAUSES = { firstPauseMs: 50, longestPauseMs: 1_000 };

/**
 * Repeats an operation that the node does not answer, until its time is over. What was given up may still happen.
 * @param attempt is told how many milliseconds it has
 * @throws Unavailable, VersionConflict, or why the node refuses
 */
export function retryWithin<T>(timeoutMs: number, attempt: (leftMs: number) => Promise<T>): Promise<T> {
  const deadline = monotonicMs() + timeoutMs;
  const once = async () => {
    try {
      return await attempt(Math.max(deadline - monotonicMs(), 1));
    } catch (error) {
      throw portError(error);
    }
  };
  return retry(once, { ...PAUSES, deadline, isTransient: (error) => error instanceof Unavailable });
}

/** Told of every try that failed. */
export interface RetryTelemetry {
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

/** Repeats a read for those who follow the log until the node answers; undefined where `stop` comes first. */
export async function retryUntilStopped<T>(
  stop: AbortSignal,
  { logger, countRetry }: RetryTelemetry,
  attempt: () => Promise<T>,
): Promise<T | undefined> {
  if (stop.aborted) return undefined;
  const onFailure = (error: unknown) => {
    countRetry('catching up');
    logger.warn({ reason: reasonOf(error) }, 'event store: catching up is tried again');
  };
  // Without a deadline it fails on `stop` only.
  const answer = retry(() => unlessAborted(stop, attempt()), { ...PAUSES, signal: stop, onFailure });
  return answer.catch(() => undefined);
}

/** What the promise resolves with, or undefined where `stop` comes first. */
export async function unlessAborted<T>(stop: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
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
