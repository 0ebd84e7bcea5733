import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  EXCEPTION_DETECTORS,
  EXCEPTION_STATUSES,
  EXCEPTION_TYPES,
  MANUAL_RESOLUTION_CODES,
  REASON_CODES,
  RESOLUTION_CODES,
  SEVERITIES,
} from '@tracking/contracts';
import {
  ActorResource,
  Flag,
  Id,
  InputType,
  OneOf,
  PageDto,
  PageType,
  QueryId,
  QueryOneOf,
  QueryText,
  QueryTime,
  Resource,
  selectedOf,
  QueryEnumList,
  Text,
  TIME,
  WithWarnings,
} from '@tracking/http';
import { EXCEPTION_SORTS } from '@tracking/read-models';
import type { ExceptionListQuery, ExceptionSort } from '@tracking/read-models';

@ApiSchema({ name: 'ExceptionResolution' })
class ResolutionResource {
  @ApiProperty({ description: 'Why it is resolved.', enum: RESOLUTION_CODES })
  readonly code!: wire.ResolutionCode;
  @ApiProperty({ type: String, nullable: true, description: 'A remark.' })
  readonly note!: string | null;
  @ApiProperty({ type: ActorResource, description: 'Who resolved it; `system`: it resolved by itself.' })
  readonly by!: ActorResource;
}

@ApiSchema({ name: 'Exception' })
export class ExceptionResource extends Resource implements wire.ShipmentException {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'The shipment it belongs to.' })
  readonly shipment_id!: string;
  @Text({
    description: 'A container of the shipment; without one it is about the shipment.',
    example: 'CSQU3054383',
    nullable: true,
  })
  readonly container_number!: string | null;
  @OneOf(EXCEPTION_TYPES, { description: 'What is wrong.', example: 'container_damage' })
  readonly type!: wire.ExceptionType;
  @OneOf(SEVERITIES, { description: 'How grave it is; `medium` unless told.', example: 'high' })
  readonly severity!: wire.Severity;
  @ApiProperty({ description: 'Whether somebody deals with it.', enum: EXCEPTION_STATUSES })
  readonly status!: wire.ExceptionStatus;
  @Text({ description: 'What it is called; by its type unless told.', example: 'Door bent' })
  readonly title!: string;
  @Text({
    description: 'What exactly is wrong, for people.',
    example: 'The left door does not close.',
    nullable: true,
  })
  readonly detail!: string | null;
  @ApiProperty({ description: 'Who found it.', enum: EXCEPTION_DETECTORS })
  readonly detected_by!: wire.ShipmentException['detected_by'];
  @ApiProperty({
    nullable: true,
    description: 'The rule that opened it; null where a person did.',
    enum: AUTOMATIC_EXCEPTION_TYPES,
  })
  readonly rule!: wire.AutomaticExceptionType | null;
  @Id('mst', { description: 'A milestone of the shipment that shows it.', nullable: true })
  readonly milestone_id!: string | null;
  @OneOf(REASON_CODES, {
    description: 'Why, by that milestone or whoever opened it.',
    example: 'equipment_shortage',
    nullable: true,
  })
  readonly reason_code!: string | null;
  @Text({ description: 'Who is to deal with it, as you name people.', example: 'kim@example.com', nullable: true })
  readonly assignee!: string | null;
  @ApiProperty({ type: 'object', description: 'What the rule measured.', additionalProperties: true })
  readonly metrics!: wire.ShipmentException['metrics'];
  @ApiProperty({ type: ResolutionResource, nullable: true, description: 'How it was resolved; null until then.' })
  readonly resolution!: ResolutionResource | null;
  @ApiProperty({ ...TIME, description: 'When it was opened. UTC with milliseconds.' })
  readonly opened_at!: string;
  @ApiProperty({ ...TIME, nullable: true, description: 'When it was first acknowledged. UTC with milliseconds.' })
  readonly acknowledged_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'When it was resolved. UTC with milliseconds.' })
  readonly resolved_at!: string | null;
}

