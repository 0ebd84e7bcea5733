import { Inject, Injectable } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  MILESTONE_CLASSIFIER_VALUES,
  DOCUMENT_TYPES,
  EXCEPTION_TYPES,
  EXPLAINED_EXCEPTION_STATUSES,
  HISTORY_ENTRY_TYPES,
  MILESTONE_CODES,
  MILESTONE_EFFECT_KINDS,
  MILESTONE_RESULTS_BY_RULE,
  MILESTONE_SOURCES,
  MILESTONE_REASON_CODES,
  RESOLUTION_TRIGGERS,
  SHIPMENT_STATUSES,
  STATUS_RULE_NAMES,
  TIME_PRECISIONS,
  RULES_DECIDING_SHIPMENT_TIMES,
} from '@tracking/contracts';
import { CHANGE_SCHEMA, createPageResourceClass, RESPONSE_TIME_SCHEMA } from '@tracking/http';
import { RecentLookUpCache } from '@tracking/resilience';
import { ACTOR_NAMES_INJECTION_TOKEN } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';

/** Name that the history shows for actions of the service itself. */
const SYSTEM_ACTOR_NAME = 'System';

/** Finds current names of actors. Each name is looked up at most once in a few seconds. */
@Injectable()
export class ActorNameFinder {
  private readonly recent = new RecentLookUpCache<string | null>();

  constructor(
    @Inject(ACTOR_NAMES_INJECTION_TOKEN)
    private readonly identity: Pick<ShipmentsHttpDependencies['identity'], 'namesOf'>,
  ) {}

  /** Returns names by id; null for an actor without a name or an unknown actor. @throws UnavailableError */
  async readActorNames(actors: readonly wire.Actor[]): Promise<ReadonlyMap<string, string | null>> {
    const distinct = new Map(actors.map((actor) => [actor.id, actor]));
    const named = [...distinct.values()].map(async (actor) => [actor.id, await this.findActorName(actor)] as const);
    return new Map(await Promise.all(named));
  }

  private async findActorName(actor: wire.Actor): Promise<string | null> {
    if (actor.type === 'system') return SYSTEM_ACTOR_NAME;
    const found = await this.recent.getOrLookUpValue(actor.id, async () =>
      (await this.identity.namesOf([actor])).get(actor.id),
    );
    return found ?? null;
  }
}

@ApiSchema({ name: 'HistoryActor' })
class HistoryActorResource {
  @ApiProperty({ description: 'Kind of actor.', enum: ['user', 'service_account', 'system'] })
  readonly type!: wire.Actor['type'];
  @ApiProperty({ description: 'Id of the actor.' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Current name of the actor.' })
  readonly name!: string | null;
}

@ApiSchema({ name: 'HistoryEntry' })
class HistoryEntryResource implements wire.HistoryEntry {
  @ApiProperty({
    description: 'Id of the event that announced the entry; otherwise the id of the entry itself.',
    example: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
  })
  readonly id!: string;
  @ApiProperty({ description: 'Type of the entry.', enum: HISTORY_ENTRY_TYPES })
  readonly type!: wire.HistoryType;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time at which the change was accepted. UTC with milliseconds.',
  })
  readonly at!: string;
  @ApiProperty({ type: HistoryActorResource, description: 'Actor of the change.' })
  readonly actor!: HistoryActorResource;
  @ApiProperty({
    type: 'object',
    description: 'Old and new value (`from`, `to`) of each changed field.',
    additionalProperties: CHANGE_SCHEMA,
  })
  readonly changes!: wire.HistoryChanges;
  @ApiProperty({ type: 'integer', description: 'Version of the shipment after the change.' })
  readonly version!: number;
}

