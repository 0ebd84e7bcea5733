import type * as wire from '@tracking/contracts';
import type { MilestoneStandard } from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  MILESTONE_CLASSIFIER_VALUES,
  EXCEPTION_TYPES,
  MAX_PAGE_SIZE,
  MILESTONE_CODES,
  MILESTONE_SOURCES,
  TRANSPORT_MODES,
  MILESTONE_REASON_CODES,
  SHIPMENT_STATUSES,
  TIME_PRECISIONS,
} from '@tracking/contracts';
import {
  ActorResource,
  PageCursorProperty,
  DecimalProperty,
  BooleanQueryProperty,
  FlexibleTimeProperty,
  DeriveRequestClassFromResource,
  PageLimitProperty,
  EnumProperty,
  PageDto,
  createPageResourceClass,
  TextQueryProperty,
  TimeQueryProperty,
  ResponseSchemaBase,
  EnumListQueryProperty,
  RESPONSE_TIME_SCHEMA,
  TextProperty,
  TimeZoneProperty,
  WholeNumberProperty,
  WithWarnings,
} from '@tracking/http';
import { TIMEZONE_VALUE_FOR_LOCATION_ZONE } from '@tracking/shipments';
import { MilestoneCodeProperty } from './milestone-code.ts';
import { AS_OF_PARAMETER } from '../shipments/shipment.pipes.ts';

const MAX_PIECE_COUNT = 10_000_000;
const MIN_CELSIUS = -273.15;
const MAX_CELSIUS = 1_000;

@ApiSchema({ name: 'Milestone' })
export class MilestoneResource extends ResponseSchemaBase implements wire.Milestone {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the shipment.' })
  readonly shipment_id!: string;
  @MilestoneCodeProperty({ description: 'Milestone code; see GET /v1/milestone_codes.', example: 'vessel_departed' })
  readonly code!: string;
  @ApiProperty({ description: 'Label of the code for people.' })
  readonly label!: string;
  @ApiProperty({ type: 'integer', description: 'Position in the catalog.' })
  readonly sequence!: number;
  @FlexibleTimeProperty(
    { day: true, local: true },
    {
      description:
        'Time of the milestone. With `timezone`, it needs no offset. A date is allowed if the milestone is not actual.',
      example: '2026-11-21T09:30:00+08:00',
    },
    'Time of the milestone, actual or expected.',
  )
  readonly occurred_at!: string;
  @ApiProperty({ description: 'Precision of `occurred_at`.', enum: TIME_PRECISIONS })
  readonly occurred_at_precision!: wire.TimePrecision;
  @EnumProperty(MILESTONE_SOURCES, {
    description: 'Source of the milestone; `manual` unless the key may record milestones for feeds.',
    example: 'manual',
  })
  readonly source!: wire.MilestoneSource;
  @EnumProperty(MILESTONE_REASON_CODES, {
    description: 'Reason for the milestone.',
    example: 'carrier_feed_unavailable',
    nullable: true,
  })
  readonly reason_code!: string | null;
  @TextProperty({ description: 'Place as free text; a UN/LOCODE is recognised.', example: 'CNSHA', nullable: true })
  readonly location!: string | null;
  @EnumProperty(MILESTONE_CLASSIFIER_VALUES, {
    description: 'Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default.',
    example: 'actual',
  })
  readonly classifier!: wire.Classifier;
  @TextProperty({
    description: 'Your own reference. A milestone sent again with the same reference is corrected.',
    example: 'EVT-9981',
    nullable: true,
  })
  readonly external_id!: string | null;
  @TextProperty({
    description: 'Container of the shipment; null if the milestone applies to all containers.',
    example: 'CSQU3054383',
    nullable: true,
  })
  readonly container_number!: string | null;
  @TextProperty({ description: 'Name of the vessel.', example: 'Maersk Honam', nullable: true })
  readonly vessel!: string | null;
  @TextProperty({ description: 'Voyage, flight, train or trip number.', example: '412W', nullable: true })
  readonly voyage!: string | null;
  @TextProperty({ description: 'Free-text note.', nullable: true })
  readonly note!: string | null;
  @TimeZoneProperty(
    {
      description: 'IANA time zone of the place. In requests, `location` stands for that of the location.',
      example: 'Asia/Shanghai',
      nullable: true,
    },
    [TIMEZONE_VALUE_FOR_LOCATION_ZONE],
  )
  readonly timezone!: string | null;
  @DecimalProperty(-90, 90, {
    description: 'Latitude of the goods in degrees, WGS 84; requires `longitude`.',
    example: 31.3665,
    nullable: true,
  })
  readonly latitude!: number | null;
  @DecimalProperty(-180, 180, {
    description: 'Longitude of the goods in degrees, WGS 84; requires `latitude`.',
    example: 121.6158,
    nullable: true,
  })
  readonly longitude!: number | null;
  @TextProperty({ description: 'Name or code of the terminal.', example: 'Yangshan Phase IV', nullable: true })
  readonly terminal!: string | null;
  @TextProperty({
    description: 'IMO number of the vessel: seven digits with the check digit.',
    example: '9321483',
    nullable: true,
  })
  readonly imo!: string | null;
  @WholeNumberProperty(0, MAX_PIECE_COUNT, {
    description: 'Number of pieces that the milestone concerns.',
    example: 12,
    nullable: true,
  })
  readonly pieces!: number | null;
  @DecimalProperty(MIN_CELSIUS, MAX_CELSIUS, {
    description: 'Measured temperature of the goods in degrees Celsius.',
    example: -18.5,
    nullable: true,
  })
  readonly temperature_celsius!: number | null;
  @FlexibleTimeProperty(
    { local: true },
    {
      description: 'Time when the source stated the milestone; by default the time of recording.',
      example: '2026-11-21T02:00:00Z',
    },
  )
  readonly reported_at!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of recording. UTC with milliseconds.' })
  readonly recorded_at!: string;
  @ApiProperty({ type: ActorResource, description: 'Actor that recorded the milestone.' })
  readonly recorded_by!: ActorResource;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the retraction. UTC with milliseconds.',
  })
  readonly retracted_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which a later report replaced the milestone. UTC with milliseconds.',
  })
  readonly superseded_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Revision number: 1 when recorded, plus one with each correction.' })
  readonly revision!: number;
}

