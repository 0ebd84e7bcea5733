import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { IncomingHttpHeaders } from 'node:http';
import type { Description, Operation, Response, Schema } from './description.ts';
import type { Received } from './send.ts';

const DOCUMENT = 'https://description.example/openapi.json';

/** Holds answers against the description. */
export class Answers {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  private readonly validators = new Map<string, ValidateFunction>();

  /** All that any answer has. */
  private readonly headers: readonly string[];

  constructor(description: Description) {
    this.headers = description.answerHeaders();
    formats.default(this.ajv);
    this.ajv.addSchema(closed(description.json), DOCUMENT);
  }

  /** What of it is otherwise than described; nothing where all is as it is. */
  faultsOf({ path, method, responses }: Operation, { status, headers, mediaType, json }: Received): readonly string[] {
    const response = responses[status];
    if (!response) return [`the status ${status} is not described`];
    const wrong = this.wrongHeaders(response, headers);
    const content = response.content ?? {};
    if (mediaType === undefined) return Object.keys(content).length === 0 ? wrong : [...wrong, 'there is no body'];
    const described = [mediaType, '*/*'].find((type) => content[type]);
    if (described === undefined) return [...wrong, `a body of ${mediaType} is not described`];
    if (json === undefined) return wrong;
    const steps = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', described, 'schema'];
    return [...wrong, ...this.misfits(steps, json)];
  }

  /** Those that are missing, not as described, or ours without being described for this answer. */
  private wrongHeaders({ headers = {} }: Response, received: IncomingHttpHeaders): readonly string[] {
    const described = Object.entries(headers).flatMap(([name, { required, schema }]) => {
      const text = [received[name.toLowerCase()] ?? []].flat().join(', ');
      if (text === '') return required === true ? [`the header ${name} is missing`] : [];
      const value = schema?.type === 'integer' ? Number(text) : text;
      return schema && !this.ajv.validate(schema, value) ? [`the header ${name} is ${text}`] : [];
    });
    const undescribed = this.headers.filter((name) => received[name.toLowerCase()] !== undefined && !headers[name]);
    return [...described, ...undescribed.map((name) => `the header ${name} is not described`)];
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
