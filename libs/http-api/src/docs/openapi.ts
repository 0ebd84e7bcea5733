import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import { JSON_KIND, JSON_LIMIT } from '../server/json-body.ts';
import { sizeOf } from '../server/sizes.ts';
import { KEY_PARAMETER, takeKey } from './idempotency-key.ts';
import type { Deprecation, Deprecations } from '../operations/deprecations.ts';
import type { OperationId } from '../operations/operations.ts';

export const API_TITLE = 'Shipment Tracking API';
const DESCRIPTION = `Track freight shipments: create them, record what happens to them, and read where they are.

Every request carries \`Authorization: Bearer <API_KEY>\`, or the cookie of a session; a session’s writes need
\`X-Requested-With\`, and its requests may name the environment in \`Environment\`. Lists are paged with \`limit\` and \`cursor\`. Errors have one form,
or are \`application/problem+json\` where \`Accept\` asks for it; their codes are explained at /docs/errors.

Names of query parameters that an operation does not have are refused. Unknown fields of a body are ignored and named in
the answer's \`warnings\`, which every write has. Values of enumerations may be written in any case. A path that exists, but
not with the method asked for, is answered 405 with \`Allow\`.

Header of a request | Meaning
---|---
\`Idempotency-Key\` | Of a POST: sent again under the same key, it is carried out once and answered the same, for 24 hours.
\`Prefer: handling=strict\` | Refuse unknown fields of a body and wrong check digits, instead of warning.
\`Consistency-Token\` | Read nothing older than the write that answered with it.
\`If-Match\` | Of a write: carry it out only if the resource still has one of these ETags; else 412.
\`If-None-Match\` | Of a read: 304 if the resource still has one of these ETags.
\`traceparent\` | W3C trace context, kept with what the request writes; a trace is begun where there is none.

Header of an answer | Meaning
---|---
\`Request-Id\` | The request's id, as in the error body.
\`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` | Requests per minute, those left, and the epoch second when all are free again.
\`Consistency-Token\` | Of a write: its place, for reads by others, or through others, that must see it.
\`ETag\` | Of one resource: its version. It changes with every change.
\`Idempotency-Replayed\` | \`true\` on the answer to a request that was answered before.
\`Retry-After\` | Seconds, with 429 and 503, and where the first request under a key is under way.
\`Deprecation\`, \`Sunset\`, \`Link\` | Of an operation that goes: since when, when it ends, and where to read what to use instead.`;

/** The OpenAPI 3.1 description of the application's routes. */
export function describeApi(app: INestApplication, baseUrl: string, deprecations: Deprecations): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(API_TITLE)
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addServer(baseUrl)
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An API key: `sk_live_…` or `sk_test_…`.' })
    .build();
  return withHeaders(SwaggerModule.createDocument(app, config), deprecations);
}

const HEADERS = {
  'Request-Id': 'Id of the request, as in the error body.',
  'X-RateLimit-Limit': 'Requests per minute.',
  'X-RateLimit-Remaining': 'Requests that are left.',
  'X-RateLimit-Reset': 'Epoch second when all are free again.',
  'Consistency-Token': 'The place of the write: sent with a read, nothing older is read.',
  Location: 'Where to get what was made.',
  ETag: 'The version of the resource; of a milestone or an exception, that of its shipment.',
  'Idempotency-Replayed': '`true` where the request was answered before, under the same Idempotency-Key.',
  'Retry-After': 'Seconds.',
  'WWW-Authenticate': '`Bearer`.',
  Deprecation: 'Since when the operation is to be used no more: `@` and epoch seconds (RFC 9745).',
  Sunset: 'From when on it may not answer (RFC 8594).',
  Link: 'Where to read what to use instead: `rel="deprecation"`.',
} as const;
type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Header = keyof typeof HEADERS;

const CONDITIONS: ReadonlySet<string> = new Set(['If-Match', 'If-None-Match']);
/** Also of what is not answered. */
const TAGGED: ReadonlySet<string> = new Set(['304', '412']);
/** What these answer was made just now, and has a version. */
const MADE: ReadonlySet<string> = new Set(['201', '202']);

/** Which headers an answer has follows from its status, from the method, and from what the operation asks for. */
function withHeaders(document: OpenAPIObject, deprecations: Deprecations): OpenAPIObject {
  const schema = { type: 'string' as const };
  const headers = Object.entries(HEADERS).map(([name, description]) => [name, { description, schema }] as const);
  const parameters = { [KEY_PARAMETER.name]: KEY_PARAMETER };
  document.components = { ...document.components, parameters, headers: Object.fromEntries(headers) };
  for (const { get, post, patch, put, delete: remove } of Object.values(document.paths)) {
    if (post) takeKey(post);
    for (const operation of [get, post, patch, put, remove]) {
      if (!operation) continue;
      if (operation !== get && !operation.requestBody) refuseBodies(operation);
      giveHeaders(operation, { writes: operation !== get, removes: operation === remove });
      const deprecation = deprecations[operation.operationId as OperationId];
      if (deprecation) deprecate(operation, deprecation);
    }
  }
  return document;
}

/** A write without a body may have one all the same, which is read as that of any other. */
function refuseBodies({ responses }: OperationObject): void {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  responses['413'] ??= { description: `The body is larger than ${sizeOf(JSON_LIMIT)}.`, content };
  responses['415'] ??= { description: `The body is not ${JSON_KIND.mediaType}, or is compressed.`, content };
}

function deprecate(operation: OperationObject, { sunset }: Deprecation): void {
  operation.deprecated = true;
  addHeaders(operation, () => ['Deprecation', ...(sunset === undefined ? [] : (['Sunset'] as const)), 'Link']);
}

function giveHeaders(
  operation: OperationObject,
  { writes, removes }: { readonly writes: boolean; readonly removes: boolean },
): void {
  const { security, parameters = [] } = operation;
  const conditional = parameters.some((parameter) => 'name' in parameter && CONDITIONS.has(parameter.name));
  // Of health no error is told.
  const needsEngines = operation.responses['503'] !== undefined && 'content' in operation.responses['503'];
  addHeaders(operation, (status) => {
    const names = headersOf(Number(status), { needsKey: security !== undefined, needsEngines, writes });
    const isTagged = conditional && (TAGGED.has(status) || (status.startsWith('2') && !removes));
    if (isTagged || MADE.has(status)) names.push('ETag');
    if (status === '201') names.push('Location');
    return names;
  });
}

function addHeaders({ responses }: OperationObject, namesOf: (status: string) => readonly Header[]): void {
  for (const [status, response] of Object.entries(responses)) {
    if (!response || '$ref' in response) continue;
    const names = namesOf(status);
    const common = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
    response.headers = { ...common, ...response.headers };
  }
}

interface Needs {
  readonly needsKey: boolean;
  readonly needsEngines: boolean;
  readonly writes: boolean;
}

function headersOf(status: number, { needsKey, needsEngines, writes }: Needs): Header[] {
  const limited = needsKey && status !== 401 && status !== 500;
  return [
    'Request-Id',
    ...(limited ? (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const) : []),
    ...(writes && needsKey && status < 300 ? (['Consistency-Token'] as const) : []),
    ...(status === 429 || (status === 503 && needsEngines) ? (['Retry-After'] as const) : []),
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
  ];
}
