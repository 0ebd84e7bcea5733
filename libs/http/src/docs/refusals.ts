import type { OpenAPIObject } from '@nestjs/swagger';
import { ERROR_CODES, type ErrorCode } from '@tracking/contracts';
import { PROBLEM_MEDIA_TYPE, getErrorStatus } from '../errors/error-response.ts';
import { getOperationOptions } from '../operations/operation.ts';
import { ACCESS_BY_OPERATION } from '../operations/operations.ts';
import type { ApiDocumentationContent } from './api-docs.ts';
import {
  type DescribedOperation,
  type OperationObject,
  listOpenApiOperations,
  findInlineOperationParameter,
  createSchemaReference,
} from './described.ts';
import { createErrorHeaderDocs } from './headers.ts';

/** Error responses that the operations share: status, name of the component, and description. */
const SHARED_RESPONSES: readonly (readonly [status: number, name: string, description: string])[] = [
  [400, 'BadRequest', 'The request is not valid. `details` lists all invalid fields and parameters.'],
  [401, 'Unauthorized', 'The request has no API key or session, or not a valid one.'],
  [403, 'Forbidden', 'The key or user lacks the permission that the operation needs.'],
  [404, 'NotFound', 'The resource does not exist in this workspace and environment.'],
  [408, 'BodyTimeout', 'The body did not arrive in time.'],
  [
    409,
    'Conflict',
    'The request conflicts with the state of the resource, or with an earlier request with the same key.',
  ],
  [412, 'PreconditionFailed', 'The resource has none of the ETags of If-Match. `ETag` has the present one.'],
  [413, 'ContentTooLarge', 'The body, or the resource that it would create, is too large.'],
  [415, 'UnsupportedMediaType', 'The media type of the body is not supported, or the body is compressed.'],
  [416, 'RangeNotSatisfiable', 'The file has no bytes in this range.'],
  [429, 'TooManyRequests', 'A limit of requests is exceeded; see Retry-After.'],
  [500, 'InternalServerError', 'Internal server error. Send the request again later.'],
  [503, 'ServiceUnavailable', 'A database or message broker is unavailable or at its limit; see Retry-After.'],
  [507, 'InsufficientStorage', 'The storage of the service is full.'],
];
/** The response of any operation to a request that is not valid HTTP. */
const INVALID_HTTP_REQUEST_RESPONSE_DOCS = {
  name: 'InvalidHttpRequest',
  description: 'The request did not arrive in time, or its headers or its method are not acceptable.',
  codes: ['request_timeout', 'expectation_failed', 'headers_too_large', 'method_not_implemented'] satisfies ErrorCode[],
};

/**
 * Every error in its second form. No operation refers to it: with two JSON media types in a response, some generated
 * clients decode neither.
 */
const PROBLEM_RESPONSE = {
  name: 'ProblemDetails',
  response: { description: `Any error, for a request with \`Accept: ${PROBLEM_MEDIA_TYPE}\` (RFC 9457).` },
};

/**
 * Replaces the error responses of all operations with references to shared ones, and adds the error codes of each
 * operation to its description and to `x-error-codes`. @throws Error if an operation declares a status without a code
 */
export function replaceErrorResponsesWithSharedReferences(
  document: OpenAPIObject,
  docs: ApiDocumentationContent,
): void {
  const used = new Map<number, Set<ErrorCode>>();
  for (const described of listOpenApiOperations(document)) {
    for (const code of describeErrorsOfOperation(described, docs)) {
      used.set(getErrorStatus(code), (used.get(getErrorStatus(code)) ?? new Set()).add(code));
    }
  }
  const responses: [string, object][] = SHARED_RESPONSES.flatMap(([status, name, description]) => {
    const codes = sortErrorCodes(used.get(status) ?? new Set());
    const content = { 'application/json': createErrorMedia('ErrorResponse', codes) };
    return codes.length === 0 ? [] : [[name, { description, headers: createErrorHeaderDocs(status), content }]];
  });
  const { name, description, codes } = INVALID_HTTP_REQUEST_RESPONSE_DOCS;
  const defaultContent = { 'application/json': createErrorMedia('ErrorResponse', codes) };
  const problemContent = { [PROBLEM_MEDIA_TYPE]: createErrorMedia('Problem', ['not_found']) };
  responses.push(
    [name, { description, headers: createErrorHeaderDocs(), content: defaultContent }],
    [
      PROBLEM_RESPONSE.name,
      { ...PROBLEM_RESPONSE.response, headers: createErrorHeaderDocs(), content: problemContent },
    ],
  );
  document.components = { ...document.components, responses: Object.fromEntries(responses) as never };
}

