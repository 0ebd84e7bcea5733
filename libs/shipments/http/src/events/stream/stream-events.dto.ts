import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import { QueryId, QueryText, SomeOf } from '@tracking/http';

export class StreamEventsDto {
  @SomeOf(SHIPMENT_EVENT_TYPES, {
    description: `One or more of ${SHIPMENT_EVENT_TYPES.join(', ')}, separated by commas.`,
    example: 'milestone.recorded',
  })
  type?: string;

  @QueryId('shp', { description: 'Only those of this shipment.' })
  shipment_id?: string;

  @QueryText({
    description:
      'Only those that came after this event, where no `Last-Event-ID` is sent; `beginning`: all that are kept.',
  })
  after?: string;
}
