import { ApiSchema } from '@nestjs/swagger';
import { Text } from '@tracking/http';
import { RecordMilestoneDto } from '../milestones/record-milestone.dto.ts';
import { UpsertShipmentDto } from '../shipments/upsert-shipment.dto.ts';
import { Items } from './items.ts';

@ApiSchema({ name: 'BulkShipments' })
export class BulkShipmentsDto {
  @Items(UpsertShipmentDto, 'Each as `POST /v1/shipments` takes it.')
  shipments!: unknown[];
}

/** Exactly one of `shipment_id`, `external_id`, `master_bill`, `booking_number` and `container_number` names the shipment. */
@ApiSchema({ name: 'BulkMilestone' })
export class BulkMilestoneDto extends RecordMilestoneDto {
  @Text({ description: 'Id of the shipment, `shp_…`.' })
  shipment_id?: string | null;

  @Text({ description: 'The shipment’s master bill or air waybill.', example: 'MAEU912345678' })
  master_bill?: string | null;

  @Text({ description: 'The shipment’s booking number.', example: 'BKG-55012' })
  booking_number?: string | null;

  @Text({
    description: 'Your own reference of the milestone: the same one again corrects that milestone.',
    example: 'EVT-9981',
  })
  milestone_external_id?: string | null;
}
/** What stands here under names that the single call has too. */
const OTHERWISE = {
  external_id: { description: 'Your own reference of the shipment.', example: 'TMS-2026-000181' },
  container_number: {
    description: 'The container that it is about; where nothing else names the shipment, it is the one that has it.',
    example: 'CSQU3054383',
  },
};
for (const [name, options] of Object.entries(OTHERWISE)) Text(options)(BulkMilestoneDto.prototype, name);

@ApiSchema({ name: 'BulkMilestones' })
export class BulkMilestonesDto {
  @Items(BulkMilestoneDto, 'Each as `POST /v1/shipments/{id}/milestones` takes it, with what names its shipment.')
  milestones!: unknown[];
}
