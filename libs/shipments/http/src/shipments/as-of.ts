import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import type { Timestamp } from '@tracking/contracts';
import { CLOCK, invalidRequest, parseTimestamp, QueryTime } from '@tracking/http';
import type { Clock } from '@tracking/ports';

export const AS_OF = {
  description: 'As it was recorded at this time, to the millisecond; not in the future.',
  example: '2026-11-21T09:30:00Z',
};

export class GetShipmentDto {
  @QueryTime(AS_OF)
  as_of?: string;
}

/** With the time in its one form. */
@Injectable()
export class AsOfPipe implements PipeTransform<GetShipmentDto, GetShipmentDto> {
  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  transform({ as_of }: GetShipmentDto): GetShipmentDto {
    const time = pastTime(as_of, this.clock());
    return time === undefined ? {} : { as_of: time };
  }
}

/** The time of the past that a query asks about, in UTC with milliseconds. @throws RequestError for one to come */
export function pastTime(as_of: string | undefined, now: Date): Timestamp | undefined {
  const time = as_of === undefined ? undefined : parseTimestamp(as_of);
  if (time === undefined || time <= now.toISOString()) return time;
  const message = 'Must not lie in the future: nobody knows yet what will be recorded.';
  throw invalidRequest([{ param: 'as_of', code: 'timestamp_in_future', message }]);
}
