import { CLASSIFIERS } from '@tracking/contracts';
import { Flag, PageDto, QueryText, QueryTime, SomeOf } from '@tracking/http';
import { AS_OF } from '../shipments/as-of.ts';

export class ListMilestonesDto extends PageDto {
  @SomeOf([...CLASSIFIERS, 'all'], {
    description: `One or more of ${CLASSIFIERS.join(', ')}, separated by commas, or all; actual by default.`,
    example: 'actual,estimated',
  })
  classifier?: string;

  @QueryText({ description: 'Only those that name this container.', example: 'CSQU3054383' })
  container_number?: string;

  @Flag({ description: 'Also estimates that a newer one replaced.' })
  include_superseded?: string;

  @Flag({ description: 'Also milestones taken back.' })
  include_retracted?: string;

  @QueryTime(AS_OF)
  as_of?: string;
}
