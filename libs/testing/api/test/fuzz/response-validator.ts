import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { IncomingHttpHeaders } from 'node:http';
import type {
  FuzzedOpenApiDescription,
  FuzzedOperation,
  ResponseDescription,
  OpenApiSchemaKeywords,
} from './description.ts';
import type { FuzzedApiResponse } from './send.ts';

const OPENAPI_DOCUMENT_URL = 'https://description.example/openapi.json';

const PROBLEM_MEDIA_TYPE = 'application/problem+json';
/** Headers that almost all responses have. Only the shared error responses describe them. */
const COMMON_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]);

/** Checks responses against the OpenAPI description. */
export class ResponseValidator {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  private readonly validators = new Map<string, ValidateFunction>();

  /** Names of all described response headers. */
  private readonly headers: readonly string[];
  private readonly problem: ResponseDescription;

  constructor(description: FuzzedOpenApiDescription) {
    this.headers = description.listResponseHeaderNames();
    this.problem = description.getProblemResponseDescription();
    formats.default(this.ajv);
    this.ajv.addSchema(forbidUndescribedFields(description.json), OPENAPI_DOCUMENT_URL);
  }

  /** Returns all differences between a response and the description, or an empty list. */
  findResponseDeviationsFromOpenApi(
    { responses, errorCodes }: FuzzedOperation,
    { status, headers, mediaType, json }: FuzzedApiResponse,
  ): readonly string[] {
    const described = responses[status];
    if (!described) return [`the OpenAPI description lacks the status ${status}`];
    const response = mediaType === PROBLEM_MEDIA_TYPE ? this.problem : described;
    const wrong = [...this.findResponseHeaderErrors(described, headers), ...findUndescribedErrorCode(errorCodes, json)];
    const content = response.content ?? {};
    if (mediaType === undefined)
      return Object.keys(content).length === 0 ? wrong : [...wrong, 'the response has no body'];
    const type = [mediaType, '*/*'].find((each) => content[each]);
    if (type === undefined) return [...wrong, `the OpenAPI description lacks a body of type ${mediaType}`];
    if (json === undefined) return wrong;
    return [...wrong, ...this.findJsonSchemaErrors([...response.place, 'content', type, 'schema'], json)];
  }

  /** Returns errors for headers that are missing, invalid, or not described for this response. */
  private findResponseHeaderErrors(
    { headers = {} }: ResponseDescription,
    received: IncomingHttpHeaders,
  ): readonly string[] {
    const described = Object.entries(headers).flatMap(([name, { required, schema }]) => {
      const text = [received[name.toLowerCase()] ?? []].flat().join(', ');
      if (text === '') return required === true ? [`the header ${name} is missing`] : [];
      const value = schema?.type === 'integer' ? Number(text) : text;
      return schema && !this.ajv.validate(schema, value) ? [`the header ${name} is ${text}`] : [];
    });
    const undescribed = this.headers.filter(
      (name) => received[name.toLowerCase()] !== undefined && !headers[name] && !COMMON_RESPONSE_HEADERS.has(name),
    );
    return [...described, ...undescribed.map((name) => `the OpenAPI description lacks the header ${name}`)];
  }

  private findJsonSchemaErrors(steps: readonly string[], json: unknown): readonly string[] {
    const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = this.validators.get(pointer) ?? this.ajv.compile({ $ref: `${OPENAPI_DOCUMENT_URL}#/${pointer}` });
    this.validators.set(pointer, validate);
    if (validate(json)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath}: ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }
}

/** Reports an error code that the operation does not describe. */
function findUndescribedErrorCode(described: readonly string[], json: unknown): readonly string[] {
  const { error, code = error?.code } = (json ?? {}) as {
    error?: { code?: string };
    code?: string;
    error_type?: string;
  };
  const isError = error !== undefined || (json as { error_type?: string } | undefined)?.error_type !== undefined;
  return isError && !described.includes(String(code))
    ? [`the OpenAPI description lacks the error code ${String(code)}`]
    : [];
}

/** Returns the schema with objects that allow only described fields. */
function forbidUndescribedFields(document: object): object {
  return JSON.parse(JSON.stringify(document), (name, value: unknown) => {
    if (name !== 'schemas' || typeof value !== 'object' || value === null) return value;
    const schemas = Object.entries(value as Record<string, OpenApiSchemaKeywords>).map(([id, schema]) => [
      id,
      schema.properties && schema.additionalProperties === undefined
        ? { ...schema, unevaluatedProperties: false }
        : schema,
    ]);
    return Object.fromEntries(schemas) as unknown;
  }) as object;
}
