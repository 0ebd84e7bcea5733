import { isStatusStoredForRepeats } from '../idempotency/stored-response.ts';
import { getOperationOptions } from '../operations/operation.ts';
import { type OperationDeprecation, ACCESS_BY_OPERATION } from '../operations/operations.ts';
import type { DescribedOperation, JsonSchema, OperationObject } from './described.ts';

const PLAIN_TEXT_SCHEMA = { type: 'string' as const };
const INTEGER_SCHEMA = { type: 'integer' as const, minimum: 0 };

/** Headers of responses. A header marked `required` is present in every response that lists it. */
export const DOCUMENTED_RESPONSE_HEADERS = {
  'Request-Id': {
    description: 'Id of the request, as in the error body.',
    required: true,
    schema: { ...PLAIN_TEXT_SCHEMA, pattern: '^req_[0-9a-f]{32}$' },
    example: 'req_5f6a2b8637ac4b5c9d535a0c4f1d2b11',
  },
  'X-RateLimit-Limit': {
    description: 'Number of requests allowed per minute.',
    schema: INTEGER_SCHEMA,
    example: 1_000,
  },
  'X-RateLimit-Remaining': {
    description: 'Number of requests left in the current minute.',
    schema: INTEGER_SCHEMA,
    example: 998,
  },
  'X-RateLimit-Reset': {
    description: 'Time at which the full quota is available again, in seconds since the Unix epoch.',
    schema: INTEGER_SCHEMA,
    example: 1_795_426_260,
  },
  'Consistency-Token': {
    description: 'Position of the write. Send it with a read to get a result at least this recent.',
    required: true,
    schema: PLAIN_TEXT_SCHEMA,
    example: 'Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE',
  },
  Location: {
    description: 'URL of the created resource.',
    required: true,
    schema: { ...PLAIN_TEXT_SCHEMA, format: 'uri' },
  },
  ETag: {
    description: 'Version of the resource; for a milestone or an exception, the version of its shipment.',
    schema: PLAIN_TEXT_SCHEMA,
    example: '"7"',
  },
  'Read-Model-Age': {
    description:
      'Only after a failure of the service that updates lists: seconds since the first change that the list may lack.',
    schema: INTEGER_SCHEMA,
    example: 4,
  },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same Idempotency-Key.',
    schema: { ...PLAIN_TEXT_SCHEMA, enum: ['true'] },
  },
  'Retry-After': {
    description: 'Seconds to wait before sending the request again.',
    schema: { type: 'integer' as const, minimum: 1 },
    example: 5,
  },
  'WWW-Authenticate': {
    description: 'Accepted authentication scheme.',
    schema: { ...PLAIN_TEXT_SCHEMA, enum: ['Bearer'] },
  },
  Deprecation: {
    description: 'Time from which the operation is deprecated: `@` and seconds since the Unix epoch (RFC 9745).',
    schema: { ...PLAIN_TEXT_SCHEMA, pattern: '^@[0-9]+$' },
    example: '@1795426260',
  },
  Sunset: { description: 'Time from which the operation may be unavailable (RFC 8594).', schema: PLAIN_TEXT_SCHEMA },
  Link: { description: 'Documentation of the replacement, with `rel="deprecation"`.', schema: PLAIN_TEXT_SCHEMA },
} as const;
type ResponseHeader = keyof typeof DOCUMENTED_RESPONSE_HEADERS;

/** Statuses of a response that shows a new resource, which always has a version. */
const CREATED_STATUSES: ReadonlySet<string> = new Set(['201', '202']);

/** Adds the headers of each response, by status, method and operation. */
export function describeResponseHeaders(
  described: DescribedOperation,
  deprecation: OperationDeprecation | undefined,
): void {
  const { operation } = described;
  const { conditional, hasEtag = conditional !== undefined, readsYourWrites } = getOperationOptions(described.id);
  addHeadersToResponseDocs(operation, (status) => {
    const names = selectResponseHeadersOfOperation(Number(status), described);
    const isTagged = status.startsWith('2') ? hasEtag || CREATED_STATUSES.has(status) : status === '304';
    if (isTagged) names.push('ETag');
    if (status === '201') names.push('Location');
    if (status === '200' && readsYourWrites === 'list') names.push('Read-Model-Age');
    return names;
  });
  if (!deprecation) return;
  operation.deprecated = true;
  const sunset = deprecation.sunset === undefined ? [] : (['Sunset'] as const);
  addHeadersToResponseDocs(operation, () => ['Deprecation', ...sunset, 'Link']);
}

function addHeadersToResponseDocs(
  { responses }: OperationObject,
  namesOf: (status: string) => readonly ResponseHeader[],
): void {
  for (const [status, response] of Object.entries(responses)) {
    if (!response || '$ref' in response) continue;
    const common = namesOf(status).map((name) => [name, createHeaderReference(name)]);
    response.headers = { ...Object.fromEntries(common), ...response.headers };
  }
}

/** HTTP status 204. A response without a resource has no consistency token. */
const NO_CONTENT_STATUS = 204;

/**
 * Statuses with `Retry-After`. A 409 has the header if the first request with the same `Idempotency-Key` is still in
 * progress.
 */
