import { STATUS_CODES } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import {
  DomainError,
  ERROR_CODES,
  type ErrorBody,
  type ErrorCode,
  type ErrorType,
  type FieldError,
  PreconditionFailedError,
} from '@tracking/contracts';
import { BusyError, isErrorWithoutEffect, type Logger, UnavailableError, WritesRefusedError } from '@tracking/ports';
import { SERVICE_NAMES } from '@tracking/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatEtag } from '../preconditions/preconditions.ts';
import { createRequestLogFields } from '../server/request.ts';
import { formatSize } from '../server/route-bodies.ts';
import { createInvalidRequestError, RequestError } from './request-error.ts';

/** Fields of an error response, before its form is chosen. */
export interface ErrorResponseFields {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  /** True for an internal error that must be investigated. */
  readonly unexpected: boolean;
}

/** Facts about a failed request that determine the error response. */
export interface FailedRequest {
  /**
   * Progress of the request: `read` for a read, `refused` for a write that did not start, `begun` for a write that may
   * have changed data.
   */
  readonly progress: 'read' | 'refused' | 'begun';
  /** Largest body that the route accepts, in bytes. */
  readonly bodyLimit: number;
}

/** Converts a thrown error into a response. The text of an unexpected error never leaves the process. */
export function toErrorResponse(error: unknown, request: FailedRequest): ErrorResponseFields {
  if (error instanceof RequestError)
    return createErrorResponseFromCode(error.code, error.message, error.details, error.headers);
  if (error instanceof PreconditionFailedError) return createPreconditionFailed(error);
  if (error instanceof DomainError) return toResponseOfDomainError(error);
  if (error instanceof BusyError)
    return createErrorResponseFromCode('busy', 'The service is at its limit; try again.', [], { 'Retry-After': '1' });
  if (error instanceof WritesRefusedError) {
    const message = `The ${error.engine} accepts no writes at present. Nothing was changed; try again.`;
    return createErrorResponseFromCode('unavailable', message, [], { 'Retry-After': '5' });
  }
  if (error instanceof UnavailableError) {
    const message = `${describeUnavailableEngine(error.engine)}${ADVICE_AFTER_CONNECTION_LOSS[request.progress]}`;
    return createErrorResponseFromCode('unavailable', message, [], { 'Retry-After': '5' });
  }
  if (error instanceof HttpException && error.getStatus() < 500)
    return toResponseOfFrameworkError(error.getStatus(), request);
  return {
    ...createErrorResponseFromCode(
      'internal_error',
      'Internal server error. Send the request again; if the error persists, report the request id.',
    ),
    unexpected: true,
  };
}

/** Describes an absent engine or service. An `UnavailableError` error names both in the field for the storage engine. */
function describeUnavailableEngine(engine: string): string {
  if (SERVICE_NAMES.some((service) => service === engine)) return `The service ${engine} does not respond`;
  return `The ${engine} ${engine.endsWith('s') ? 'do' : 'does'} not respond`;
}

const ADVICE_AFTER_CONNECTION_LOSS: Readonly<Record<FailedRequest['progress'], string>> = {
  read: '; try again.',
  refused: '. Nothing was changed; try again.',
  begun: '. Whether the write took effect is unknown; send it again.',
};

/** Returns the error with one code and message for all invalid fields that the feature reported. */
function toResponseOfDomainError({ code, message, details }: DomainError): ErrorResponseFields {
  if (code !== 'validation_failed' || details.length === 0) return createErrorResponseFromCode(code, message, details);
  const refusal = createInvalidRequestError(details);
  return createErrorResponseFromCode(refusal.code, refusal.message, details);
}

/** Returns the 412 response, with the current `ETag` if the resource exists. */
function createPreconditionFailed({ code, message, version }: PreconditionFailedError): ErrorResponseFields {
  return createErrorResponseFromCode(code, message, [], version === null ? {} : { ETag: formatEtag(version) });
}

/** Converts an error of the HTTP framework into an error response, by HTTP status. */
function toResponseOfFrameworkError(status: number, { bodyLimit }: FailedRequest): ErrorResponseFields {
  switch (status) {
    case 404:
    case 414:
      return createErrorResponseFromCode('not_found', 'The path does not exist.');
    case 413:
      return createErrorResponseFromCode('body_too_large', `The body is larger than ${formatSize(bodyLimit)}.`);
    case 415:
      return createErrorResponseFromCode('unsupported_media_type', 'Send the body as application/json.');
    default:
      return createErrorResponseFromCode('validation_failed', 'The request is not valid HTTP.');
  }
}

function createErrorResponseFromCode(
  code: ErrorCode,
  message: string,
  details: readonly FieldError[] = [],
  headers: Readonly<Record<string, string>> = {},
): ErrorResponseFields {
  return { status: getErrorStatus(code), code, message, details, headers, unexpected: false };
}

