import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import { parseTimestamp } from '@tracking/http';
import type { EventListQuery } from '@tracking/read-models';
import type { ListEventsDto } from './list-events.dto.ts';

/** Each filter in one form, so that a cursor fits however the client spells it. */
export function eventFilter({ type, shipment_id, since, until, after }: ListEventsDto): EventListQuery['filter'] {
  const [from, to] = [since && parseTimestamp(since), until && parseTimestamp(until)];
  const named = type?.split(',');
  return {
    ...(named && { type: SHIPMENT_EVENT_TYPES.filter((known) => named.includes(known)) }),
    ...(shipment_id && { shipment_id }),
    ...(from && { since: from }),
    ...(to && { until: to }),
    ...(after && { after }),
  };
}
