import type { OpenAPIObject } from '@nestjs/swagger';
import type { EventType } from '@tracking/contracts';
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

export function listOpenApiOperations({ paths }: OpenAPIObject): readonly DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    HTTP_METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      return [{ id: operation.operationId as OperationId, method, path, operation, writes: method !== 'get' }];
    }),
  );
}

/** Lists the requests that the service sends because of the operation. */
export function listCallbacks({ callbacks = {} }: OperationObject): readonly { readonly operation: OperationObject }[] {
  const items = Object.values(callbacks).flatMap((callback) => Object.values(callback) as PathItem[]);
  return items.flatMap(({ post }) => (post === undefined ? [] : [{ operation: post }]));
}

/** Returns the parameter with the given name; undefined if the operation does not declare it inline. */
export function findInlineOperationParameter(
  { parameters = [] }: OperationObject,
  name: string,
): HeaderParameter | undefined {
  return parameters.find((parameter): parameter is HeaderParameter => 'name' in parameter && parameter.name === name);
}

/** Returns the schema name of an event type: `MilestoneRecordedEvent` for `milestone.recorded`. */
export const createEventSchemaName = (type: EventType): string => `${toPascalCase(type)}Event`;

export function toPascalCase(name: string): string {
  return name.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export const createSchemaReference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Yields every object within the value, outer objects first. */
export function* listNestedObjects(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* listNestedObjects(inner);
}
