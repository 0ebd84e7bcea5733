import { Busy } from '@tracking/ports';

const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 5_000;
/** A full queue empties within a commit or two. */
const MAX_BUSY_PAUSE_MS = 50;
/** A write of another replica may take some milliseconds until reads show it. */
const CONFLICT_PAUSES = { firstPauseMs: 10, maxPauseMs: 250 };
const CONFLICT_DEADLINE_MS = 5_000;

/** Milliseconds of a clock that is never set back; only differences mean something. */
export const monotonicMs = (): number => performance.now();

export interface RetryOptions {
  /** Ends the pauses and the retries; an action that is under way is awaited. */
  readonly signal?: AbortSignal;
  /** No action begins after it, in {@link monotonicMs}. Without one there is no end. */
  readonly deadline?: number;
  /** Bound of the first pause; each bound is twice the one before it. */
  readonly firstPauseMs?: number;
  readonly maxPauseMs?: number;
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
      const pauseMs = computePause(error, failures, pauses);
      if (monotonicMs() + pauseMs >= deadline) throw error;
      await pause(pauseMs, signal);
      if (isAborted()) throw error;
    }
  }
}

function computePause(
  error: unknown,
  failures: number,
  { firstPauseMs = FIRST_PAUSE_MS, maxPauseMs = MAX_PAUSE_MS }: RetryOptions,
): number {
  const maxMs = error instanceof Busy ? Math.min(MAX_BUSY_PAUSE_MS, maxPauseMs) : maxPauseMs;
  return Math.random() * Math.min(maxMs, firstPauseMs * 2 ** (failures - 1));
}

/** A guarded write found its document changed since it was read. */
class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
}

/**
 * Repeats reading documents and writing them under guards until no guard refuses a write, with pauses in between.
 * @param resource names what is written, for the error: for example `endpoint whe_1`
 * @param attempt reads, decides and writes; resolves with undefined if a guard refused a write
 * @throws Busy if every attempt of 5 seconds was refused; and whatever `attempt` throws. `Busy` promises that nothing was
 * written, so an attempt that writes several documents, and keeps some of them, must turn it into `Unavailable`
 */
export async function retryConflicts<T>(
  resource: string,
  attempt: () => Promise<T | undefined>,
  deadlineMs = CONFLICT_DEADLINE_MS,
): Promise<T> {
  try {
    return await retry(
      async () => {
        const written = await attempt();
        if (written === undefined) throw new WriteConflict();
        return written;
      },
      {
        ...CONFLICT_PAUSES,
        deadline: monotonicMs() + deadlineMs,
        isTransient: (error) => error instanceof WriteConflict,
      },
    );
  } catch (error) {
    if (!(error instanceof WriteConflict)) throw error;
    throw new Busy('document store', `too many requests change ${resource} at the same time`);
  }
}

/** Resolves after `ms` milliseconds, or at once when the signal aborts: whoever waits looks at the signal afterwards. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/**
 * Settles as `promise` does, if it does so in time; what it does later is nobody's concern.
 * @param createError makes what is thrown after `ms` milliseconds
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number, createError: () => Error): Promise<T> {
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(() => expired.reject(createError()), ms);
  try {
    return await Promise.race([promise, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}
