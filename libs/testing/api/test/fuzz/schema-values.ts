import fc from 'fast-check';
import { textArbitrary, valueArbitrary } from './arbitrary-values.ts';
import type { FuzzedOpenApiDescription, OpenApiSchemaKeywords } from './description.ts';
import type { FuzzedFormField } from './multipart-forms.ts';

/** Hints for values that the schemas cannot describe. */
export interface FuzzValueHints {
  /** URLs of reachable servers on this machine. */
  readonly urls: readonly string[];
  /** Returns existing ids, cursors and similar values for the name of a field or parameter. */
  known(name: string): fc.Arbitrary<string>;
}

const DAY_MS = 86_400_000;
/** The base of generated dates. It is fixed, because the fuzz test checks inputs, not time-based rules. */
const BASE_TIME_MS = Date.parse('2026-11-21T09:30:00Z');
const instantMsArbitrary = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.integer({ min: -90 * 24, max: 90 * 24 }).map((hours) => BASE_TIME_MS + hours * 3_600_000),
  },
  fc.integer({ min: Date.parse('1900-01-01T00:00:00Z'), max: Date.parse('2999-12-31T23:59:59Z') }),
);
const TIME_ZONE_SUFFIXES = ['Z', '+00:00', '-00:00', '+08:00', '-11:30', '+14:00', '.5Z', '.123456789Z', 'z'] as const;
const dateTimeArbitrary = fc
  .tuple(instantMsArbitrary, fc.constantFrom(...TIME_ZONE_SUFFIXES))
  .map(([at, suffix]) => `${new Date(at).toISOString().slice(0, 19)}${suffix}`);
const localTimeArbitrary = instantMsArbitrary.map((at) => new Date(at).toISOString().slice(0, 16));
/** Names of fields of requests that accept several forms of times, and therefore have no format. */
const TIME_FIELD_NAME_PATTERN = /^(etd|eta|original_eta|occurred_at|reported_at)$/;
const dateTextArbitrary = instantMsArbitrary.map((at) => new Date(at - (at % DAY_MS)).toISOString().slice(0, 10));

/**
 * Generates values that match JSON schemas. If only the description of a schema states a rule, values may break it
 * slightly.
 */
export class SchemaValueGenerator {
  private readonly known = new Map<string, fc.Arbitrary<unknown>>();

  /** @param prefersExamples true to use the examples for most texts, because arbitrary text is usually invalid */
  constructor(
    private readonly description: FuzzedOpenApiDescription,
    private readonly hints: FuzzValueHints,
    private readonly prefersExamples = false,
  ) {}

  /** Returns a generator that uses the examples for most texts. */
  createGeneratorPreferringExamples(): SchemaValueGenerator {
    return new SchemaValueGenerator(this.description, this.hints, true);
  }

  /** @param name name of the field or parameter */
  generateValuesOfSchema(schema: OpenApiSchemaKeywords, name = ''): fc.Arbitrary<unknown> {
    const { $ref } = schema;
    if ($ref === undefined) return this.generateForSchema(schema, name);
    const made = this.known.get($ref) ?? this.generateForSchema(this.description.resolveReference(schema), name);
    this.known.set($ref, made);
    return made;
  }

  /** The parts of a multipart form. */
  listFormFieldsOfSchema(schema: OpenApiSchemaKeywords): readonly FuzzedFormField[] {
    const { properties = {} } = this.description.resolveReference(schema);
    return Object.entries(properties).map(([name, given]) => {
      const field = this.description.resolveReference(given);
      const isFile = field.format === 'binary' || field.contentMediaType !== undefined;
      return { name, isFile, values: this.generateValuesOfSchema(given, name) };
    });
  }

