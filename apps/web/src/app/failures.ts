import { ApiError, AuthenticationError, ConflictError, ConnectionError, InvalidRequestError } from '@tracking/client';

/** Description of a failure for the user. The user can quote the request id to support. */
export interface FailureDescription {
  readonly title: string;
  readonly message: string;
  readonly requestId?: string;
}

export function describeFailure(error: unknown): FailureDescription {
  if (error instanceof ConnectionError) {
    return { title: 'The service cannot be reached', message: 'Check your connection. Nothing you entered is lost.' };
  }
  if (isSignedOutError(error)) {
    const message = 'Sign in in another tab, then continue here. Nothing you entered is lost.';
    return { title: 'Your session has ended', message };
  }
  if (error instanceof ApiError) {
    const { message, request_id: requestId } = error;
    return { title: 'Request failed', message, ...(requestId !== undefined && { requestId }) };
  }
  if (isDynamicImportError(error)) {
    const message = 'Check your connection. If the service was just updated, reload the page.';
    return { title: 'Part of this page could not be loaded', message };
  }
  return {
    title: 'Something went wrong on this page',
    message: error instanceof Error ? error.message : String(error),
  };
}

/**
 * Returns the error messages of a rejected form by field name. Returns undefined if the form was rejected for another
 * reason.
 */
export function getFieldErrors(error: unknown): Readonly<Record<string, string>> | undefined {
  if (!(error instanceof InvalidRequestError) || error.details.length === 0) return undefined;
  return Object.fromEntries(error.details.map(({ param, message }) => [param, message]));
}

/**
 * Returns the error messages that none of the given form fields shows, as one text. Returns undefined if the fields
 * show all errors.
 */
export function formatUnshownErrors(error: unknown, fields: readonly string[]): string | undefined {
  const errors = getFieldErrors(error);
  if (errors === undefined) return describeFailure(error).message;
  const others = Object.entries(errors).filter(([param]) => !fields.includes(getTopLevelField(param)));
  return others.map(([param, message]) => `${param}: ${message}`).join(' ') || undefined;
}

/**
 * Returns the error message of a rejected form: the errors of fields that the form does not have, otherwise the
 * summary.
 */
export function formatFormFailure(error: unknown, fields: readonly string[]): string {
  return formatUnshownErrors(error, fields) ?? describeFailure(error).message;
}

/** Returns the top-level field of a parameter, such as `event_types` for `event_types[0]`. */
export function getTopLevelField(param: string): string {
  return param.split(/[.[]/, 1)[0] ?? param;
}

/** Checks if an error is a failed import of a JavaScript module. Each browser has its own message for this error. */
function isDynamicImportError(error: unknown): boolean {
  if (error instanceof PageNotLoadedError) return true;
  return error instanceof Error && /dynamically imported module|module script failed|preload CSS/i.test(error.message);
}

/**
 * Checks if repeating the request may succeed. A retry is useless after the session has ended or the service has
 * refused the request.
 */
export function isRetryableError(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
}

/** Checks if an error means that the user's session has ended. A wrong password at sign-in is a different error. */
export function isSignedOutError(error: unknown): boolean {
  return error instanceof AuthenticationError && error.code !== 'invalid_credentials';
}

/** Checks if the service refused a write because the resource has changed since it was read. */
export function isOutdatedVersionError(error: unknown): boolean {
  return error instanceof ConflictError && error.code === 'precondition_failed';
}

/** Error that is thrown if the code of a page cannot be loaded because the service is unreachable. */
export class PageNotLoadedError extends Error {
  constructor(cause: unknown) {
    super('The page was not loaded.', { cause });
  }
}