@ApiSchema({ name: 'HistoryPage' })
export class HistoryPageResource extends createPageResourceClass(
  HistoryEntryResource,
  'The entries of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

@ApiSchema({ name: 'EtaChange' })
class EtaChangeResource implements wire.EtaChange {
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'New ETA. UTC with milliseconds.' })
  readonly eta!: string | null;
  @ApiProperty({ description: 'Precision of `eta`.', enum: TIME_PRECISIONS })
  readonly eta_precision!: wire.TimePrecision;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Former ETA. UTC with milliseconds.' })
  readonly previous_eta!: string | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Hours by which the arrival moved, rounded to 0.01; negative if earlier.',
  })
  readonly slip_hours!: number | null;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of recording. UTC with milliseconds.' })
  readonly reported_at!: string;
  @ApiProperty({
    description: 'Source of the new estimate; `client` if it was set on the shipment.',
    enum: [...MILESTONE_SOURCES, 'client'],
  })
  readonly source!: wire.EtaSource;
  @ApiProperty({ type: String, nullable: true, description: 'Milestone with the new estimate.' })
  readonly milestone_id!: string | null;
  @ApiProperty({ nullable: true, description: 'Reason for the new estimate.', enum: MILESTONE_REASON_CODES })
  readonly reason_code!: string | null;
}

@ApiSchema({ name: 'EtaHistoryPage' })
export class EtaHistoryPageResource extends createPageResourceClass(
  EtaChangeResource,
  'The changes of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

@ApiSchema({ name: 'ExplainedStatus' })
class ExplainedStatusResource implements wire.ExplainedStatus {
  @ApiProperty({ description: 'Status.', enum: SHIPMENT_STATUSES })
  readonly value!: wire.ShipmentStatus;
  @ApiProperty({ description: 'Rule that determined the value.', enum: STATUS_RULE_NAMES })
  readonly rule!: wire.StatusRule;
  @ApiProperty({ type: String, nullable: true, description: 'Milestone that set the value.' })
  readonly milestone_id!: string | null;
}

@ApiSchema({ name: 'ExplainedTime' })
class ExplainedTimeResource implements wire.ExplainedTime {
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, nullable: true, description: 'Time. UTC with milliseconds.' })
  readonly value!: string | null;
  @ApiProperty({ description: 'Rule that determined the value.', enum: RULES_DECIDING_SHIPMENT_TIMES })
  readonly rule!: wire.TimeRule;
  @ApiProperty({ type: String, nullable: true, description: 'Milestone that set the time, or that prevents a change.' })
  readonly milestone_id!: string | null;
}

class MilestoneEffectResource implements wire.MilestoneEffect {
  @ApiProperty({ description: 'Effect of the milestone.', enum: MILESTONE_EFFECT_KINDS })
  readonly result!: wire.MilestoneResult;
  @ApiProperty({ description: 'Rule that determined the effect.', enum: Object.keys(MILESTONE_RESULTS_BY_RULE) })
  readonly rule!: wire.MilestoneRule;
  @ApiProperty({
    nullable: true,
    description: 'Status that the milestone stands for; null if it does not affect the status.',
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
class ExplainedMilestoneResource extends MilestoneEffectResource implements wire.MilestoneWithExplainedEffect {
  @ApiProperty({ description: 'Id of the milestone.' })
  readonly milestone_id!: string;
  @ApiProperty({ description: 'Code of the catalog.', enum: MILESTONE_CODES })
  readonly code!: string;
  @ApiProperty({
    description: 'Certainty of the milestone: `actual`, `estimated` or `planned`.',
    enum: MILESTONE_CLASSIFIER_VALUES,
  })
  readonly classifier!: wire.Classifier;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time of the milestone, actual or expected. UTC with milliseconds.',
  })
  readonly occurred_at!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Place of the milestone.' })
  readonly location!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Container of the milestone; null for all containers.' })
  readonly container_number!: string | null;
  @ApiProperty({
    type: [String],
    description: 'Fields of the shipment whose value comes from the milestone, such as `status`, `ata`, `legs[1].eta`.',
  })
  readonly sets!: string[];
  @ApiProperty({
    type: [ContainerEffectResource],
    description: 'Containers for which the effect differs, with that effect.',
  })
  readonly containers!: ContainerEffectResource[];
}

@ApiSchema({ name: 'ExplainedContainer' })
class ExplainedContainerResource {
  @ApiProperty({ description: 'Number of the container.' })
  readonly number!: string;
  @ApiProperty({ type: ExplainedStatusResource, description: 'Status.' })
  readonly status!: ExplainedStatusResource;
}

@ApiSchema({ name: 'ResolvedBy' })
class ResolvedByResource implements wire.ExceptionResolutionConditions {
  @ApiProperty({
    type: [String],
    description: 'Required document types: one document of each resolves the exception.',
    enum: DOCUMENT_TYPES,
  })
  readonly document_types!: wire.DocumentType[];
  @ApiProperty({
    description:
      'Kind of change that resolves the exception: a milestone with one of `codes`, a correction or retraction of one of `milestone_ids`, a new value of one of `fields`, and others.',
    enum: RESOLUTION_TRIGGERS,
  })
  readonly by!: wire.ExceptionResolutionConditions['by'];
  @ApiProperty({
    type: [String],
    description: 'Milestone codes, each of which resolves the exception, for the same container.',
    enum: MILESTONE_CODES,
  })
  readonly codes!: string[];
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Earliest time of the resolving milestone; null if its time does not matter. UTC with milliseconds.',
  })
  readonly occurred_from!: string | null;
  @ApiProperty({ type: [String], description: 'Milestones whose correction resolves the exception.' })
  readonly milestone_ids!: string[];
  @ApiProperty({
    type: [String],
    description:
      "Fields of the shipment, or of the exception's container, such as `eta`, `legs[1].etd`, `last_free_day`.",
  })
  readonly fields!: string[];
}

