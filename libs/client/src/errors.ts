import type { components } from './generated/api.ts';

type ErrorDetail = components['schemas']['Error']['error'];
/** `type` of an error: the class follows it. */
export type ErrorType = ErrorDetail['type'];
/** Stable: never renamed, never reused. Explained at `/docs/errors` of the API. */
export type ErrorCode = ErrorDetail['code'];

/** Base of all errors of requests. An aborted call throws the reason of its signal instead. */
export abstract class TrackingError extends Error {
  /** How often the request was sent. */
  attempts = 1;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Where an error came from. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: Partial<ErrorDetail>;
}

/** The API refused the request, or failed. */
export class ApiError extends TrackingError {
  readonly type: ErrorType;
  /** `unexpected_answer` where the answer was not the API's, but of something before it. */
  readonly code: ErrorCode | 'unexpected_answer';
  readonly status: number;
  /** Every faulty field at once. */
  readonly details: NonNullable<ErrorDetail['details']>;
  /** The first faulty field or parameter. */
  readonly param: string | null;
  /** To be named when you ask about it. */
  readonly request_id: string | undefined;
  /** Seconds to wait before another try; undefined where the API names none. */
  readonly retryAfter: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  constructor({ status, headers, error }: ErrorAnswer) {
    super(error.message ?? `The answer had status ${status}.`);
    this.type = error.type ?? typeOfStatus(status);
    this.code = error.code ?? 'unexpected_answer';
    this.status = status;
    this.details = error.details ?? [];
    this.param = error.param ?? null;
    this.request_id = error.request_id ?? headers['request-id'];
    this.retryAfter = secondsOf(headers['retry-after']);
    this.headers = headers;
  }
}

/** The request is at fault: 400, 405, 408, 413, 415, 417, 431. */
export class InvalidRequestError extends ApiError {}
/** 401: no key or session, or not a valid one. */
export class AuthenticationError extends ApiError {}
/** 403: the key or user may not. */
export class PermissionError extends ApiError {}
/** 404: there is no such resource here. */
export class NotFoundError extends ApiError {}
/** 409: the state of the resource forbids it. 412: it is not as `ifMatch` asks. */
export class ConflictError extends ApiError {}
/** 429: too many requests. */
export class RateLimitError extends ApiError {}
/** 500, 503: a fault of the service, or an engine of it is away. */
export class InternalError extends ApiError {}

/** 304: the resource still has the tag of `ifNoneMatch`. */
export class NotModifiedError extends TrackingError {
  constructor(readonly etag: string | undefined) {
    super('The resource has not changed.');
  }
}

/** No answer came, or not all of it. */
export class ConnectionError extends TrackingError {
  /** Whether the request may have been carried out all the same. */
  readonly outcomeUnknown: boolean;

  constructor(message: string, options: ErrorOptions & { readonly outcomeUnknown: boolean }) {
    super(message, options);
    this.outcomeUnknown = options.outcomeUnknown;
  }
}

/** No answer came in time. */
export class TimeoutError extends ConnectionError {}

const CLASSES: Readonly<Record<ErrorType, new (answer: ErrorAnswer) => ApiError>> = {
  invalid_request: InvalidRequestError,
  authentication: AuthenticationError,
  permission: PermissionError,
  not_found: NotFoundError,
  conflict: ConflictError,
  rate_limit: RateLimitError,
  internal: InternalError,
};

/** @param body what was answered; anything where it was not the API that answered */
export function apiError(status: number, headers: Readonly<Record<string, string>>, body: unknown): ApiError {
  const { error } = Object(body) as { readonly error?: unknown };
  const told = Object(error) as Partial<ErrorDetail>;
  const known = told.type !== undefined && Object.hasOwn(CLASSES, told.type) ? told.type : typeOfStatus(status);
  return new CLASSES[known]({ status, headers, error: told });
}

function typeOfStatus(status: number): ErrorType {
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

/** `Retry-After` is in seconds, or a date. */
function secondsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1_000);
}