@ApiSchema({ name: 'ExceptionFields' })
export class OpenExceptionDto extends InputType(ExceptionResource, {
  required: ['type'],
  optional: ['severity', 'title', 'detail', 'container_number', 'milestone_id', 'reason_code', 'assignee'],
}) {}

@ApiSchema({ name: 'ExceptionAcknowledgement' })
export class AcknowledgeExceptionDto {
  @Text({
    description: 'Who deals with it; left out, it stays as it is.',
    example: 'kim@example.com',
    nullable: true,
  })
  readonly assignee?: string | null;
  @Text({
    description: 'A remark, for the history of the shipment.',
    example: 'The broker is on it.',
    nullable: true,
  })
  readonly note?: string | null;
}

@ApiSchema({ name: 'ExceptionResolutionFields' })
export class ResolveExceptionDto {
  @OneOf(MANUAL_RESOLUTION_CODES, { description: '`fixed` unless told.', example: 'waived', nullable: true })
  readonly code?: wire.ManualResolutionCode | null;
  @Text({ description: 'A remark.', example: 'Repaired at the depot.', nullable: true })
  readonly note?: string | null;
}

@ApiSchema({ name: 'ExceptionWritten' })
export class ExceptionWrittenResource extends IntersectionType(ExceptionResource, WithWarnings) {}

@ApiSchema({ name: 'ExceptionPage' })
export class ExceptionPageResource extends PageType(
  ExceptionResource,
  'The exceptions of this page.',
  'Send it as `cursor` for the next page, with the same filters and sort.',
) {}

/** An exception is listed if it matches all filters. */
export class ListExceptionsDto extends PageDto {
  @QueryEnumList(EXCEPTION_STATUSES, {
    description: `One or more of ${EXCEPTION_STATUSES.join(', ')}, separated by commas.`,
    example: 'open,acknowledged',
  })
  status?: string;

  @QueryEnumList(EXCEPTION_TYPES, {
    description: `One or more of ${EXCEPTION_TYPES.join(', ')}, separated by commas.`,
    example: 'customs_hold,demurrage_risk',
  })
  type?: string;

  @QueryEnumList(SEVERITIES, {
    description: `One or more of ${SEVERITIES.join(', ')}, separated by commas.`,
    example: 'high,critical',
  })
  severity?: string;

  @QueryId('shp', { description: 'Those of this shipment.' })
  shipment_id?: string;

  @QueryText({ description: 'Those with exactly this assignee.', example: 'ann@example.com' })
  assignee?: string;

  @Flag({ description: 'True: those of nobody. False: those that have an assignee.' })
  unassigned?: string;

  @QueryTime({ description: 'Those opened then or later.', example: '2026-11-01T00:00:00Z' })
  opened_from?: string;

  @QueryTime({ description: 'Those opened then or earlier.', example: '2026-11-30T23:59:59Z' })
  opened_to?: string;

  @QueryOneOf(EXCEPTION_SORTS, {
    description: '-opened_at (the newest first) by default; -severity: the gravest first, of these the oldest.',
    example: '-severity',
  })
  sort?: string;
}

/** The filters and the sort of a query, normalised: a cursor fits any spelling of the same query. */
export function exceptionListing(query: ListExceptionsDto): Pick<ExceptionListQuery, 'filter' | 'sort'> {
  const { shipment_id, assignee, unassigned, opened_from, opened_to } = query;
  const filter = {
    status: selectedOf(EXCEPTION_STATUSES, query.status),
    type: selectedOf(EXCEPTION_TYPES, query.type),
    severity: selectedOf(SEVERITIES, query.severity),
    shipment_id,
    assignee,
    unassigned: unassigned === undefined ? undefined : unassigned === 'true',
    opened_from,
    opened_to,
  };
  return { filter, sort: (query.sort ?? '-opened_at') as ExceptionSort };
}
