import type { ErrorCode, FieldError } from '@tracking/contracts';

/** A request that the edge itself refuses, before any feature is asked. Nothing was written. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: readonly FieldError[] = [],
    /** Response headers that belong to the refusal, as `Retry-After`. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** Codes of single fields that are worth being the code of the whole answer when every fault has it. */
const PROMOTED: ReadonlySet<string> = new Set<ErrorCode & FieldError['code']>([
  'external_id_immutable',
  'invalid_cursor',
  'limit_exceeded',
  'reference_required',
]);

/** One refusal for all the faulty fields of a request. `details` holds at least one. */
export function invalidRequest(details: readonly FieldError[]): RequestError {
  const [first] = details;
  const same = details.every((detail) => detail.code === first?.code);
  const code = same && first && PROMOTED.has(first.code) ? (first.code as ErrorCode) : 'validation_failed';
  const message =
    details.length === 1 && first ? `${first.param}: ${first.message}` : `${details.length} fields are not valid.`;
  return new RequestError(code, message, details);
}

/** The same answer for what never existed and for what belongs to somebody else. */
export function notFound(what: string): RequestError {
  return new RequestError('not_found', `No such ${what}.`);
}
