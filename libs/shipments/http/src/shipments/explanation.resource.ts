import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  CLASSIFIERS,
  DOCUMENT_TYPES,
  EXCEPTION_TYPES,
  EXPLAINED_EXCEPTION_STATUSES,
  MILESTONE_CODES,
  MILESTONE_RESULTS,
  MILESTONE_RULES,
  RESOLVED_BY,
  SHIPMENT_STATUSES,
  STATUS_RULES,
  TIME_RULES,
} from '@tracking/contracts';
import { TIME } from '@tracking/http';

@ApiSchema({ name: 'ExplainedStatus' })
class ExplainedStatusResource implements wire.ExplainedStatus {
  @ApiProperty({ description: 'The status.', enum: SHIPMENT_STATUSES })
  readonly value!: wire.ShipmentStatus;
  @ApiProperty({ description: 'The rule by which it came.', enum: STATUS_RULES })
  readonly rule!: wire.StatusRule;
  @ApiProperty({ type: String, nullable: true, description: 'The milestone that set it.' })
  readonly milestone_id!: string | null;
}

@ApiSchema({ name: 'ExplainedTime' })
class ExplainedTimeResource implements wire.ExplainedTime {
  @ApiProperty({ ...TIME, nullable: true, description: 'The time. UTC with milliseconds.' })
  readonly value!: string | null;
  @ApiProperty({ description: 'The rule by which it came.', enum: TIME_RULES })
  readonly rule!: wire.TimeRule;
  @ApiProperty({ type: String, nullable: true, description: 'The milestone that set it, or keeps it from moving.' })
  readonly milestone_id!: string | null;
}

class MilestoneEffectResource implements wire.MilestoneEffect {
  @ApiProperty({ description: 'What it does.', enum: MILESTONE_RESULTS })
  readonly result!: wire.MilestoneResult;
  @ApiProperty({ description: 'The rule by which it does.', enum: Object.keys(MILESTONE_RULES) })
  readonly rule!: wire.MilestoneRule;
  @ApiProperty({
    nullable: true,
    description: 'The status that it counts as; null where it leaves that alone.',
    enum: SHIPMENT_STATUSES,
  })
  readonly counts_as!: wire.ShipmentStatus | null;
}

@ApiSchema({ name: 'MilestoneEffectOnContainer' })
class ContainerEffectResource extends MilestoneEffectResource {
  @ApiProperty({ description: 'Number of the container.' })
  readonly container_number!: string;
}

@ApiSchema({ name: 'ExplainedMilestone' })
class ExplainedMilestoneResource extends MilestoneEffectResource implements wire.ExplainedMilestone {
  @ApiProperty({ description: 'Id of the milestone.' })
  readonly milestone_id!: string;
  @ApiProperty({ description: 'Code of the catalog.', enum: MILESTONE_CODES })
  readonly code!: string;
  @ApiProperty({ description: 'Whether it happened, or is expected.', enum: CLASSIFIERS })
  readonly classifier!: wire.Classifier;
  @ApiProperty({ ...TIME, description: 'When it happened, or is expected to. UTC with milliseconds.' })
  readonly occurred_at!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Where.' })
  readonly location!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'The container that it names; null for all.' })
  readonly container_number!: string | null;
  @ApiProperty({
    type: [String],
    description: 'Fields of the shipment that have their value from it, as `status`, `ata`, `legs[1].eta`.',
  })
  readonly sets!: string[];
  @ApiProperty({
    type: [ContainerEffectResource],
    description: 'Containers for which it does something else, and what.',
  })
  readonly containers!: ContainerEffectResource[];
}

@ApiSchema({ name: 'ExplainedContainer' })
class ExplainedContainerResource {
  @ApiProperty({ description: 'Number of the container.' })
  readonly number!: string;
  @ApiProperty({ type: ExplainedStatusResource, description: 'Its status.' })
  readonly status!: ExplainedStatusResource;
}

