import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  MILESTONE_CLASSIFIERS,
  EXCEPTION_TYPES,
  MAX_PAGE_SIZE,
  MILESTONE_CODES,
  MILESTONE_SOURCES,
  MODES,
  REASON_CODES,
  SHIPMENT_STATUSES,
  findMilestoneCode,
  convertMilestoneCode,
} from '@tracking/contracts';
import {
  ActorResource,
  Cursor,
  Flag,
  InputType,
  Limit,
  OneOf,
  PageDto,
  PageType,
  QueryText,
  QueryTime,
  Resource,
  QueryEnumList,
  TIME,
  Text,
  TimeZone,
  Timestamp,
  WithWarnings,
  fault,
  field,
  text,
} from '@tracking/http';
import type { FieldCheck, FieldOptions } from '@tracking/http';
import { AS_OF_PARAMETER } from '../shipments/shipment.pipes.ts';

/**
 * Checks a milestone code, ignoring case. For a code of another standard, the error names the matching catalog codes.
 */
const MilestoneCode = (options: FieldOptions): PropertyDecorator =>
  field(checkMilestoneCode, options, { type: String, enum: [...MILESTONE_CODES] }, { normalise: toCatalogForm });

function toCatalogForm(value: unknown): unknown {
  return typeof value === 'string' ? (findMilestoneCode(value.trim().toLowerCase())?.code ?? value) : value;
}

const checkMilestoneCode: FieldCheck = (value, param) => {
  const faults = text(value, param);
  if (faults.length > 0) return faults;
  const code = String(value);
  if (findMilestoneCode(code)) return [];
  const foreign = convertMilestoneCode(code).map(({ standard, codes }) => `${joinWithOr(codes)} (${standard})`);
  const meant = foreign.length === 0 ? '' : ` Here ${code.trim()} is ${foreign.join(', or ')}.`;
  return fault(param, 'unknown_code', `Must be a milestone code, see GET /v1/milestone_codes.${meant}`);
};

function joinWithOr(codes: readonly string[]): string {
  return codes.length < 2 ? codes.join() : `${codes.slice(0, -1).join(', ')} or ${codes.at(-1) ?? ''}`;
}

@ApiSchema({ name: 'Milestone' })
export class MilestoneResource extends Resource implements wire.Milestone {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the shipment.' })
  readonly shipment_id!: string;
  @MilestoneCode({ description: 'Milestone code; see GET /v1/milestone_codes.', example: 'vessel_departed' })
  readonly code!: string;
  @ApiProperty({ description: 'Label of the code for people.' })
  readonly label!: string;
  @ApiProperty({ type: 'integer', description: 'Position in the catalog.' })
  readonly sequence!: number;
  @Timestamp({ description: 'Time of the milestone, actual or expected.', example: '2026-11-21T09:30:00+08:00' })
  readonly occurred_at!: string;
  @OneOf(MILESTONE_SOURCES, {
    description: 'Source of the milestone; `manual` unless the key may record milestones for feeds.',
    example: 'manual',
  })
  readonly source!: wire.MilestoneSource;
  @OneOf(REASON_CODES, {
    description: 'Reason for the milestone.',
    example: 'carrier_feed_unavailable',
    nullable: true,
  })
  readonly reason_code!: string | null;
  @Text({ description: 'Place as free text; a UN/LOCODE is recognised.', example: 'CNSHA', nullable: true })
  readonly location!: string | null;
  @OneOf(MILESTONE_CLASSIFIERS, {
    description: 'Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default.',
    example: 'actual',
  })
  readonly classifier!: wire.Classifier;
  @Text({
    description: 'Your own reference. A milestone sent again with the same reference is corrected.',
    example: 'EVT-9981',
    nullable: true,
  })
  readonly external_id!: string | null;
  @Text({
    description: 'Container of the shipment; null if the milestone applies to all containers.',
    example: 'CSQU3054383',
    nullable: true,
  })
  readonly container_number!: string | null;
  @Text({ description: 'Name of the vessel.', example: 'Maersk Honam', nullable: true })
  readonly vessel!: string | null;
  @Text({ description: 'Voyage, flight, train or trip number.', example: '412W', nullable: true })
  readonly voyage!: string | null;
  @Text({ description: 'Free-text note.', nullable: true })
  readonly note!: string | null;
  @TimeZone({ description: 'IANA time zone of the place, for display.', example: 'Asia/Shanghai', nullable: true })
  readonly timezone!: string | null;
  @ApiProperty({ ...TIME, description: 'Time of recording. UTC with milliseconds.' })
  readonly recorded_at!: string;
  @ApiProperty({ type: ActorResource, description: 'Actor that recorded the milestone.' })
  readonly recorded_by!: ActorResource;
  @ApiProperty({ ...TIME, nullable: true, description: 'Time of the retraction. UTC with milliseconds.' })
  readonly retracted_at!: string | null;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Time at which a newer estimate replaced the milestone. UTC with milliseconds.',
  })
  readonly superseded_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Revision number: 1 when recorded, plus one with each correction.' })
  readonly revision!: number;
}

