import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import { type Actor, ERROR_CODES, FIELD_ERROR_CODES } from '@tracking/contracts';

@ApiSchema({ name: 'FieldError' })
class FieldErrorResource implements wire.FieldError {
  @ApiProperty({ description: 'Name of the invalid field.', example: 'legs[0].etd' })
  readonly param!: string;
  @ApiProperty({ description: 'Stable code.', enum: FIELD_ERROR_CODES, example: 'invalid_timestamp' })
  readonly code!: wire.FieldErrorCode;
  @ApiProperty({ description: 'Human-readable explanation.' })
  readonly message!: string;
}

@ApiSchema({ name: 'ErrorDetail' })
export class ErrorDetailResource {
  @ApiProperty({ description: 'Category of the error.', enum: [...new Set(Object.values(ERROR_CODES))] })
  readonly type!: wire.ErrorType;
  @ApiProperty({ description: 'Stable error code; see /docs/errors.', enum: Object.keys(ERROR_CODES) })
  readonly code!: wire.ErrorCode;
  @ApiProperty({ description: 'Human-readable explanation.' })
  readonly message!: string;
  @ApiProperty({ type: String, nullable: true, description: 'The first invalid field, if the error is about fields.' })
  readonly param!: string | null;
  @ApiProperty({ type: [FieldErrorResource], description: 'All invalid fields.' })
  readonly details!: FieldErrorResource[];
  @ApiProperty({ description: 'Id of the request, as in the `Request-Id` header.' })
  readonly request_id!: string;
}

@ApiSchema({ name: 'ErrorResponse' })
export class ErrorResource {
  @ApiProperty({ type: ErrorDetailResource, description: 'The error.' })
  readonly error!: ErrorDetailResource;
}

/** An error in response to a request with `Accept: application/problem+json` (RFC 9457). */
@ApiSchema({ name: 'Problem' })
export class ProblemResource {
  @ApiProperty({ description: "URL of the code's documentation.", format: 'uri' })
  readonly type!: string;
  @ApiProperty({ description: 'Standard phrase of the HTTP status.' })
  readonly title!: string;
  @ApiProperty({ type: 'integer', description: 'HTTP status of the response.' })
  readonly status!: number;
  @ApiProperty({ description: 'Human-readable explanation.' })
  readonly detail!: string;
  @ApiProperty({ description: 'Category of the error.', enum: [...new Set(Object.values(ERROR_CODES))] })
  readonly error_type!: wire.ErrorType;
  @ApiProperty({ description: 'Stable error code; see /docs/errors.', enum: Object.keys(ERROR_CODES) })
  readonly code!: wire.ErrorCode;
  @ApiProperty({ type: String, nullable: true, description: 'The first invalid field, if the error is about fields.' })
  readonly param!: string | null;
  @ApiProperty({ type: [FieldErrorResource], description: 'All invalid fields.' })
  readonly details!: FieldErrorResource[];
  @ApiProperty({ description: 'Id of the request, as in the `Request-Id` header.' })
  readonly request_id!: string;
}

@ApiSchema({ name: 'Actor' })
export class ActorResource implements Actor {
  @ApiProperty({ description: 'Kind of actor.', enum: ['user', 'service_account', 'system'] })
  readonly type!: Actor['type'];
  @ApiProperty({ description: 'Id of the actor.' })
  readonly id!: string;
}
