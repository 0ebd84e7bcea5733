import { Inject, Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import type { Places } from '@tracking/contracts';
import { CLOCK } from '@tracking/http';
import type { Sent } from '@tracking/http';
import type { Clock } from '@tracking/ports';
import { PLACES } from '../dependencies.ts';
import type { ListMilestonesDto } from './list-milestones.dto.ts';
import { pastTime } from '../shipments/as-of.ts';
import { milestoneFilter } from './milestone-filter.ts';
import type { MilestoneFilter } from './milestone-filter.ts';
import { readMilestone } from './read-milestone.ts';
import type { ReadMilestone } from './read-milestone.ts';
import { readMilestonePatch } from './read-milestone-patch.ts';
import type { ReadMilestonePatch } from './read-milestone-patch.ts';

@Injectable()
export class MilestonePipe implements PipeTransform<Sent, ReadMilestone> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(sent: Sent): ReadMilestone {
    return readMilestone(sent.body, sent, this.places);
  }
}

@Injectable()
export class MilestonePatchPipe implements PipeTransform<Sent, ReadMilestonePatch> {
  constructor(@Inject(PLACES) private readonly places: Places) {}

  transform(sent: Sent): ReadMilestonePatch {
    return readMilestonePatch(sent.body, sent, this.places);
  }
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
