import { ApiSchema } from '@nestjs/swagger';
import { EVENT_TYPES } from '@tracking/contracts';
import type { Page, Warning } from '@tracking/contracts';
import { Shown, ShownTime, ShownWarnings } from '@tracking/http';
import { REPLAYED_STATUSES, REPLAY_ACTIONS, REPLAY_STATUSES } from '@tracking/webhooks';
import type { WebhookReplay } from '@tracking/webhooks';

@ApiSchema({ name: 'WebhookReplay' })
export class ReplayResource implements WebhookReplay {
  @Shown(String, 'Service-assigned identifier.', { example: 'rpl_7d2a9c1e7qv3n5xw6yz2aabbcc' })
  readonly id!: string;
  @Shown(String, 'Whose deliveries they are.')
  readonly endpoint_id!: string;
  @Shown(String, '`discard` gives them up instead of sending them again.', { enum: [...REPLAY_ACTIONS] })
  readonly action!: WebhookReplay['action'];
  @ShownTime('Only of events created at this time or later; from the first one kept on where null.', { nullable: true })
  readonly since!: string | null;
  @ShownTime('Only of events created at this time or earlier.')
  readonly until!: string;
  @Shown([String], 'Only of events of these types; of all where null.', { nullable: true, enum: [...EVENT_TYPES] })
  readonly event_types!: readonly string[] | null;
  @Shown([String], 'What came to one of these ends.', { enum: [...REPLAYED_STATUSES] })
  readonly statuses!: WebhookReplay['statuses'];
  @Shown([String], 'Only those whose `last_error` has one of these codes; all where null.', { nullable: true })
  readonly reasons!: readonly string[] | null;
  @Shown([String], 'Only these deliveries; null where what else is said decides.', { nullable: true })
  readonly delivery_ids!: readonly string[] | null;
  @Shown(String, 'How far it is.', { enum: [...REPLAY_STATUSES] })
  readonly status!: WebhookReplay['status'];
  @Shown('integer', 'Found so far; all of them once it is completed.')
  readonly matched!: number;
  @Shown('integer', 'Of these, delivered since, or discarded.')
  readonly done!: number;
  @Shown('integer', 'Of these, those whose first attempt failed again: they go on by their new schedule.')
  readonly failed!: number;
  @ShownTime('When it was asked for.')
  readonly created_at!: string;
  @ShownTime('When it came to its end, or was canceled.', { nullable: true })
  readonly completed_at!: string | null;
  @Shown('integer', 'Grows with every change, progress among them.')
  readonly version!: number;
}

@ApiSchema({ name: 'WebhookReplayWritten' })
export class ReplayWrittenResource extends ReplayResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'WebhookReplayPage' })
export class ReplayPageResource implements Page<WebhookReplay> {
  @Shown([ReplayResource], 'The replays of this page.')
  readonly data!: ReplayResource[];
  @Shown(String, 'Send it as `cursor` for the next page, with the same filters.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
