import type * as wire from '@tracking/contracts';
import { ApiExtraModels, ApiProperty, ApiSchema, getSchemaPath, OmitType } from '@nestjs/swagger';
import {
  ErrorDetailResource,
  createFieldError,
  CheckedProperty,
  createJsonBodyRule,
  BYTES_PER_MIB,
  TextProperty,
  WithWarnings,
} from '@tracking/http';
import type { DtoClass, FieldCheck, AcceptedRouteBody } from '@tracking/http';
import { MilestoneWrittenResource, RecordMilestoneDto } from '../milestones/milestone.resource.ts';
import { ShipmentWrittenResource, UpsertShipmentDto } from '../shipments/shipment.resource.ts';

const MAX_BULK_ITEMS = 500;

/** Body limits of a bulk request. */
export const BULK_BODY_LIMIT: AcceptedRouteBody = createJsonBodyRule(10 * BYTES_PER_MIB);

/**
 * Declares the items of a bulk request. Each item is read separately, and its errors are in its own response. The
 * schema therefore refers to the class of an item by name, which `@ApiExtraModels` adds to the document.
 */
const BulkItemsProperty = (dto: DtoClass, description: string): PropertyDecorator =>
  CheckedProperty(
    checkBulkItemCount,
    { description },
    { type: 'array', items: { $ref: getSchemaPath(dto) }, minItems: 1, maxItems: MAX_BULK_ITEMS },
  );

const checkBulkItemCount: FieldCheck = (value, param) => {
  if (!Array.isArray(value)) return createFieldError(param, 'invalid_type', 'Must be an array.');
  if (value.length === 0) return createFieldError(param, 'invalid_value', 'Must have at least one element.');
  if (value.length <= MAX_BULK_ITEMS) return [];
  return createFieldError(
    param,
    'limit_exceeded',
    `Must have at most ${MAX_BULK_ITEMS} elements, but has ${value.length}.`,
  );
};

class BulkItemResource {
  @ApiProperty({ type: 'integer', description: 'Index of the item in the request, starting at 0.' })
  readonly index!: number;
  @ApiProperty({ type: 'integer', description: 'HTTP status that a single call would return.', example: 201 })
  readonly status!: number;
  @ApiProperty({ type: ErrorDetailResource, description: 'Error of a refused item.', required: false })
  readonly error?: wire.ErrorBody['error'];
}

@ApiSchema({ name: 'BulkShipmentItem' })
class BulkShipmentItemResource extends BulkItemResource {
  @ApiProperty({ type: ShipmentWrittenResource, description: 'Result of a processed item.', required: false })
  readonly shipment?: ShipmentWrittenResource;
}

@ApiSchema({ name: 'BulkShipmentsWritten' })
export class BulkShipmentsWrittenResource extends WithWarnings {
  @ApiProperty({
    type: [BulkShipmentItemResource],
    description: 'One result for each item, in the order of the request.',
  })
  readonly data!: BulkShipmentItemResource[];
}

@ApiSchema({ name: 'BulkMilestoneItem' })
class BulkMilestoneItemResource extends BulkItemResource {
  @ApiProperty({ type: MilestoneWrittenResource, description: 'Result of a processed item.', required: false })
  readonly milestone?: MilestoneWrittenResource;
}

@ApiSchema({ name: 'BulkMilestonesWritten' })
export class BulkMilestonesWrittenResource extends WithWarnings {
  @ApiProperty({
    type: [BulkMilestoneItemResource],
    description: 'One result for each item, in the order of the request.',
  })
  readonly data!: BulkMilestoneItemResource[];
}

@ApiSchema({ name: 'BulkShipments' })
@ApiExtraModels(UpsertShipmentDto)
export class BulkShipmentsDto {
  @BulkItemsProperty(UpsertShipmentDto, 'Shipments, each like the body of `POST /v1/shipments`.')
  shipments!: unknown[];
}

/**
 * Fields of a milestone in a bulk request. Exactly one of `shipment_id`, `external_id`, `master_bill`, `booking_number`
 * and `container_number` identifies the shipment.
 */
@ApiSchema({ name: 'BulkMilestone' })
class BulkMilestoneDto extends OmitType(RecordMilestoneDto, ['external_id', 'container_number']) {
  @TextProperty({ description: 'Your own reference of the shipment.', example: 'TMS-2026-000181', nullable: true })
  external_id?: string | null;

  @TextProperty({
    description:
      'The container that the milestone is about. If no other field identifies the shipment, the shipment with this container.',
    example: 'CSQU3054383',
    nullable: true,
  })
  container_number?: string | null;

  @TextProperty({ description: 'Id of the shipment, `shp_…`.', nullable: true })
  shipment_id?: string | null;

  @TextProperty({
    description: 'Master bill or air waybill of the shipment.',
    example: 'MAEU912345678',
    nullable: true,
  })
  master_bill?: string | null;

  @TextProperty({ description: 'Booking number of the shipment.', example: 'BKG-55012', nullable: true })
  booking_number?: string | null;

  @TextProperty({
    description: 'Your own reference of the milestone. A milestone sent again with the same reference is corrected.',
    example: 'EVT-9981',
    nullable: true,
  })
  milestone_external_id?: string | null;
}

@ApiSchema({ name: 'BulkMilestones' })
@ApiExtraModels(BulkMilestoneDto)
export class BulkMilestonesDto {
  @BulkItemsProperty(
    BulkMilestoneDto,
    'Milestones, each like the body of `POST /v1/shipments/{id}/milestones`, with a field that identifies the shipment.',
  )
  milestones!: unknown[];
}
