import { Inject, Injectable } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import {
  AUTOMATIC_EXCEPTION_TYPES,
  CLASSIFIERS,
  DOCUMENT_TYPES,
  EXCEPTION_TYPES,
  EXPLAINED_EXCEPTION_STATUSES,
  HISTORY_TYPES,
  MILESTONE_CODES,
  MILESTONE_RESULTS,
  MILESTONE_RULES,
  MILESTONE_SOURCES,
  REASON_CODES,
  RESOLVED_BY,
  SHIPMENT_STATUSES,
  STATUS_RULES,
  TIME_RULES,
} from '@tracking/contracts';
import { FROM_TO, PageType, TIME } from '@tracking/http';
import { RecentLookUps } from '@tracking/resilience';
import { IDENTITY } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';

/** Name of the platform as an actor. */
const SYSTEM = 'System';

/** Current names of actors. Each is looked up at most once in a few seconds. */
@Injectable()
export class ActorNames {
  private readonly recent = new RecentLookUps<string | null>();

  constructor(@Inject(IDENTITY) private readonly identity: Pick<ShipmentsHttpDependencies['identity'], 'namesOf'>) {}

  /** Names by id; null for an actor who has no name or is unknown. @throws Unavailable */
  async of(actors: readonly wire.Actor[]): Promise<ReadonlyMap<string, string | null>> {
    const distinct = new Map(actors.map((actor) => [actor.id, actor]));
    const named = [...distinct.values()].map(async (actor) => [actor.id, await this.nameOf(actor)] as const);
    return new Map(await Promise.all(named));
  }

  private async nameOf(actor: wire.Actor): Promise<string | null> {
    if (actor.type === 'system') return SYSTEM;
    const found = await this.recent.find(actor.id, async () => (await this.identity.namesOf([actor])).get(actor.id));
    return found ?? null;
  }
}

@ApiSchema({ name: 'HistoryActor' })
class HistoryActorResource {
  @ApiProperty({ description: 'What acted.', enum: ['user', 'service_account', 'system'] })
  readonly type!: wire.Actor['type'];
  @ApiProperty({ description: 'Its id.' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Present name of the actor.' })
  readonly name!: string | null;
}

@ApiSchema({ name: 'HistoryEntry' })
class HistoryEntryResource implements wire.HistoryEntry {
  @ApiProperty({
    description: 'That of the event, where the entry itself was announced.',
    example: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
  })
  readonly id!: string;
  @ApiProperty({ description: 'What happened.', enum: HISTORY_TYPES })
  readonly type!: wire.HistoryType;
  @ApiProperty({ ...TIME, description: 'When it was accepted. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({ type: HistoryActorResource, description: 'Who did it.' })
  readonly actor!: HistoryActorResource;
  @ApiProperty({ type: 'object', description: 'By field, `from` what and `to` what.', additionalProperties: FROM_TO })
  readonly changes!: wire.HistoryChanges;
  @ApiProperty({ type: 'integer', description: 'Version of the shipment right after.' })
  readonly version!: number;
}

@ApiSchema({ name: 'HistoryPage' })
export class HistoryPageResource extends PageType(
  HistoryEntryResource,
  'The entries of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

@ApiSchema({ name: 'EtaChange' })
class EtaChangeResource implements wire.EtaChange {
  @ApiProperty({ ...TIME, nullable: true, description: 'The estimated arrival since then. UTC with milliseconds.' })
  readonly eta!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'The one before. UTC with milliseconds.' })
  readonly previous_eta!: string | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'By how many hours it moved, to the hundredth; negative: earlier.',
  })
  readonly slip_hours!: number | null;
  @ApiProperty({ ...TIME, description: 'When it was recorded. UTC with milliseconds.' })
  readonly reported_at!: string;
  @ApiProperty({
    description: 'Source of the estimate that holds since; `client`: it was set on the shipment.',
    enum: [...MILESTONE_SOURCES, 'client'],
  })
  readonly source!: wire.EtaSource;
  @ApiProperty({ type: String, nullable: true, description: 'The estimate that holds since.' })
  readonly milestone_id!: string | null;
  @ApiProperty({ nullable: true, description: 'Why, by that estimate.', enum: REASON_CODES })
  readonly reason_code!: string | null;
}

@ApiSchema({ name: 'EtaHistoryPage' })
export class EtaHistoryPageResource extends PageType(
  EtaChangeResource,
  'The changes of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

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
