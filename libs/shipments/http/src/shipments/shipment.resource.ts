import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  INCOTERMS,
  LOAD_TYPES,
  MILESTONE_CODES,
  MODES,
  MODE_ALIASES,
  SHIPMENT_FIELDS,
  SHIPMENT_STATUSES,
} from '@tracking/contracts';
import {
  CalendarDate,
  InputType,
  Nested,
  NestedList,
  OneOf,
  PageType,
  Resource,
  TIME,
  Text,
  TextList,
  TextMap,
  TextMapPatch,
  Timestamp,
  WithWarnings,
  fault,
  field,
  text,
  textUpTo,
} from '@tracking/http';
import type { FieldCheck } from '@tracking/http';
import { SHIPMENT_LIMITS, normaliseCode } from '@tracking/shipments';

/** More containers than a shipment may have, since repeated numbers are stored once; bounds the work on a request. */
const MAX_LISTED_CONTAINERS = 1_000;
/** More strings than a shipment may have, since the same patch may remove some; bounds the work on a request. */
const MAX_PATCHED_STRINGS = 1_000;

@ApiSchema({ name: 'Party' })
class PartyResource extends Resource implements wire.Party {
  @Text({ description: 'Name of the party.', example: 'Acme Electronics Ltd', nullable: true })
  readonly name!: string | null;
  @Text({ description: 'Your own reference of the party.', example: 'CUST-1042', nullable: true })
  readonly external_id!: string | null;
}

@ApiSchema({ name: 'PartyFields' })
class PartyDto extends InputType(PartyResource, { optional: ['name', 'external_id'] }) {}

@ApiSchema({ name: 'Reference' })
class ReferenceResource implements wire.Reference {
  @Text({ description: 'What kind of reference it is.', example: 'purchase_order' })
  readonly type!: string;
  @Text({ description: 'The reference.', example: 'PO-88213' })
  readonly value!: string;
}

@ApiSchema({ name: 'LastMilestone' })
class LastMilestoneResource implements wire.LastMilestone {
  @ApiProperty({ description: 'Id of the milestone.' })
  readonly id!: string;
  @ApiProperty({ description: 'Code of the catalog.', enum: MILESTONE_CODES })
  readonly code!: string;
  @ApiProperty({ description: 'The code for people.' })
  readonly label!: string;
  @ApiProperty({ ...TIME, description: 'When it happened. UTC with milliseconds.' })
  readonly occurred_at!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Where it happened.' })
  readonly location!: string | null;
}

/** The way of goods from one place to another: that of a shipment, or of one of its legs. */
class JourneyResource extends Resource {
  @Text({
    description: 'Carrier: SCAC, or the two-character IATA code for air and courier.',
    example: 'MAEU',
    nullable: true,
  })
  readonly carrier_scac!: string | null;
  @Text({
    description: 'UN/LOCODE, or IATA airport code where the mode allows it.',
    example: 'CNSHA',
    nullable: true,
  })
  readonly origin_port!: string | null;
  @Text({
    description: 'UN/LOCODE, or IATA airport code where the mode allows it.',
    example: 'NLRTM',
    nullable: true,
  })
  readonly destination_port!: string | null;
  @Timestamp({ description: 'Estimated departure.', example: '2026-11-21T09:30:00Z', nullable: true })
  readonly etd!: string | null;
  @Timestamp({ description: 'Estimated arrival.', example: '2026-12-19T18:00:00Z', nullable: true })
  readonly eta!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'Actual departure. UTC with milliseconds.' })
  readonly atd!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'Actual arrival. UTC with milliseconds.' })
  readonly ata!: string | null;
}

@ApiSchema({ name: 'Leg' })
class LegResource extends JourneyResource implements wire.Leg {
  @OneOf(MODES, { description: 'Transport mode of the leg.', example: 'ocean', nullable: true }, MODE_ALIASES)
  readonly mode!: wire.Mode | null;
  @Text({ description: 'Name of the vessel.', example: 'Maersk Honam', nullable: true })
  readonly vessel!: string | null;
  @Text({ description: 'Voyage, flight, train or trip number.', example: '412W', nullable: true })
  readonly voyage!: string | null;
}

@ApiSchema({ name: 'LegFields' })
class LegDto extends InputType(LegResource, {
  optional: ['mode', 'carrier_scac', 'vessel', 'voyage', 'origin_port', 'destination_port', 'etd', 'eta'],
}) {}

