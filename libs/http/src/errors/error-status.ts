import { ERROR_CODES } from '@tracking/contracts';
import type { ErrorCode, ErrorType } from '@tracking/contracts';

const BY_TYPE: Readonly<Record<ErrorType, number>> = {
  invalid_request: 400,
  authentication: 401,
  permission: 403,
  not_found: 404,
  conflict: 409,
  rate_limit: 429,
  internal: 500,
};

/** Codes whose HTTP status is narrower than their type's. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  method_not_allowed: 405,
  request_timeout: 408,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  headers_too_large: 431,
  busy: 503,
  unavailable: 503,
  read_model_behind: 503,
};

/** The HTTP status that an error code is answered with. */
export function statusOf(code: ErrorCode): number {
  return BY_CODE[code] ?? BY_TYPE[ERROR_CODES[code]];
}
