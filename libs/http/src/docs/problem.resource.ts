import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ERROR_CODES } from '@tracking/contracts';
import { FieldErrorResource } from './error.resource.ts';

/** An error as `Accept: application/problem+json` has it (RFC 9457). */
@ApiSchema({ name: 'Problem' })
export class ProblemResource {
  @ApiProperty({ description: 'Where the code is explained.', format: 'uri' })
  readonly type!: string;
  @ApiProperty({ description: 'What the status is called.' })
  readonly title!: string;
  @ApiProperty({ type: 'integer', description: 'The status of the answer.' })
  readonly status!: number;
  @ApiProperty({ description: 'What is wrong, for people.' })
  readonly detail!: string;
  @ApiProperty({ description: 'Kind of error.', enum: [...new Set(Object.values(ERROR_CODES))] })
  readonly error_type!: wire.ErrorType;
  @ApiProperty({ description: 'Stable code, see /docs/errors.', enum: Object.keys(ERROR_CODES) })
  readonly code!: wire.ErrorCode;
  @ApiProperty({ type: String, nullable: true, description: 'The first faulty field, if it is about fields.' })
  readonly param!: string | null;
  @ApiProperty({ type: [FieldErrorResource], description: 'Every faulty field.' })
  readonly details!: FieldErrorResource[];
  @ApiProperty({ description: 'Id of the request, as in the Request-Id header.' })
  readonly request_id!: string;
}
