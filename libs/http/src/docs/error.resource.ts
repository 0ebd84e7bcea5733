import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ERROR_CODES, FIELD_ERROR_CODES } from '@tracking/contracts';

@ApiSchema({ name: 'FieldError' })
export class FieldErrorResource implements wire.FieldError {
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
