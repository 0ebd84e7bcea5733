import type { PipeTransform } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import { invalidRequest } from '../errors/request-error.ts';
import type { Sent } from '../server/request-decorators.ts';
import { isObject } from './checks.ts';
import { ignored, readDto, unknownFields } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';

/** What a body sets, and which of its fields were ignored. */
export interface ReadBody<T> {
  readonly value: T;
  readonly warnings: readonly Warning[];
}

/** Nest's ValidationPipe as this API needs it: every fault under its path, unknown fields as warnings. */
export class BodyPipe<T extends object> implements PipeTransform<Sent, ReadBody<T>> {
  /** @param answer class of what the operation answers: its fields are known, though nobody can set them */
  constructor(
    private readonly dto: DtoClass<T>,
    private readonly answer: DtoClass,
  ) {}

  /** @throws RequestError naming every faulty field; under strict handling also those that would be ignored */
  transform({ body, strict }: Pick<Sent, 'body' | 'strict'>): ReadBody<T> {
    const { value, faults } = readDto(this.dto, body);
    const unknown = unknownFields(this.dto, this.answer, body);
    const all = strict ? [...faults, ...unknown] : faults;
    if (all.length > 0) throw invalidRequest(all);
    return { value, warnings: strict ? [] : ignored(unknown) };
  }
}

/** For an operation whose body may be omitted: it is then read as an object without fields. */
export class OptionalBodyPipe<T extends object> extends BodyPipe<T> {
  override transform(sent: Pick<Sent, 'body' | 'strict'>): ReadBody<T> {
    return super.transform({ ...sent, body: sent.body ?? {} });
  }
}

class NoFields {}
const NOTHING = new BodyPipe(NoFields, NoFields);

/** For an operation that takes no body: whatever is sent is ignored, and warned about. */
export const NO_BODY: PipeTransform<Sent, readonly Warning[]> = {
  transform: (sent) => (isObject(sent.body) ? NOTHING.transform(sent).warnings : []),
};
