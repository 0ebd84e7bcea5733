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

/** Whether the client prefers problem details: it names them, and plain JSON not with a greater weight. */
export function wantsProblem(accept: string | undefined): boolean {
  if (!accept) return false;
  const problem = weight(accept, PROBLEM_TYPE);
  return problem > 0 && problem >= weight(accept, 'application/json');
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
