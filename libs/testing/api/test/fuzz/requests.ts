import fc from 'fast-check';
import { textArbitrary, valueArbitrary } from './arbitrary-values.ts';
import { generateEarlierResponseValuePlaceholder } from './known-resources.ts';
import { mutateSomeValues } from './mutations.ts';
import { SAMPLE_FILES, FUZZED_MEDIA_TYPES, generateMultipartForms } from './multipart-forms.ts';
import type { FuzzedOperation, OpenApiParameterDescription } from './description.ts';
import type { SchemaValueGenerator } from './schema-values.ts';

/** A generated request with placeholders for existing resources. */
export interface GeneratedRequest {
  /** Index of the caller. */
  readonly caller: number;
  /** True if the request uses resource ids of another scope. */
  readonly usesForeignIds: boolean;
  /** Index of an existing resource, or the segments of a path to a resource that does not exist. */
  readonly path: { readonly resource: number } | { readonly steps: readonly string[] };
  /** Encoded query with its `?`, or an empty string. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Generates requests of an operation, both as described and invalid ones. */
export function generateOperationRequests(
  operation: FuzzedOperation,
  values: SchemaValueGenerator,
): fc.Arbitrary<GeneratedRequest> {
  return fc
    .record({
      caller: fc.nat(1_000),
      usesForeignIds: fc.nat(9).map((one) => one === 9),
      path: fc.oneof(
        { weight: 12, arbitrary: fc.record({ resource: fc.nat(1_000) }) },
        {
          weight: 1,
          arbitrary: fc.record({ steps: fc.array(unknownPathSegmentArbitrary, { minLength: 3, maxLength: 3 }) }),
        },
      ),
      query: generateUrlQueries(operation.parameters, values),
      headers: createHeadersArbitrary(operation),
      address: fc.ipV4(),
      content: generateBodies(operation, values),
    })
    .map(({ content: { type, body }, headers, address, ...drawn }) => ({
      ...drawn,
      headers: { 'x-forwarded-for': address, ...(type !== undefined && { 'content-type': type }), ...headers },
      ...(body !== undefined && { body }),
    }));
}

/** An encoded path segment that matches no resource. */
const unknownPathSegmentArbitrary = fc.oneof(
  generateEarlierResponseValuePlaceholder('').map(percentEncode),
  textArbitrary.map((text) => percentEncode(text.slice(0, 500)) || '%20'),
  fc.constantFrom('%', '%zz', '%C3%28', '%ED%A0%80', '%2e%2e%2f', ';', 'CSQU3054383'),
);

/** Percent-encodes text, including halves of surrogate pairs. */
function percentEncode(text: string): string {
  const units = text.match(/[\ud800-\udbff][\udc00-\udfff]|[^]/g) ?? [];
  return units.map((unit) => (/^[\ud800-\udfff]$/.test(unit) ? '%ED%A0%80' : encodeURIComponent(unit))).join('');
}

/** Maximum length of a query. The parser refuses a request whose request line and headers exceed 16 KiB. */
const MAX_FUZZED_QUERY_STRING_LENGTH = 8_000;

function generateUrlQueries(
  parameters: readonly OpenApiParameterDescription[],
  values: SchemaValueGenerator,
): fc.Arbitrary<string> {
  const described = parameters.filter((parameter) => parameter.in === 'query');
  const named = described.map(({ name, schema = {} }) => ({
    // A cursor from a response is valid for only one list.
    weight: name === 'cursor' ? 1 : 4,
    arbitrary: fc
      .oneof({ weight: 6, arbitrary: values.generateValuesOfSchema(schema, name) }, textArbitrary)
      .map((value) => `${percentEncode(name)}=${percentEncode(String(value))}`),
  }));
  const beside = fc.oneof(
    fc.tuple(textArbitrary, textArbitrary).map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`),
    fc.constantFrom(
      '%',
      '%zz=1',
      '&&==',
      'limit=10&limit=20',
      'limit[]=1',
      '__proto__=1',
      'q=%C3%28',
      'cursor=eyJhIjoxfQ',
    ),
  );
  const none = fc.constant<readonly string[]>([]);
  const fitting = named.length === 0 ? none : fc.array(fc.oneof(...named), { maxLength: 3 });
  const parts = fc.tuple(
    fitting,
    fc.oneof({ weight: 20, arbitrary: none }, fc.array(beside, { minLength: 1, maxLength: 2 })),
  );
  return parts
    .map((both) => both.flat())
    .map((all) => (all.length === 0 ? '' : `?${all.join('&').slice(0, MAX_FUZZED_QUERY_STRING_LENGTH)}`));
}

/** Text of a header value that Node can send. */
const headerTextArbitrary = textArbitrary.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 2_000));
/** Values of the headers that the API reads for every operation. */
const FUZZED_HEADER_VALUES: Readonly<Record<string, readonly string[]>> = {
  prefer: ['handling=strict', 'handling=lenient', 'handling="strict", wait=5', 'respond-async'],
  'if-match': ['"1"', '"2"', '"999999999"', 'W/"1"', '*', '"1", "2"', '"', '1', '""'],
  'if-none-match': ['"1"', 'W/"1"', '*', '"1","x"', '"'],
  'idempotency-key': ['one', 'two', 'x'.repeat(255), 'x'.repeat(256), 'é'],
  'consistency-token': ['0', '-1', 'x', '999999999999999999999', 'eyJhIjoxfQ'],
  environment: ['live', 'test', 'LIVE', 'prod'],
  'x-requested-with': ['fuzz', ''],
  traceparent: [`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, '00-x'],
  accept: ['application/json', 'application/problem+json', 'text/html', '*/*;q=0', ';;;'],
  'content-type': [
    'text/plain',
    'application/json; charset=latin1',
    'application/jsonp',
    'application/merge-patch+json',
    ';;;',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
  ],
  'content-encoding': ['gzip', 'identity', 'br'],
  'last-event-id': ['evt_x', 'beginning', ''],
  range: ['bytes=0-0', 'bytes=5-1', 'bytes=-1', 'bytes=999999-', 'lines=1'],
  origin: ['https://app.example', 'https://evil.example', 'null'],
  'sec-fetch-site': ['cross-site', 'same-origin'],
  'x-forwarded-for': ['10.0.0.1', '10.0.0.1, ::1', 'x'],
  'accept-language': ['nl', '*'],
};

function createHeadersArbitrary({ parameters }: FuzzedOperation): fc.Arbitrary<Readonly<Record<string, string>>> {
  const own = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name.toLowerCase());
  const header = (names: readonly string[]) =>
    fc.constantFrom(...names).chain((name) => {
      const said = fc.oneof(
        fc.constantFrom(...(FUZZED_HEADER_VALUES[name] ?? [''])),
        generateEarlierResponseValuePlaceholder(name),
      );
      return fc.oneof({ weight: 5, arbitrary: said }, headerTextArbitrary).map((value) => [name, value] as const);
    });
  const some = (names: readonly string[]) =>
    names.length === 0
      ? fc.constant([])
      : fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(header(names), { maxLength: 2 }));
  return fc.tuple(some(own), some(Object.keys(FUZZED_HEADER_VALUES))).map((both) => Object.fromEntries(both.flat()));
}

