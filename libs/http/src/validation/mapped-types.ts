import type { Type } from '@nestjs/common';
import { ApiProperty, ApiSchema, PickType } from '@nestjs/swagger';
import { WARNING_CODES } from '@tracking/contracts';
import type { Page, Warning } from '@tracking/contracts';
import { IsOptional, ValidateIf } from 'class-validator';
import { isPropertyValueDefined } from './fields.ts';
import { readFieldDeclarations } from './read-dto.ts';

/** Type of a field in a request. Members of an object that can be null may be omitted. */
type Sent<V> = V extends readonly (infer E)[]
  ? Sent<E>[]
  : V extends object
    ? string extends keyof V
      ? V
      : { [K in keyof V as null extends V[K] ? never : K]: Sent<V[K]> } & {
          [K in keyof V as null extends V[K] ? K : never]?: Sent<V[K]>;
        }
    : V;

type Input<T, R extends keyof T, O extends keyof T, K extends keyof T> = { [P in R]: Sent<T[P]> } & {
  [P in O]?: Sent<T[P]> | null;
} & { [P in K]?: Sent<T[P]> };

interface FieldSelectionForRequestDto<R, O, K> {
  /** Fields that a request must have. */
  readonly required?: readonly R[];
  /** Fields that a request may omit or set to null. */
  readonly optional?: readonly O[];
  /** Fields that a request may omit, which keeps their value, but not set to null. For fields that are never null. */
  readonly kept?: readonly K[];
}

/** Derives the class of a request from a resource: some of its fields, with the limits for requests. */
export function DeriveRequestClassFromResource<
  T extends object,
  R extends keyof T & string = never,
  O extends keyof T & string = never,
  K extends keyof T & string = never,
>(
  resource: Type<T>,
  { required = [], optional = [], kept = [] }: FieldSelectionForRequestDto<R, O, K>,
): Type<Input<T, R, O, K>> {
  const InputClass = PickType(resource, [...required, ...optional, ...kept]) as unknown as Type<Input<T, R, O, K>>;
  const [isRequired, isOptional] = [new Set<string>(required), new Set<string>(optional)];
  for (const { name, input } of readFieldDeclarations(InputClass).values()) {
    const decorators = [
      ApiProperty({
        ...input,
        required: isRequired.has(name),
        ...(isOptional.has(name) && { nullable: true }),
      } as object),
      ...(isOptional.has(name) ? [IsOptional()] : []),
      ...(isRequired.has(name) || isOptional.has(name) ? [] : [ValidateIf(isPropertyValueDefined)]),
    ];
    for (const decorate of decorators) decorate(InputClass.prototype as object, name);
  }
  return InputClass;
}

/** Derives the class of a list page from its resource. */
export function createPageResourceClass<T extends object>(
  resource: Type<T>,
  data: string,
  next_cursor = 'Cursor of the next page: send it as `cursor` with the same filters.',
): Type<Page<T>> {
  class ListPageResource implements Page<T> {
    @ApiProperty({ type: [resource], description: data })
    readonly data!: T[];
    @ApiProperty({ type: String, nullable: true, description: next_cursor })
    readonly next_cursor!: string | null;
    @ApiProperty({ description: 'True if there is a next page.' })
    readonly has_more!: boolean;
  }
  return ListPageResource;
}

/** OpenAPI type of a change from one value to another; a value that does not exist is absent. */
export const CHANGE_SCHEMA = { type: 'object', properties: { from: {}, to: {} } };

/** OpenAPI type of a time that appears only in responses. */
export const RESPONSE_TIME_SCHEMA = { type: String, format: 'date-time' } as const;

@ApiSchema({ name: 'Warning' })
class WarningResource implements Warning {
  @ApiProperty({ description: 'Stable code.', enum: WARNING_CODES, example: 'unknown_port' })
  readonly code!: Warning['code'];
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the field that the warning is about.',
    example: 'origin_port',
  })
  readonly param!: string | null;
  @ApiProperty({ description: 'Human-readable text.' })
  readonly message!: string;
}

/** Field `warnings`, which the responses to all writes share. `IntersectionType` adds the field to a resource. */
export class WithWarnings {
  @ApiProperty({
    type: [WarningResource],
    description:
      'Problems that did not prevent the write, including fields that were ignored. Only in responses to writes.',
  })
  readonly warnings!: Warning[];
}
