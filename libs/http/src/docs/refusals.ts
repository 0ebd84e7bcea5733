import { ERROR_CODES, type ErrorCode } from '@tracking/contracts';
import { PROBLEM_TYPE, getErrorStatus } from '../errors/error-response.ts';
import { getOperationOptions } from '../operations/operation.ts';
import { OPERATIONS } from '../operations/operations.ts';
import type { ApiDocs } from './api-docs.ts';
import { type DescribedOperation, type OperationObject, findParameter, schemaRef } from './described.ts';

/** Default descriptions of error responses, by HTTP status. */
const DEFAULT_DESCRIPTIONS: Readonly<Record<number, string>> = {
  403: 'The principal is not allowed to make the request.',
  408: 'The body did not arrive in time.',
  409: 'The request conflicts with the state of the resource, or with an earlier request with the same Idempotency-Key.',
  413: 'The body, or the resource that it would create, is too large.',
  415: 'The media type of the body is not supported, or the body is compressed.',
};
/** Error codes that every operation can return, because the request may be invalid HTTP. */
const COMMON_ERROR_CODES: readonly ErrorCode[] = ['request_timeout', 'expectation_failed', 'headers_too_large'];

/**
 * Adds every error code of the operation, by status. @throws Error if the operation declares a status without a code
 */
export function describeRefusals(described: DescribedOperation, docs: ApiDocs): void {
  const { id, operation } = described;
  const byStatus = Map.groupBy(collectCodes(described, docs), getErrorStatus);
  for (const [status, response] of Object.entries(operation.responses)) {
    if (isRefusal(response) && !byStatus.has(Number(status)))
      throw new Error(`Operation ${id} declares status ${status}, but none of its error codes has this status.`);
  }
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    operation.responses[String(status)] = describeResponse(operation, status, codes);
  }
  const description =
    'Possible for every operation: the request did not arrive in time, or its headers are not acceptable.';
  operation.responses['default'] = {
    description: appendCodes(description, COMMON_ERROR_CODES),
    content: describeErrorContent(COMMON_ERROR_CODES),
  };
}

function describeResponse({ responses }: OperationObject, status: number, codes: readonly ErrorCode[]) {
  const declared = responses[String(status)];
  const described = declared && 'description' in declared ? declared.description : undefined;
  const description = described ?? DEFAULT_DESCRIPTIONS[status] ?? `See the error codes.`;
  return { ...declared, description: appendCodes(description, codes), content: describeErrorContent(codes) };
}

const appendCodes = (description: string, codes: readonly ErrorCode[]): string =>
  `${description} Codes: ${codes.map((code) => `\`${code}\``).join(', ')}.`;

function isRefusal(response: OperationObject['responses'][string]): boolean {
  return response !== undefined && JSON.stringify(response).includes(schemaRef('Error').$ref);
}

/** Returns the codes that follow from the operation's declaration, and the feature's own codes. */
function collectCodes(described: DescribedOperation, { refusals }: ApiDocs): readonly ErrorCode[] {
  const { id, method, operation, writes } = described;
  const access = OPERATIONS[id];
  const guarded = access !== 'open';
  const declares = (status: string) => isRefusal(operation.responses[status]);
  const conditions: readonly (readonly [boolean, readonly ErrorCode[]])[] = [
    [true, ['validation_failed', 'unknown_parameter']],
    [findParameter(operation, 'cursor') !== undefined, ['invalid_cursor']],
    [getOperationOptions(id).readsYourWrites === true, ['invalid_consistency_token']],
    [writes, ['malformed_json', 'body_too_large', 'unsupported_media_type']],
    [guarded, ['missing_api_key', 'invalid_api_key', 'invalid_session', 'rate_limited']],
    [guarded && access !== 'authenticated', ['permission_denied']],
    [guarded && writes, ['csrf']],
    [declares('404'), ['not_found']],
    [findParameter(operation, 'If-Match') !== undefined, ['precondition_failed']],
    [method === 'post', ['idempotency_key_reused', 'idempotency_in_progress']],
    [true, ['internal_error']],
    [declares('503'), ['unavailable', 'busy']],
  ];
  const derived = conditions.flatMap(([is, codes]) => (is ? codes : []));
  const own = new Set<ErrorCode>([...derived, ...(refusals[id] ?? [])]);
  // Sorts the codes in the order of ERROR_CODES.
  return (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => own.has(code));
}

/** Returns the OpenAPI content of an error response with these codes, for plain JSON and for problem details. */
function describeErrorContent(codes: readonly ErrorCode[]) {
  const narrowed = (name: string, properties: object) => ({
    schema: { allOf: [schemaRef(name), { type: 'object', ...properties }] } as object,
  });
  const code = { properties: { code: { type: 'string', enum: [...codes] } }, required: ['code'] };
  return {
    'application/json': narrowed('Error', {
      properties: { error: { type: 'object', ...code } },
      required: ['error'],
    }),
    [PROBLEM_TYPE]: narrowed('Problem', code),
  };
}
