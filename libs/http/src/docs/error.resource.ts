import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import { type Actor, ERROR_CODES, FIELD_ERROR_CODES } from '@tracking/contracts';

@ApiSchema({ name: 'FieldError' })
class FieldErrorResource implements wire.FieldError {
  @ApiProperty({ description: 'The faulty field.', example: 'legs[0].etd' })
  readonly param!: string;
  @ApiProperty({ description: 'Stable code.', enum: FIELD_ERROR_CODES, example: 'invalid_timestamp' })
  readonly code!: wire.FieldErrorCode;
  @ApiProperty({ description: 'What is wrong, for people.' })
  readonly message!: string;
}

@ApiSchema({ name: 'ErrorDetail' })
export class ErrorDetailResource {
  @ApiProperty({ description: 'Kind of error.', enum: [...new Set(Object.values(ERROR_CODES))] })
  readonly type!: wire.ErrorType;
  @ApiProperty({ description: 'Stable code, see /docs/errors.', enum: Object.keys(ERROR_CODES) })
  readonly code!: wire.ErrorCode;
  @ApiProperty({ description: 'What is wrong, for people.' })
  readonly message!: string;
  @ApiProperty({ type: String, nullable: true, description: 'The first faulty field, if it is about fields.' })
  readonly param!: string | null;
  @ApiProperty({ type: [FieldErrorResource], description: 'Every faulty field.' })
  readonly details!: FieldErrorResource[];
  @ApiProperty({ description: 'Id of the request, as in the Request-Id header.' })
  readonly request_id!: string;
}

@ApiSchema({ name: 'Error' })
export class ErrorResource {
  @ApiProperty({ type: ErrorDetailResource, description: 'The error.' })
  readonly error!: ErrorDetailResource;
}

/** An error in response to `Accept: application/problem+json` (RFC 9457). */
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

@ApiSchema({ name: 'Actor' })
export class ActorResource implements Actor {
  @ApiProperty({ description: 'What kind of actor.', enum: ['user', 'service_account', 'system'] })
  readonly type!: Actor['type'];
  @ApiProperty({ description: 'Its id.' })
  readonly id!: string;
}
