import type { PayloadForm, Timestamp } from '@tracking/contracts';
import type { DeliveryFailureReason } from './delivery.ts';
import type { TimePeriod } from './endpoint.ts';

/** Part of a receiver's answer that determines the outcome of an attempt. */
export type ReceiverAnswer =
  | {
      readonly kind: 'response';
      readonly statusCode: number;
      /** Response headers `Retry-After` and `Date`, as received. */
      readonly retryAfter?: string | undefined;
      readonly date?: string | undefined;
      /** Form of the event in the request; absent for a challenge. */
      readonly sentForm?: PayloadForm;
    }
  | { readonly kind: 'failure'; readonly code: string; readonly message: string };

/** Outcome of an attempt, for the delivery and its endpoint. */
export type AttemptOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failure'; readonly error: DeliveryFailureReason }
  /** The endpoint answered 410: it is permanently gone. */
  | { readonly kind: 'gone'; readonly error: DeliveryFailureReason }
  /** The endpoint asked to wait (429 or 503 with `Retry-After`). All its attempts wait. */
  | { readonly kind: 'hold'; readonly error: DeliveryFailureReason; readonly holdMs: number };

/**
 * Determines the outcome from a receiver's answer. Only 2xx is a success; redirects are never followed.
 * @param now time of the answer, in epoch milliseconds
 */
export function determineAttemptOutcome(answer: ReceiverAnswer, now: number): AttemptOutcome {
  if (answer.kind === 'failure') {
    return { kind: 'failure', error: { code: answer.code, message: answer.message } };
  }
  const { statusCode, retryAfter, date, sentForm } = answer;
  if (statusCode >= 200 && statusCode <= 299) return { kind: 'success' };
  if (statusCode >= 300 && statusCode <= 399) {
    const message = `The endpoint answered ${statusCode}; redirects are not followed.`;
    return { kind: 'failure', error: { code: 'redirect_not_followed', message } };
  }
  const error = { code: 'unexpected_status', message: describeUnexpectedStatus(statusCode, sentForm) };
  if (statusCode === 410) return { kind: 'gone', error };
  const wait = statusCode === 429 || statusCode === 503 ? parseRetryAfterMs(retryAfter, date, now) : undefined;
  return wait === undefined ? { kind: 'failure', error } : { kind: 'hold', error, holdMs: wait };
}

function describeUnexpectedStatus(statusCode: number, sentForm: PayloadForm | undefined): string {
  const answered = `The endpoint answered ${statusCode}`;
  if (statusCode !== CONTENT_TOO_LARGE_STATUS) return `${answered}.`;
  const hint = sentForm === 'full' ? ', or set `payload` of the endpoint to `thin`' : '';
  return `${answered}: the request is too large for it. Raise the limit of the receiver${hint}.`;
}

/** Status of a receiver that refuses a request because of its size. */
export const CONTENT_TOO_LARGE_STATUS = 413;

/** Shortest hold, for `Retry-After: 0` and past dates. Without it, the next attempt would start immediately. */
const MIN_RETRY_AFTER_MS = 1_000;
/** Longest hold that one answer can request. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** HTTP date formats. All but the first are obsolete (RFC 9110, section 5.6.7). */
const HTTP_DATE_FORMATS = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
/** The asctime date format. It has no time zone and is in UTC. */
const ASCTIME_DATE_PATTERN = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Parses a `Retry-After` header into a hold, in milliseconds: from one second to one hour.
 * @param value whole seconds, or an HTTP date (RFC 9110, section 10.2.3)
 * @param date `Date` header of the same answer. Dates are measured from it, so the receiver's clock may be wrong
 * @param now epoch milliseconds, used if the `Date` header is missing or malformed
 * @returns undefined for a malformed value: the answer is then an ordinary failure
 */
function parseRetryAfterMs(value: string | undefined, date: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return limitRetryAfterMs(Number(text) * 1000);
  const until = parseHttpDate(text);
  if (Number.isNaN(until)) return undefined;
  const answeredAt = parseHttpDate(date?.trim() ?? '');
  return limitRetryAfterMs(until - (Number.isNaN(answeredAt) ? now : answeredAt));
}

function limitRetryAfterMs(wait: number): number {
  return Math.min(Math.max(wait, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
}

function parseHttpDate(text: string): number {
  if (ASCTIME_DATE_PATTERN.test(text)) return Date.parse(`${text} GMT`);
  return HTTP_DATE_FORMATS.some((form) => form.test(text)) ? Date.parse(text) : NaN;
}

/** A period in which an endpoint was attempted and never answered 2xx. */
export interface FailingPeriod {
  /** Start of the first failed attempt since the last success. */
  readonly since: Timestamp;
  /** Time at which the period had lasted long enough to be reported. */
  readonly at: Timestamp;
  /** Reason why the latest attempt failed. */
  readonly reason: DeliveryFailureReason;
}

/** Failed attempts since the endpoint's last success. Times are epoch milliseconds. */
export interface ConsecutiveFailures {
  /** Start of the first failed attempt. */
  readonly since: number;
  /** End of the latest failed attempt. */
  readonly latest: number;
}

/**
 * Returns the time at which a failing endpoint is reported to the workspace's other endpoints, in epoch milliseconds:
 * `afterMs` after the first failure or after the endpoint was last enabled, whichever is later. Infinity if the
 * endpoint is disabled or was not attempted since it was enabled, because it may have been repaired.
 * @param pauses pauses of the endpoint
 */
export function computeFailureReportTime(
  { since, latest }: ConsecutiveFailures,
  pauses: readonly TimePeriod[],
  afterMs: number,
): number {
  const last = pauses.at(-1);
  if (last === undefined) return since + afterMs;
  const enabledAt = last.to === null ? Infinity : Date.parse(last.to);
  return latest < enabledAt ? Infinity : Math.max(since, enabledAt) + afterMs;
}
