import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Description, Operation, Schema } from './description.ts';
import type { Received } from './send.ts';

const DOCUMENT = 'https://description.example/openapi.json';

/** Holds answers against the description. */
export class Answers {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(description: Description) {
    formats.default(this.ajv);
    this.ajv.addSchema(closed(description.json), DOCUMENT);
  }

  /** What of it is otherwise than described; nothing where all is as it is. */
  faultsOf({ path, method, responses }: Operation, { status, headers, mediaType, json }: Received): readonly string[] {
    const response = responses[status];
    if (!response) return [`the status ${status} is not described`];
    const missing = Object.entries(response.headers ?? {}).flatMap(([name, { required }]) =>
      required === true && headers[name.toLowerCase()] === undefined ? [`the header ${name} is missing`] : [],
    );
    const content = response.content ?? {};
    if (mediaType === undefined) return Object.keys(content).length === 0 ? missing : [...missing, 'there is no body'];
    const described = [mediaType, '*/*'].find((type) => content[type]);
    if (described === undefined) return [...missing, `a body of ${mediaType} is not described`];
    if (json === undefined) return missing;
    const steps = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', described, 'schema'];
    return [...missing, ...this.misfits(steps, json)];
  }

  private misfits(steps: readonly string[], json: unknown): readonly string[] {
    const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = this.validators.get(pointer) ?? this.ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` });
    this.validators.set(pointer, validate);
    if (validate(json)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath}: ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }
}

/** Objects have the fields that are described, and no others. */
function closed(document: object): object {
  return JSON.parse(JSON.stringify(document), (name, value: unknown) => {
    if (name !== 'schemas' || typeof value !== 'object' || value === null) return value;
    const schemas = Object.entries(value as Record<string, Schema>).map(([id, schema]) => [
      id,
      schema.properties && schema.additionalProperties === undefined
        ? { ...schema, unevaluatedProperties: false }
        : schema,
    ]);
    return Object.fromEntries(schemas) as unknown;
  }) as object;
}
