import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import { PageDto, QueryId, QueryOneOf, QueryTime, SomeOf } from '@tracking/http';

/** In the order in which they were published, which is nearly that of `created_at`; with - the newest first. */
const EVENT_SORTS = ['published', '-published'] as const;

export class ListEventsDto extends PageDto {
  @SomeOf(SHIPMENT_EVENT_TYPES, {
    description: `One or more of ${SHIPMENT_EVENT_TYPES.join(', ')}, separated by commas.`,
    example: 'milestone.recorded',
  })
  type?: string;

  @QueryId('shp', { description: 'Only those of this shipment.' })
  shipment_id?: string;

  @QueryTime({ description: 'Only those created at this time or later.', example: '2026-11-21T09:30:00Z' })
  since?: string;

  @QueryTime({ description: 'Only those created at this time or earlier.', example: '2026-11-22T09:30:00Z' })
  until?: string;

  @QueryId('evt', { description: 'Only those that came after this event: where a receiver left off.' })
  after?: string;

  @QueryOneOf(EVENT_SORTS, {
    description: 'In the order in which they were published, or with - the newest first; published by default.',
  })
  sort?: (typeof EVENT_SORTS)[number];
}
