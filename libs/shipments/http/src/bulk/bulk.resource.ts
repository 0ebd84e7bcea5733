import type * as wire from '@tracking/contracts';
import { ApiExtraModels, ApiProperty, ApiSchema, getSchemaPath, OmitType } from '@nestjs/swagger';
import { ErrorDetailResource, fault, field, json, MIB, Text, WithWarnings } from '@tracking/http';
import type { DtoClass, FieldCheck, RouteBody } from '@tracking/http';
import { MilestoneWrittenResource, RecordMilestoneDto } from '../milestones/milestone.resource.ts';
import { ShipmentWrittenResource, UpsertShipmentDto } from '../shipments/shipment.resource.ts';

const MAX_ITEMS = 500;

/** The body of a bulk request. */
export const BULK_BODY: RouteBody = json(10 * MIB);

/**
 * The items of a body. Each item is read separately, and its faults are in its own response. So the schema refers to
 * the class of an item by name, which `@ApiExtraModels` adds.
 */
const Items = (dto: DtoClass, description: string): PropertyDecorator =>
  field(
    items,
    { description },
    { type: 'array', items: { $ref: getSchemaPath(dto) }, minItems: 1, maxItems: MAX_ITEMS },
  );

const items: FieldCheck = (value, param) => {
  if (!Array.isArray(value)) return fault(param, 'invalid_type', 'Must be an array.');
  if (value.length === 0) return fault(param, 'invalid_value', 'Must hold at least one item.');
  if (value.length <= MAX_ITEMS) return [];
  return fault(param, 'limit_exceeded', `Must have at most ${MAX_ITEMS} elements, but has ${value.length}.`);
};

class BulkItemResource {
  @ApiProperty({ type: 'integer', description: 'Place of the item in the request, from 0.' })
  readonly index!: number;
  @ApiProperty({ type: 'integer', description: 'The status that the single call answers.', example: 201 })
  readonly status!: number;
  @ApiProperty({ type: ErrorDetailResource, description: 'Of an item that was refused.', required: false })
  readonly error?: wire.ErrorBody['error'];
}

@ApiSchema({ name: 'BulkShipmentItem' })
class BulkShipmentItemResource extends BulkItemResource {
  @ApiProperty({ type: ShipmentWrittenResource, description: 'Of an item that was carried out.', required: false })
  readonly shipment?: ShipmentWrittenResource;
}

@ApiSchema({ name: 'BulkShipmentsWritten' })
export class BulkShipmentsWrittenResource extends WithWarnings {
  @ApiProperty({ type: [BulkShipmentItemResource], description: 'An answer for each item, in their order.' })
  readonly data!: BulkShipmentItemResource[];
}

@ApiSchema({ name: 'BulkMilestoneItem' })
class BulkMilestoneItemResource extends BulkItemResource {
  @ApiProperty({ type: MilestoneWrittenResource, description: 'Of an item that was carried out.', required: false })
  readonly milestone?: MilestoneWrittenResource;
}

@ApiSchema({ name: 'BulkMilestonesWritten' })
export class BulkMilestonesWrittenResource extends WithWarnings {
  @ApiProperty({ type: [BulkMilestoneItemResource], description: 'An answer for each item, in their order.' })
  readonly data!: BulkMilestoneItemResource[];
}

@ApiSchema({ name: 'BulkShipments' })
@ApiExtraModels(UpsertShipmentDto)
export class BulkShipmentsDto {
  @Items(UpsertShipmentDto, 'Each as `POST /v1/shipments` takes it.')
  shipments!: unknown[];
}

/** Exactly one of `shipment_id`, `external_id`, `master_bill`, `booking_number` and `container_number` names the shipment. */
@ApiSchema({ name: 'BulkMilestone' })
class BulkMilestoneDto extends OmitType(RecordMilestoneDto, ['external_id', 'container_number']) {
  @Text({ description: 'Your own reference of the shipment.', example: 'TMS-2026-000181', nullable: true })
  external_id?: string | null;

  @Text({
    description: 'The container that it is about; where nothing else names the shipment, it is the one that has it.',
    example: 'CSQU3054383',
    nullable: true,
  })
  container_number?: string | null;

  @Text({ description: 'Id of the shipment, `shp_…`.', nullable: true })
  shipment_id?: string | null;

  @Text({ description: 'The shipment’s master bill or air waybill.', example: 'MAEU912345678', nullable: true })
  master_bill?: string | null;

  @Text({ description: 'The shipment’s booking number.', example: 'BKG-55012', nullable: true })
  booking_number?: string | null;

  @Text({
    description: 'Your own reference of the milestone: the same one again corrects that milestone.',
    example: 'EVT-9981',
    nullable: true,
  })
  milestone_external_id?: string | null;
}

@ApiSchema({ name: 'BulkMilestones' })
@ApiExtraModels(BulkMilestoneDto)
export class BulkMilestonesDto {
  @Items(BulkMilestoneDto, 'Each as `POST /v1/shipments/{id}/milestones` takes it, with what names its shipment.')
  milestones!: unknown[];
}
