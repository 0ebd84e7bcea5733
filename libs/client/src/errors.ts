import type { components } from './generated/api.ts';

type ErrorDetail = components['schemas']['ErrorResponse']['error'];
/** Type of an error, which determines its class. */
export type ErrorType = ErrorDetail['type'];
/** Stable error code, never renamed or reused. `/docs/errors` of the API explains each code. */
export type ErrorCode = ErrorDetail['code'];

/** Base class of all request errors. An aborted call does not throw this class, but the reason of its signal. */
export abstract class TrackingError extends Error {
  /** Number of times the request was sent. */
  attempts = 1;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The response that caused an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: Partial<ErrorDetail>;
}

/** The API rejected the request, or failed while handling it. */
export class ApiError extends TrackingError {
  readonly type: ErrorType;
  /** Error code of the API. `unexpected_answer` if the response is from another server, such as a proxy. */
  readonly code: ErrorCode | 'unexpected_answer';
  readonly status: number;
  /** All invalid fields of the request. */
  readonly details: NonNullable<ErrorDetail['details']>;
  /** First invalid field or parameter of the request. */
  readonly param: string | null;
  /** ID of the request. Include it in questions to the operator. */
  readonly request_id: string | undefined;
  /** Seconds to wait before the next attempt; undefined if the API sets none. */
  readonly retryAfter: number | undefined;
  /** Response headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  constructor({ status, headers, error }: ErrorResponse) {
    super(error.message ?? `The response had status ${status}.`);
    this.type = error.type ?? getErrorTypeOfHttpStatus(status);
    this.code = error.code ?? 'unexpected_answer';
    this.status = status;
    this.details = error.details ?? [];
    this.param = error.param ?? null;
    this.request_id = error.request_id ?? headers['request-id'];
    this.retryAfter = parseRetryAfterSeconds(headers['retry-after']);
    this.headers = headers;
  }
}

/** The request is invalid: 400, 405, 408, 413, 415, 417, 431. */
export class InvalidRequestError extends ApiError {}
/** 401: the API key or session is missing or invalid. */
export class AuthenticationError extends ApiError {}
/** 403: the API key or user lacks the permission. */
export class PermissionError extends ApiError {}
/** 404: the resource does not exist in this workspace and environment. */
export class NotFoundError extends ApiError {}
/** 409: the state of the resource forbids the request. 412: a precondition such as `ifMatch` failed. */
export class ConflictError extends ApiError {}
/** 429: too many requests. */
export class RateLimitError extends ApiError {}
/** 500, 503, 507: an error of the service, one of its engines is unavailable, or its disk has no room for documents. */
export class InternalError extends ApiError {}

/** 304: the resource still has the ETag of `ifNoneMatch`. */
export class NotModifiedError extends TrackingError {
  constructor(readonly etag: string | undefined) {
    super('The resource has not changed.');
  }
}

/** The client received no complete response. */
export class ConnectionError extends TrackingError {
  /** True if an attempt of the request may have been carried out despite the error. */
  outcomeUnknown: boolean;

  constructor(message: string, options: ErrorOptions & { readonly outcomeUnknown: boolean }) {
    super(message, options);
    this.outcomeUnknown = options.outcomeUnknown;
  }
}

/** No response arrived before the timeout. */
export class TimeoutError extends ConnectionError {}

const ERROR_CLASSES: Readonly<Record<ErrorType, new (answer: ErrorResponse) => ApiError>> = {
  invalid_request: InvalidRequestError,
  authentication: AuthenticationError,
  permission: PermissionError,
  not_found: NotFoundError,
  conflict: ConflictError,
  rate_limit: RateLimitError,
  internal: InternalError,
};

/**
 * Creates the error for a failed response. @param body response body, which may have any form if another server sent it
 */
export function createApiError(status: number, headers: Readonly<Record<string, string>>, body: unknown): ApiError {
  const { error } = Object(body) as { readonly error?: unknown };
  const detail = isErrorDetail(error) ? error : {};
  const known =
    detail.type !== undefined && Object.hasOwn(ERROR_CLASSES, detail.type)
      ? detail.type
      : getErrorTypeOfHttpStatus(status);
  return new ERROR_CLASSES[known]({ status, headers, error: detail });
}

/** Returns true if the fields have the types of the API. Gateways use the same names for other values. */
function isErrorDetail(error: unknown): error is Partial<ErrorDetail> {
  const { code, message, details } = Object(error) as Record<string, unknown>;
  const isField = (detail: unknown) => typeof (Object(detail) as { readonly message?: unknown }).message === 'string';
  const hasFields = details === undefined || (Array.isArray(details) && details.every(isField));
  return typeof code === 'string' && typeof message === 'string' && hasFields;
}

function getErrorTypeOfHttpStatus(status: number): ErrorType {
  const types: Readonly<Record<number, ErrorType>> = {
    401: 'authentication',
    403: 'permission',
    404: 'not_found',
    409: 'conflict',
    412: 'conflict',
    429: 'rate_limit',
  };
  return types[status] ?? (status >= 400 && status < 500 ? 'invalid_request' : 'internal');
}

/** Parses `Retry-After`, which is in seconds or a date. */
function parseRetryAfterSeconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1_000);
}
