/** The keywords of JSON Schema that the API description uses. */
export interface OpenApiSchemaKeywords {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly OpenApiSchemaKeywords[];
  readonly oneOf?: readonly OpenApiSchemaKeywords[];
  readonly allOf?: readonly OpenApiSchemaKeywords[];
  readonly properties?: Readonly<Record<string, OpenApiSchemaKeywords>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | OpenApiSchemaKeywords;
  readonly items?: OpenApiSchemaKeywords;
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
export interface OpenApiParameterDescription {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly schema?: OpenApiSchemaKeywords;
}
export interface OpenApiMediaType {
  readonly schema?: OpenApiSchemaKeywords;
}
export interface ResponseDescription {
  /** Path of the response in the document. */
  readonly place: readonly string[];
  readonly headers?: Readonly<
    Record<string, SchemaReference & { readonly required?: boolean; readonly schema?: OpenApiSchemaKeywords }>
  >;
  readonly content?: Readonly<Record<string, OpenApiMediaType>>;
}
interface DescribedOperation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly (OpenApiParameterDescription & SchemaReference)[];
  readonly requestBody?: SchemaReference & { readonly content: Readonly<Record<string, OpenApiMediaType>> };
  readonly responses: Readonly<Record<string, ResponseDescription & SchemaReference>>;
  readonly 'x-error-codes'?: readonly string[];
}
interface FuzzedOpenApiDocument {
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

/** An operation of the API, with all references resolved except those in schemas. */
export interface FuzzedOperation {
  readonly id: string;
  readonly method: string;
  /** Path template with parameters in braces. */
  readonly path: string;
  /** True if the operation requires credentials. */
  readonly isSecured: boolean;
  readonly parameters: readonly OpenApiParameterDescription[];
  readonly content: Readonly<Record<string, OpenApiMediaType>>;
  readonly responses: Readonly<Record<string, ResponseDescription>>;
  /** Error codes of the operation. */
  readonly errorCodes: readonly string[];
}

/** The OpenAPI description of the API. */
export class FuzzedOpenApiDescription {
  readonly operations: ReadonlyMap<string, FuzzedOperation>;

  /** @param json the OpenAPI document */
  constructor(readonly json: object) {
    const { paths } = json as FuzzedOpenApiDocument;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        this.createFuzzedOperation(method.toUpperCase(), path, operation),
      ),
    );
    this.operations = new Map(described.map((operation) => [operation.id, operation]));
  }

  getOpenApiOperationByIdOrThrow(id: string): FuzzedOperation {
    const operation = this.operations.get(id);
    if (!operation) throw new Error(`the OpenAPI description lacks the operation ${id}`);
    return operation;
  }

  /** Returns the paths of GET operations without path parameters. */
  listGetPathsWithoutParameters(): readonly string[] {
    const reads = [...this.operations.values()].filter(({ method, path }) => method === 'GET' && !path.includes('{'));
    return reads.filter(({ responses }) => responses['200']?.content?.['application/json']).map(({ path }) => path);
  }

  /** Returns the names of all described response headers. */
  listResponseHeaderNames(): readonly string[] {
    const responses = [...this.operations.values()].flatMap((operation) => Object.values(operation.responses));
    return [...new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)))];
  }

  /** Returns the referenced object, or the given object if it is not a reference. */
  resolveReference<T extends SchemaReference>(given: T): T {
    if (given.$ref === undefined) return given;
    const steps = given.$ref
      .slice(2)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], this.json);
    return this.resolveReference(found as T);
  }

  private createFuzzedOperation(method: string, path: string, described: DescribedOperation): FuzzedOperation {
    const { operationId: id, parameters = [], requestBody, responses } = described;
    const { security = (this.json as FuzzedOpenApiDocument).security, 'x-error-codes': errorCodes = [] } = described;
    const pathOfResponses = ['paths', path, method.toLowerCase(), 'responses'];
    const answers = Object.entries(responses).map(
      ([status, response]) => [status, this.resolveResponseReference(response, [...pathOfResponses, status])] as const,
    );
    return {
      id,
      method,
      path,
      isSecured: security.length > 0,
      parameters: parameters.map((parameter) => this.resolveReference(parameter)),
      content: requestBody ? this.resolveReference(requestBody).content : {},
      responses: Object.fromEntries(answers),
      errorCodes,
    };
  }

  /** Returns a shared response, in which all errors are problem details. */
  getProblemResponseDescription(): ResponseDescription {
    return this.resolveResponseReference(
      { $ref: '#/components/responses/ProblemDetails' } as ResponseDescription & SchemaReference,
      [],
    );
  }

  private resolveResponseReference(
    given: ResponseDescription & SchemaReference,
    place: readonly string[],
  ): ResponseDescription {
    const response = this.resolveReference(given);
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [
      name,
      this.resolveReference(header),
    ]);
    const shared = given.$ref?.slice(2).split('/');
    return { ...response, place: shared ?? place, headers: Object.fromEntries(headers) };
  }
}
