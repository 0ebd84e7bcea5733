import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  CLASSIFIERS,
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
import { AS_OF } from '../shipments/shipment.pipes.ts';

/** A code of the catalog, in any case. The refusal of a code of another standard names the codes that it can mean. */
const MilestoneCode = (options: FieldOptions): PropertyDecorator =>
  field(milestoneCode, options, { type: String, enum: [...MILESTONE_CODES] }, { normalise: inCatalogForm });

function inCatalogForm(value: unknown): unknown {
  return typeof value === 'string' ? (findMilestoneCode(value.trim().toLowerCase())?.code ?? value) : value;
}

const milestoneCode: FieldCheck = (value, param) => {
  const faults = text(value, param);
  if (faults.length > 0) return faults;
  const code = String(value);
  if (findMilestoneCode(code)) return [];
  const foreign = convertMilestoneCode(code).map(({ standard, codes }) => `${joinedWithOr(codes)} (${standard})`);
  const meant = foreign.length === 0 ? '' : ` Here ${code.trim()} is ${foreign.join(', or ')}.`;
  return fault(param, 'unknown_code', `Must be a code of GET /v1/milestone_codes.${meant}`);
};

function joinedWithOr(codes: readonly string[]): string {
  return codes.length < 2 ? codes.join() : `${codes.slice(0, -1).join(', ')} or ${codes.at(-1) ?? ''}`;
}

@ApiSchema({ name: 'Milestone' })
export class MilestoneResource extends Resource implements wire.Milestone {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'The shipment it belongs to.' })
  readonly shipment_id!: string;
  @MilestoneCode({ description: 'Code of the catalog, see GET /v1/milestone_codes.', example: 'vessel_departed' })
  readonly code!: string;
  @ApiProperty({ description: 'The code for people.' })
  readonly label!: string;
  @ApiProperty({ type: 'integer', description: 'Place in the catalog.' })
  readonly sequence!: number;
  @Timestamp({ description: 'When it happened, or is expected to.', example: '2026-11-21T09:30:00+08:00' })
  readonly occurred_at!: string;
  @OneOf(MILESTONE_SOURCES, {
    description: 'Where the milestone comes from; `manual` unless the key may post for feeds.',
    example: 'manual',
  })
  readonly source!: wire.MilestoneSource;
  @OneOf(REASON_CODES, { description: 'Why it is posted.', example: 'carrier_feed_unavailable', nullable: true })
  readonly reason_code!: string | null;
  @Text({ description: 'Free text; a UN/LOCODE is recognised.', example: 'CNSHA', nullable: true })
  readonly location!: string | null;
  @OneOf(CLASSIFIERS, {
    description: 'Whether it happened, or is expected; `actual` unless said otherwise.',
    example: 'actual',
  })
  readonly classifier!: wire.Classifier;
  @Text({
    description: 'Your own reference: the same one again corrects that milestone.',
    example: 'EVT-9981',
    nullable: true,
  })
  readonly external_id!: string | null;
  @Text({
    description: 'A container of the shipment; without one it counts for all.',
    example: 'CSQU3054383',
    nullable: true,
  })
  readonly container_number!: string | null;
  @Text({ description: 'Name of the vessel.', example: 'Maersk Honam', nullable: true })
  readonly vessel!: string | null;
  @Text({ description: 'Voyage, flight, train or trip number.', example: '412W', nullable: true })
  readonly voyage!: string | null;
  @Text({ description: 'A remark.', nullable: true })
  readonly note!: string | null;
  @TimeZone({ description: 'IANA time zone of the place, for display.', example: 'Asia/Shanghai', nullable: true })
  readonly timezone!: string | null;
  @ApiProperty({ ...TIME, description: 'When it was recorded. UTC with milliseconds.' })
  readonly recorded_at!: string;
  @ApiProperty({ type: ActorResource, description: 'Who recorded it.' })
  readonly recorded_by!: ActorResource;
  @ApiProperty({ ...TIME, nullable: true, description: 'When it was taken back. UTC with milliseconds.' })
  readonly retracted_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'When a newer estimate replaced it. UTC with milliseconds.' })
  readonly superseded_at!: string | null;
  @ApiProperty({ type: 'integer', description: '1 when recorded, and one more at each correction.' })
  readonly revision!: number;
}

/** Fields of a milestone that a request may omit. */
const DETAILS = [
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
  optional: ['source', ...DETAILS],
}) {}

/** A JSON merge patch: what is left out stays as it is. The source of a milestone cannot be corrected. */
@ApiSchema({ name: 'MilestoneChanges' })
export class CorrectMilestoneDto extends InputType(MilestoneResource, {
  optional: DETAILS,
  kept: ['code', 'occurred_at'],
}) {}

@ApiSchema({ name: 'MilestoneWritten' })
export class MilestoneWrittenResource extends IntersectionType(MilestoneResource, WithWarnings) {}

@ApiSchema({ name: 'MilestonePage' })
export class MilestonePageResource extends PageType(MilestoneResource, 'The milestones of this page.') {}

export class ListMilestonesDto extends PageDto {
  @QueryEnumList([...CLASSIFIERS, 'all'], {
    description: `One or more of ${CLASSIFIERS.join(', ')}, separated by commas, or all; actual by default.`,
    example: 'actual,estimated',
  })
  classifier?: string;

  @QueryText({ description: 'Only those that name this container.', example: 'CSQU3054383' })
  container_number?: string;

  @Flag({ description: 'Also estimates that a newer one replaced.' })
  include_superseded?: string;

  @Flag({ description: 'Also milestones taken back.' })
  include_retracted?: string;

  @QueryTime(AS_OF)
  as_of?: string;
}

@ApiSchema({ name: 'MilestoneCode' })
class MilestoneCodeResource implements wire.MilestoneCode {
  @ApiProperty({ description: 'The canonical code.', enum: MILESTONE_CODES })
  readonly code!: string;
  @ApiProperty({ description: 'The code for people.' })
  readonly label!: string;
  @ApiProperty({ description: 'What it means.' })
  readonly description!: string;
  @ApiProperty({ type: 'integer', description: 'Place in the usual course of a shipment.' })
  readonly sequence!: number;
  @ApiProperty({ type: [String], description: 'Modes in which it is usual.', enum: MODES })
  readonly modes!: wire.Mode[];
  @ApiProperty({
    nullable: true,
    description: 'What an actual one makes of the status; null leaves it alone.',
    enum: SHIPMENT_STATUSES,
  })
  readonly status!: wire.ShipmentStatus | null;
  @ApiProperty({ nullable: true, description: 'Type of the exception that it opens.', enum: EXCEPTION_TYPES })
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
  'The codes of this page, in order; without `limit`, the whole catalog.',
  'Cursor of the next page: send it as `cursor`.',
) {}

export class ListMilestoneCodesDto {
  /** Without a limit, one page holds the whole catalog. */
  @Limit(MAX_PAGE_SIZE)
  limit?: string;

  @Cursor()
  cursor?: string;
}
