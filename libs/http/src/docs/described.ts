import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode, EventType } from '@tracking/contracts';
import type { OperationId } from '../operations/operations.ts';

type PathItem = OpenAPIObject['paths'][string];
type DescribedMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type OperationObject = NonNullable<PathItem['get']>;
type Parameter = NonNullable<OperationObject['parameters']>[number];
type HeaderParameter = Exclude<Parameter, { readonly $ref: string }>;
/** JSON Schema 2020-12. Nest's own type covers only an older version. */
export type JsonSchema = { readonly [keyword: string]: unknown };

const HTTP_METHODS: readonly DescribedMethod[] = ['get', 'post', 'put', 'patch', 'delete'];

/** One operation of the OpenAPI description. */
export interface DescribedOperation {
  readonly id: OperationId;
  readonly method: DescribedMethod;
  readonly path: string;
  readonly operation: OperationObject;
  readonly writes: boolean;
}

export function listOperations({ paths }: OpenAPIObject): readonly DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    HTTP_METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      return [{ id: operation.operationId as OperationId, method, path, operation, writes: method !== 'get' }];
    }),
  );
}

/** Returns the parameter with the given name; undefined if the operation does not declare it inline. */
export function findParameter({ parameters = [] }: OperationObject, name: string): HeaderParameter | undefined {
  return parameters.find((parameter): parameter is HeaderParameter => 'name' in parameter && parameter.name === name);
}

/** Returns the schema name of an event type: `MilestoneRecordedEvent` for `milestone.recorded`. */
export const eventSchemaName = (type: EventType): string => `${pascalCase(type)}Event`;

export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Yields every object within the value, outer objects first. */
export function* listNestedObjects(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* listNestedObjects(inner);
}

/** Returns the error codes that the content of a response allows. */
export function findErrorCodes(content: unknown): readonly ErrorCode[] {
  for (const { code } of listNestedObjects(content)) {
    const values = (code as { readonly enum?: readonly ErrorCode[] } | undefined)?.enum;
    if (values) return values;
  }
  return [];
}
