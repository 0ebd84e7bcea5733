import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { HISTORY_TYPES, MILESTONE_SOURCES, REASON_CODES } from '@tracking/contracts';
import { FROM_TO, PageType, TIME } from '@tracking/http';

@ApiSchema({ name: 'HistoryActor' })
class HistoryActorResource {
  @ApiProperty({ description: 'What acted.', enum: ['user', 'service_account', 'system'] })
  readonly type!: wire.Actor['type'];
  @ApiProperty({ description: 'Its id.' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'What it is called now.' })
  readonly name!: string | null;
}

@ApiSchema({ name: 'HistoryEntry' })
export class HistoryEntryResource implements wire.HistoryEntry {
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
  'Send it as `cursor` for the next page.',
) {}

@ApiSchema({ name: 'EtaChange' })
export class EtaChangeResource implements wire.EtaChange {
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
  'Send it as `cursor` for the next page.',
) {}
