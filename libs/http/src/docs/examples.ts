import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode } from '@tracking/contracts';
import {
  type ErrorResponseFields,
  createErrorBody,
  createProblemDetails,
  getErrorStatus,
} from '../errors/error-response.ts';
import type { ErrorOrWarningCodeDocumentation } from '../http-feature.ts';
import type { ApiDocumentationContent } from './api-docs.ts';
import { type JsonSchema, listCallbacks, listOpenApiOperations } from './described.ts';
import { EXAMPLE_REQUEST_ID } from './server-docs.ts';

type Content = Record<string, { schema?: JsonSchema; example?: unknown; examples?: object }> | undefined;
type Schemas = Readonly<Record<string, JsonSchema>>;

/**
 * Adds examples to the named schemas that have a sample, to the bodies of requests, and to error codes. Tools combine
 * them for other bodies, for example for pages.
 */
export function addOpenApiExamples(
  document: OpenAPIObject,
  { errors, samples, values }: ApiDocumentationContent,
): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const known = { schemas, samples, values };
  for (const name of Object.keys(samples).filter((sampled) => sampled in schemas)) {
    addExampleToSchema(name, { ...known, optional: false });
  }
  const callbacks = listOpenApiOperations(document).flatMap(({ operation }) => listCallbacks(operation));
  for (const { operation } of [...listOpenApiOperations(document), ...callbacks]) {
    addBodyExamples(operation.requestBody, { ...known, optional: true });
    for (const response of Object.values(operation.responses)) addBodyExamples(response, { ...known, optional: false });
  }
  const referenced = JSON.stringify(document.components?.responses);
  const isReferenced = (name: string) => referenced.includes(`"#/components/examples/${name}"`);
  const examples = Object.fromEntries(
    (Object.keys(errors) as ErrorCode[])
      .flatMap((code) => [
        [code, createErrorExample(code, errors[code])] as const,
        [`${code}.problem`, createProblemExample(code, errors[code])] as const,
      ])
      .filter(([name]) => isReferenced(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  document.components = { ...document.components, examples };
}

/** Adds an example to a body without a named schema, and to the named schema of a request. */
function addBodyExamples(body: object | undefined, context: ExampleContext): void {
  for (const media of Object.values((body as { content?: Content } | undefined)?.content ?? {})) {
    const { schema } = media;
    if (schema === undefined || schema['type'] === 'string') continue;
    const { $ref } = schema;
    if (typeof $ref !== 'string') media.example ??= createExampleOfSchema(schema, context);
    else if (context.optional) addExampleToSchema($ref.split('/').at(-1) ?? '', context);
  }
}

function addExampleToSchema(name: string, context: ExampleContext): void {
  const schema = context.schemas[name];
  if (schema !== undefined && schema['example'] === undefined)
    Object.assign(schema, { example: createExampleOfNamedSchema(name, context, undefined) });
}

interface ExampleContext extends Pick<ApiDocumentationContent, 'samples' | 'values'> {
  readonly schemas: Schemas;
  /** True to include optional fields, as in requests. */
  readonly optional: boolean;
}

/** Returns a value that the schema allows: a realistic sample if there is one. */
function createExampleOfSchema(schema: JsonSchema, making: ExampleContext, name = ''): unknown {
  const { $ref, anyOf, oneOf, allOf, example, const: constant, enum: choices, default: otherwise } = schema;
  if (typeof $ref === 'string') return createExampleOfNamedSchema($ref.split('/').at(-1) ?? '', making, example);
  for (const given of [example, constant, otherwise]) if (given !== undefined) return given;
  if (name in making.values) return making.values[name];
  const [first] = [choices, anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? [list] : []));
  if (first) return Array.isArray(choices) ? first[0] : createExampleOfSchema(first[0] as JsonSchema, making, name);
  return createExampleOfType(schema, making, name);
}

/** Suffixes of schemas that extend a resource with fields of one response. */
const SCHEMA_VARIANT_SUFFIX_PATTERN = /(?:Written|Created|Detail|Invited)$/;

function createExampleOfNamedSchema(schemaName: string, making: ExampleContext, example: unknown): unknown {
  const schema = making.schemas[schemaName];
  if (!schema) throw new Error(`The OpenAPI description has no schema ${schemaName}.`);
  if (example !== undefined) return example;
  const sample = making.samples[schemaName];
  if (making.optional && sample) return sample;
  return createExampleOfSchema(
    { ...schema, 'x-sample': sample ?? making.samples[schemaName.replace(SCHEMA_VARIANT_SUFFIX_PATTERN, '')] },
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
      return [createExampleOfSchema(items as JsonSchema, making, name)];
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
export const MISSING_EXAMPLE_PLACEHOLDER = 'MISSING EXAMPLE';

function createExampleText(format: string): string {
  return EXAMPLES_BY_FORMAT[format] ?? MISSING_EXAMPLE_PLACEHOLDER;
}

/** Field that refers to another resource of the workspace. */
const RESOURCE_ID_FIELD_PATTERN = /(?<!external)_id$/;

function createExampleObject(
  { properties = {}, required, sample = {} }: Readonly<Record<'properties' | 'required' | 'sample', unknown>>,
  making: ExampleContext,
): object {
  const given = sample as Readonly<Record<string, unknown>>;
  const fields = Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
    const isRequired = (required as readonly string[]).includes(name);
    // The resource does not exist in the reader's workspace, so the request would be refused.
    if (making.optional && !isRequired && RESOURCE_ID_FIELD_PATTERN.test(name)) return [];
    if (name in given) return [[name, given[name]]];
    const isThere = making.optional || isRequired;
    return isThere ? [[name, createExampleOfSchema(field, making, name)]] : [];
  });
  return Object.fromEntries(fields) as object;
}

/** Returns the example of an error code. */
function createErrorExample(code: ErrorCode, entry: ErrorOrWarningCodeDocumentation): object {
  return { summary: entry.meaning, value: createErrorBody(createErrorExampleFields(code, entry), EXAMPLE_REQUEST_ID) };
}

/** Returns the example of an error code as problem details. */
function createProblemExample(code: ErrorCode, entry: ErrorOrWarningCodeDocumentation): object {
  const value = createProblemDetails(
    createErrorExampleFields(code, entry),
    EXAMPLE_REQUEST_ID,
    'https://api.example.com/docs',
  );
  return { summary: entry.meaning, value };
}

function createErrorExampleFields(
  code: ErrorCode,
  { message, details = [] }: ErrorOrWarningCodeDocumentation,
): ErrorResponseFields {
  return { status: getErrorStatus(code), code, message, details, headers: {}, unexpected: false };
}
