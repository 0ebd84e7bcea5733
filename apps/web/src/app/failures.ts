import { ApiError, AuthenticationError, ConflictError, ConnectionError, InvalidRequestError } from '@tracking/client';

/** A failure as text for the user, with the request id to quote to support. */
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
  if (isFailedCodeImport(error)) {
    const message = 'Check your connection. If the service was just updated, reload the page.';
    return { title: 'Part of this page could not be loaded', message };
  }
  return {
    title: 'Something went wrong on this page',
    message: error instanceof Error ? error.message : String(error),
  };
}

/** Returns the errors of a rejected form by field name. Undefined if the form was rejected for another reason. */
export function getFieldErrors(error: unknown): Readonly<Record<string, string>> | undefined {
  if (!(error instanceof InvalidRequestError) || error.details.length === 0) return undefined;
  return Object.fromEntries(error.details.map(({ param, message }) => [param, message]));
}

/** Returns the errors of a form that none of the given fields shows. Undefined if the fields show all errors. */
export function formatUnshownErrors(error: unknown, fields: readonly string[]): string | undefined {
  const errors = getFieldErrors(error);
  if (errors === undefined) return describeFailure(error).message;
  const others = Object.entries(errors).filter(([param]) => !fields.includes(getTopLevelField(param)));
  return others.map(([param, message]) => `${param}: ${message}`).join(' ') || undefined;
}

/** Returns the text of a form's failure: errors of fields that the form lacks, otherwise the summary. */
export function formatFormFailure(error: unknown, fields: readonly string[]): string {
  return formatUnshownErrors(error, fields) ?? describeFailure(error).message;
}

/** Turns `event_types[0]` into `event_types`. */
export function getTopLevelField(param: string): string {
  return param.split(/[.[]/, 1)[0] ?? param;
}

/** Browsers use different messages for a failed import. */
function isFailedCodeImport(error: unknown): boolean {
  if (error instanceof PageLoadError) return true;
  return error instanceof Error && /dynamically imported module|module script failed|preload CSS/i.test(error.message);
}

/** Checks if a retry may help. It does not help after the session ended or the service refused the request. */
export function isRetryableError(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
}

/** Checks if the user is no longer signed in. A wrong password at the sign-in does not count. */
export function isSignedOutError(error: unknown): boolean {
  return error instanceof AuthenticationError && error.code !== 'invalid_credentials';
}

/** Checks if another user or system has changed the resource since it was read. */
export function isOutdatedVersionError(error: unknown): boolean {
  return error instanceof ConflictError && error.code === 'precondition_failed';
}

/** Thrown when the code of a page cannot be loaded because the service is unreachable. */
export class PageLoadError extends Error {
  constructor(cause: unknown) {
    super('The page was not loaded.', { cause });
  }
}
