import type { ApiPropertyOptions } from '@nestjs/swagger';
import { fault, field } from '@tracking/http';
import type { FieldCheck, FieldOptions } from '@tracking/http';
import { MAX_EMAIL_LENGTH, emailFault } from '@tracking/identity';

const email: FieldCheck = (value, param) => {
  if (typeof value !== 'string') return fault(param, 'invalid_type', 'Must be a string.');
  const wrong = emailFault(value.trim());
  return wrong ? fault(param, wrong.code, wrong.message) : [];
};

/** The e-mail address of a person. */
export const Email = (options: FieldOptions): PropertyDecorator =>
  field(
    email,
    options,
    { type: String, format: 'email', maxLength: MAX_EMAIL_LENGTH },
    { answer: { format: undefined } as unknown as ApiPropertyOptions },
  );
