import { ApiSchema } from '@nestjs/swagger';
import {
  CLASSIFIERS,
  EXCEPTION_TYPES,
  MILESTONE_CODES,
  MILESTONE_SOURCES,
  MODES,
  REASON_CODES,
  SHIPMENT_STATUSES,
} from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { ActorResource, Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'Milestone' })
export class MilestoneResource implements wire.Milestone {
  @Shown(String, 'Service-assigned identifier.')
  readonly id!: string;
  @Shown(String, 'The shipment it belongs to.')
  readonly shipment_id!: string;
  @Shown(String, 'Code of the catalog.', { enum: [...MILESTONE_CODES] })
  readonly code!: string;
  @Shown(String, 'The code for people.')
  readonly label!: string;
  @Shown('integer', 'Place in the catalog.')
  readonly sequence!: number;
  @Shown(String, 'Whether it happened, or is expected.', { enum: [...CLASSIFIERS] })
  readonly classifier!: wire.Classifier;
  @ShownTime('When it happened, or is expected to.')
  readonly occurred_at!: string;
  @Shown(String, 'Free text or a UN/LOCODE.', { nullable: true })
  readonly location!: string | null;
  @Shown(String, 'IANA time zone of the place, for display.', { nullable: true })
  readonly timezone!: string | null;
  @Shown(String, 'Where the milestone comes from.', { enum: [...MILESTONE_SOURCES] })
  readonly source!: wire.MilestoneSource;
  @Shown(String, 'Why it was posted.', { nullable: true, enum: [...REASON_CODES] })
  readonly reason_code!: string | null;
  @Shown(String, 'The client’s own reference.', { nullable: true })
  readonly external_id!: string | null;
  @Shown(String, 'The container it is about; null for all.', { nullable: true })
  readonly container_number!: string | null;
  @Shown(String, 'Name of the vessel.', { nullable: true })
  readonly vessel!: string | null;
  @Shown(String, 'Voyage, flight, train or trip number.', { nullable: true })
  readonly voyage!: string | null;
  @Shown(String, 'A remark.', { nullable: true })
  readonly note!: string | null;
  @ShownTime('When it was recorded.')
  readonly recorded_at!: string;
  @Shown(ActorResource, 'Who recorded it.')
  readonly recorded_by!: ActorResource;
  @ShownTime('When it was taken back.', { nullable: true })
  readonly retracted_at!: string | null;
  @ShownTime('When a newer estimate replaced it.', { nullable: true })
  readonly superseded_at!: string | null;
  @Shown('integer', '1 when recorded, and one more at each correction.')
  readonly revision!: number;
}

@ApiSchema({ name: 'MilestoneWritten' })
export class MilestoneWrittenResource extends MilestoneResource {
  @ShownWarnings()
  readonly warnings!: wire.Warning[];
}

@ApiSchema({ name: 'MilestonePage' })
export class MilestonePageResource implements wire.Page<wire.Milestone> {
  @Shown([MilestoneResource], 'The milestones of this page.')
  readonly data!: MilestoneResource[];
  @Shown(String, 'Send it as `cursor` for the next page, with the same filters.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}

@ApiSchema({ name: 'MilestoneCode' })
export class MilestoneCodeResource implements wire.MilestoneCode {
  @Shown(String, 'The canonical code.', { enum: [...MILESTONE_CODES] })
  readonly code!: string;
  @Shown(String, 'The code for people.')
  readonly label!: string;
  @Shown(String, 'What it means.')
  readonly description!: string;
  @Shown('integer', 'Place in the usual course of a shipment.')
  readonly sequence!: number;
  @Shown([String], 'Modes in which it is usual.', { enum: [...MODES] })
  readonly modes!: wire.Mode[];
  @Shown(String, 'What an actual one makes of the status; null leaves it alone.', {
    nullable: true,
    enum: [...SHIPMENT_STATUSES],
  })
  readonly status!: wire.ShipmentStatus | null;
  @Shown(String, 'Type of the exception that it opens.', { nullable: true, enum: [...EXCEPTION_TYPES] })
  readonly opens_exception!: string | null;
  @Shown(String, 'DCSA Track & Trace code.', { nullable: true })
  readonly dcsa!: string | null;
  @Shown(String, 'X12 315 code.', { nullable: true })
  readonly x12_315!: string | null;
  @Shown(String, 'X12 214 code.', { nullable: true })
  readonly x12_214!: string | null;
  @Shown(String, 'UN/ECE Recommendation 24 code.', { nullable: true })
  readonly rec24!: string | null;
}

@ApiSchema({ name: 'MilestoneCodeList' })
export class MilestoneCodeListResource implements wire.Page<wire.MilestoneCode> {
  @Shown([MilestoneCodeResource], 'The codes of this page, in order; without `limit`, the whole catalog.')
  readonly data!: MilestoneCodeResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
