import { ApiSchema } from '@nestjs/swagger';
import { EVENT_TYPES } from '@tracking/contracts';
import { PageDto, parseTimestamp, QueryId, SomeListed, TextList, Timestamp } from '@tracking/http';
import { DEFAULT_REPLAYED_STATUSES, REPLAYED_STATUSES } from '@tracking/webhooks';
import type { CreateReplay } from '@tracking/webhooks';

/** Codes of errors that are asked for at once. */
const MOST_REASONS = 50;

/** What is sent again; all of it may be left out. */
@ApiSchema({ name: 'WebhookReplayFilter' })
export class ReplayFilterDto {
  @Timestamp({
    description: 'Only of events created at this time or later; from the first one kept on, unless told.',
    example: '2026-11-21T09:30:00Z',
  })
  since?: string | null;

  @Timestamp({
    description: 'Only of events created at this time or earlier; all that there are, unless told, and no later ones.',
    example: '2026-11-22T09:30:00Z',
  })
  until?: string | null;

  @SomeListed(EVENT_TYPES, {
    description: 'Only of events of these types; of all that the endpoint subscribes to, unless told.',
    example: ['milestone.recorded'],
  })
  event_types?: string[] | null;

  @SomeListed(REPLAYED_STATUSES, {
    description: `What came to these ends; \`missed\` is what was never recorded for the endpoint, from before it was made too. ${DEFAULT_REPLAYED_STATUSES.join(' and ')}, unless told.`,
    example: [...DEFAULT_REPLAYED_STATUSES],
  })
  statuses?: string[] | null;

  @TextList(MOST_REASONS, {
    description: 'Only those whose `last_error` has one of these codes; what was missed has none.',
    example: ['timeout'],
  })
  reasons?: string[] | null;
}

/** Each part in one form; what is left out or null is as by default. */
export function replayFilter({
  since,
  until,
  event_types,
  statuses,
  reasons,
}: ReplayFilterDto): CreateReplay['filter'] {
  const [from, to] = [since && parseTimestamp(since), until && parseTimestamp(until)];
  return {
    ...(from && { since: from }),
    ...(to && { until: to }),
    ...(event_types && { event_types: EVENT_TYPES.filter((type) => event_types.includes(type)) }),
    ...(statuses && { statuses: REPLAYED_STATUSES.filter((status) => statuses.includes(status)) }),
    ...(reasons && { reasons: [...new Set(reasons)] }),
  };
}

export class ListReplaysDto extends PageDto {
  @QueryId('whe', { description: 'Only those of this endpoint.' })
  endpoint_id?: string;
}
