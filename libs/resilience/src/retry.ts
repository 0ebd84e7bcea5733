import { Busy } from '@tracking/ports';
import { pause } from './pause.ts';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 5_000;
/** A full queue empties within a commit or two. */
const LONGEST_PAUSE_WHEN_BUSY_MS = 50;

/** Milliseconds of a clock that is never set back; only differences mean something. */
export const monotonicMs = (): number => performance.now();

export interface RetryOptions {
  /** Ends the pauses and the retries; an action that is under way is awaited. */
  readonly signal?: AbortSignal;
  /** No action begins after it, in {@link monotonicMs}. Without one there is no end. */
  readonly deadline?: number;
  /** Bound of the first pause; each bound is twice the one before it. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  /** Whether this failure may pass; all do by default. */
  readonly isTransient?: (error: unknown) => boolean;
  /** Told of every failure, the last included. @param failures how many there were, this one included */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

/**
 * Retry with exponential backoff and full jitter: each pause lies anywhere between nothing and its bound, so that those
 * who failed together do not come back together.
 * @param action told how many tries failed before it
 * @throws the last failure: when it is not transient, when the signal aborted, or when the deadline leaves no time
 */
export async function retry<T>(
  action: (failures: number) => T | Promise<T>,
  { signal, deadline = Infinity, isTransient = () => true, onFailure, ...pauses }: RetryOptions = {},
): Promise<T> {
  const isAborted = () => signal?.aborted === true;
  for (let failures = 1; ; failures += 1) {
    try {
      return await action(failures - 1);
    } catch (error) {
      onFailure?.(error, failures);
      if (!isTransient(error) || isAborted()) throw error;
      const pauseMs = pauseAfter(error, failures, pauses);
      if (monotonicMs() + pauseMs >= deadline) throw error;
      await pause(pauseMs, signal);
      if (isAborted()) throw error;
    }
  }
}

function pauseAfter(
  error: unknown,
  failures: number,
  { firstPauseMs = FIRST_PAUSE_MS, longestPauseMs = LONGEST_PAUSE_MS }: RetryOptions,
): number {
  const longest = error instanceof Busy ? Math.min(LONGEST_PAUSE_WHEN_BUSY_MS, longestPauseMs) : longestPauseMs;
  return Math.random() * Math.min(longest, firstPauseMs * 2 ** (failures - 1));
}
