import { ApiSchema } from '@nestjs/swagger';
import { ERROR_CODES } from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { FieldErrorResource } from './error.resource.ts';
import { Shown } from './shown.ts';

/** An error as `Accept: application/problem+json` has it (RFC 9457). */
@ApiSchema({ name: 'Problem' })
export class ProblemResource {
  @Shown(String, 'Where the code is explained.', { format: 'uri' })
  readonly type!: string;
  @Shown(String, 'What the status is called.')
  readonly title!: string;
  @Shown('integer', 'The status of the answer.')
  readonly status!: number;
  @Shown(String, 'What is wrong, for people.')
  readonly detail!: string;
  @Shown(String, 'Kind of error.', { enum: [...new Set(Object.values(ERROR_CODES))] })
  readonly error_type!: wire.ErrorType;
  @Shown(String, 'Stable code, see /docs/errors.', { enum: Object.keys(ERROR_CODES) })
  readonly code!: wire.ErrorCode;
  @Shown(String, 'The first faulty field, if it is about fields.', { nullable: true })
  readonly param!: string | null;
  @Shown([FieldErrorResource], 'Every faulty field.')
  readonly details!: FieldErrorResource[];
  @Shown(String, 'Id of the request, as in the Request-Id header.')
  readonly request_id!: string;
}