/** Fields of a milestone that a request may omit. */
const OPTIONAL_MILESTONE_FIELDS = [
  'reason_code',
  'location',
  'classifier',
  'external_id',
  'container_number',
  'vessel',
  'voyage',
  'note',
  'timezone',
  'latitude',
  'longitude',
  'terminal',
  'imo',
  'pieces',
  'temperature_celsius',
  'reported_at',
] as const;

@ApiSchema({ name: 'MilestoneFields' })
export class RecordMilestoneDto extends DeriveRequestClassFromResource(MilestoneResource, {
  required: ['code', 'occurred_at'],
  optional: ['source', ...OPTIONAL_MILESTONE_FIELDS],
}) {}

/**
 * A JSON merge patch of a milestone: omitted fields keep their value. The source of a milestone cannot be corrected.
 */
@ApiSchema({ name: 'MilestoneChanges' })
export class CorrectMilestoneDto extends DeriveRequestClassFromResource(MilestoneResource, {
  optional: OPTIONAL_MILESTONE_FIELDS,
  kept: ['code', 'occurred_at'],
}) {}

@ApiSchema({ name: 'MilestoneWritten' })
export class MilestoneWrittenResource extends IntersectionType(MilestoneResource, WithWarnings) {}

@ApiSchema({ name: 'MilestonePage' })
export class MilestonePageResource extends createPageResourceClass(MilestoneResource, 'The milestones of this page.') {}

export class ListMilestonesDto extends PageDto {
  @EnumListQueryProperty([...MILESTONE_CLASSIFIER_VALUES, 'all'], {
    description: `One or more of ${MILESTONE_CLASSIFIER_VALUES.join(', ')}, separated by commas, or all; actual by default.`,
    example: 'actual,estimated',
  })
  classifier?: string;

