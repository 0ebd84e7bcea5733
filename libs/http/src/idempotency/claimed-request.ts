import type { FastifyRequest } from 'fastify';
import { RequestError, invalidRequest } from '../errors/request-error.ts';

export const HEADER = 'Idempotency-Key';
const KEY_FORM = /^[\x20-\x7e]{1,255}$/;

/** A request under an `Idempotency-Key`. */
export interface ClaimedRequest {
  /** Whose key it is: those of different scopes never meet. */
  readonly scope: readonly string[];
  readonly key: string;
  /** What a repeat has in common with it: method, path with query, body. */
  readonly content: string;
}

/** Whether its client wants to be able to repeat it. Methods other than POST are safe to repeat as they are. */
export function isClaimed({ method, headers, routeOptions }: FastifyRequest): boolean {
  return method === 'POST' && headers['idempotency-key'] !== undefined && routeOptions.config.operation !== undefined;
}

/**
 * After the body was read and the principal is known. A session says the environment with each request, so it is in the
 * scope. What needs no credentials is known by what it says, and for which environment, so that nobody gets the answer to
 * another one's request.
 * @throws RequestError `validation_failed`
 */
export function claimedRequest({ method, url, body, headers, raw, principal }: FastifyRequest): ClaimedRequest {
  // Two headers would be one key, and another one where a repeat has a single one.
  const [key = '', ...more] = raw.headersDistinct['idempotency-key'] ?? [];
  if (more.length > 0 || !KEY_FORM.test(key)) {
    const message = `${HEADER} must be one, of 1 to 255 printable ASCII characters.`;
    throw invalidRequest([{ param: HEADER, code: 'invalid_value', message }]);
  }
  const content = textOf([method, url, body]);
  const scope = principal
    ? [principal.credential_id, principal.environment]
    : [content, String(headers['environment'] ?? '')];
  return { scope, key, content };
}

/** @throws RequestError `validation_failed` where it is nested more deeply than the stack holds: JSON is read without one */
function textOf(content: unknown): string {
  try {
    return JSON.stringify(content);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RequestError('validation_failed', `The body is nested too deeply for a request with an ${HEADER}.`);
  }
}