/** Fields of a milestone that a request may omit. */
const MILESTONE_DETAIL_FIELDS = [
  'reason_code',
  'location',
  'classifier',
  'external_id',
  'container_number',
  'vessel',
  'voyage',
  'note',
  'timezone',
] as const;

@ApiSchema({ name: 'MilestoneFields' })
export class RecordMilestoneDto extends InputType(MilestoneResource, {
  required: ['code', 'occurred_at'],
  optional: ['source', ...MILESTONE_DETAIL_FIELDS],
}) {}

/**
 * A JSON merge patch of a milestone: omitted fields keep their value. The source of a milestone cannot be corrected.
 */
@ApiSchema({ name: 'MilestoneChanges' })
export class CorrectMilestoneDto extends InputType(MilestoneResource, {
  optional: MILESTONE_DETAIL_FIELDS,
  kept: ['code', 'occurred_at'],
}) {}

@ApiSchema({ name: 'MilestoneWritten' })
export class MilestoneWrittenResource extends IntersectionType(MilestoneResource, WithWarnings) {}

@ApiSchema({ name: 'MilestonePage' })
export class MilestonePageResource extends PageType(MilestoneResource, 'The milestones of this page.') {}

export class ListMilestonesDto extends PageDto {
  @QueryEnumList([...MILESTONE_CLASSIFIERS, 'all'], {
    description: `One or more of ${MILESTONE_CLASSIFIERS.join(', ')}, separated by commas, or all; actual by default.`,
    example: 'actual,estimated',
  })
  classifier?: string;

  @QueryText({ description: 'Only milestones that name this container.', example: 'CSQU3054383' })
  container_number?: string;

  @Flag({ description: 'True to include estimates that a newer one replaced.' })
  include_superseded?: string;

  @Flag({ description: 'True to include retracted milestones.' })
  include_retracted?: string;

  @QueryTime(AS_OF_PARAMETER)
  as_of?: string;
}

@ApiSchema({ name: 'MilestoneCode' })
class MilestoneCodeResource implements wire.MilestoneCode {
  @ApiProperty({ description: 'Canonical code.', enum: MILESTONE_CODES })
  readonly code!: string;
  @ApiProperty({ description: 'Label of the code for people.' })
  readonly label!: string;
  @ApiProperty({ description: 'Meaning of the code.' })
  readonly description!: string;
  @ApiProperty({ type: 'integer', description: 'Position in the usual course of a shipment.' })
  readonly sequence!: number;
  @ApiProperty({ type: [String], description: 'Transport modes in which the milestone is usual.', enum: MODES })
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
  @ApiProperty({ type: String, nullable: true, description: 'DCSA Track & Trace code.' })
  readonly dcsa!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'X12 315 code.' })
  readonly x12_315!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'X12 214 code.' })
  readonly x12_214!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'UN/ECE Recommendation 24 code.' })
  readonly rec24!: string | null;
}

@ApiSchema({ name: 'MilestoneCodeList' })
export class MilestoneCodeListResource extends PageType(
  MilestoneCodeResource,
  'Codes in catalog order. Without `limit`, the whole catalog.',
  'Cursor of the next page: send it as `cursor`.',
) {}

export class ListMilestoneCodesDto {
  /** Query parameters of the list of milestone codes. Without `limit`, one page contains the whole catalog. */
  @Limit(MAX_PAGE_SIZE)
  limit?: string;

  @Cursor()
  cursor?: string;
}
