import { ApiError, ConnectionError } from '@tracking/client';
import { CliError, RefusedError } from './cli-error.ts';

/** What the public API answers. @throws RefusedError, CliError: in an operator's one line */
export async function answered<T>(url: string, call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ConnectionError)
      throw new CliError(`no answer from ${url}: ${reasonOf(error)}`, 'unavailable');
    if (!(error instanceof ApiError)) throw error;
    const { status, type, code, message, param, details, request_id } = error;
    const known = code === 'unexpected_answer' ? {} : { type, code };
    const body = { error: { ...known, message, param, details, request_id } };
    throw RefusedError.of(status, body, (told) => (told.details ?? []).map((each) => each.message).join(' '));
  }
}

function reasonOf({ cause, message }: ConnectionError): string {
  return cause instanceof Error ? cause.message : message;
}
