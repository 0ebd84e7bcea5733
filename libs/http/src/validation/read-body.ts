import type { PipeTransform } from '@nestjs/common';
import type { FieldError, JsonObject, Warning } from '@tracking/contracts';
import { invalidRequest } from '../errors/request-error.ts';
import type { Sent } from '../server/request.ts';
import { isObject } from './checks.ts';
import { ignored, readDto, unknownFields } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';

type Request = Pick<Sent, 'body' | 'strict'>;

/** The fields that a body sets, and a warning for each field that was ignored. */
export interface ReadBody<T> {
  readonly value: T;
  readonly warnings: readonly Warning[];
}

/** A body whose fields are read, but whose faults are not reported yet. */
interface DraftBody<T> {
  readonly value: T;
  readonly faults: readonly FieldError[];
  /** The paths of the faulty fields. Their values have any type. */
  readonly faulty: ReadonlySet<string>;
  /**
   * Reports all faults at once.
   * @param found what the feature found wrong; a field that is faulty already is reported once
   * @returns warnings about fields that are ignored
   * @throws RequestError naming every faulty field; under strict handling also those that would be ignored
   */
  readonly accept: (found?: readonly FieldError[]) => readonly Warning[];
}

/**
 * Reads a body.
 * @param answer class of the operation's response: its fields are reported as read-only if a body has them
 * @throws RequestError when the body is not an object
 */
export function draftBody<T extends object>(dto: DtoClass<T>, answer: DtoClass, request: Request): DraftBody<T> {
  const { value, faults } = readDto(dto, request.body);
  const unknown = unknownFields(dto, answer, request.body);
  const faulty = new Set(faults.map(({ param }) => param));
  return {
    value,
    faults,
    faulty,
    accept(found = []) {
      const others = found.filter(({ param }) => !faulty.has(param));
      const errors = [...faults, ...others, ...(request.strict ? unknown : [])];
      if (errors.length > 0) throw invalidRequest(errors);
      return ignored(unknown);
    },
  };
}

/** Nest's ValidationPipe as this API needs it: every fault under its path, unknown fields as warnings. */
export class BodyPipe<T extends object> implements PipeTransform<Sent, ReadBody<T>> {
  /** @param answer class of the operation's response */
  constructor(
    private readonly dto: DtoClass<T>,
    private readonly answer: DtoClass,
  ) {}

  /** @throws RequestError */
  transform(request: Request): ReadBody<T> {
    const { value, accept } = draftBody(this.dto, this.answer, request);
    return { value, warnings: accept() };
  }
}

/** For an operation whose body may be omitted: it is then read as an object without fields. */
export class OptionalBodyPipe<T extends object> extends BodyPipe<T> {
  override transform(request: Request): ReadBody<T> {
    return super.transform({ ...request, body: request.body ?? {} });
  }
}

/** For a feature that checks the fields itself: reads the declared fields of a body as plain JSON. */
export class PlainBodyPipe implements PipeTransform<Sent, ReadBody<JsonObject>> {
  private readonly body: BodyPipe<object>;

  /** @param answer class of the operation's response */
  constructor(dto: DtoClass, answer: DtoClass) {
    this.body = new BodyPipe(dto, answer);
  }

  /** @throws RequestError */
  transform(request: Request): ReadBody<JsonObject> {
    const { value, warnings } = this.body.transform(request);
    return { value: { ...value } as JsonObject, warnings };
  }
}

class NoFields {}
const NOTHING = new BodyPipe(NoFields, NoFields);

/** For an operation that takes no body: every field is ignored, with a warning. */
export const NO_BODY: PipeTransform<Sent, readonly Warning[]> = {
  transform: (sent) => (isObject(sent.body) ? NOTHING.transform(sent).warnings : []),
};
