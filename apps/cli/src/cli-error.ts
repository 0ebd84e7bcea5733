import { ERROR_CODES } from '@tracking/contracts';
import type { ErrorBody, ErrorCode, FieldError } from '@tracking/contracts';

/** What an operator reads: one line, without anything secret. */
export class CliError extends Error {
  override readonly name: string = 'CliError';

  constructor(
    message: string,
    readonly code: ErrorCode = 'internal_error',
    readonly details: readonly FieldError[] = [],
  ) {
    super(message);
  }

  /** In the API's form. */
  get body(): { readonly error: Omit<ErrorBody['error'], 'request_id'> & { readonly request_id: string | null } } {
    const { code, message, details } = this;
    const param = details[0]?.param ?? null;
    return { error: { type: ERROR_CODES[code], code, message, param, details, request_id: null } };
  }
}

/** The command was called wrongly. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super(message, 'validation_failed');
  }
}

/** A request that a service refused. */
export class RefusedError extends CliError {
  override readonly name = 'RefusedError';

  private constructor(
    message: string,
    readonly status: number,
    private readonly answered: Partial<ErrorBody['error']>,
  ) {
    super(message, answered.code, answered.details);
  }

  /** @param body what it answered; whatever that is where it was no service of ours */
  static of(status: number, body: unknown, line: (error: Partial<ErrorBody['error']>) => string): RefusedError {
    const { error = {} } = Object(body) as Partial<{ readonly error: Partial<ErrorBody['error']> }>;
    return new RefusedError(
      line(error) || error.message || `the service answered with status ${status}`,
      status,
      error,
    );
  }

  /** Whether it is what the command was given that was wrong. */
  get isAboutInput(): boolean {
    return this.status === 400;
  }

  override get body() {
    const { error } = super.body;
    return { error: { ...error, ...this.answered } };
  }
}