@ApiSchema({ name: 'ResolvedBy' })
class ResolvedByResource implements wire.ResolvedBy {
  @ApiProperty({ type: [String], description: 'Of documents: one of each of these types.', enum: DOCUMENT_TYPES })
  readonly document_types!: wire.DocumentType[];
  @ApiProperty({
    description:
      'A milestone of one of `codes`, the correction or retraction of one of `milestone_ids`, another value of one of `fields`, …',
    enum: RESOLVED_BY,
  })
  readonly by!: wire.ResolvedBy['by'];
  @ApiProperty({
    type: [String],
    description: 'Codes, each of which is enough, for the container of the exception.',
    enum: MILESTONE_CODES,
  })
  readonly codes!: string[];
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'The milestone must not be dated before it; null where that does not matter. UTC with milliseconds.',
  })
  readonly occurred_from!: string | null;
  @ApiProperty({ type: [String], description: 'Milestones to correct.' })
  readonly milestone_ids!: string[];
  @ApiProperty({
    type: [String],
    description:
      'Fields of the shipment, or of the container of the exception, as `eta`, `legs[1].etd`, `last_free_day`.',
  })
  readonly fields!: string[];
}

@ApiSchema({ name: 'ExplainedException' })
class ExplainedExceptionResource implements wire.ExplainedException {
  @ApiProperty({ type: String, nullable: true, description: 'Id of the exception; null until it opens.' })
  readonly exception_id!: string | null;
  @ApiProperty({ description: 'Its type.', enum: EXCEPTION_TYPES })
  readonly type!: string;
  @ApiProperty({ type: String, nullable: true, description: 'The container that it is about; null for the shipment.' })
  readonly container_number!: string | null;
  @ApiProperty({
    description:
      '`expected`: it will open; `suppressed`: a person resolved it, and what was wrong has not ended since.',
    enum: EXPLAINED_EXCEPTION_STATUSES,
  })
  readonly status!: wire.ExplainedException['status'];
  @ApiProperty({
    nullable: true,
    description: 'The rule that opened it, or will; null where a person did.',
    enum: AUTOMATIC_EXCEPTION_TYPES,
  })
  readonly rule!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Why, for people.' })
  readonly because!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'The milestone that showed it.' })
  readonly milestone_id!: string | null;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description:
      'When it will open; null for one that has, and for one that opens with the next write. UTC with milliseconds.',
  })
  readonly opens_at!: string | null;
  @ApiProperty({
    type: [ResolvedByResource],
    description: 'What resolves it, or keeps it from opening, each alone; so does the cancellation of the shipment.',
  })
  readonly resolved_by!: ResolvedByResource[];
}

@ApiSchema({ name: 'ShipmentExplanation' })
export class ShipmentExplanationResource implements wire.ShipmentExplanation {
  @ApiProperty({ description: 'Id of the shipment.' })
  readonly shipment_id!: string;
  @ApiProperty({ type: 'integer', description: 'Version of the shipment that is explained.' })
  readonly version!: number;
  @ApiProperty({ type: ExplainedStatusResource, description: 'Its status.' })
  readonly status!: ExplainedStatusResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Estimated departure.' })
  readonly etd!: ExplainedTimeResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Estimated arrival.' })
  readonly eta!: ExplainedTimeResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Actual departure.' })
  readonly atd!: ExplainedTimeResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Actual arrival.' })
  readonly ata!: ExplainedTimeResource;
  @ApiProperty({ type: [ExplainedContainerResource], description: 'Its containers.' })
  readonly containers!: ExplainedContainerResource[];
  @ApiProperty({ type: [ExplainedMilestoneResource], description: 'All its milestones, in the order of their list.' })
  readonly milestones!: ExplainedMilestoneResource[];
  @ApiProperty({
    type: [ExplainedExceptionResource],
    description: 'Its exceptions that are not resolved, those that will open, and those that a person keeps resolved.',
  })
  readonly exceptions!: ExplainedExceptionResource[];
}