const STATUSES_WITH_RETRY_AFTER: ReadonlySet<number> = new Set([409, 429, 503, 507]);

/** Returns the headers of an error response that operations share; without a status, those that any error may have. */
export function createErrorHeaderDocs(status?: number) {
  const isLimited = status !== undefined && status !== 401;
  const candidates: readonly (readonly [ResponseHeader, boolean])[] = [
    ['Request-Id', true],
    ['X-RateLimit-Limit', isLimited],
    ['X-RateLimit-Remaining', isLimited],
    ['X-RateLimit-Reset', isLimited],
    ['ETag', status === 412],
    ['Idempotency-Replayed', status !== undefined && isStatusStoredForRepeats(status)],
    ['Retry-After', status !== undefined && STATUSES_WITH_RETRY_AFTER.has(status)],
    ['WWW-Authenticate', status === 401],
  ];
  return Object.fromEntries(candidates.flatMap(([name, is]) => (is ? [[name, createHeaderReference(name)]] : [])));
}

const createHeaderReference = (name: ResponseHeader) => ({ $ref: `#/components/headers/${name}` });

/**
 * Returns the headers of a response of one operation. The `X-RateLimit` headers of almost all responses are described
 * once, at the shared errors.
 */
function selectResponseHeadersOfOperation(status: number, { method, writes }: DescribedOperation): ResponseHeader[] {
  const candidates: readonly (readonly [ResponseHeader, boolean])[] = [
    ['Request-Id', true],
    ['Consistency-Token', writes && status < NO_CONTENT_STATUS],
    ['Idempotency-Replayed', method === 'post' && isStatusStoredForRepeats(status)],
  ];
  return candidates.flatMap(([name, is]) => (is ? [name] : []));
}

/** Descriptions of the request headers that many operations share, by name. */
const SHARED_REQUEST_HEADER_DOCS = {
  'Idempotency-Key': {
    description:
      'Unique key of the request. A repeat with the same key within 24 hours takes effect once and gets the same response.',
    schema: { type: 'string' as const, minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
    example: '8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11',
  },
  Prefer: {
    description: 'Handling of the body (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits.',
    schema: { type: 'string' as const, enum: ['handling=strict', 'handling=lenient'] },
    example: 'handling=strict',
  },
  'Consistency-Token': {
    description:
      'Token from the response to a write. The response to this request is then at least as recent as that write. Separate the tokens of parallel writes with commas. The response to a write has a token that is at least this recent.',
    schema: { type: 'string' as const, minLength: 1 },
    example: 'Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE',
  },
  traceparent: {
    description: 'W3C trace context, stored with the events of the request. Without it, the API starts a new trace.',
    schema: { type: 'string' as const },
    example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
} as const;
type RequestHeader = keyof typeof SHARED_REQUEST_HEADER_DOCS;

/** Returns the request headers as components that operations refer to. */
export function buildOpenApiHeaderParameters() {
  return Object.fromEntries(
    Object.entries(SHARED_REQUEST_HEADER_DOCS).map(([name, header]) => {
      const parameter = { name, in: 'header', required: false, ...header };
      moveParameterExampleToDescription(parameter);
      return [name, parameter];
    }),
  );
}

/** Adds the request headers of an operation. */
export function describeOperationRequestHeaders({ id, method, path, operation, writes }: DescribedOperation): void {
  const guarded = ACCESS_BY_OPERATION[id] !== 'open';
  const candidates: readonly (readonly [RequestHeader, boolean])[] = [
    ['Idempotency-Key', method === 'post'],
    ['Prefer', writes],
    ['Consistency-Token', getOperationOptions(id).readsYourWrites !== undefined || (writes && guarded)],
    ['traceparent', path.startsWith('/v1/')],
  ];
  const references = candidates.flatMap(([name, takes]) =>
    takes ? [{ $ref: `#/components/parameters/${name}` }] : [],
  );
  operation.parameters = [...(operation.parameters ?? []), ...references];
}

/** Describes lists in a query as one comma-separated value. */
export function declareCommaSeparatedQueryLists({ parameters = [] }: OperationObject): void {
  for (const parameter of parameters) {
    if ('$ref' in parameter || parameter.in !== 'query') continue;
    if ((parameter.schema as { type?: string } | undefined)?.type === 'array')
      Object.assign(parameter, { style: 'form', explode: false });
  }
}

interface OpenApiParameterWithExample {
  readonly $ref?: string;
  readonly required?: boolean;
  description?: string;
  example?: unknown;
  schema?: object;
}

/**
 * Moves the example of an optional parameter to its description. Documentation pages and API clients fill in examples,
 * so a first request would have filters and conditions that the reader did not choose.
 */
export function moveParameterExampleToDescription(parameter: OpenApiParameterWithExample): void {
  const { example: ofSchema, ...schema } = (parameter.schema ?? {}) as JsonSchema;
  const { $ref, required, description = '', example = ofSchema } = parameter;
  if ($ref !== undefined || required || example === undefined) return;
  parameter.description = `${description} Example: \`${[example].flat().join(',')}\`.`.trimStart();
  delete parameter.example;
  parameter.schema = schema;
}
