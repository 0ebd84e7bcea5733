import type { PipeTransform } from '@nestjs/common';
import { invalidRequest, readDto, unknownFields } from '@tracking/http';
import type { DtoClass } from '@tracking/http';

/** A body of an operator's tool; what it sends and we do not know is a mistake. */
export class InputPipe<T extends object> implements PipeTransform<unknown, T> {
  constructor(private readonly dto: DtoClass<T>) {}

  /** @throws RequestError */
  transform(input: unknown): T {
    const { value, faults } = readDto(this.dto, input);
    const all = [...faults, ...unknownFields(this.dto, undefined, input)];
    if (all.length > 0) throw invalidRequest(all);
    return value;
  }
}
