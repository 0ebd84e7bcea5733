import { ApiError, ConnectionError, type TrackingError } from '../errors.ts';
import type { Method } from './request.ts';

/** What decides whether a request is sent again. */
export interface Repeatable {
  readonly method: Method;
  /** Whether it goes with `If-Match`. */
  readonly conditional: boolean;
}

export interface Backoff {
  /** Milliseconds. */
  readonly first: number;
  readonly most: number;
}

/** What a proxy answers in the place of a connection that broke. */
const BROKEN: ReadonlySet<number> = new Set([502, 504]);
/** 503 of these codes: nothing was begun. */
const UNTOUCHED: ReadonlySet<string> = new Set(['busy', 'read_model_behind']);

/**
 * Whether sending the request again can help and does no harm. A POST goes under an `Idempotency-Key`, so it may always be
 * repeated; GET, PUT, PATCH and DELETE come to the same the second time. A conditional one does not: carried out before, it
 * would be refused for what it changed itself. So where its outcome is unknown, it is left to the caller.
 */
export function mayRepeat({ method, conditional }: Repeatable, error: TrackingError): boolean {
  const safe = method === 'GET' || method === 'POST' || !conditional;
  if (error instanceof ConnectionError) return safe || !error.outcomeUnknown;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || error.code === 'idempotency_in_progress') return true;
  if (error.status === 503) return safe || UNTOUCHED.has(error.code);
  return BROKEN.has(error.status) && safe;
}

/** Returns true if the request may have been carried out although it failed. */
export function isOutcomeUnknown(error: TrackingError): boolean {
  if (error instanceof ConnectionError) return error.outcomeUnknown;
  if (!(error instanceof ApiError)) return false;
  return BROKEN.has(error.status) || (error.status === 503 && !UNTOUCHED.has(error.code));
}

/**
 * Milliseconds before the next attempt: what the API asks for and up to a tenth more, or else a growing time, of which the
 * upper half is left to chance, so that clients that failed together do not come again together.
 * @param attempt how many there were
 * @param random from 0 to 1
 */
export function waitBefore(attempt: number, error: TrackingError, { first, most }: Backoff, random: number): number {
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  if (asked !== undefined) return asked * 1_000 * (1 + random / 10);
  const grown = Math.min(most, first * 2 ** (attempt - 1));
  return grown * (0.5 + random / 2);
}

/** @throws the signal's reason */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
