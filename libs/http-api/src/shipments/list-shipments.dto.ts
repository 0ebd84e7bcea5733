import { SHIPMENT_STATUSES } from '@tracking/contracts';
import { PageDto } from '../paging/page.dto.ts';
import { QueryText, SomeOf } from '../validation/fields.ts';

export class ListShipmentsDto extends PageDto {
  @SomeOf(SHIPMENT_STATUSES, {
    description: `One or more of ${SHIPMENT_STATUSES.join(', ')}, separated by commas.`,
    example: 'in_transit',
  })
  status?: string;

  @QueryText({ description: 'Only the shipment with this reference of yours.', example: 'TMS-2026-000181' })
  external_id?: string;
}
