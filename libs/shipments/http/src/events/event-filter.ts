import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import type { EventListQuery } from '@tracking/read-models';
import type { ListEventsDto } from './list-events.dto.ts';

/** Types are in one order, so that a cursor stays valid in whatever order the client lists them. */
export function eventFilter({ type, shipment_id, since, until, after }: ListEventsDto): EventListQuery['filter'] {
  const named = type?.split(',');
  return {
    ...(named && { type: SHIPMENT_EVENT_TYPES.filter((known) => named.includes(known)) }),
    ...(shipment_id && { shipment_id }),
    ...(since && { since }),
    ...(until && { until }),
    ...(after && { after }),
  };
}
