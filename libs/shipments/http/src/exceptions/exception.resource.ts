import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  EXCEPTION_ORIGINS,
  EXCEPTION_STATUSES,
  EXCEPTION_TYPES,
  MANUAL_RESOLUTION_CODES,
  MILESTONE_REASON_CODES,
  RESOLUTION_CODES,
  SEVERITIES,
} from '@tracking/contracts';
import {
  ActorResource,
  BooleanQueryProperty,
  IdProperty,
  DeriveRequestClassFromResource,
  EnumProperty,
  PageDto,
  createPageResourceClass,
  IdQueryProperty,
  EnumQueryProperty,
  TextQueryProperty,
  TimeQueryProperty,
  ResponseSchemaBase,
  selectKnownValuesOfCommaSeparatedList,
  EnumListQueryProperty,
  TextProperty,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';
import { EXCEPTION_SORTS } from '@tracking/read-models';
import type { ExceptionListQuery, ExceptionSort } from '@tracking/read-models';

@ApiSchema({ name: 'ExceptionResolution' })
class ResolutionResource {
  @ApiProperty({ description: 'Reason for the resolution.', enum: RESOLUTION_CODES })
  readonly code!: wire.ResolutionCode;
  @ApiProperty({ type: String, nullable: true, description: 'Free-text note.' })
  readonly note!: string | null;
  @ApiProperty({ type: ActorResource, description: 'Actor of the resolution; `system` for an automatic resolution.' })
  readonly by!: ActorResource;
}

@ApiSchema({ name: 'ShipmentException' })
export class ExceptionResource extends ResponseSchemaBase implements wire.ShipmentException {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the shipment.' })
  readonly shipment_id!: string;
  @TextProperty({
    description: 'Container that the exception concerns; null if it concerns the whole shipment.',
    example: 'CSQU3054383',
    nullable: true,
  })
  readonly container_number!: string | null;
  @EnumProperty(EXCEPTION_TYPES, { description: 'Type of the exception.', example: 'container_damage' })
  readonly type!: wire.ExceptionType;
  @EnumProperty(SEVERITIES, { description: 'Severity; `medium` by default.', example: 'high' })
  readonly severity!: wire.Severity;
  @ApiProperty({ description: 'Processing status of the exception.', enum: EXCEPTION_STATUSES })
  readonly status!: wire.ExceptionStatus;
  @TextProperty({ description: 'Title; by default the label of the type.', example: 'Door bent' })
  readonly title!: string;
  @TextProperty({
    description: 'Human-readable description of the problem.',
    example: 'The left door does not close.',
    nullable: true,
  })
  readonly detail!: string | null;
  @ApiProperty({ description: 'Origin of the exception.', enum: EXCEPTION_ORIGINS })
  readonly detected_by!: wire.ShipmentException['detected_by'];
  @ApiProperty({
    nullable: true,
    description: 'Rule that opened the exception; null if a person opened it.',
    enum: AUTOMATIC_EXCEPTION_TYPES,
  })
  readonly rule!: wire.AutomaticExceptionType | null;
  @IdProperty('mst', { description: 'Milestone of the shipment that shows the problem.', nullable: true })
  readonly milestone_id!: string | null;
  @EnumProperty(MILESTONE_REASON_CODES, {
    description: 'Reason given by the milestone or by the person who opened the exception.',
    example: 'equipment_shortage',
    nullable: true,
  })
  readonly reason_code!: string | null;
  @TextProperty({
    description: 'Person responsible, as your system names them.',
    example: 'kim@example.com',
    nullable: true,
  })
  readonly assignee!: string | null;
  @ApiProperty({ type: 'object', description: 'Values measured by the rule.', additionalProperties: true })
  readonly metrics!: wire.ShipmentException['metrics'];
  @ApiProperty({
    type: ResolutionResource,
    nullable: true,
    description: 'Resolution of the exception; null while it is unresolved.',
  })
  readonly resolution!: ResolutionResource | null;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of opening. UTC with milliseconds.' })
  readonly opened_at!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the first acknowledgement. UTC with milliseconds.',
  })
  readonly acknowledged_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the resolution. UTC with milliseconds.',
  })
  readonly resolved_at!: string | null;
}

