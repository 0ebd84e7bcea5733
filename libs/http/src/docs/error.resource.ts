import { ApiSchema } from '@nestjs/swagger';
import { ERROR_CODES, FIELD_ERROR_CODES } from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { Shown } from './shown.ts';

@ApiSchema({ name: 'FieldError' })
export class FieldErrorResource implements wire.FieldError {
  @Shown(String, 'The faulty field.', { example: 'legs[0].etd' })
  readonly param!: string;
  @Shown(String, 'Stable code.', { enum: [...FIELD_ERROR_CODES], example: 'invalid_timestamp' })
  readonly code!: wire.FieldErrorCode;
  @Shown(String, 'What is wrong, for people.')
  readonly message!: string;
}

@ApiSchema({ name: 'ErrorDetail' })
export class ErrorDetailResource {
  @Shown(String, 'Kind of error.', { enum: [...new Set(Object.values(ERROR_CODES))] })
  readonly type!: wire.ErrorType;
  @Shown(String, 'Stable code, see /docs/errors.', { enum: Object.keys(ERROR_CODES) })
  readonly code!: wire.ErrorCode;
  @Shown(String, 'What is wrong, for people.')
  readonly message!: string;
  @Shown(String, 'The first faulty field, if it is about fields.', { nullable: true })
  readonly param!: string | null;
  @Shown([FieldErrorResource], 'Every faulty field.')
  readonly details!: FieldErrorResource[];
  @Shown(String, 'Id of the request, as in the Request-Id header.')
  readonly request_id!: string;
}

@ApiSchema({ name: 'Error' })
export class ErrorResource {
  @Shown(ErrorDetailResource, 'The error.')
  readonly error!: ErrorDetailResource;
}
