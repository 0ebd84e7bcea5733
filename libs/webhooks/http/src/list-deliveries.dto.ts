import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES, EVENT_TYPES } from '@tracking/contracts';
import { PageDto, parseTimestamp, QueryId, QueryOneOf, QueryTime, SomeOf } from '@tracking/http';
import type { DeliveryFilter } from '@tracking/webhooks';

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

  @QueryOneOf(DELIVERY_ERROR_CODES, {
    description: 'Only dead letters with this code of their `last_error`.',
    example: 'timeout',
  })
  reason?: string;

  @QueryTime({ description: 'Only those of events created at this time or later.' })
  since?: string;

  @QueryTime({ description: 'Only those of events created at this time or earlier.' })
  until?: string;
}

/** The statuses in one order, so that a cursor fits however the client spells them. */
export function deliveryFilter(query: ListDeliveriesDto): DeliveryFilter {
  const { endpoint_id, event_id, event_type, status, reason } = query;
  const named = status?.split(',');
  const [since, until] = [query.since && parseTimestamp(query.since), query.until && parseTimestamp(query.until)];
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_id && { event_id }),
    ...(event_type && { event_type }),
    ...(named && { statuses: DELIVERY_STATUSES.filter((known) => named.includes(known)) }),
    ...(reason && { reason }),
    ...(since && { since }),
    ...(until && { until }),
  };
}
