import { ApiSchema } from '@nestjs/swagger';
import { HISTORY_TYPES, MILESTONE_SOURCES, REASON_CODES } from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { FROM_TO, Shown, ShownTime } from '@tracking/http';

@ApiSchema({ name: 'HistoryActor' })
class HistoryActorResource {
  @Shown(String, 'What acted.', { enum: ['user', 'service_account', 'system'] })
  readonly type!: wire.Actor['type'];
  @Shown(String, 'Its id.')
  readonly id!: string;
  @Shown(String, 'What it is called now.', { nullable: true })
  readonly name!: string | null;
}

@ApiSchema({ name: 'HistoryEntry' })
export class HistoryEntryResource implements wire.HistoryEntry {
  @Shown(String, 'That of the event, where the entry itself was announced.', {
    example: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
  })
  readonly id!: string;
  @Shown(String, 'What happened.', { enum: [...HISTORY_TYPES] })
  readonly type!: wire.HistoryType;
  @ShownTime('When it was accepted.')
  readonly at!: string;
  @Shown(HistoryActorResource, 'Who did it.')
  readonly actor!: HistoryActorResource;
  @Shown('object', 'By field, `from` what and `to` what.', { additionalProperties: FROM_TO })
  readonly changes!: wire.HistoryChanges;
  @Shown('integer', 'Version of the shipment right after.')
  readonly version!: number;
}

@ApiSchema({ name: 'HistoryPage' })
export class HistoryPageResource implements wire.Page<wire.HistoryEntry> {
  @Shown([HistoryEntryResource], 'The entries of this page.')
  readonly data!: HistoryEntryResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}

@ApiSchema({ name: 'EtaChange' })
export class EtaChangeResource implements wire.EtaChange {
  @ShownTime('The estimated arrival since then.', { nullable: true })
  readonly eta!: string | null;
  @ShownTime('The one before.', { nullable: true })
  readonly previous_eta!: string | null;
  @Shown(Number, 'By how many hours it moved, to the hundredth; negative: earlier.', { nullable: true })
  readonly slip_hours!: number | null;
  @ShownTime('When it was recorded.')
  readonly reported_at!: string;
  @Shown(String, 'Source of the estimate that holds since; `client`: it was set on the shipment.', {
    enum: [...MILESTONE_SOURCES, 'client'],
  })
  readonly source!: wire.EtaSource;
  @Shown(String, 'The estimate that holds since.', { nullable: true })
  readonly milestone_id!: string | null;
  @Shown(String, 'Why, by that estimate.', { nullable: true, enum: [...REASON_CODES] })
  readonly reason_code!: string | null;
}

@ApiSchema({ name: 'EtaHistoryPage' })
export class EtaHistoryPageResource implements wire.Page<wire.EtaChange> {
  @Shown([EtaChangeResource], 'The changes of this page.')
  readonly data!: EtaChangeResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
