import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonObject } from '@tracking/contracts';

/** A response of the API. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed body; empty if the response is not JSON. */
  readonly body: JsonObject;
}

type Schema = Record<string, unknown>;
interface DescribedHeader {
  readonly required?: boolean;
  readonly schema: Schema;
}
interface OpenApiResponseDescription {
  readonly $ref?: string;
  readonly headers?: Record<string, { readonly $ref: string } | DescribedHeader>;
  readonly content?: Record<string, { readonly schema?: Schema }>;
}
interface DescribedWebhook {
  readonly post: {
    readonly requestBody: {
      readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
    };
  };
}
interface DescribedOperation {
  /** Requests to the endpoint, by event type and then by the expression of their URL. */
  readonly callbacks?: Record<string, Record<string, DescribedWebhook>>;
  readonly responses: Record<string, OpenApiResponseDescription>;
  readonly 'x-error-codes': readonly string[];
}
interface ApiDescription {
  readonly paths: Record<string, Record<string, DescribedOperation>>;
  readonly components: {
    readonly schemas: Record<string, Schema>;
    readonly headers: Record<string, DescribedHeader>;
    readonly responses: Record<string, OpenApiResponseDescription>;
  };
}

const OPENAPI_FILE = join(import.meta.dirname, '../../../../docs/openapi.json');
const OPENAPI_SCHEMA_ID = 'https://api.example/openapi.json';
/** JSON media types. Responses of other types are not parsed. */
const PROBLEM_MEDIA_TYPE = 'application/problem+json';
const JSON_MEDIA_TYPES: ReadonlySet<string> = new Set(['application/json', PROBLEM_MEDIA_TYPE]);

export const parsedOpenApiDocument = JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')) as ApiDescription;
const OPENAPI_WEBHOOK_CALLBACKS = parsedOpenApiDocument.paths['/v1/webhook_endpoints']?.['post']?.callbacks ?? {};
const schemaCompiler = new Ajv2020({ strict: false, allErrors: true });
formats.default(schemaCompiler);
for (const openApiComponentSchema of Object.values(parsedOpenApiDocument.components.schemas))
  forbidUndescribedFields(openApiComponentSchema);
schemaCompiler.addSchema(parsedOpenApiDocument, OPENAPI_SCHEMA_ID);

/** Makes the schemas refuse fields that are not described. */
function forbidUndescribedFields(schema: Schema): void {
  for (const inner of Object.values(schema)) {
    if (typeof inner === 'object' && inner !== null) forbidUndescribedFields(inner as Schema);
  }
  if (typeof schema['properties'] === 'object' && schema['type'] === 'object') schema['additionalProperties'] ??= false;
}

