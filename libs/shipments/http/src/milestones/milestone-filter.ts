import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { CLASSIFIERS } from '@tracking/contracts';
import type { Places, Timestamp } from '@tracking/contracts';
import { CLOCK, invalidRequest } from '@tracking/http';
import type { MilestoneListQuery } from '@tracking/read-models';
import { checkShipmentFields } from '@tracking/shipments';
import type { ListMilestonesDto } from './list-milestones.dto.ts';
import type { Clock } from '@tracking/ports';
import { PLACES } from '../dependencies.ts';
import { pastTime } from '../shipments/as-of.ts';

export interface MilestoneFilter extends Omit<MilestoneListQuery, 'limit' | 'after'> {
  /** The time at which to read the milestones; now if undefined. */
  readonly as_of?: Timestamp | undefined;
}

/** The milestones that a query asks for; by default, actual ones that are neither superseded nor retracted. */
function milestoneFilter(query: ListMilestonesDto, places: Places): MilestoneFilter {
  const named = query.classifier?.split(',') ?? ['actual'];
  return {
    classifiers: CLASSIFIERS.filter((classifier) => named.includes(classifier) || named.includes('all')),
    include_superseded: query.include_superseded === 'true',
    include_retracted: query.include_retracted === 'true',
    container_number: query.container_number && containerNumber(query.container_number, places),
  };
}

/** The number as containers are stored. @throws RequestError */
function containerNumber(text: string, places: Places): string | undefined {
  const { fields, errors } = checkShipmentFields({ container_numbers: [text] }, undefined, places);
  if (errors.length > 0) throw invalidRequest(errors.map((error) => ({ ...error, param: 'container_number' })));
  return fields.container_numbers?.[0];
}

@Injectable()
export class MilestoneFilterPipe implements PipeTransform<ListMilestonesDto, MilestoneFilter> {
  constructor(
    @Inject(PLACES) private readonly places: Places,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  transform(query: ListMilestonesDto): MilestoneFilter {
    return { ...milestoneFilter(query, this.places), as_of: pastTime(query.as_of, this.clock()) };
  }
}
