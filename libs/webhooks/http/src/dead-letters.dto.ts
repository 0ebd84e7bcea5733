import { ApiSchema } from '@nestjs/swagger';
import { DELIVERY_ERROR_CODES, EVENT_TYPES } from '@tracking/contracts';
import { Id, parseTimestamp, QueryId, QueryTime, SomeListed, SomeOf, TextList, Timestamp } from '@tracking/http';
import type { DeadLetterFilter, SettleDeadLetters } from '@tracking/webhooks';

/** Most deliveries that one request names. */
const MOST_NAMED = 200;

export class DeadLetterSummaryDto {
  @QueryId('whe', { description: 'Only those of this endpoint.' })
  endpoint_id?: string;

  @SomeOf(EVENT_TYPES, { description: 'Only those of such events; several separated by commas.' })
  event_type?: string;

  @SomeOf(DELIVERY_ERROR_CODES, {
    description: 'Only those with such a code of their `last_error`; several separated by commas.',
    example: 'timeout',
  })
  reason?: string;

  @QueryTime({ description: 'Only those of events created at this time or later.' })
  since?: string;

  @QueryTime({ description: 'Only those of events created at this time or earlier.' })
  until?: string;
}

@ApiSchema({ name: 'WebhookDeadLetters' })
export class DeadLettersDto {
  @Id('whe', { description: 'Only those of this endpoint.' })
  endpoint_id?: string | null;

  @SomeListed(EVENT_TYPES, { description: 'Only those of such events.', example: ['shipment.updated'] })
  event_types?: string[] | null;

  @SomeListed(DELIVERY_ERROR_CODES, {
    description: 'Only those with such a code of their `last_error`.',
    example: ['timeout', 'connection_refused'],
  })
  reasons?: string[] | null;

  @Timestamp({ description: 'Only those of events created at this time or later.' })
  since?: string | null;

  @Timestamp({ description: 'Only those of events created at this time or earlier; all that there are, unless told.' })
  until?: string | null;

  @TextList(MOST_NAMED, { description: 'Only these deliveries.', example: ['dlv_9c1e2k7qv3n5xw6yz2aabbccdd'] })
  delivery_ids?: string[] | null;
}

export function summaryFilter({
  endpoint_id,
  event_type,
  reason,
  since,
  until,
}: DeadLetterSummaryDto): DeadLetterFilter {
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_type && { event_types: event_type.split(',') }),
    ...(reason && { reasons: reason.split(',') }),
    ...timesOf(since, until),
  };
}

export function settleFilter(dto: DeadLettersDto): SettleDeadLetters['filter'] {
  const { endpoint_id, event_types, reasons, delivery_ids, since, until } = dto;
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_types && { event_types }),
    ...(reasons && { reasons }),
    ...(delivery_ids && { delivery_ids }),
    ...timesOf(since, until),
  };
}

function timesOf(since?: string | null, until?: string | null): Pick<DeadLetterFilter, 'since' | 'until'> {
  const [from, to] = [since && parseTimestamp(since), until && parseTimestamp(until)];
  return { ...(from && { since: from }), ...(to && { until: to }) };
}