/** Describes the errors of one operation. Returns their codes. */
function describeErrorsOfOperation(described: DescribedOperation, docs: ApiDocumentationContent): readonly ErrorCode[] {
  const { operation } = described;
  const codes = collectErrorCodesOfOperation(described, docs);
  const statuses = new Set(codes.map(getErrorStatus));
  const reasons = collectErrorResponseDescriptionsByStatus(described, statuses);
  const lines: string[] = [];
  for (const status of [...statuses].sort((a, b) => a - b)) {
    const [, name] = SHARED_RESPONSES.find(([shared]) => shared === status) ?? [];
    if (name === undefined) throw new Error(`There is no shared response for status ${status}.`);
    operation.responses[status] = { $ref: `#/components/responses/${name}` };
    const reason = reasons.get(status) ?? '';
    if (reason !== '') lines.push(`- ${status}: ${reason}`);
  }
  operation.responses['default'] = { $ref: `#/components/responses/${INVALID_HTTP_REQUEST_RESPONSE_DOCS.name}` };
  if (lines.length > 0) operation.description = `${operation.description ?? ''}\n\n${lines.join('\n')}`.trim();
  Object.assign(operation, { 'x-error-codes': codes });
  return codes;
}

/** Returns the descriptions that the operation declares for its error responses, by status. */
function collectErrorResponseDescriptionsByStatus(
  { id, operation }: DescribedOperation,
  statuses: ReadonlySet<number>,
): ReadonlyMap<number, string> {
  const reasons = new Map<number, string>();
  for (const [text, response] of Object.entries(operation.responses)) {
    if (!isErrorResponseDescription(response)) continue;
    const status = Number(text);
    if (!statuses.has(status))
      throw new Error(`Operation ${id} declares status ${status}, but none of its error codes has this status.`);
    if (response && 'description' in response)
      reasons.set(status, response.description.split('\n\n').filter(Boolean).join(' '));
  }
  return reasons;
}

function isErrorResponseDescription(response: OperationObject['responses'][string]): boolean {
  return response !== undefined && JSON.stringify(response).includes(createSchemaReference('ErrorResponse').$ref);
}

/** Returns the content of an error response. `addOpenApiExamples` adds the examples of the codes. */
function createErrorMedia(schema: string, codes: readonly ErrorCode[]) {
  const suffix = schema === 'Problem' ? '.problem' : '';
  const references = codes.map((code) => [code, { $ref: `#/components/examples/${code}${suffix}` }]);
  return { schema: createSchemaReference(schema), examples: Object.fromEntries(references) as object };
}

/** Returns the codes that follow from the operation's declaration, and the feature's own codes. */
function collectErrorCodesOfOperation(
  described: DescribedOperation,
  { refusals }: ApiDocumentationContent,
): readonly ErrorCode[] {
  const { id, method, operation, writes } = described;
  const access = ACCESS_BY_OPERATION[id];
  const guarded = access !== 'open';
  const declares = (status: string) => isErrorResponseDescription(operation.responses[status]);
  const conditions: readonly (readonly [boolean, readonly ErrorCode[]])[] = [
    [true, ['validation_failed', 'unknown_parameter']],
    [findInlineOperationParameter(operation, 'cursor') !== undefined, ['invalid_cursor']],
    [getOperationOptions(id).readsYourWrites !== undefined, ['invalid_consistency_token']],
    [writes, ['malformed_json', 'body_too_large', 'unsupported_media_type']],
    [guarded, ['missing_api_key', 'invalid_api_key', 'invalid_session', 'rate_limited']],
    [guarded && access !== 'authenticated', ['permission_denied']],
    [guarded && writes, ['csrf']],
    [declares('404'), ['not_found']],
    [findInlineOperationParameter(operation, 'If-Match') !== undefined, ['precondition_failed']],
    [method === 'post', ['idempotency_key_reused', 'idempotency_in_progress']],
    [true, ['internal_error']],
    [declares('503'), ['unavailable', 'busy']],
  ];
  const derived = conditions.flatMap(([is, codes]) => (is ? codes : []));
  return sortErrorCodes(new Set<ErrorCode>([...derived, ...(refusals[id] ?? [])]));
}

/** Sorts the codes in the order of ERROR_CODES. */
function sortErrorCodes(codes: ReadonlySet<ErrorCode>): readonly ErrorCode[] {
  return (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => codes.has(code));
}