@ApiSchema({ name: 'ExceptionFields' })
export class OpenExceptionDto extends DeriveRequestClassFromResource(ExceptionResource, {
  required: ['type'],
  optional: ['severity', 'title', 'detail', 'container_number', 'milestone_id', 'reason_code', 'assignee'],
}) {}

@ApiSchema({ name: 'ExceptionAcknowledgement' })
export class AcknowledgeExceptionDto {
  @TextProperty({
    description: 'Person responsible. If omitted, the assignee stays unchanged.',
    example: 'kim@example.com',
    nullable: true,
  })
  readonly assignee?: string | null;
  @TextProperty({
    description: 'Note for the history of the shipment.',
    example: 'The broker is handling it.',
    nullable: true,
  })
  readonly note?: string | null;
}

@ApiSchema({ name: 'ExceptionResolutionFields' })
export class ResolveExceptionDto {
  @EnumProperty(MANUAL_RESOLUTION_CODES, {
    description: 'Reason for the resolution; `fixed` by default.',
    example: 'waived',
    nullable: true,
  })
  readonly code?: wire.ManualResolutionCode | null;
  @TextProperty({ description: 'Free-text note.', example: 'Repaired at the depot.', nullable: true })
  readonly note?: string | null;
}

@ApiSchema({ name: 'ExceptionWritten' })
export class ExceptionWrittenResource extends IntersectionType(ExceptionResource, WithWarnings) {}

@ApiSchema({ name: 'ExceptionPage' })
export class ExceptionPageResource extends createPageResourceClass(
  ExceptionResource,
  'The exceptions of this page.',
  'Cursor of the next page: send it as `cursor` with the same filters and sort order.',
) {}

/** Query parameters of an exception list. The list contains the exceptions that match all filters. */
export class ListExceptionsDto extends PageDto {
  @EnumListQueryProperty(EXCEPTION_STATUSES, {
    description: `One or more of ${EXCEPTION_STATUSES.join(', ')}, separated by commas.`,
    example: 'open,acknowledged',
  })
  status?: string;

  @EnumListQueryProperty(EXCEPTION_TYPES, {
    description: `One or more of ${EXCEPTION_TYPES.join(', ')}, separated by commas.`,
    example: 'customs_hold,demurrage_risk',
  })
  type?: string;

  @EnumListQueryProperty(SEVERITIES, {
    description: `One or more of ${SEVERITIES.join(', ')}, separated by commas.`,
    example: 'high,critical',
  })
  severity?: string;

  @IdQueryProperty('shp', { description: 'Only exceptions of this shipment.' })
  shipment_id?: string;

  @TextQueryProperty({ description: 'Only exceptions with exactly this assignee.', example: 'ann@example.com' })
  assignee?: string;

  @BooleanQueryProperty({
    description: 'True: only exceptions without an assignee. False: only exceptions with an assignee.',
  })
  unassigned?: string;

  @TimeQueryProperty({ description: 'Only exceptions opened at this time or later.', example: '2026-11-01T00:00:00Z' })
  opened_from?: string;

  @TimeQueryProperty({
    description: 'Only exceptions opened at this time or earlier.',
    example: '2026-11-30T23:59:59Z',
  })
  opened_to?: string;

  @EnumQueryProperty(EXCEPTION_SORTS, {
    description:
      'Order of the list: `-opened_at` (default) is newest first; `-severity` is most severe first, and oldest first within a severity.',
    example: '-severity',
  })
  sort?: string;
}

/**
 * Converts a query to the filter and sort of an exception list. They are normalized, so that a cursor is valid with any
 * spelling of the same query.
 */
export function toExceptionFilterAndSort(query: ListExceptionsDto): Pick<ExceptionListQuery, 'filter' | 'sort'> {
  const { shipment_id, assignee, unassigned, opened_from, opened_to } = query;
  const filter = {
    status: selectKnownValuesOfCommaSeparatedList(EXCEPTION_STATUSES, query.status),
    type: selectKnownValuesOfCommaSeparatedList(EXCEPTION_TYPES, query.type),
    severity: selectKnownValuesOfCommaSeparatedList(SEVERITIES, query.severity),
    shipment_id,
    assignee,
    unassigned: unassigned === undefined ? undefined : unassigned === 'true',
    opened_from,
    opened_to,
  };
  return { filter, sort: (query.sort ?? '-opened_at') as ExceptionSort };
}
