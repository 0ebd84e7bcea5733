import { STATUS_CODES } from 'node:http';
import { ERROR_CODES } from '@tracking/contracts';
import type { ErrorAnswer } from './error-answer.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** The same error as RFC 9457 wants it, our members beside the standard ones. `type` names a documented code. */
export function problemDetails(error: ErrorAnswer, requestId: string, docsUrl: string): object {
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

export function wantsProblem(accept: string | undefined): boolean {
  return prefers(accept, PROBLEM_TYPE);
}

/** Whether the client prefers a media type to plain JSON: it names it, and plain JSON not with a greater weight. */
export function prefers(accept: string | undefined, mediaType: string): boolean {
  if (!accept) return false;
  const wanted = weight(accept, mediaType);
  return wanted > 0 && wanted >= weight(accept, 'application/json');
}

function weight(accept: string, mediaType: string): number {
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (type !== mediaType) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    return q === undefined ? 1 : Number(q.slice(2)) || 0;
  }
  return 0;
}
