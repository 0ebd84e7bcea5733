import type { DeliveryError } from './delivery.ts';
import { holdMs } from './retry-after.ts';

/** What came back from a receiver, as far as it matters for what happens next. */
export type ReceiverAnswer =
  | {
      readonly kind: 'response';
      readonly statusCode: number;
      /** The headers `Retry-After` and `Date`, as received. */
      readonly retryAfter?: string | undefined;
      readonly date?: string | undefined;
    }
  | { readonly kind: 'failure'; readonly code: string; readonly message: string };

/** What an attempt means for the delivery and its endpoint. */
export type AttemptOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failure'; readonly error: DeliveryError }
  /** The endpoint says that it is gone for good (410). */
  | { readonly kind: 'gone'; readonly error: DeliveryError }
  /** The endpoint asks everybody to wait (429 or 503 with `Retry-After`). */
  | { readonly kind: 'hold'; readonly error: DeliveryError; readonly holdMs: number };

/**
 * Success is 2xx and nothing else; redirects are never followed.
 * @param now when the answer came, in epoch milliseconds
 */
export function judge(answer: ReceiverAnswer, now: number): AttemptOutcome {
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
  const wait = statusCode === 429 || statusCode === 503 ? holdMs(retryAfter, date, now) : undefined;
  return wait === undefined ? { kind: 'failure', error } : { kind: 'hold', error, holdMs: wait };
}
