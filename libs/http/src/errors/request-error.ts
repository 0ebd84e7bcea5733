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
  'unknown_parameter',
]);

/** One refusal for all the faulty fields of a request. `details` holds at least one. */
export function invalidRequest(details: readonly FieldError[]): RequestError {
  const [first] = details;
  const same = details.every((detail) => detail.code === first?.code);
  const code = same && first && PROMOTED.has(first.code) ? (first.code as ErrorCode) : 'validation_failed';
  return new RequestError(code, details.length === 1 && first ? reasonOf(first) : severalOf(details), details);
}

/** Some messages begin with the field's name already. */
function reasonOf({ param, message }: FieldError): string {
  return message.startsWith(`${param} `) ? message : `${param}: ${message}`;
}

/** Names the first of them; all are in `details`. */
function severalOf(details: readonly FieldError[]): string {
  const named = details.slice(0, MOST_NAMED).map(({ param }) => param);
  const more = details.length > MOST_NAMED ? ' and others' : '';
  return `${details.length} fields are not valid: ${named.join(', ')}${more}.`;
}
const MOST_NAMED = 5;

export function unauthenticated(
  code: 'missing_api_key' | 'invalid_api_key' | 'invalid_session',
  message: string,
): RequestError {
  return new RequestError(code, message, [], { 'WWW-Authenticate': 'Bearer' });
}

/** @param retryAfter in seconds */
export function rateLimited(message: string, retryAfter: number): RequestError {
  return new RequestError('rate_limited', message, [], { 'Retry-After': String(Math.max(1, retryAfter)) });
}

/** The same answer for what never existed and for what belongs to somebody else. */
export function notFound(what: string): RequestError {
  return new RequestError('not_found', `No such ${what}.`);
}
