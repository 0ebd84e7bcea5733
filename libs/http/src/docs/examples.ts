import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode, FieldError } from '@tracking/contracts';
import {
  type ErrorResponse,
  createErrorBody,
  PROBLEM_TYPE,
  createProblemDetails,
  getErrorStatus,
} from '../errors/error-response.ts';
import type { CodeEntry } from '../http-feature.ts';
import type { ApiDocs } from './api-docs.ts';
import { findErrorCodes, type JsonSchema, listOperations } from './described.ts';
import { EXAMPLE_FIELD_ERROR, EXAMPLE_REQUEST_ID } from './server-docs.ts';

type Content = Record<string, { schema?: JsonSchema; example?: unknown; examples?: object }> | undefined;
type Schemas = Readonly<Record<string, JsonSchema>>;
const JSON_TYPE = 'application/json';

/** Adds examples to every JSON body: one per schema for requests and responses, and one per code for errors. */
export function addExamples(document: OpenAPIObject, { errors, samples, values }: ApiDocs): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const known = { schemas, samples, values };
  const used = new Set<ErrorCode>();
  const webhooks = listOperations({ ...document, paths: document.webhooks ?? {} });
  for (const { operation } of [...listOperations(document), ...webhooks]) {
    setExample((operation.requestBody as { content?: Content } | undefined)?.content, (schema) =>
      createExample(schema, { ...known, optional: true }),
    );
    for (const [status, response] of Object.entries(operation.responses)) {
      const content = (response as { content?: Content }).content;
      const codes = status.startsWith('2') ? [] : findErrorCodes(content);
      for (const code of codes) used.add(code);
      if (codes.length === 0) setExample(content, (schema) => createExample(schema, { ...known, optional: false }));
      else addErrorExamples(content, codes);
    }
  }
  const examples = Object.fromEntries(
    [...used].sort().flatMap((code) => [
      [code, createErrorExample(code, errors[code])],
      [nameProblemExample(code), createProblemExample(code, errors[code])],
    ]),
  );
  document.components = { ...document.components, examples };
}

/** Adds references to the examples of these error codes, for plain JSON and for problem details. */
function addErrorExamples(content: Content, codes: readonly ErrorCode[]): void {
  for (const [mediaType, nameOf] of Object.entries(ERROR_EXAMPLE_NAMES)) {
    const media = content?.[mediaType];
    const references = codes.map((code) => [code, { $ref: `#/components/examples/${nameOf(code)}` }]);
    if (media) media.examples = Object.fromEntries(references) as object;
  }
}

const nameProblemExample = (code: ErrorCode): string => `${code}.problem`;
/** Functions that return the name of an error code's example, by the media type of the error. */
const ERROR_EXAMPLE_NAMES: Readonly<Record<string, (code: ErrorCode) => string>> = {
  [JSON_TYPE]: (code) => code,
  [PROBLEM_TYPE]: nameProblemExample,
};

function setExample(content: Content, make: (schema: JsonSchema) => unknown): void {
  for (const media of Object.values(content ?? {})) {
    if (media.schema && media.schema['type'] !== 'string') media.example ??= make(media.schema);
  }
}

interface ExampleContext extends Pick<ApiDocs, 'samples' | 'values'> {
  readonly schemas: Schemas;
  /** True to include optional fields, as in requests. */
  readonly optional: boolean;
}

/** Returns a value that the schema allows: a realistic sample if there is one. */
function createExample(schema: JsonSchema, making: ExampleContext, name = ''): unknown {
  const { $ref, anyOf, oneOf, allOf, example, const: constant, enum: choices, default: otherwise } = schema;
  if (typeof $ref === 'string') return createExampleOfNamedSchema($ref.split('/').at(-1) ?? '', making, example);
  for (const given of [example, constant, otherwise]) if (given !== undefined) return given;
  if (name in making.values) return making.values[name];
  const [first] = [choices, anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? [list] : []));
  if (first) return Array.isArray(choices) ? first[0] : createExample(first[0] as JsonSchema, making, name);
  return createExampleOfType(schema, making, name);
}

/** Suffixes of schemas that extend a resource with fields of one response. */
const VARIANT_SUFFIX = /(?:Written|Created|Detail|Invited)$/;

function createExampleOfNamedSchema(schemaName: string, making: ExampleContext, example: unknown): unknown {
  const schema = making.schemas[schemaName];
  if (!schema) throw new Error(`The OpenAPI description has no schema ${schemaName}.`);
  if (example !== undefined) return example;
  const sample = making.samples[schemaName];
  if (making.optional && sample) return sample;
  return createExample(
    { ...schema, 'x-sample': sample ?? making.samples[schemaName.replace(VARIANT_SUFFIX, '')] },
    making,
  );
}

function createExampleOfType(schema: JsonSchema, making: ExampleContext, name: string): unknown {
  const { type, items, format, minimum = 1, properties, required = [] } = schema;
  const [kind] = [type].flat();
  switch (kind) {
    case 'object':
      return createExampleObject({ properties, required, sample: schema['x-sample'] }, making);
    case 'array':
      return [createExample(items as JsonSchema, making, name)];
    case 'integer':
    case 'number':
      return minimum;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return createExampleText(String(format));
  }
}

const EXAMPLES_BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-11-23T09:30:00.000Z',
  date: '2026-12-24',
  uri: 'https://app.example.com/shipments',
};
/** Placeholder of a field without an example value. A test fails if one remains. */
export const MISSING_EXAMPLE = 'TO BE TOLD';

function createExampleText(format: string): string {
  return EXAMPLES_BY_FORMAT[format] ?? MISSING_EXAMPLE;
}

function createExampleObject(
  { properties = {}, required, sample = {} }: Readonly<Record<'properties' | 'required' | 'sample', unknown>>,
  making: ExampleContext,
): object {
  const given = sample as Readonly<Record<string, unknown>>;
  const fields = Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
    if (name in given) return [[name, given[name]]];
    const isThere = making.optional || (required as readonly string[]).includes(name);
    return isThere ? [[name, createExample(field, making, name)]] : [];
  });
  return Object.fromEntries(fields) as object;
}

/** Returns the example of an error code. */
function createErrorExample(code: ErrorCode, entry: CodeEntry): object {
  return { summary: entry.meaning, value: createErrorBody(createSampleError(code, entry), EXAMPLE_REQUEST_ID) };
}

/** Returns the example of an error code as problem details. */
function createProblemExample(code: ErrorCode, entry: CodeEntry): object {
  const value = createProblemDetails(
    createSampleError(code, entry),
    EXAMPLE_REQUEST_ID,
    'https://api.example.com/docs',
  );
  return { summary: entry.meaning, value };
}

function createSampleError(code: ErrorCode, entry: CodeEntry): ErrorResponse {
  const details: readonly FieldError[] = code === 'validation_failed' ? [EXAMPLE_FIELD_ERROR] : [];
  const [field] = details;
  const message = field ? `${field.param}: ${field.message}` : entry.message;
  return {
    status: getErrorStatus(code),
    code,
    message,
    details,
    headers: {},
    unexpected: false,
  };
}
