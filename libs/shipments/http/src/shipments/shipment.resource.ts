import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  INCOTERMS,
  CARGO_LOAD_TYPES,
  TRANSPORT_MODES,
  MODE_ALIASES,
  SHIPMENT_FIELD_NAMES,
  SHIPMENT_STATUSES,
  TIME_PRECISIONS,
} from '@tracking/contracts';
import {
  FlexibleTimeProperty,
  DeriveRequestClassFromResource,
  ObjectProperty,
  ObjectListProperty,
  EnumProperty,
  createPageResourceClass,
  ResponseSchemaBase,
  RESPONSE_TIME_SCHEMA,
  TextProperty,
  TextListProperty,
  TextMapProperty,
  TextMapPatchProperty,
  WithWarnings,
} from '@tracking/http';
import type { FieldDecoratorOptions } from '@tracking/http';
import { SHIPMENT_LIMITS } from '@tracking/shipments';
import { ContainerResource, LastMilestoneResource } from './container.resource.ts';

/**
 * Maximum number of containers in a request. It is higher than the maximum of a shipment, because repeated numbers are
 * stored once. It limits the work for a request.
 */
const MAX_CONTAINERS_IN_REQUEST = 1_000;
/**
 * Maximum number of strings in a patch. It is higher than the maximum of a shipment, because the same patch may remove
 * some strings. It limits the work for a request.
 */
const MAX_STRINGS_PER_SHIPMENT_PATCH = 1_000;

@ApiSchema({ name: 'Party' })
class PartyResource extends ResponseSchemaBase implements wire.Party {
  @TextProperty({ description: 'Name of the party.', example: 'Acme Electronics Ltd', nullable: true })
  readonly name!: string | null;
  @TextProperty({ description: 'Your own reference of the party.', example: 'CUST-1042', nullable: true })
  readonly external_id!: string | null;
}

@ApiSchema({ name: 'PartyFields' })
class PartyDto extends DeriveRequestClassFromResource(PartyResource, { optional: ['name', 'external_id'] }) {}

@ApiSchema({ name: 'Reference' })
class ReferenceResource implements wire.Reference {
  @TextProperty({ description: 'Type of the reference.', example: 'purchase_order' })
  readonly type!: string;
  @TextProperty({ description: 'Value of the reference.', example: 'PO-88213' })
  readonly value!: string;
}

/** A time with an offset, or a date: the whole local day at the port. */
const ExpectedTimeProperty = (options: FieldDecoratorOptions): PropertyDecorator => {
  const { description } = options;
  return FlexibleTimeProperty(
    { day: true },
    { ...options, description: `${description} A date is the whole day.` },
    description,
  );
};

/** Fields of a journey of goods between two places. Both a shipment and a leg are journeys. */
class JourneyResource extends ResponseSchemaBase {
  @TextProperty({
    description: 'Carrier: SCAC, or the two-character IATA code for air and courier.',
    example: 'MAEU',
    nullable: true,
  })
  readonly carrier_scac!: string | null;
  @TextProperty({
    description: 'UN/LOCODE, or IATA airport code where the mode allows it.',
    example: 'CNSHA',
    nullable: true,
  })
  readonly origin_port!: string | null;
  @TextProperty({
    description: 'UN/LOCODE, or IATA airport code where the mode allows it.',
    example: 'NLRTM',
    nullable: true,
  })
  readonly destination_port!: string | null;
  @ExpectedTimeProperty({ description: 'Estimated departure.', example: '2026-11-21T09:30:00Z', nullable: true })
  readonly etd!: string | null;
  @ApiProperty({ description: 'Precision of `etd`.', enum: TIME_PRECISIONS })
  readonly etd_precision!: wire.TimePrecision;
  @ExpectedTimeProperty({ description: 'Estimated arrival.', example: '2026-12-19T18:00:00Z', nullable: true })
  readonly eta!: string | null;
  @ApiProperty({ description: 'Precision of `eta`.', enum: TIME_PRECISIONS })
  readonly eta_precision!: wire.TimePrecision;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Actual departure. UTC with milliseconds.' })
  readonly atd!: string | null;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Actual arrival. UTC with milliseconds.' })
  readonly ata!: string | null;
}

@ApiSchema({ name: 'Leg' })
class LegResource extends JourneyResource implements wire.Leg {
  @EnumProperty(
    TRANSPORT_MODES,
    { description: 'Transport mode of the leg.', example: 'ocean', nullable: true },
    MODE_ALIASES,
  )
  readonly mode!: wire.Mode | null;
  @TextProperty({ description: 'Name of the vessel.', example: 'Maersk Honam', nullable: true })
  readonly vessel!: string | null;
  @TextProperty({ description: 'Voyage, flight, train or trip number.', example: '412W', nullable: true })
  readonly voyage!: string | null;
}

@ApiSchema({ name: 'LegFields' })
class LegDto extends DeriveRequestClassFromResource(LegResource, {
  optional: ['mode', 'carrier_scac', 'vessel', 'voyage', 'origin_port', 'destination_port', 'etd', 'eta'],
}) {}