const SIZE_TYPE = /^[0-9A-Z]{4}$/;
const MAX_SEAL = 100;

/** An ISO 6346 code such as `45G1`. Trade codes such as `40HC` have the same form. */
const sizeType: FieldCheck = (value, param) => {
  const faults = text(value, param);
  if (faults.length > 0 || SIZE_TYPE.test(String(value))) return faults;
  return fault(param, 'invalid_value', 'Must be four letters or digits, as 45G1 of ISO 6346.');
};

@ApiSchema({ name: 'Container' })
class ContainerResource extends Resource implements wire.Container {
  @ApiProperty({ description: 'Normalised number.' })
  readonly number!: string;
  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'Whether the check digit is right; null where the kind has none.',
  })
  readonly valid_check_digit!: boolean | null;
  @field(
    sizeType,
    {
      description: 'Size and type: four letters or digits, as ISO 6346 writes them.',
      example: '45G1',
      nullable: true,
    },
    { type: String, pattern: SIZE_TYPE.source },
    { normalise: (value) => (typeof value === 'string' ? normaliseCode(value) : value) },
  )
  readonly size_type!: string | null;
  @field(
    textUpTo(MAX_SEAL),
    { description: 'Seal, or several of them.', example: 'ML-CN4831977', nullable: true },
    { type: String, minLength: 1, maxLength: MAX_SEAL },
  )
  readonly seal_number!: string | null;
  @ApiProperty({ description: 'Status of this container.', enum: SHIPMENT_STATUSES })
  readonly status!: wire.ShipmentStatus;
  @ApiProperty({ type: String, nullable: true, description: 'The milestone that set the status.' })
  readonly status_milestone_id!: string | null;
  @ApiProperty({ type: LastMilestoneResource, nullable: true, description: 'Its latest actual milestone.' })
  readonly last_milestone!: LastMilestoneResource | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'Discharged. UTC with milliseconds.' })
  readonly discharged_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'Available for pickup. UTC with milliseconds.' })
  readonly available_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'Gated out. UTC with milliseconds.' })
  readonly gated_out_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'Delivered. UTC with milliseconds.' })
  readonly delivered_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'Returned empty. UTC with milliseconds.' })
  readonly empty_returned_at!: string | null;
  @CalendarDate({
    description: 'Last day without demurrage, a date local to the place.',
    example: '2026-12-24',
    nullable: true,
  })
  readonly last_free_day!: string | null;
  @CalendarDate({
    description: 'Day by which it must be back empty, local to the place.',
    example: '2027-01-04',
    nullable: true,
  })
  readonly empty_return_by!: string | null;
}

/** What is left out stays, null clears. */
@ApiSchema({ name: 'ContainerPatch' })
export class PatchContainerDto extends InputType(ContainerResource, {
  optional: ['size_type', 'seal_number', 'last_free_day', 'empty_return_by'],
}) {}

@ApiSchema({ name: 'ContainerWritten' })
export class ContainerWrittenResource extends IntersectionType(ContainerResource, WithWarnings) {}