const openApiPathPatterns = Object.keys(parsedOpenApiDocument.paths).map((template) => ({
  template,
  form: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
/** Path templates without parameters come first. */
openApiPathPatterns.sort((a, b) => a.template.split('{').length - b.template.split('{').length);

/** Expects that the response matches the description of its operation: status, headers, and every field of the body. */
export function expectResponseMatchesDescription(method: string, path: string, answer: ApiResponse): void {
  const place = path.split('?', 1)[0] ?? '';
  const template = openApiPathPatterns.find(({ form }) => form.test(place))?.template;
  const operation = template ? parsedOpenApiDocument.paths[template]?.[method.toLowerCase()] : undefined;
  if (!template || !operation) return;
  const { responses } = operation;
  const status = String(answer.status) in responses ? String(answer.status) : 'default';
  const response = responses[status];
  const faults = response
    ? [
        ...findResponseHeaderErrors(resolveResponseReference(response), answer.headers),
        ...findResponseBodyErrors([template, method, status], response, answer),
        ...(status === 'default' ? [] : findUndescribedErrorCode(operation, answer)),
      ]
    : ['the OpenAPI description lacks this status'];
  if (faults.length === 0) return;
  const about = `${method} ${path} returned ${answer.status}, which differs from the description`;
  throw new Error(`${about}:\n${faults.join('\n')}\n${answer.text.slice(0, 2_000)}`);
}

/**
 * Headers that not every description of a response names: almost all responses have those of the rate limit, and error
 * responses, which operations share, have the headers of a deprecation if their operation is deprecated.
 */
const COMMON_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  ...['Deprecation', 'Sunset', 'Link'],
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]);
const SHARED_RESPONSE_REF_PREFIX = '#/components/responses/';

/** Returns the response, or the shared response that it refers to. */
function resolveResponseReference({ $ref, ...response }: OpenApiResponseDescription): OpenApiResponseDescription {
  return $ref === undefined
    ? response
    : (parsedOpenApiDocument.components.responses[$ref.slice(SHARED_RESPONSE_REF_PREFIX.length)] ?? {});
}

/** Returns the paths of the description that the API serves, with the parameters and responses that operations share. */
export function resolveReferencesInPaths<Operation>(description: object): Record<string, Record<string, Operation>> {
  const { components, paths } = description as {
    components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    paths: object;
  };
  const text = JSON.stringify(paths, (_key, value: unknown) => {
    const $ref = (value as { readonly $ref?: unknown } | null)?.$ref;
    const [, group = '', name = ''] = /^#\/components\/(parameters|responses|headers)\/(.+)$/.exec(String($ref)) ?? [];
    return group === '' ? value : components[group]?.[name];
  });
  return JSON.parse(text) as Record<string, Record<string, Operation>>;
}

function findUndescribedErrorCode(operation: DescribedOperation, { body }: ApiResponse): readonly string[] {
  const code = (body['error'] as JsonObject | undefined)?.['code'];
  if (code === undefined || operation['x-error-codes'].includes(String(code))) return [];
  return [`the OpenAPI description lacks the error code ${String(code)}`];
}

function findResponseHeaderErrors({ headers = {} }: OpenApiResponseDescription, sent: Headers): readonly string[] {
  const faults = Object.entries(headers).flatMap(([name, header]) => {
    const { required, schema } =
      '$ref' in header ? (parsedOpenApiDocument.components.headers[name] as DescribedHeader) : header;
    const value = sent.get(name);
    if (value === null) return required ? [`the header ${name} is missing`] : [];
    return schemaCompiler.validate(schema, schema['type'] === 'integer' ? Number(value) : value)
      ? []
      : [`${name} is ${value}: ${schemaCompiler.errorsText()}`];
  });
  const more = Object.keys(parsedOpenApiDocument.components.headers).filter(
    (name) => sent.has(name) && !(name in headers) && !COMMON_RESPONSE_HEADERS.has(name),
  );
  return [...faults, ...more.map((name) => `the OpenAPI description lacks the header ${name}`)];
}

const schemaValidators = new Map<string, ValidateFunction>();

function findResponseBodyErrors(
  [template, method, status]: readonly [string, string, string],
  response: OpenApiResponseDescription,
  { headers, text, body }: ApiResponse,
): readonly string[] {
  const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
  const shared = type === PROBLEM_MEDIA_TYPE ? `${SHARED_RESPONSE_REF_PREFIX}ProblemDetails` : response.$ref;
  const { content = {} } = resolveResponseReference(shared === undefined ? response : { $ref: shared });
  if (text === '' && Object.keys(content).length === 0) return [];
  if (!(type in content))
    return [type === '' ? 'the response body is empty' : `the OpenAPI description lacks a body of type ${type}`];
  if (!JSON_MEDIA_TYPES.has(type)) return [];
  const place = shared?.slice(2).split('/') ?? ['paths', template, method.toLowerCase(), 'responses', status];
  const pointer = [...place, 'content', type, 'schema'];
  const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
  const $ref = `${OPENAPI_SCHEMA_ID}#/${escaped.join('/')}`;
  return findSchemaErrors($ref, body);
}

function findSchemaErrors($ref: string, body: unknown): readonly string[] {
  const validate = schemaValidators.get($ref) ?? schemaCompiler.compile({ $ref });
  schemaValidators.set($ref, validate);
  if (validate(body)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
}

/** Returns the data of the example event of a type. */
export function getExampleEventData(type: string): JsonObject {
  const schema = parsedOpenApiDocument.components.schemas[findEventSchema(type).slice('#/components/schemas/'.length)];
  return (schema?.['example'] as { readonly data: JsonObject }).data;
}

function findEventSchema(type: string): string {
  const [webhook] = Object.values(OPENAPI_WEBHOOK_CALLBACKS[type] ?? {});
  return webhook?.post.requestBody.content['application/json'].schema.$ref ?? '';
}

/** Expects that the body of a webhook request matches the description of its event type. */
export function expectEventMatchesDescription(type: string, body: unknown): void {
  expect({ type, faults: findSchemaErrors(`${OPENAPI_SCHEMA_ID}${findEventSchema(type)}`, body) }).toEqual({
    type,
    faults: [],
  });
}
