import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import type { Warning } from '@tracking/contracts';

type Type = NonNullable<ApiPropertyOptions['type']>;
interface More {
  readonly nullable?: boolean;
  readonly enum?: string[];
  readonly format?: string;
  readonly example?: unknown;
  readonly additionalProperties?: true | { readonly type: string };
}

/** Describes a field of an answer in OpenAPI. It is always present, so it is required. */
export function Shown(type: Type | 'integer' | 'object', description: string, more: More = {}): PropertyDecorator {
  return ApiProperty({ type, description, required: true, ...more } as ApiPropertyOptions);
}

/** A timestamp of an answer. */
export const ShownTime = (description: string, more: More = {}): PropertyDecorator =>
  Shown(String, `${description} UTC with milliseconds.`, { format: 'date-time', ...more });

@ApiSchema({ name: 'Warning' })
export class WarningResource implements Warning {
  @Shown(String, 'Stable code.', { example: 'unknown_port' })
  readonly code!: Warning['code'];
  @Shown(String, 'The field that it is about.', { nullable: true, example: 'origin_port' })
  readonly param!: string | null;
  @Shown(String, 'The warning for people.')
  readonly message!: string;
}

export const ShownWarnings = (): PropertyDecorator =>
  Shown([WarningResource], 'Accepted, but worth a look. In answers to writes only.');