interface GeneratedBody {
  readonly type?: string;
  readonly body?: string | Uint8Array;
}

const fileBodyArbitrary = fc.record({
  type: fc.constantFrom(...FUZZED_MEDIA_TYPES),
  body: fc.oneof(fc.constantFrom(...SAMPLE_FILES), fc.uint8Array({ maxLength: 500 })),
});

function generateBodies(
  { method, content }: FuzzedOperation,
  values: SchemaValueGenerator,
): fc.Arbitrary<GeneratedBody> {
  const described = Object.entries(content).map(([type, { schema = {} }]) => {
    if (type.startsWith('multipart/')) return generateMultipartForms(values.listFormFieldsOfSchema(schema));
    if (!/json$/.test(type)) return fileBodyArbitrary;
    const exemplary = values.createGeneratorPreferringExamples().generateValuesOfSchema(schema);
    return fc.oneof(
      generateJsonBodies(type, exemplary),
      generateJsonBodies(type, mutateSomeValues(fc.oneof(exemplary, values.generateValuesOfSchema(schema)))),
    );
  });
  const none = fc.constant<GeneratedBody>({});
  const strange = fc.oneof(
    none,
    generateJsonBodies('application/json', valueArbitrary),
    fc.uint8Array({ maxLength: 100 }).map((body) => ({ type: 'application/json', body })),
    fc
      .constantFrom('', '{', '[', '{"a":1}{"b":2}', '\ufeff{}', '{"a":NaN}', '['.repeat(50_000), ' '.repeat(1_100_000))
      .map((body) => ({
        type: 'application/json',
        body,
      })),
  );
  if (described.length === 0 && method === 'PUT') return fc.oneof({ weight: 8, arbitrary: fileBodyArbitrary }, strange);
  if (described.length === 0) return fc.oneof({ weight: 8, arbitrary: none }, strange);
  return fc.oneof({ weight: 12, arbitrary: fc.oneof(...described) }, strange);
}

/**
 * Generates JSON bodies. Most are valid; the others are truncated, contain a number that is too large or a field twice,
 * or have another encoding.
 */
function generateJsonBodies(type: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<GeneratedBody> {
  const spoiled = fc.constantFrom<(text: string) => string | Uint8Array>(
    (text) => text.slice(0, -1),
    (text) => text.replace(/:("[^"]*"|\d+)/, ':1e999'),
    (text) => text.replace(/^\{("[^"]*":)/, '{$1null,$1'),
    (text) => text.replace(/"/g, "'"),
    (text) => text.replace(/\{/, '{"__proto__":{"x":1},').replace(',}', '}'),
    (text) => text.replace(/"([^"])/, '"\\u0000$1'),
    (text) => Buffer.from(text, 'utf16le'),
    (text) => Buffer.from(text, 'latin1'),
  );
  const asIs = fc.constant((text: string): string | Uint8Array => text);
  return fc
    .tuple(values, fc.oneof({ weight: 12, arbitrary: asIs }, spoiled))
    .map(([value, written]) => ({ type, body: written(JSON.stringify(value) ?? '') }));
}
