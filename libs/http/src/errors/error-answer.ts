import { HttpException } from '@nestjs/common';
import { DomainError, ERROR_CODES, PreconditionFailed } from '@tracking/contracts';
import type { ErrorBody, ErrorCode, FieldError } from '@tracking/contracts';
import { Busy, Unavailable, WritesRefused } from '@tracking/ports';
import { etagOf } from '../preconditions/entity-tags.ts';
import { sizeOf } from '../server/sizes.ts';
import { statusOf } from './error-status.ts';
import { RequestError, invalidRequest } from './request-error.ts';

/** An error as it will be answered, before it is known in which of the two forms. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it is a fault of ours that must be looked into. */
  readonly unexpected: boolean;
}

/** What an answer tells of the request that failed. */
export interface FailedRequest {
  /** `read`: it changes nothing; `refused`: it would have, but was not begun; `begun`: it may have changed something. */
  readonly progress: 'read' | 'refused' | 'begun';
  /** Largest body that its path accepts, in bytes. */
  readonly bodyLimit: number;
}

/** The one place that turns whatever was thrown into an answer. Texts of unexpected errors never leave the process. */
export function answerTo(error: unknown, request: FailedRequest): ErrorAnswer {
  if (error instanceof RequestError) return answer(error.code, error.message, error.details, error.headers);
  if (error instanceof PreconditionFailed) return preconditionFailed(error);
  if (error instanceof DomainError) return fromDomain(error);
  if (error instanceof Busy)
    return answer('busy', 'The service is at its limit; try again.', [], { 'Retry-After': '1' });
  if (error instanceof WritesRefused) {
    const message = `The ${error.engine} takes no writes at present. Nothing was done; try again.`;
    return answer('unavailable', message, [], { 'Retry-After': '5' });
  }
  if (error instanceof Unavailable) {
    const message = `The ${error.engine} does not answer${AFTER_LOSS[request.progress]}`;
    return answer('unavailable', message, [], { 'Retry-After': '5' });
  }
  if (error instanceof HttpException && error.getStatus() < 500) return fromFramework(error.getStatus(), request);
  return { ...answer('internal_error', 'Something went wrong on our side.'), unexpected: true };
}

const AFTER_LOSS: Readonly<Record<FailedRequest['progress'], string>> = {
  read: '; try again.',
  refused: '. Nothing was done; try again.',
  begun: '. Whether the write took effect is not known; repeat it.',
};

/** Features name the faulty fields, and leave it to the edge to sum them up. */
function fromDomain({ code, message, details }: DomainError): ErrorAnswer {
  if (code !== 'validation_failed' || details.length === 0) return answer(code, message, details);
  const refusal = invalidRequest(details);
  return answer(refusal.code, refusal.message, details);
}

/** With the present tag, where there is something to have one. */
function preconditionFailed({ code, message, version }: PreconditionFailed): ErrorAnswer {
  return answer(code, message, [], version === null ? {} : { ETag: etagOf(version) });
}

/** What the HTTP framework refuses by itself, by the status it chose. */
function fromFramework(status: number, { bodyLimit }: FailedRequest): ErrorAnswer {
  switch (status) {
    case 404:
    case 414:
      return answer('not_found', 'No such path.');
    case 413:
      return answer('body_too_large', `The body is larger than ${sizeOf(bodyLimit)}.`);
    case 415:
      return answer('unsupported_media_type', 'Send the body as application/json.');
    default:
      return answer('validation_failed', 'The request is not valid HTTP.');
  }
}

function answer(
  code: ErrorCode,
  message: string,
  details: readonly FieldError[] = [],
  headers: Readonly<Record<string, string>> = {},
): ErrorAnswer {
  return { status: statusOf(code), code, message, details, headers, unexpected: false };
}

/** The error form of the API. */
export function errorBody(error: Pick<ErrorAnswer, 'code' | 'message' | 'details'>, requestId: string): ErrorBody {
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