  @TextQueryProperty({ description: 'Only milestones that name this container.', example: 'CSQU3054383' })
  container_number?: string;

  @BooleanQueryProperty({ description: 'True to include milestones that a later report replaced.' })
  include_superseded?: string;

  @BooleanQueryProperty({ description: 'True to include retracted milestones.' })
  include_retracted?: string;

  @TimeQueryProperty(AS_OF_PARAMETER)
  as_of?: string;
}

const ForeignStandardCodesProperty = (description: string): PropertyDecorator =>
  ApiProperty({ type: [String], description });

@ApiSchema({ name: 'MilestoneCodeStandards' })
class MilestoneCodeStandardsResource implements Record<MilestoneStandard, readonly string[]> {
  @ForeignStandardCodesProperty(
    'Event codes of DCSA Track & Trace 2.2 and 3.0, with what distinguishes their meanings.',
  )
  readonly dcsa!: string[];
  @ForeignStandardCodesProperty('Status codes of X12 315 (element 157).')
  readonly x12_315!: string[];
  @ForeignStandardCodesProperty('Status codes of X12 214 (element 1650).')
  readonly x12_214!: string[];
  @ForeignStandardCodesProperty('Status codes of EDIFACT IFTSTA (UN/ECE Recommendation 24).')
  readonly iftsta!: string[];
  @ForeignStandardCodesProperty('Status codes of IATA FSU (Cargo-IMP).')
  readonly iata_fsu!: string[];
}

@ApiSchema({ name: 'MilestoneCode' })
class MilestoneCodeResource implements wire.MilestoneCatalogEntry {
  @ApiProperty({ description: 'Canonical code.', enum: MILESTONE_CODES })
  readonly code!: string;
  @ApiProperty({ description: 'Label of the code for people.' })
  readonly label!: string;
  @ApiProperty({ description: 'Meaning of the code.' })
  readonly description!: string;
  @ApiProperty({ type: 'integer', description: 'Position in the usual course of a shipment.' })
  readonly sequence!: number;
  @ApiProperty({
    type: [String],
    description: 'Transport modes in which the milestone is usual.',
    enum: TRANSPORT_MODES,
  })
  readonly modes!: wire.Mode[];
  @ApiProperty({
    nullable: true,
    description: 'Status of a shipment after an actual milestone with this code; null if the status does not change.',
    enum: SHIPMENT_STATUSES,
  })
  readonly status!: wire.ShipmentStatus | null;
  @ApiProperty({
    nullable: true,
    description: 'Type of the exception that the milestone opens.',
    enum: EXCEPTION_TYPES,
  })
  readonly opens_exception!: string | null;
  @ApiProperty({ description: 'True if the event happens once per visit of a place, so that the last report counts.' })
  readonly once_per_visit!: boolean;
  @ApiProperty({ type: String, nullable: true, description: 'DCSA Track & Trace code.' })
  readonly dcsa!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'X12 315 code.' })
  readonly x12_315!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'X12 214 code.' })
  readonly x12_214!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'UN/ECE Recommendation 24 code.' })
  readonly rec24!: string | null;
  @ApiProperty({
    type: MilestoneCodeStandardsResource,
    description: 'All codes of other standards that can mean this code.',
  })
  readonly standards!: MilestoneCodeStandardsResource;
}

@ApiSchema({ name: 'MilestoneCodeList' })
export class MilestoneCodeListResource extends createPageResourceClass(
  MilestoneCodeResource,
  'Codes in catalog order. Without `limit`, the whole catalog.',
  'Cursor of the next page: send it as `cursor`.',
) {}

/** Query parameters of the list of milestone codes. Without `limit`, one page contains the whole catalog. */
export class ListMilestoneCodesDto {
  @PageLimitProperty(MAX_PAGE_SIZE)
  limit?: string;

  @PageCursorProperty()
  cursor?: string;
}
