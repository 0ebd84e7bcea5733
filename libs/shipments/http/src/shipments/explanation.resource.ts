import { ApiSchema } from '@nestjs/swagger';
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
import type * as wire from '@tracking/contracts';
import { Shown, ShownTime } from '@tracking/http';

@ApiSchema({ name: 'ExplainedStatus' })
class ExplainedStatusResource implements wire.ExplainedStatus {
  @Shown(String, 'The status.', { enum: [...SHIPMENT_STATUSES] })
  readonly value!: wire.ShipmentStatus;
  @Shown(String, 'The rule by which it came.', { enum: [...STATUS_RULES] })
  readonly rule!: wire.StatusRule;
  @Shown(String, 'The milestone that set it.', { nullable: true })
  readonly milestone_id!: string | null;
}

@ApiSchema({ name: 'ExplainedTime' })
class ExplainedTimeResource implements wire.ExplainedTime {
  @ShownTime('The time.', { nullable: true })
  readonly value!: string | null;
  @Shown(String, 'The rule by which it came.', { enum: [...TIME_RULES] })
  readonly rule!: wire.TimeRule;
  @Shown(String, 'The milestone that set it, or keeps it from moving.', { nullable: true })
  readonly milestone_id!: string | null;
}

class MilestoneEffectResource implements wire.MilestoneEffect {
  @Shown(String, 'What it does.', { enum: [...MILESTONE_RESULTS] })
  readonly result!: wire.MilestoneResult;
  @Shown(String, 'The rule by which it does.', { enum: Object.keys(MILESTONE_RULES) })
  readonly rule!: wire.MilestoneRule;
  @Shown(String, 'The status that it counts as; null where it leaves that alone.', {
    nullable: true,
    enum: [...SHIPMENT_STATUSES],
  })
  readonly counts_as!: wire.ShipmentStatus | null;
}

@ApiSchema({ name: 'MilestoneEffectOnContainer' })
class ContainerEffectResource extends MilestoneEffectResource {
  @Shown(String, 'Number of the container.')
  readonly container_number!: string;
}

@ApiSchema({ name: 'ExplainedMilestone' })
class ExplainedMilestoneResource extends MilestoneEffectResource implements wire.ExplainedMilestone {
  @Shown(String, 'Id of the milestone.')
  readonly milestone_id!: string;
  @Shown(String, 'Code of the catalog.', { enum: [...MILESTONE_CODES] })
  readonly code!: string;
  @Shown(String, 'Whether it happened, or is expected.', { enum: [...CLASSIFIERS] })
  readonly classifier!: wire.Classifier;
  @ShownTime('When it happened, or is expected to.')
  readonly occurred_at!: string;
  @Shown(String, 'Where.', { nullable: true })
  readonly location!: string | null;
  @Shown(String, 'The container that it names; null for all.', { nullable: true })
  readonly container_number!: string | null;
  @Shown([String], 'Fields of the shipment that have their value from it, as `status`, `ata`, `legs[1].eta`.')
  readonly sets!: string[];
  @Shown([ContainerEffectResource], 'Containers for which it does something else, and what.')
  readonly containers!: ContainerEffectResource[];
}

@ApiSchema({ name: 'ExplainedContainer' })
class ExplainedContainerResource {
  @Shown(String, 'Number of the container.')
  readonly number!: string;
  @Shown(ExplainedStatusResource, 'Its status.')
  readonly status!: ExplainedStatusResource;
}

@ApiSchema({ name: 'ResolvedBy' })
class ResolvedByResource implements wire.ResolvedBy {
  @Shown([String], 'Of documents: one of each of these types.', { enum: [...DOCUMENT_TYPES] })
  readonly document_types!: wire.DocumentType[];
  @Shown(
    String,
    'A milestone of one of `codes`, the correction or retraction of one of `milestone_ids`, another value of one of `fields`, …',
    {
      enum: [...RESOLVED_BY],
    },
  )
  readonly by!: wire.ResolvedBy['by'];
  @Shown([String], 'Codes, each of which is enough, for the container of the exception.', {
    enum: [...MILESTONE_CODES],
  })
  readonly codes!: string[];
  @ShownTime('The milestone must not be dated before it; null where that does not matter.', { nullable: true })
  readonly occurred_from!: string | null;
  @Shown([String], 'Milestones to correct.')
  readonly milestone_ids!: string[];
  @Shown(
    [String],
    'Fields of the shipment, or of the container of the exception, as `eta`, `legs[1].etd`, `last_free_day`.',
  )
  readonly fields!: string[];
}

@ApiSchema({ name: 'ExplainedException' })
class ExplainedExceptionResource implements wire.ExplainedException {
  @Shown(String, 'Id of the exception; null until it opens.', { nullable: true })
  readonly exception_id!: string | null;
  @Shown(String, 'Its type.', { enum: [...EXCEPTION_TYPES] })
  readonly type!: string;
  @Shown(String, 'The container that it is about; null for the shipment.', { nullable: true })
  readonly container_number!: string | null;
  @Shown(
    String,
    '`expected`: it will open; `suppressed`: a person resolved it, and what was wrong has not ended since.',
    {
      enum: [...EXPLAINED_EXCEPTION_STATUSES],
    },
  )
  readonly status!: wire.ExplainedException['status'];
  @Shown(String, 'The rule that opened it, or will; null where a person did.', {
    nullable: true,
    enum: [...AUTOMATIC_EXCEPTION_TYPES],
  })
  readonly rule!: string | null;
  @Shown(String, 'Why, for people.', { nullable: true })
  readonly because!: string | null;
  @Shown(String, 'The milestone that showed it.', { nullable: true })
  readonly milestone_id!: string | null;
  @ShownTime('When it will open; null for one that has, and for one that opens with the next write.', {
    nullable: true,
  })
  readonly opens_at!: string | null;
  @Shown(
    [ResolvedByResource],
    'What resolves it, or keeps it from opening, each alone; so does the cancellation of the shipment.',
  )
  readonly resolved_by!: ResolvedByResource[];
}

@ApiSchema({ name: 'ShipmentExplanation' })
export class ShipmentExplanationResource implements wire.ShipmentExplanation {
  @Shown(String, 'Id of the shipment.')
  readonly shipment_id!: string;
  @Shown('integer', 'Version of the shipment that is explained.')
  readonly version!: number;
  @Shown(ExplainedStatusResource, 'Its status.')
  readonly status!: ExplainedStatusResource;
  @Shown(ExplainedTimeResource, 'Estimated departure.')
  readonly etd!: ExplainedTimeResource;
  @Shown(ExplainedTimeResource, 'Estimated arrival.')
  readonly eta!: ExplainedTimeResource;
  @Shown(ExplainedTimeResource, 'Actual departure.')
  readonly atd!: ExplainedTimeResource;
  @Shown(ExplainedTimeResource, 'Actual arrival.')
  readonly ata!: ExplainedTimeResource;
  @Shown([ExplainedContainerResource], 'Its containers.')
  readonly containers!: ExplainedContainerResource[];
  @Shown([ExplainedMilestoneResource], 'All its milestones, in the order of their list.')
  readonly milestones!: ExplainedMilestoneResource[];
  @Shown(
    [ExplainedExceptionResource],
    'Its exceptions that are not resolved, those that will open, and those that a person keeps resolved.',
  )
  readonly exceptions!: ExplainedExceptionResource[];
}
