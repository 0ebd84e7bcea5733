import type { Timestamp } from '@tracking/contracts';
import type { DeliveryError } from './delivery.ts';
import type { Period } from './endpoint.ts';

/** The part of a receiver's answer that decides what happens next. */
export type ReceiverAnswer =
  | {
      readonly kind: 'response';
      readonly statusCode: number;
      /** The headers `Retry-After` and `Date`, as received. */
      readonly retryAfter?: string | undefined;
      readonly date?: string | undefined;
    }
  | { readonly kind: 'failure'; readonly code: string; readonly message: string };

/** The result of an attempt for the delivery and its endpoint. */
export type AttemptOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failure'; readonly error: DeliveryError }
  /** The endpoint says that it is gone for good (410). */
  | { readonly kind: 'gone'; readonly error: DeliveryError }
  /** The endpoint asks everybody to wait (429 or 503 with `Retry-After`). */
  | { readonly kind: 'hold'; readonly error: DeliveryError; readonly holdMs: number };

/**
 * Judges a receiver's answer. Success is 2xx and nothing else; redirects are never followed.
 * @param now when the answer came, in epoch milliseconds
 */
export function judgeAnswer(answer: ReceiverAnswer, now: number): AttemptOutcome {
  if (answer.kind === 'failure') {
    return { kind: 'failure', error: { code: answer.code, message: answer.message } };
  }
  const { statusCode, retryAfter, date } = answer;
  if (statusCode >= 200 && statusCode <= 299) return { kind: 'success' };
  if (statusCode >= 300 && statusCode <= 399) {
    const message = `The endpoint answered ${statusCode}; redirects are not followed.`;
    return { kind: 'failure', error: { code: 'redirect_not_followed', message } };
  }
  const error = { code: 'unexpected_status', message: `The endpoint answered ${statusCode}.` };
  if (statusCode === 410) return { kind: 'gone', error };
  const wait = statusCode === 429 || statusCode === 503 ? parseRetryAfterMs(retryAfter, date, now) : undefined;
  return wait === undefined ? { kind: 'failure', error } : { kind: 'hold', error, holdMs: wait };
}

/** Shortest hold, for `Retry-After: 0` and dates that have passed: without it the next attempt would begin at once. */
const MIN_HOLD_MS = 1_000;
/** Longest time that an endpoint can hold us back with one answer. */
const MAX_HOLD_MS = 3_600_000;

/** The forms of a date in HTTP; all but the first are obsolete (RFC 9110, section 5.6.7). */
const HTTP_DATE_FORMATS = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
/** It names no zone, and is in UTC too. */
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * How long a `Retry-After` holds the endpoint back, in milliseconds: from a second to an hour.
 * @param value whole seconds, or an HTTP date (RFC 9110, section 10.2.3)
 * @param date the `Date` header of the same answer: a date is measured from it, so a receiver's clock may be wrong
 * @param now epoch milliseconds, in place of a `Date` header that is missing or malformed
 * @returns undefined for a malformed value: the answer is then a failure like any other
 */
function parseRetryAfterMs(value: string | undefined, date: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return clampHold(Number(text) * 1000);
  const until = parseHttpDate(text);
  if (Number.isNaN(until)) return undefined;
  const answeredAt = parseHttpDate(date?.trim() ?? '');
  return clampHold(until - (Number.isNaN(answeredAt) ? now : answeredAt));
}

function clampHold(wait: number): number {
  return Math.min(Math.max(wait, MIN_HOLD_MS), MAX_HOLD_MS);
}

function parseHttpDate(text: string): number {
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`);
  return HTTP_DATE_FORMATS.some((form) => form.test(text)) ? Date.parse(text) : NaN;
}

/** A period in which an endpoint was attempted and never answered 2xx. */
export interface FailingPeriod {
  /** Begin of the first attempt that failed since the last success. */
  readonly since: Timestamp;
  /** When it was found to have lasted long enough to be reported. */
  readonly at: Timestamp;
  /** Why its latest attempt failed. */
  readonly reason: DeliveryError;
}

/** Attempts that failed since the last success. Epoch milliseconds. */
export interface ConsecutiveFailures {
  /** Begin of the first. */
  readonly since: number;
  /** End of the latest. */
  readonly latest: number;
}

/**
 * When a failing endpoint is reported to the other endpoints, in epoch milliseconds: `afterMs` after the first failure, or
 * after it was last enabled. Infinity if it is not attempted or has not been since, because it may have been mended.
 * @param pauses of the endpoint
 */
export function failureReportDueAt(
  { since, latest }: ConsecutiveFailures,
  pauses: readonly Period[],
  afterMs: number,
): number {
  const last = pauses.at(-1);
  if (last === undefined) return since + afterMs;
  const enabledAt = last.to === null ? Infinity : Date.parse(last.to);
  return latest < enabledAt ? Infinity : Math.max(since, enabledAt) + afterMs;
}
