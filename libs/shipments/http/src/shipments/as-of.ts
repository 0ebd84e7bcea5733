import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import type { Timestamp } from '@tracking/contracts';
import { CLOCK, invalidRequest, QueryTime } from '@tracking/http';
import type { Clock } from '@tracking/ports';

export const AS_OF = {
  description: 'As it was recorded at this time, to the millisecond; not in the future.',
  example: '2026-11-21T09:30:00Z',
};

export class GetShipmentDto {
  @QueryTime(AS_OF)
  as_of?: string;
}

/** Refuses a time that lies in the future. */
@Injectable()
export class AsOfPipe implements PipeTransform<GetShipmentDto, GetShipmentDto> {
  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  transform(query: GetShipmentDto): GetShipmentDto {
    pastTime(query.as_of, this.clock());
    return query;
  }
}

/** The time that a query asks about. @throws RequestError if it lies in the future */
export function pastTime(as_of: Timestamp | undefined, now: Date): Timestamp | undefined {
  if (as_of === undefined || as_of <= now.toISOString()) return as_of;
  const message = 'Must not lie in the future: nobody knows yet what will be recorded.';
  throw invalidRequest([{ param: 'as_of', code: 'timestamp_in_future', message }]);
}
