import { BusyError } from '@tracking/ports';

const DEFAULT_FIRST_PAUSE_MS = 25;
const DEFAULT_MAX_RETRY_PAUSE_MS = 5_000;
/** Maximum pause after a BusyError: a full queue empties within one or two commits. */
const MAX_RETRY_PAUSE_AFTER_BUSY_MS = 50;
/** Pauses after a write conflict. Reads may show a write of another replica only after some milliseconds. */
const CONFLICT_RETRY_PAUSES = { firstPauseMs: 10, maxPauseMs: 250 };
const CONFLICT_RETRY_DEADLINE_MS = 5_000;

/** Returns the milliseconds of a clock that is never set back. Only differences are meaningful. */
export const monotonicMs = (): number => performance.now();

export interface RetryOptions {
  /** Signal that ends the pauses and the retries. An action in progress is awaited. */
  readonly signal?: AbortSignal;
  /** Time in {@link monotonicMs} after which no attempt starts. If absent, retries never end. */
  readonly deadline?: number;
  /** Maximum length of the first pause in milliseconds. The maximum doubles with each further pause. */
  readonly firstPauseMs?: number;
  readonly maxPauseMs?: number;
  /** Returns true if a retry may succeed after this error. By default, all errors are retried. */
  readonly isTransient?: (error: unknown) => boolean;
  /**
   * Callback for every failure, including the last one. @param failures number of failures so far, including this one
   */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

/**
 * Retries an action with exponential backoff and full jitter. Each pause is random between 0 and its maximum, so that
 * callers that failed together do not retry together.
 * @param action receives the number of failures so far
 * @throws the last error if it is not transient, the signal aborts, or the deadline leaves no time for another attempt
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
      const pauseMs = computeRetryPauseMs(error, failures, pauses);
      if (monotonicMs() + pauseMs >= deadline) throw error;
      await pauseFor(pauseMs, signal);
      if (isAborted()) throw error;
    }
  }
}

function computeRetryPauseMs(
  error: unknown,
  failures: number,
  { firstPauseMs = DEFAULT_FIRST_PAUSE_MS, maxPauseMs = DEFAULT_MAX_RETRY_PAUSE_MS }: RetryOptions,
): number {
  const maxMs = error instanceof BusyError ? Math.min(MAX_RETRY_PAUSE_AFTER_BUSY_MS, maxPauseMs) : maxPauseMs;
  return Math.random() * Math.min(maxMs, firstPauseMs * 2 ** (failures - 1));
}

/** A guarded write found a document that has changed since it was read. */
class WriteConflictError extends Error {
  override readonly name = 'WriteConflict';
}

/**
 * Promise of each resource that resolves when the latest queued action has ended, by collection and name of the
 * resource.
 */
const lastQueuedActionPromises = new WeakMap<object, Map<string, Promise<void>>>();

/**
 * Runs the action after all earlier actions of the same resource have ended.
 * @throws BusyError if they have not ended at the deadline; errors of `action`
 */
async function runAfterEarlierActions<T>(
  collection: object,
  resource: string,
  deadline: number,
  action: () => Promise<T>,
): Promise<T> {
  const ends = lastQueuedActionPromises.get(collection) ?? new Map<string, Promise<void>>();
  lastQueuedActionPromises.set(collection, ends);
  const previous = ends.get(resource);
  const { promise: end, resolve } = Promise.withResolvers<void>();
  ends.set(resource, end);
  try {
    if (previous)
      await withDeadline(previous, Math.max(0, deadline - monotonicMs()), () =>
        createTooManyConcurrentChangesError(resource),
      );
    return await action();
  } finally {
    if (ends.get(resource) === end) ends.delete(resource);
    resolve();
  }
}

const createTooManyConcurrentChangesError = (resource: string): BusyError =>
  new BusyError('document store', `too many requests change ${resource} at the same time`);

/**
 * Repeats an attempt that reads documents and writes them under guards, until no guard refuses a write, with pauses
 * between attempts. Calls with the same collection and resource run one after another, so that they do not conflict
 * with each other. Other writes and other processes can still cause conflicts. An attempt must not call this function
 * for its own resource.
 * @param collection object by which this process writes the documents
 * @param resource name of the written resource, for the queue and the error, for example `endpoint whe_1`
 * @param attempt reads, decides and writes; resolves with undefined if a guard refused a write
 * @throws BusyError if no attempt succeeded within 5 seconds; any error of `attempt`. `BusyError` promises that nothing
 *   was written, so an attempt that may write only some of its documents must convert it to `UnavailableError`
 */
export async function retryConflicts<T>(
  collection: object,
  resource: string,
  attempt: () => Promise<T | undefined>,
  deadlineMs = CONFLICT_RETRY_DEADLINE_MS,
): Promise<T> {
  const deadline = monotonicMs() + deadlineMs;
  const write = async () => {
    const written = await attempt();
    if (written === undefined) throw new WriteConflictError();
    return written;
  };
  const isTransient = (error: unknown) => error instanceof WriteConflictError;
  try {
    return await runAfterEarlierActions(collection, resource, deadline, () =>
      retry(write, { ...CONFLICT_RETRY_PAUSES, deadline, isTransient }),
    );
  } catch (error) {
    throw isTransient(error) ? createTooManyConcurrentChangesError(resource) : error;
  }
}

/** Resolves when one of the signals aborts. */
export async function waitForAbort(...signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  if (!any.aborted) await new Promise((resolve) => any.addEventListener('abort', resolve, { once: true }));
}

/** Resolves after `ms` milliseconds, or immediately when the signal aborts. Callers check the signal afterwards. */
export function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
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
 * Returns the milliseconds until the next multiple of `everyMs` on the monotonic clock, so that timers of the same
 * period coincide.
 */
export function msUntilNextTick(everyMs: number, now: number): number {
  return everyMs - (now % everyMs);
}

/** Milliseconds by which waits exceed the next tick, because a timer may fire up to a millisecond early. */
const TICK_MARGIN_MS = 2;

/** Resolves at the next multiple of `everyMs` on the monotonic clock, or immediately when the signal aborts. */
export function pauseUntilNextTick(everyMs: number, signal?: AbortSignal): Promise<void> {
  return pauseFor(msUntilNextTick(everyMs, monotonicMs()) + TICK_MARGIN_MS, signal);
}

/**
 * Calls a function at each multiple of `everyMs` on the monotonic clock, so that functions of the same period run in the
 * same turn of the event loop and can share their reads. The timer does not keep the process alive.
 * @returns a function that stops the calls
 */
export function runAtTicks(everyMs: number, run: () => void): () => void {
  const schedule = () => {
    timer = setTimeout(runAndSchedule, msUntilNextTick(everyMs, monotonicMs()) + TICK_MARGIN_MS).unref();
  };
  const runAndSchedule = () => {
    schedule();
    run();
  };
  let timer: NodeJS.Timeout;
  schedule();
  return () => clearTimeout(timer);
}

/**
 * Settles like `promise`, or rejects after `ms` milliseconds. A later result is ignored.
 * @param createError creates the error for the timeout
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
