import type { PipeTransform } from '@nestjs/common';
import type { FieldError, JsonObject, Timestamp, Warning } from '@tracking/contracts';
import { createInvalidRequestError } from '../errors/request-error.ts';
import type { RequestBodyToCheck } from '../server/request.ts';
import { isJsonObject } from './checks.ts';
import { createIgnoredFieldWarnings, readAndValidateObject, findUnknownFields } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';

type Request = Pick<RequestBodyToCheck, 'body' | 'strict'>;

/** The fields set by a body, and a warning for each field that was ignored. */
export interface RequestBodyWithWarnings<T> {
  readonly value: T;
  readonly warnings: readonly Warning[];
}

/** A parsed body whose faults are not reported yet. */
interface ParsedBodyWithFaults<T> {
  readonly value: T;
  readonly faults: readonly FieldError[];
  /** Paths of the invalid fields. Their values may have any type. */
  readonly faulty: ReadonlySet<string>;
  /**
   * Reports all faults together.
   * @param found faults found by the feature; a field that is invalid already is reported once
   * @returns warnings about fields that are ignored
   * @throws RequestError naming every invalid field; with strict handling also the fields that would be ignored
   */
  readonly throwRequestBodyErrorsOrListWarnings: (found?: readonly FieldError[]) => readonly Warning[];
}

/**
 * Parses a body.
 * @param answer class of the operation's response: its fields are reported as read-only if a body has them
 * @throws RequestError if the body is not an object
 */
export function parseBodyAndCollectFaults<T extends object>(
  dto: DtoClass<T>,
  answer: DtoClass,
  request: Request,
): ParsedBodyWithFaults<T> {
  const { value, faults } = readAndValidateObject(dto, request.body);
  const unknown = findUnknownFields(dto, answer, request.body);
  const faulty = new Set(faults.map(({ param }) => param));
  return {
    value,
    faults,
    faulty,
    throwRequestBodyErrorsOrListWarnings(found = []) {
      const others = found.filter(({ param }) => !faulty.has(param));
      const errors = [...faults, ...others, ...(request.strict ? unknown : [])];
      if (errors.length > 0) throw createInvalidRequestError(errors);
      return createIgnoredFieldWarnings(unknown);
    },
  };
}

/**
 * Validation pipe like Nest's ValidationPipe, but it reports every fault with its path, and unknown fields as warnings.
 */
export class RequestBodyValidationPipe<T extends object> implements PipeTransform<
  RequestBodyToCheck,
  RequestBodyWithWarnings<T>
> {
  /**
   * @param answer class of the operation's response
   * @param check returns faults beyond single fields, such as a time in the past; called without the invalid fields
   */
  constructor(
    private readonly dto: DtoClass<T>,
    private readonly answer: DtoClass,
    private readonly check?: (fields: Partial<T>, at: Timestamp) => readonly FieldError[],
  ) {}

  /** @throws RequestError */
  transform(request: RequestBodyToCheck): RequestBodyWithWarnings<T> {
    const {
      value,
      faulty,
      throwRequestBodyErrorsOrListWarnings: accept,
    } = parseBodyAndCollectFaults(this.dto, this.answer, request);
    const valid = Object.entries(value).filter(([name]) => !faulty.has(name));
    return { value, warnings: accept(this.check?.(Object.fromEntries(valid) as Partial<T>, request.at)) };
  }
}

/** Pipe for a feature that checks the fields itself: returns the declared fields of a body as plain JSON. */
export class DeclaredBodyFieldsAsJsonPipe implements PipeTransform<
  RequestBodyToCheck,
  RequestBodyWithWarnings<JsonObject>
> {
  private readonly body: RequestBodyValidationPipe<object>;

  /** @param answer class of the operation's response */
  constructor(dto: DtoClass, answer: DtoClass) {
    this.body = new RequestBodyValidationPipe(dto, answer);
  }

  /** @throws RequestError */
  transform(request: RequestBodyToCheck): RequestBodyWithWarnings<JsonObject> {
    const { value, warnings } = this.body.transform(request);
    return { value: { ...value } as JsonObject, warnings };
  }
}

class DtoWithoutFields {}
const PIPE_WARNING_OF_EVERY_BODY_FIELD = new RequestBodyValidationPipe(DtoWithoutFields, DtoWithoutFields);

/** Pipe for an operation without a body: every field is ignored, with a warning. */
export const BODY_IGNORING_PIPE: PipeTransform<RequestBodyToCheck, readonly Warning[]> = {
  transform: (sent) => (isJsonObject(sent.body) ? PIPE_WARNING_OF_EVERY_BODY_FIELD.transform(sent).warnings : []),
};
