import type { ErrorCode, FieldError } from '@tracking/contracts';

/** An error of the HTTP layer. Nothing was written. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: readonly FieldError[] = [],
    /** Response headers of the error, such as `Retry-After`. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** Field codes that become the code of the whole error if every invalid field has the same one. */
const FIELD_CODES_USED_AS_ERROR_CODE: ReadonlySet<string> = new Set<ErrorCode & FieldError['code']>([
  'external_id_immutable',
  'invalid_cursor',
  'limit_exceeded',
  'reference_required',
  'unknown_parameter',
]);

/** Combines the errors of all invalid fields into one error. Requires at least one field error. */
export function createInvalidRequestError(details: readonly FieldError[]): RequestError {
  const [first] = details;
  const same = details.every((detail) => detail.code === first?.code);
  const code =
    same && first && FIELD_CODES_USED_AS_ERROR_CODE.has(first.code) ? (first.code as ErrorCode) : 'validation_failed';
  return new RequestError(
    code,
    details.length === 1 && first ? addFieldNameToMessage(first) : summarizeFieldErrors(details),
    details,
  );
}

/** Prefixes the message with the field's name, unless it begins with the name. */
function addFieldNameToMessage({ param, message }: FieldError): string {
  return message.startsWith(`${param} `) ? message : `${param}: ${message}`;
}

/** Returns a message that names the first invalid fields. The error's `details` contain all of them. */
function summarizeFieldErrors(details: readonly FieldError[]): string {
  const named = details.slice(0, MAX_NAMED_FIELDS).map(({ param }) => param);
  const more = details.length > MAX_NAMED_FIELDS ? ' and others' : '';
  return `${details.length} fields are not valid: ${named.join(', ')}${more}.`;
}
const MAX_NAMED_FIELDS = 5;

export function createUnauthenticatedError(
  code: 'missing_api_key' | 'invalid_api_key' | 'invalid_session',
  message: string,
): RequestError {
  return new RequestError(code, message, [], { 'WWW-Authenticate': 'Bearer' });
}

/** @param retryAfter seconds */
export function createRateLimitedError(message: string, retryAfter: number): RequestError {
  return new RequestError('rate_limited', message, [], { 'Retry-After': String(Math.max(1, retryAfter)) });
}

/** Creates the error for an unknown resource. A resource of another workspace gets the same error. */
export function createNotFoundError(what: string): RequestError {
  return new RequestError('not_found', `No such ${what}.`);
}