/** Every field is always present: null or an empty array where there is nothing. */
@ApiSchema({ name: 'Shipment' })
export class ShipmentResource extends JourneyResource implements wire.Shipment {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'shp_4h2k7qv3n5xw6yz2aabbccddee' })
  readonly id!: string;
  @Text({
    description: 'Your own reference, unique per workspace and environment: the same one again updates that shipment.',
    example: 'TMS-2026-000181',
    nullable: true,
  })
  readonly external_id!: string | null;
  @ApiProperty({
    description: 'Derived from the milestones, whatever order they come in.',
    enum: SHIPMENT_STATUSES,
  })
  readonly status!: wire.ShipmentStatus;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The milestone that set the status; null when pending or cancelled by the client.',
  })
  readonly status_milestone_id!: string | null;
  @OneOf(
    MODES,
    { description: 'Transport mode; `sea`, `vessel` and `truck` are normalised.', example: 'ocean', nullable: true },
    MODE_ALIASES,
  )
  readonly mode!: wire.Mode | null;
  @OneOf(LOAD_TYPES, { description: 'How the cargo is loaded.', example: 'fcl', nullable: true })
  readonly load_type!: wire.LoadType | null;
  @Text({ description: 'House bill reference.', example: 'HBL-77120', nullable: true })
  readonly house_bill!: string | null;
  @Text({ description: 'Master bill or air waybill.', example: 'MAEU912345678', nullable: true })
  readonly master_bill!: string | null;
  @Text({ description: 'Booking number of the carrier.', example: 'BKG-55012', nullable: true })
  readonly booking_number!: string | null;
  @OneOf(INCOTERMS, {
    description: 'Rule of Incoterms 2020 or 2010: who bears the costs and risks of which part of the journey.',
    example: 'FOB',
    nullable: true,
  })
  readonly incoterm!: wire.Incoterm | null;
  @TextList(MAX_LISTED_CONTAINERS, {
    description: 'Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones.',
    example: ['CSQU3054383'],
  })
  readonly container_numbers!: string[];
  @ApiProperty({ type: [ContainerResource], description: 'The containers with what is known of each.' })
  readonly containers!: ContainerResource[];
  @Timestamp({
    description: 'The first estimated arrival known; null in a patch sets the present one.',
    example: '2026-12-19T18:00:00Z',
    nullable: true,
  })
  readonly original_eta!: string | null;
  @Nested(PartyDto, { description: 'Who ships.', nullable: true }, PartyResource)
  readonly shipper!: PartyResource | null;
  @Nested(PartyDto, { description: 'Who receives.', nullable: true }, PartyResource)
  readonly consignee!: PartyResource | null;
  @NestedList(ReferenceResource, SHIPMENT_LIMITS.references, { description: 'Further references.' })
  readonly references!: ReferenceResource[];
  @TextMap(SHIPMENT_LIMITS.metadata, {
    description: 'Your own strings by name.',
    example: { cost_centre: '4711' },
    nullable: true,
  })
  readonly metadata!: Record<string, string> | null;
  @NestedList(
    LegDto,
    SHIPMENT_LIMITS.legs,
    {
      description:
        'The legs in order; without any, one leg from origin to destination. Ports and times that the shipment is not given itself are those of the first and the last one.',
    },
    LegResource,
  )
  readonly legs!: LegResource[];
  @ApiProperty({ type: LastMilestoneResource, nullable: true, description: 'The latest actual milestone.' })
  readonly last_milestone!: LastMilestoneResource | null;
  @ApiProperty({ type: 'integer', description: 'Exceptions that are not resolved.' })
  readonly open_exceptions_count!: number;
  @ApiProperty({ type: 'integer', description: 'Documents that are uploaded, approved or rejected.' })
  readonly documents_count!: number;
  @ApiProperty({ ...TIME, description: 'When it was created. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ ...TIME, description: 'When anything about it last changed. UTC with milliseconds.' })
  readonly updated_at!: string;
  @ApiProperty({ type: 'integer', description: 'Version number, which grows with every change.' })
  readonly version!: number;
  @ApiProperty({ description: 'The shipment in the web application.', format: 'uri' })
  readonly url!: string;
}

/**
 * At least one of `external_id`, `house_bill` and `container_numbers` is needed. On an existing shipment omitted fields
 * keep their value, null clears, arrays and objects replace.
 */
@ApiSchema({ name: 'ShipmentFields' })
export class UpsertShipmentDto extends InputType(ShipmentResource, { optional: SHIPMENT_FIELDS }) {}

/**
 * A JSON merge patch (RFC 7396): what is left out stays, null clears, the members of `shipper`, `consignee` and `metadata`
 * are merged one by one, arrays are replaced. `etd`, `eta` and `legs` are set also where they are what was sent before.
 */
@ApiSchema({ name: 'ShipmentPatch' })
export class PatchShipmentDto extends InputType(ShipmentResource, {
  optional: [...SHIPMENT_FIELDS.filter((name) => name !== 'metadata'), 'original_eta'],
}) {
  @TextMapPatch(MAX_PATCHED_STRINGS, {
    description: 'Your own strings by name; null removes one.',
    example: { cost_centre: '4711', old: null },
    nullable: true,
  })
  readonly metadata?: Record<string, string | null> | null;
}

@ApiSchema({ name: 'ShipmentWritten' })
export class ShipmentWrittenResource extends IntersectionType(ShipmentResource, WithWarnings) {}

@ApiSchema({ name: 'ShipmentPage' })
export class ShipmentPageResource extends PageType(ShipmentResource, 'The shipments of this page.') {}
