import { ApiError, ConnectionError, TimeoutError } from '@tracking/client';
import type { Logger } from '@tracking/ports';
import { formatError } from '@tracking/runtime';

/** An error of a tool. A model reads it, so it states what to do next. It never contains a secret. */
export interface ToolErrorBody {
  /** Stable code, usually a code of the API. */
  readonly code: string;
  readonly message: string;
  /** Invalid arguments, with the API's names of the fields. */
  readonly details?: readonly { readonly param: string; readonly code: string; readonly message: string }[];
  /** ID of the API request; null if the API did not respond. */
  readonly request_id: string | null;
  /** Seconds to wait before the next call. */
  readonly retry_after?: number;
  /** Key with which the same call can be repeated safely, if the outcome of a write is unknown. */
  readonly idempotency_key?: string;
}

/** An error that a tool detects itself. */
export class ToolError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Maximum number of invalid fields in an error. */
const MAX_ERROR_DETAILS = 20;
const MAX_ERROR_MESSAGE_LENGTH = 1_000;

/**
 * Converts an error of a call to the error that the model receives.
 * @param idempotencyKey key of the call, if the call writes
 */
export function toToolError(error: unknown, logger: Logger, idempotencyKey?: string): ToolErrorBody {
  if (error instanceof ToolError) return { code: error.code, message: error.message, request_id: null };
  if (error instanceof ApiError && error.code !== 'unexpected_answer')
    return createToolErrorFromApiError(error, idempotencyKey);
  if (error instanceof ApiError || error instanceof ConnectionError) return toUnreachableError(error, idempotencyKey);
  logger.error({ error: formatError(error) }, 'a tool failed');
  return { code: 'internal_error', message: 'The MCP server failed. Its log has the reason.', request_id: null };
}

/** Describes an error of a connection, or a response from another server, such as a proxy. */
function toUnreachableError(error: ApiError | ConnectionError, idempotencyKey: string | undefined): ToolErrorBody {
  const isFromProxy = error instanceof ApiError;
  const isOutcomeUnknown = idempotencyKey !== undefined && (isFromProxy || error.outcomeUnknown);
  const cause =
    error instanceof TimeoutError
      ? 'The shipment tracking service did not respond in time.'
      : 'The shipment tracking service cannot be reached.';
  return {
    code: 'unavailable',
    message: isOutcomeUnknown
      ? `${cause} The write may have been carried out. Repeat the call with the same arguments and this idempotency_key.`
      : `${cause} Try again later.`,
    request_id: isFromProxy ? (error.request_id ?? null) : null,
    ...(isOutcomeUnknown && { idempotency_key: idempotencyKey }),
  };
}

/**
 * Returns true if the write may have been carried out: by the attempt that failed, or by an earlier one, after which the
 * API limited the rate or was still working. Repeating with the same key is safe even if it was not.
 */
function mayWriteHaveSucceeded({ status, code }: ApiError): boolean {
  return status >= 500 || status === 429 || code === 'idempotency_in_progress';
}

function createToolErrorFromApiError(error: ApiError, idempotencyKey: string | undefined): ToolErrorBody {
  const details = error.details
    .slice(0, MAX_ERROR_DETAILS)
    .map(({ param, code, message }) => ({ param, code, message: message.slice(0, MAX_ERROR_MESSAGE_LENGTH) }));
  return {
    code: error.code,
    message: error.message.slice(0, MAX_ERROR_MESSAGE_LENGTH),
    ...(details.length > 0 && { details }),
    request_id: error.request_id ?? null,
    ...(error.retryAfter !== undefined && { retry_after: Math.ceil(error.retryAfter) }),
    ...(idempotencyKey !== undefined && mayWriteHaveSucceeded(error) && { idempotency_key: idempotencyKey }),
  };
}
