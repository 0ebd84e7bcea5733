/** The keywords of JSON Schema that the API description uses. */
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

interface SchemaReference {
  readonly $ref?: string;
}
export interface ParameterDescription {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly schema?: Schema;
}
export interface ContentDescription {
  readonly schema?: Schema;
}
export interface ResponseDescription {
  readonly headers?: Readonly<
    Record<string, SchemaReference & { readonly required?: boolean; readonly schema?: Schema }>
  >;
  readonly content?: Readonly<Record<string, ContentDescription>>;
}
interface DescribedOperation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly (ParameterDescription & SchemaReference)[];
  readonly requestBody?: SchemaReference & { readonly content: Readonly<Record<string, ContentDescription>> };
  readonly responses: Readonly<Record<string, ResponseDescription & SchemaReference>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

/** An operation of the API, with all references resolved except those in schemas. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Path template with parameters in braces. */
  readonly path: string;
  /** True if the operation requires credentials. */
  readonly isSecured: boolean;
  readonly parameters: readonly ParameterDescription[];
  readonly content: Readonly<Record<string, ContentDescription>>;
  readonly responses: Readonly<Record<string, ResponseDescription>>;
}

/** The OpenAPI description of the API. */
export class FuzzedDescription {
  readonly operations: ReadonlyMap<string, Operation>;

  /** @param json the OpenAPI document */
  constructor(readonly json: object) {
    const { paths } = json as Document;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => this.createOperation(method.toUpperCase(), path, operation)),
    );
    this.operations = new Map(described.map((operation) => [operation.id, operation]));
  }

  findOperation(id: string): Operation {
    const operation = this.operations.get(id);
    if (!operation) throw new Error(`the OpenAPI description lacks the operation ${id}`);
    return operation;
  }

  /** Returns the paths of GET operations without path parameters. */
  listPaths(): readonly string[] {
    const reads = [...this.operations.values()].filter(({ method, path }) => method === 'GET' && !path.includes('{'));
    return reads.filter(({ responses }) => responses['200']?.content?.['application/json']).map(({ path }) => path);
  }

  /** Returns the names of all described response headers. */
  responseHeaderNames(): readonly string[] {
    const responses = [...this.operations.values()].flatMap((operation) => Object.values(operation.responses));
    return [...new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)))];
  }

  /** Returns the referenced object, or the given object if it is not a reference. */
  resolve<T extends SchemaReference>(given: T): T {
    if (given.$ref === undefined) return given;
    const steps = given.$ref
      .slice(2)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], this.json);
    return this.resolve(found as T);
  }

  private createOperation(method: string, path: string, described: DescribedOperation): Operation {
    const { operationId: id, parameters = [], requestBody, responses, security } = described;
    const answers = Object.entries(responses).map(
      ([status, response]) => [status, this.resolveResponse(response)] as const,
    );
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

  private resolveResponse(given: ResponseDescription & SchemaReference): ResponseDescription {
    const response = this.resolve(given);
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [name, this.resolve(header)]);
    return { ...response, headers: Object.fromEntries(headers) };
  }
}