/** Returns the error body of the API. */
export function createErrorBody(
  error: Pick<ErrorResponseFields, 'code' | 'message' | 'details'>,
  requestId: string,
): ErrorBody {
  return {
    error: {
      type: ERROR_CODES[error.code],
      code: error.code,
      message: error.message,
      param: error.details[0]?.param ?? null,
      details: error.details,
      request_id: requestId,
    },
  };
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/**
 * Returns problem details (RFC 9457) with our members beside the standard ones. `type` is the URL of the code's
 * documentation.
 */
export function createProblemDetails(error: ErrorResponseFields, requestId: string, docsUrl: string): object {
  return {
    type: `${docsUrl}/errors#${error.code}`,
    title: STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    error_type: ERROR_CODES[error.code],
    code: error.code,
    param: error.details[0]?.param ?? null,
    details: error.details,
    request_id: requestId,
  };
}

export function acceptsProblemJson(accept: string | undefined): boolean {
  return prefersMediaType(accept, PROBLEM_MEDIA_TYPE);
}

/** Returns true if `Accept` names the media type with at least the weight of plain JSON. */
export function prefersMediaType(accept: string | undefined, mediaType: string): boolean {
  if (!accept) return false;
  const wanted = readAcceptWeight(accept, mediaType);
  return wanted > 0 && wanted >= readAcceptWeight(accept, 'application/json');
}

function readAcceptWeight(accept: string, mediaType: string): number {
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (type !== mediaType) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    return q === undefined ? 1 : Number(q.slice(2)) || 0;
  }
  return 0;
}

const HTTP_STATUS_BY_ERROR_TYPE: Readonly<Record<ErrorType, number>> = {
  invalid_request: 400,
  authentication: 401,
  permission: 403,
  not_found: 404,
  conflict: 409,
  rate_limit: 429,
  internal: 500,
};

/** HTTP statuses of codes that differ from the status of their type. */
const HTTP_STATUS_BY_ERROR_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  method_not_allowed: 405,
  request_timeout: 408,
  precondition_failed: 412,
  body_too_large: 413,
  storage_quota_exceeded: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  headers_too_large: 431,
  method_not_implemented: 501,
  busy: 503,
  unavailable: 503,
  read_model_behind: 503,
  storage_full: 507,
};

/** Returns the HTTP status of an error code. */
export function getErrorStatus(code: ErrorCode): number {
  return HTTP_STATUS_BY_ERROR_CODE[code] ?? HTTP_STATUS_BY_ERROR_TYPE[ERROR_CODES[code]];
}

interface ErrorFilterOptions {
  readonly logger: Logger;
  /** URL of the documentation, such as `https://host/docs`. */
  readonly docsUrl: string;
  /** Replaces an error with a more precise one, such as a 404 for a path that exists with another method. */
  readonly refine?: (error: unknown, request: FastifyRequest) => unknown;
}

/** Responds to every error of routes and hooks in the error format of the API, or as problem details on request. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly options: ErrorFilterOptions) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.sendErrorResponse(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Nest also calls this method for requests that Fastify refuses before it finds a route. */
  sendErrorResponse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const answer = toErrorResponse(this.options.refine?.(error, request) ?? error, toFailedRequestFacts(request));
    request.failedBeforeChanges = isErrorWithoutEffect(error);
    if (hasClientDisconnected(request))
      this.options.logger.info(
        createRequestLogFields(request),
        'a client disconnected before its request was complete',
      );
    else if (answer.unexpected) this.logUnexpectedError(error, request);
    if (reply.sent) return;
    const problem = acceptsProblemJson(request.headers.accept);
    const body = problem
      ? createProblemDetails(answer, request.id, this.options.docsUrl)
      : createErrorBody(answer, request.id);
    void reply
      .code(answer.status)
      .headers(answer.headers)
      .type(problem ? PROBLEM_MEDIA_TYPE : 'application/json; charset=utf-8')
      .send(JSON.stringify(body));
  }

  /** Returns the error of one item of a bulk request. */
  toItemError(error: unknown, request: FastifyRequest): Pick<ErrorBody, 'error'> & { readonly status: number } {
    const answer = toErrorResponse(error, toFailedRequestFacts(request));
    if (answer.unexpected) this.logUnexpectedError(error, request);
    return { status: answer.status, ...createErrorBody(answer, request.id) };
  }

  /** Logs only the stack, because bodies and headers may hold secrets. */
  private logUnexpectedError(error: unknown, request: FastifyRequest): void {
    const { method, url } = request.routeOptions ?? {};
    const stack = error instanceof Error ? error.stack : String(error);
    this.options.logger.error(
      { ...createRequestLogFields(request), method, route: url, error: stack },
      'unexpected error',
    );
  }
}

/** Returns true if the client disconnected before its request was complete. */
function hasClientDisconnected({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

/** Returns facts about a failed request. A request with an unreadable path has no route. */
function toFailedRequestFacts({ method, handlerCalled, routeOptions }: FastifyRequest): FailedRequest {
  const progress = method === 'GET' || method === 'HEAD' ? 'read' : handlerCalled ? 'begun' : 'refused';
  return { progress, bodyLimit: routeOptions?.bodyLimit ?? 0 };
}