  private generateForSchema(schema: OpenApiSchemaKeywords, name: string): fc.Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum)
      return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...schema.enum) }, generateUpperCaseValues(schema.enum));
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return fc.oneof(...choices.map((choice) => this.generateValuesOfSchema(choice, name)));
    if (schema.allOf) return this.createMergedObjectArbitrary(schema.allOf, name);
    const types = [schema.type ?? (schema.properties ? 'object' : 'any')].flat();
    const [first = 'any', ...others] = types.map((type) => this.generateValuesOfType(type, schema, name));
    return first === 'any'
      ? valueArbitrary
      : fc.oneof({ weight: 4, arbitrary: first }, ...(others as fc.Arbitrary<unknown>[]));
  }

  /** Merges several object schemas into one object. */
  private createMergedObjectArbitrary(schemas: readonly OpenApiSchemaKeywords[], name: string): fc.Arbitrary<unknown> {
    const [first, ...others] = schemas;
    if (first && others.length === 0) return this.generateValuesOfSchema(first, name);
    return fc
      .tuple(...schemas.map((schema) => this.generateValuesOfSchema(schema, name)))
      .map((parts) => Object.assign({}, ...parts) as unknown);
  }

  private generateValuesOfType(type: string, schema: OpenApiSchemaKeywords, name: string): fc.Arbitrary<unknown> {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number':
        return generateNumbersOfSchema(type, schema);
      case 'string':
        return this.createTextArbitraryForSchema(schema, name);
      case 'array':
        return this.generateArrays(schema, name);
      case 'object':
        return this.generateObjectsOfSchema(schema);
      default:
        return valueArbitrary;
    }
  }

  private generateObjectsOfSchema({
    properties = {},
    required = [],
    additionalProperties,
    ...schema
  }: OpenApiSchemaKeywords): fc.Arbitrary<object> {
    const fields = Object.entries(properties).map(
      ([name, field]) => [name, this.generateValuesOfSchema(field, name)] as const,
    );
    const named = fc.record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true });
    const examples = listExamples(schema).filter((example) => typeof example === 'object' && example !== null);
    if (typeof additionalProperties !== 'object')
      return examples.length ? fc.oneof(named, fc.constantFrom(...examples)) : named;
    const others = fc.dictionary(textArbitrary, this.generateValuesOfSchema(additionalProperties), {
      maxKeys: 3,
      noNullPrototype: true,
    });
    return fc
      .tuple(named, fc.oneof(others, fc.constantFrom<object>({}, ...examples)))
      .map((parts) => Object.assign({}, ...parts) as object);
  }

  private generateArrays(schema: OpenApiSchemaKeywords, name: string): fc.Arbitrary<unknown> {
    const made = fc.array(
      this.generateValuesOfSchema(schema.items ?? {}, name),
      createGeneratedArrayLengthBounds(schema.minItems, schema.maxItems),
    );
    const examples = listExamples(schema).filter(Array.isArray);
    return examples.length === 0 ? made : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...examples) }, made);
  }

  private createTextArbitraryForSchema(schema: OpenApiSchemaKeywords, name: string): fc.Arbitrary<string> {
    const { format, pattern, minLength = 0, maxLength = 40 } = schema;
    if (format === 'uri') return fc.constantFrom(...this.hints.urls);
    const examples = listExamples(schema).map(String);
    const samples = examples.length === 0 ? [] : [{ weight: 12, arbitrary: fc.constantFrom(...examples) }];
    const known = {
      weight: FUZZ_FIELDS_WITH_KNOWN_VALUES_PATTERN.test(name) ? 12 : 1,
      arbitrary: this.hints.known(name),
    };
    const made = (arbitrary: fc.Arbitrary<string>) => fc.oneof(...samples, known, { weight: 6, arbitrary });
    if (format === 'date-time') return made(dateTimeArbitrary);
    if (TIME_FIELD_NAME_PATTERN.test(name))
      return made(fc.oneof(dateTimeArbitrary, dateTextArbitrary, localTimeArbitrary));
    if (format === 'date') return made(dateTextArbitrary);
    if (format === 'email') return made(fc.emailAddress());
    if (pattern !== undefined) return made(fc.stringMatching(new RegExp(pattern)));
    if (this.prefersExamples && samples.length > 0) return fc.oneof(...samples);
    const lengths = { minLength, maxLength: Math.min(maxLength, minLength + 40) };
    const texts = fc.oneof(fc.constantFrom('one', 'two', 'beta'), fc.string({ unit: 'grapheme', ...lengths }));
    return fc.oneof(...samples, known, { weight: 2, arbitrary: texts });
  }
}

/** Names of fields whose values must exist and cannot be generated. */
const FUZZ_FIELDS_WITH_KNOWN_VALUES_PATTERN = /(_id|^id|email|password|cursor|token|after)$/;

/** The API accepts enumerations in upper and lower case. */
function generateUpperCaseValues(values: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.constantFrom(...values.map((value) => (typeof value === 'string' ? value.toUpperCase() : value)));
}

function listExamples({ example, examples = [] }: OpenApiSchemaKeywords): readonly unknown[] {
  return example === undefined ? examples : [example, ...examples];
}

function generateNumbersOfSchema(type: 'integer' | 'number', schema: OpenApiSchemaKeywords): fc.Arbitrary<number> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const min = minimum ?? exclusiveMinimum ?? -1_000;
  const max = maximum ?? exclusiveMaximum ?? min + 10_000;
  if (type === 'integer') return fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
  return fc.oneof(fc.double({ min, max, noNaN: true }), fc.integer({ min: Math.ceil(min), max: Math.floor(max) }));
}

function createGeneratedArrayLengthBounds(
  minItems = 0,
  maxItems = 3,
): { readonly minLength: number; readonly maxLength: number } {
  return { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, minItems + 3)) };
}
