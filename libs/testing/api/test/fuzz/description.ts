/** What the fuzz reads of a JSON schema: the words that the description uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly contentMediaType?: string;
}

interface Referring {
  readonly $ref?: string;
}
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly schema?: Schema;
}
export interface Content {
  readonly schema?: Schema;
}
export interface Response {
  readonly headers?: Readonly<Record<string, Referring & { readonly required?: boolean; readonly schema?: Schema }>>;
  readonly content?: Readonly<Record<string, Content>>;
}
interface DescribedOperation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly (Parameter & Referring)[];
  readonly requestBody?: Referring & { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response & Referring>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

/** An operation, with all that it refers to in place, but for what its schemas do. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  /** Whether it asks for credentials. */
  readonly isSecured: boolean;
  readonly parameters: readonly Parameter[];
  readonly content: Readonly<Record<string, Content>>;
  readonly responses: Readonly<Record<string, Response>>;
}

/** The description of the API, as its clients read it. */
export class Description {
  readonly operations: ReadonlyMap<string, Operation>;

  /** @param json the OpenAPI document */
  constructor(readonly json: object) {
    const { paths } = json as Document;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => this.operation(method.toUpperCase(), path, operation)),
    );
    this.operations = new Map(described.map((operation) => [operation.id, operation]));
  }

  operationOf(id: string): Operation {
    const operation = this.operations.get(id);
    if (!operation) throw new Error(`${id} is not described`);
    return operation;
  }

  /** Paths of those that are read without naming anything. */
  lists(): readonly string[] {
    const reads = [...this.operations.values()].filter(({ method, path }) => method === 'GET' && !path.includes('{'));
    return reads.filter(({ responses }) => responses['200']?.content?.['application/json']).map(({ path }) => path);
  }

  /** Names of the headers that answers have. */
  answerHeaders(): readonly string[] {
    const responses = [...this.operations.values()].flatMap((operation) => Object.values(operation.responses));
    return [...new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)))];
  }

  /** What is meant, where something else is referred to. */
  resolve<T extends Referring>(given: T): T {
    if (given.$ref === undefined) return given;
    const steps = given.$ref
      .slice(2)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], this.json);
    return this.resolve(found as T);
  }

  private operation(method: string, path: string, described: DescribedOperation): Operation {
    const { operationId: id, parameters = [], requestBody, responses, security } = described;
    const answers = Object.entries(responses).map(([status, response]) => [status, this.response(response)] as const);
    return {
      id,
      method,
      path,
      isSecured: security !== undefined && security.length > 0,
      parameters: parameters.map((parameter) => this.resolve(parameter)),
      content: requestBody ? this.resolve(requestBody).content : {},
      responses: Object.fromEntries(answers),
    };
  }

  private response(given: Response & Referring): Response {
    const response = this.resolve(given);
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [name, this.resolve(header)]);
    return { ...response, headers: Object.fromEntries(headers) };
  }
}