/** A shipment in a response. Every field is always present; a field without a value is null or an empty array. */
@ApiSchema({ name: 'Shipment' })
export class ShipmentResource extends JourneyResource implements wire.Shipment {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'shp_4h2k7qv3n5xw6yz2aabbccddee' })
  readonly id!: string;
  @TextProperty({
    description:
      'Your own reference, unique per workspace and environment. A shipment sent again with the same reference is updated.',
    example: 'TMS-2026-000181',
    nullable: true,
  })
  readonly external_id!: string | null;
  @ApiProperty({
    description: 'Status, derived from the milestones regardless of the order in which they arrive.',
    enum: SHIPMENT_STATUSES,
  })
  readonly status!: wire.ShipmentStatus;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Milestone that set the status; null if the shipment is pending or was cancelled by the client.',
  })
  readonly status_milestone_id!: string | null;
  @EnumProperty(
    TRANSPORT_MODES,
    { description: 'Transport mode; `sea`, `vessel` and `truck` are normalised.', example: 'ocean', nullable: true },
    MODE_ALIASES,
  )
  readonly mode!: wire.Mode | null;
  @EnumProperty(CARGO_LOAD_TYPES, { description: 'Load type of the cargo.', example: 'fcl', nullable: true })
  readonly load_type!: wire.LoadType | null;
  @TextProperty({ description: 'House bill reference.', example: 'HBL-77120', nullable: true })
  readonly house_bill!: string | null;
  @TextProperty({ description: 'Master bill or air waybill.', example: 'MAEU912345678', nullable: true })
  readonly master_bill!: string | null;
  @TextProperty({ description: 'Booking number of the carrier.', example: 'BKG-55012', nullable: true })
  readonly booking_number!: string | null;
  @EnumProperty(INCOTERMS, {
    description: 'Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer.',
    example: 'FOB',
    nullable: true,
  })
  readonly incoterm!: wire.Incoterm | null;
  @TextListProperty(MAX_CONTAINERS_IN_REQUEST, {
    description: 'Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones.',
    example: ['CSQU3054383'],
  })
  readonly container_numbers!: string[];
  @ApiProperty({ type: [ContainerResource], description: 'Containers with their status and times.' })
  readonly containers!: ContainerResource[];
  @ExpectedTimeProperty({
    description: 'First known estimated arrival. In a patch, null sets it to the present estimate.',
    example: '2026-12-19T18:00:00Z',
    nullable: true,
  })
  readonly original_eta!: string | null;
  @ApiProperty({ description: 'Precision of `original_eta`.', enum: TIME_PRECISIONS })
  readonly original_eta_precision!: wire.TimePrecision;
  @ObjectProperty(PartyDto, { description: 'Shipper.', nullable: true }, PartyResource)
  readonly shipper!: PartyResource | null;
  @ObjectProperty(PartyDto, { description: 'Consignee.', nullable: true }, PartyResource)
  readonly consignee!: PartyResource | null;
  @ObjectListProperty(ReferenceResource, SHIPMENT_LIMITS.references, { description: 'Additional references.' })
  readonly references!: ReferenceResource[];
  @TextMapProperty(SHIPMENT_LIMITS.metadata, {
    description: 'Custom fields: your own strings by name.',
    example: { cost_centre: '4711' },
    nullable: true,
  })
  readonly metadata!: Record<string, string> | null;
  @ObjectListProperty(
    LegDto,
    SHIPMENT_LIMITS.legs,
    {
      description:
        'Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the shipment itself does not have come from the first and last leg.',
    },
    LegResource,
  )
  readonly legs!: LegResource[];
  @ApiProperty({ type: LastMilestoneResource, nullable: true, description: 'Latest actual milestone.' })
  readonly last_milestone!: LastMilestoneResource | null;
  @ApiProperty({ type: 'integer', description: 'Number of unresolved exceptions.' })
  readonly open_exceptions_count!: number;
  @ApiProperty({ type: 'integer', description: 'Number of documents that are uploaded, approved or rejected.' })
  readonly documents_count!: number;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of creation. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time of the last change of any part of the shipment. UTC with milliseconds.',
  })
  readonly updated_at!: string;
  @ApiProperty({ type: 'integer', description: 'Version number, which grows with every change.' })
  readonly version!: number;
  @ApiProperty({ description: 'URL of the shipment in the web application.', format: 'uri' })
  readonly url!: string;
}

/**
 * The body of an upsert. It needs at least one of `external_id`, `house_bill` and `container_numbers`. On an existing
 * shipment, omitted fields keep their value, null clears a field, and arrays and objects are replaced.
 */
@ApiSchema({ name: 'ShipmentFields' })
export class UpsertShipmentDto extends DeriveRequestClassFromResource(ShipmentResource, {
  optional: SHIPMENT_FIELD_NAMES,
}) {}

/**
 * A JSON merge patch of a shipment (RFC 7396). Omitted fields keep their value, null clears a field, and arrays are
 * replaced. The members of `shipper`, `consignee` and `metadata` are merged one by one. `etd`, `eta` and `legs` take
 * effect even if they equal the values sent before.
 */
@ApiSchema({ name: 'ShipmentPatch' })
export class PatchShipmentDto extends DeriveRequestClassFromResource(ShipmentResource, {
  optional: [...SHIPMENT_FIELD_NAMES.filter((name) => name !== 'metadata'), 'original_eta'],
}) {
  @TextMapPatchProperty(MAX_STRINGS_PER_SHIPMENT_PATCH, {
    description: 'Custom fields: your own strings by name; null removes one.',
    example: { cost_centre: '4711', old: null },
    nullable: true,
  })
  readonly metadata?: Record<string, string | null> | null;
}

@ApiSchema({ name: 'ShipmentWritten' })
export class ShipmentWrittenResource extends IntersectionType(ShipmentResource, WithWarnings) {}

@ApiSchema({ name: 'ShipmentPage' })
export class ShipmentPageResource extends createPageResourceClass(ShipmentResource, 'The shipments of this page.') {}
