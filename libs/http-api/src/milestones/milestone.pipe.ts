import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import type { Places } from '@tracking/contracts';
import { PLACES } from '../dependencies.ts';
import type { Sent } from '../server/request-decorators.ts';
import type { ListMilestonesDto } from './list-milestones.dto.ts';
import { milestoneFilter } from './milestone-filter.ts';
import type { MilestoneFilter } from './milestone-filter.ts';
import { readMilestone } from './read-milestone.ts';
import type { ReadMilestone } from './read-milestone.ts';

@Injectable()
export class MilestonePipe implements PipeTransform<Sent, ReadMilestone> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(sent: Sent): ReadMilestone {
    return readMilestone(sent.body, sent, this.places);
  }
}

@Injectable()
export class MilestoneFilterPipe implements PipeTransform<ListMilestonesDto, MilestoneFilter> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(query: ListMilestonesDto): MilestoneFilter {
    return milestoneFilter(query, this.places);
  }
}
