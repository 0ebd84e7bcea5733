import { isStoredStatus } from '../idempotency/stored-response.ts';
import { optionsOf } from '../operations/operation.ts';
import { type Deprecation, OPERATIONS } from '../operations/operations.ts';
import type { Described, OperationObject } from './described.ts';

const text = { type: 'string' as const };
const integer = { type: 'integer' as const, minimum: 0 };

/** Headers of responses. `required` ones are always present in the responses that list them. */
export const RESPONSE_HEADERS = {
  'Request-Id': {
    description: 'Id of the request, as in the error body.',
    required: true,
    schema: { ...text, pattern: '^req_[0-9a-f]{32}$' },
    example: 'req_5f6a2b8637ac4b5c9d535a0c4f1d2b11',
  },
  'X-RateLimit-Limit': { description: 'Requests per minute.', schema: integer, example: 1_000 },
  'X-RateLimit-Remaining': { description: 'Requests that are left.', schema: integer, example: 998 },
  'X-RateLimit-Reset': {
    description: 'Epoch second when all are free again.',
    schema: integer,
    example: 1_795_426_260,
  },
  'Consistency-Token': {
    description: 'The place of the write: sent with a read, nothing older is read.',
    required: true,
    schema: text,
    example: 'Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE',
  },
  Location: { description: 'Where to get what was made.', required: true, schema: { ...text, format: 'uri' } },
  ETag: {
    description: 'The version of the resource; of a milestone or an exception, that of its shipment.',
    schema: text,
    example: '"7"',
  },
  'Idempotency-Replayed': {
    description: '`true` where the request was answered before, under the same Idempotency-Key.',
    schema: { ...text, enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' as const, minimum: 1 }, example: 5 },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { ...text, enum: ['Bearer'] } },
  Deprecation: {
    description: 'Since when the operation is to be used no more: `@` and epoch seconds (RFC 9745).',
    schema: { ...text, pattern: '^@[0-9]+$' },
    example: '@1795426260',
  },
  Sunset: { description: 'From when on it may not answer (RFC 8594).', schema: text },
  Link: { description: 'Where to read what to use instead: `rel="deprecation"`.', schema: text },
} as const;
type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** Statuses other than success whose responses have an `ETag`. */
const STATUSES_WITH_ETAG: ReadonlySet<string> = new Set(['304', '412']);
/** Statuses for a new resource, which has a version. */
const CREATED_STATUSES: ReadonlySet<string> = new Set(['201', '202']);

/** Adds the headers of each response, by its status, method and operation. */
export function addResponseHeaders(described: Described, deprecation: Deprecation | undefined): void {
  const { operation } = described;
  const { conditional, hasEtag = conditional !== undefined } = optionsOf(described.id);
  addHeaders(operation, (status) => {
    const names = selectHeaders(Number(status), described);
    const isTagged = status.startsWith('2') ? hasEtag || CREATED_STATUSES.has(status) : STATUSES_WITH_ETAG.has(status);
    if (isTagged) names.push('ETag');
    if (status === '201') names.push('Location');
    return names;
  });
  if (!deprecation) return;
  operation.deprecated = true;
  const sunset = deprecation.sunset === undefined ? [] : (['Sunset'] as const);
  addHeaders(operation, () => ['Deprecation', ...sunset, 'Link']);
}

function addHeaders({ responses }: OperationObject, namesOf: (status: string) => readonly ResponseHeader[]): void {
  for (const [status, response] of Object.entries(responses)) {
    if (!response || '$ref' in response) continue;
    const common = namesOf(status).map((name) => [name, { $ref: `#/components/headers/${name}` }]);
    response.headers = { ...Object.fromEntries(common), ...response.headers };
  }
}

/** A status without a resource: only responses that show what was written have a consistency token. */
const NO_CONTENT = 204;

/** Statuses with `Retry-After`. 409 has it while the first request under a key is in progress. */
const STATUSES_WITH_RETRY_AFTER: ReadonlySet<number> = new Set([409, 429, 503]);

function selectHeaders(status: number, { id, method, writes }: Described): ResponseHeader[] {
  const guarded = OPERATIONS[id] !== 'open';
  const limited = guarded && status !== 401;
  const retried = status === 409 ? method === 'post' : STATUSES_WITH_RETRY_AFTER.has(status) && id !== 'ready';
  const candidates: readonly (readonly [ResponseHeader, boolean])[] = [
    ['Request-Id', true],
    ['X-RateLimit-Limit', limited],
    ['X-RateLimit-Remaining', limited],
    ['X-RateLimit-Reset', limited],
    ['Consistency-Token', writes && status < NO_CONTENT],
    ['Idempotency-Replayed', method === 'post' && isStoredStatus(status)],
    ['Retry-After', retried],
    ['WWW-Authenticate', status === 401 && id !== 'signIn'],
  ];
  return candidates.flatMap(([name, is]) => (is ? [name] : []));
}

/** Request headers of many operations, by name. */
const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description:
      'Names the request: sent again under it within 24 hours, it takes effect once and is answered the same.',
    schema: { type: 'string' as const, minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
    example: '8e0c1d3a-5c1f-4b0e-9a64-2f6f1a0c7b11',
  },
  Prefer: {
    description: 'How a body is read (RFC 7240): `handling=strict` refuses unknown fields and wrong check digits.',
    schema: { type: 'string' as const, enum: ['handling=strict', 'handling=lenient'] },
    example: 'handling=strict',
  },
  'Consistency-Token': {
    description:
      'The token of a write: nothing older is read; several, separated by commas, of writes that were under way side by side. The token of a write’s own answer is at least this one.',
    schema: { type: 'string' as const, minLength: 1 },
    example: 'Hc1m0v3nX2mWb0yqkq3o2J5r8nJxq6sW0dE',
  },
  traceparent: {
    description: 'W3C trace context, kept with what the request writes; a trace is begun where there is none.',
    schema: { type: 'string' as const },
    example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
} as const;
type RequestHeader = keyof typeof REQUEST_HEADERS;

/** Returns the headers as components, to which operations refer. */
export function headerParameters() {
  return Object.fromEntries(
    Object.entries(REQUEST_HEADERS).map(([name, header]) => [name, { name, in: 'header', required: false, ...header }]),
  );
}

/** Adds the request headers of an operation. */
export function addRequestHeaders({ id, method, path, operation, writes }: Described): void {
  const guarded = OPERATIONS[id] !== 'open';
  const candidates: readonly (readonly [RequestHeader, boolean])[] = [
    ['Idempotency-Key', method === 'post'],
    ['Prefer', writes],
    ['Consistency-Token', optionsOf(id).readsYourWrites === true || (writes && guarded)],
    ['traceparent', path.startsWith('/v1/')],
  ];
  const references = candidates.flatMap(([name, takes]) =>
    takes ? [{ $ref: `#/components/parameters/${name}` }] : [],
  );
  operation.parameters = [...(operation.parameters ?? []), ...references];
}

/** Describes lists in a query as one value with commas. */
export function separateLists({ parameters = [] }: OperationObject): void {
  for (const parameter of parameters) {
    if ('$ref' in parameter || parameter.in !== 'query') continue;
    if ((parameter.schema as { type?: string } | undefined)?.type === 'array')
      Object.assign(parameter, { style: 'form', explode: false });
  }
}
