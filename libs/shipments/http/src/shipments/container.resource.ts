import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { MILESTONE_CODES, SHIPMENT_STATUSES } from '@tracking/contracts';
import {
  CalendarDateProperty,
  DeriveRequestClassFromResource,
  ResponseSchemaBase,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
  createFieldError,
  CheckedProperty,
  checkText,
  createMaxTextLengthCheck,
} from '@tracking/http';
import type { FieldCheck } from '@tracking/http';
import { normaliseCode } from '@tracking/shipments';

@ApiSchema({ name: 'LastMilestone' })
export class LastMilestoneResource implements wire.LastMilestoneSummary {
  @ApiProperty({ description: 'Id of the milestone.' })
  readonly id!: string;
  @ApiProperty({ description: 'Code of the catalog.', enum: MILESTONE_CODES })
  readonly code!: string;
  @ApiProperty({ description: 'Label of the code for people.' })
  readonly label!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of the milestone. UTC with milliseconds.' })
  readonly occurred_at!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Place of the milestone.' })
  readonly location!: string | null;
}

const SIZE_TYPE_PATTERN = /^[0-9A-Z]{4}$/;
const MAX_CONTAINER_SEAL_CHARS = 100;

/** Checks the format of an ISO 6346 code such as `45G1`. Trade codes such as `40HC` have the same format. */
const checkContainerSizeType: FieldCheck = (value, param) => {
  const faults = checkText(value, param);
  if (faults.length > 0 || SIZE_TYPE_PATTERN.test(String(value))) return faults;
  return createFieldError(param, 'invalid_value', 'Must be four letters or digits of ISO 6346, such as 45G1.');
};

@ApiSchema({ name: 'Container' })
export class ContainerResource extends ResponseSchemaBase implements wire.Container {
  @ApiProperty({ description: 'Normalised container number.' })
  readonly number!: string;
  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'True if the check digit is correct; null if this kind of number has none.',
  })
  readonly valid_check_digit!: boolean | null;
  @CheckedProperty(
    checkContainerSizeType,
    {
      description: 'Size and type code of ISO 6346: four letters or digits.',
      example: '45G1',
      nullable: true,
    },
    { type: String, pattern: SIZE_TYPE_PATTERN.source },
    { normalise: (value) => (typeof value === 'string' ? normaliseCode(value) : value) },
  )
  readonly size_type!: string | null;
  @CheckedProperty(
    createMaxTextLengthCheck(MAX_CONTAINER_SEAL_CHARS),
    { description: 'Seal number, or several ones.', example: 'ML-CN4831977', nullable: true },
    { type: String, minLength: 1, maxLength: MAX_CONTAINER_SEAL_CHARS },
  )
  readonly seal_number!: string | null;
  @ApiProperty({ description: 'Status of the container.', enum: SHIPMENT_STATUSES })
  readonly status!: wire.ShipmentStatus;
  @ApiProperty({ type: String, nullable: true, description: 'Milestone that set the status.' })
  readonly status_milestone_id!: string | null;
  @ApiProperty({
    type: LastMilestoneResource,
    nullable: true,
    description: 'Latest actual milestone of the container.',
  })
  readonly last_milestone!: LastMilestoneResource | null;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Time of discharge. UTC with milliseconds.' })
  readonly discharged_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time from which the container is available for pickup. UTC with milliseconds.',
  })
  readonly available_at!: string | null;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Time of gate-out. UTC with milliseconds.' })
  readonly gated_out_at!: string | null;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Time of delivery. UTC with milliseconds.' })
  readonly delivered_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the empty return. UTC with milliseconds.',
  })
  readonly empty_returned_at!: string | null;
  @CalendarDateProperty({
    description: 'Last day without demurrage, as a local date of the place.',
    example: '2026-12-24',
    nullable: true,
  })
  readonly last_free_day!: string | null;
  @CalendarDateProperty({
    description: 'Last day for returning the empty container, as a local date of the place.',
    example: '2027-01-04',
    nullable: true,
  })
  readonly empty_return_by!: string | null;
}

/** JSON merge patch of a container. Omitted fields keep their value; null clears a field. */
@ApiSchema({ name: 'ContainerPatch' })
export class PatchContainerDto extends DeriveRequestClassFromResource(ContainerResource, {
  optional: ['size_type', 'seal_number', 'last_free_day', 'empty_return_by'],
}) {}

@ApiSchema({ name: 'ContainerWritten' })
export class ContainerWrittenResource extends IntersectionType(ContainerResource, WithWarnings) {}