@ApiSchema({ name: 'ExplainedException' })
class ExplainedExceptionResource implements wire.ExplainedException {
  @ApiProperty({ type: String, nullable: true, description: 'Id of the exception; null until it opens.' })
  readonly exception_id!: string | null;
  @ApiProperty({ description: 'Type of the exception.', enum: EXCEPTION_TYPES })
  readonly type!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Container that the exception concerns; null for the whole shipment.',
  })
  readonly container_number!: string | null;
  @ApiProperty({
    description:
      'Status. `expected`: the exception will open; `suppressed`: a person resolved it, and its cause has not ended since.',
    enum: EXPLAINED_EXCEPTION_STATUSES,
  })
  readonly status!: wire.ExplainedException['status'];
  @ApiProperty({
    nullable: true,
    description: 'Rule that opened or will open the exception; null if a person opened it.',
    enum: AUTOMATIC_EXCEPTION_TYPES,
  })
  readonly rule!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Human-readable reason.' })
  readonly because!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Milestone that shows the cause.' })
  readonly milestone_id!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description:
      'Time at which the exception will open; null if it is open, or opens with the next write. UTC with milliseconds.',
  })
  readonly opens_at!: string | null;
  @ApiProperty({
    type: [ResolvedByResource],
    description:
      'Changes that resolve the exception or prevent it, each on its own. Cancelling the shipment does so too.',
  })
  readonly resolved_by!: ResolvedByResource[];
}

@ApiSchema({ name: 'ShipmentExplanation' })
export class ShipmentExplanationResource implements wire.ShipmentExplanation {
  @ApiProperty({ description: 'Id of the shipment.' })
  readonly shipment_id!: string;
  @ApiProperty({ type: 'integer', description: 'Version of the explained shipment.' })
  readonly version!: number;
  @ApiProperty({ type: ExplainedStatusResource, description: 'Status.' })
  readonly status!: ExplainedStatusResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Estimated departure.' })
  readonly etd!: ExplainedTimeResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Estimated arrival.' })
  readonly eta!: ExplainedTimeResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Actual departure.' })
  readonly atd!: ExplainedTimeResource;
  @ApiProperty({ type: ExplainedTimeResource, description: 'Actual arrival.' })
  readonly ata!: ExplainedTimeResource;
  @ApiProperty({ type: [ExplainedContainerResource], description: 'Containers of the shipment.' })
  readonly containers!: ExplainedContainerResource[];
  @ApiProperty({ type: [ExplainedMilestoneResource], description: 'All milestones of the shipment, in list order.' })
  readonly milestones!: ExplainedMilestoneResource[];
  @ApiProperty({
    type: [ExplainedExceptionResource],
    description: 'Unresolved exceptions, expected ones, and those that a person resolved while their cause continues.',
  })
  readonly exceptions!: ExplainedExceptionResource[];
}
