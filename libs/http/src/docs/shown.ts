import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { WARNING_CODES } from '@tracking/contracts';
import type { Warning } from '@tracking/contracts';
import { declareField } from '../validation/shape.ts';
import type { DtoClass } from '../validation/read-dto.ts';

type Type = NonNullable<ApiPropertyOptions['type']>;
interface More {
  readonly nullable?: boolean;
  /** False where it is absent from some answers. */
  readonly required?: false;
  readonly enum?: (string | boolean)[];
  readonly format?: string;
  readonly example?: unknown;
  readonly additionalProperties?: true | object;
}

/** Describes a field of an answer in OpenAPI, and makes it known. It is always present, so it is required. */
export function Shown(type: Type | 'integer' | 'object', description: string, more: More = {}): PropertyDecorator {
  const [one] = [type].flat();
  return (target, property) => {
    declareField(target.constructor, String(property), {
      nested: typeof one === 'function' ? (one as DtoClass) : undefined,
    });
    ApiProperty({ type, description, required: true, ...more } as ApiPropertyOptions)(target, property);
  };
}

/** A timestamp of an answer. */
export const ShownTime = (description: string, more: More = {}): PropertyDecorator =>
  Shown(String, `${description} UTC with milliseconds.`, { format: 'date-time', ...more });

/** What a field of changes was and is; either is anything that the field may be, or absent where there was nothing. */
export const FROM_TO = { type: 'object', properties: { from: {}, to: {} } };

@ApiSchema({ name: 'Warning' })
export class WarningResource implements Warning {
  @Shown(String, 'Stable code.', { enum: [...WARNING_CODES], example: 'unknown_port' })
  readonly code!: Warning['code'];
  @Shown(String, 'The field that it is about.', { nullable: true, example: 'origin_port' })
  readonly param!: string | null;
  @Shown(String, 'The warning for people.')
  readonly message!: string;
}

export const ShownWarnings = (): PropertyDecorator =>
  Shown([WarningResource], 'Accepted, but worth a look: also fields that were ignored. In answers to writes only.');
