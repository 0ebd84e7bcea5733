import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode, FieldError } from '@tracking/contracts';
import { type ErrorResponse, errorBody, PROBLEM_TYPE, problemDetails, statusOf } from '../errors/error-response.ts';
import type { CodeEntry } from '../http-feature.ts';
import type { ApiDocs } from './api-docs.ts';
import { codesIn, type JsonSchema, operationsOf } from './described.ts';
import { FAULTY_FIELD, REQUEST_ID } from './server-docs.ts';

type Content = Record<string, { schema?: JsonSchema; example?: unknown; examples?: object }> | undefined;
type Schemas = Readonly<Record<string, JsonSchema>>;
const JSON_TYPE = 'application/json';

/** Adds examples to every JSON body: one per schema for requests and responses, and one per code for errors. */
export function addExamples(document: OpenAPIObject, { errors, samples, values }: ApiDocs): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const known = { schemas, samples, values };
  const used = new Set<ErrorCode>();
  const webhooks = operationsOf({ ...document, paths: document.webhooks ?? {} });
  for (const { operation } of [...operationsOf(document), ...webhooks]) {
    give((operation.requestBody as { content?: Content } | undefined)?.content, (schema) =>
      exampleOf(schema, { ...known, optional: true }),
    );
    for (const [status, response] of Object.entries(operation.responses)) {
      const content = (response as { content?: Content }).content;
      const codes = status.startsWith('2') ? [] : codesIn(content);
      for (const code of codes) used.add(code);
      if (codes.length === 0) give(content, (schema) => exampleOf(schema, { ...known, optional: false }));
      else addErrorExamples(content, codes);
    }
  }
  const examples = Object.fromEntries(
    [...used].sort().flatMap((code) => [
      [code, errorExample(code, errors[code])],
      [problemNameOf(code), problemExample(code, errors[code])],
    ]),
  );
  document.components = { ...document.components, examples };
}

/** Adds references to the examples of the codes, in both forms of an error. */
function addErrorExamples(content: Content, codes: readonly ErrorCode[]): void {
  for (const [mediaType, nameOf] of Object.entries(ERROR_FORMS)) {
    const media = content?.[mediaType];
    const references = codes.map((code) => [code, { $ref: `#/components/examples/${nameOf(code)}` }]);
    if (media) media.examples = Object.fromEntries(references) as object;
  }
}

const problemNameOf = (code: ErrorCode): string => `${code}.problem`;
/** The forms of an error, with the name of its example. */
const ERROR_FORMS: Readonly<Record<string, (code: ErrorCode) => string>> = {
  [JSON_TYPE]: (code) => code,
  [PROBLEM_TYPE]: problemNameOf,
};

function give(content: Content, make: (schema: JsonSchema) => unknown): void {
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
function exampleOf(schema: JsonSchema, making: ExampleContext, name = ''): unknown {
  const { $ref, anyOf, oneOf, allOf, example, const: constant, enum: choices, default: otherwise } = schema;
  if (typeof $ref === 'string') return exampleOfNamed($ref.split('/').at(-1) ?? '', making, example);
  for (const given of [example, constant, otherwise]) if (given !== undefined) return given;
  if (name in making.values) return making.values[name];
  const [first] = [choices, anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? [list] : []));
  if (first) return Array.isArray(choices) ? first[0] : exampleOf(first[0] as JsonSchema, making, name);
  return exampleOfType(schema, making, name);
}

/** Suffixes of schemas that extend a resource with fields of one response. */
const VARIANT_SUFFIX = /(?:Written|Created|Detail|Invited)$/;

function exampleOfNamed(schemaName: string, making: ExampleContext, example: unknown): unknown {
  const schema = making.schemas[schemaName];
  if (!schema) throw new Error(`there is no schema ${schemaName}`);
  if (example !== undefined) return example;
  const sample = making.samples[schemaName];
  if (making.optional && sample) return sample;
  return exampleOf({ ...schema, 'x-sample': sample ?? making.samples[schemaName.replace(VARIANT_SUFFIX, '')] }, making);
}

function exampleOfType(schema: JsonSchema, making: ExampleContext, name: string): unknown {
  const { type, items, format, minimum = 1, properties, required = [] } = schema;
  const [kind] = [type].flat();
  switch (kind) {
    case 'object':
      return exampleOfObject({ properties, required, sample: schema['x-sample'] }, making);
    case 'array':
      return [exampleOf(items as JsonSchema, making, name)];
    case 'integer':
    case 'number':
      return minimum;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return exampleOfText(String(format));
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-11-23T09:30:00.000Z',
  date: '2026-12-24',
  uri: 'https://app.example.com/shipments',
};
/** Placeholder of a field without an example value. A test fails if one remains. */
export const MISSING_EXAMPLE = 'TO BE TOLD';

function exampleOfText(format: string): string {
  return FORMATS[format] ?? MISSING_EXAMPLE;
}

function exampleOfObject(
  { properties = {}, required, sample = {} }: Readonly<Record<'properties' | 'required' | 'sample', unknown>>,
  making: ExampleContext,
): object {
  const given = sample as Readonly<Record<string, unknown>>;
  const fields = Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
    if (name in given) return [[name, given[name]]];
    const isThere = making.optional || (required as readonly string[]).includes(name);
    return isThere ? [[name, exampleOf(field, making, name)]] : [];
  });
  return Object.fromEntries(fields) as object;
}

/** Returns the example of an error code. */
function errorExample(code: ErrorCode, entry: CodeEntry): object {
  return { summary: entry.meaning, value: errorBody(sampleError(code, entry), REQUEST_ID) };
}

/** Returns the example of an error code as problem details. */
function problemExample(code: ErrorCode, entry: CodeEntry): object {
  const value = problemDetails(sampleError(code, entry), REQUEST_ID, 'https://api.example.com/docs');
  return { summary: entry.meaning, value };
}

function sampleError(code: ErrorCode, entry: CodeEntry): ErrorResponse {
  const details: readonly FieldError[] = code === 'validation_failed' ? [FAULTY_FIELD] : [];
  const [field] = details;
  const message = field ? `${field.param}: ${field.message}` : entry.message;
  return {
    status: statusOf(code),
    code,
    message,
    details,
    headers: {},
    unexpected: false,
  };
}
