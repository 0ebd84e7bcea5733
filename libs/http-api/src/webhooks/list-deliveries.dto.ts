import { DELIVERY_STATUSES, EVENT_TYPES } from '@tracking/contracts';
import type { DeliveryFilter } from '@tracking/webhooks';
import { PageDto } from '../paging/page.dto.ts';
import { QueryId, QueryOneOf, SomeOf } from '../validation/fields.ts';

export class ListDeliveriesDto extends PageDto {
  @QueryId('whe', { description: 'Only those to this endpoint.' })
  endpoint_id?: string;

  @QueryId('evt', { description: 'Only those of this event.' })
  event_id?: string;

  @QueryOneOf(EVENT_TYPES, { description: 'Only those of events of this type.', example: 'milestone.recorded' })
  event_type?: string;

  @SomeOf(DELIVERY_STATUSES, {
    description: `One or more of ${DELIVERY_STATUSES.join(', ')}, separated by commas.`,
    example: 'retrying',
  })
  status?: string;
}

/** The statuses in one order, so that a cursor fits however the client spells them. */
export function deliveryFilter({ endpoint_id, event_id, event_type, status }: ListDeliveriesDto): DeliveryFilter {
  const named = status?.split(',');
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_id && { event_id }),
    ...(event_type && { event_type }),
    ...(named && { statuses: DELIVERY_STATUSES.filter((known) => named.includes(known)) }),
  };
}
