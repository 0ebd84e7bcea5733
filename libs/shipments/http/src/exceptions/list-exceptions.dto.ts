import { EXCEPTION_STATUSES, EXCEPTION_TYPES, SEVERITIES } from '@tracking/contracts';
import { Flag, PageDto, QueryId, QueryOneOf, QueryText, QueryTime, SomeOf } from '@tracking/http';
import { EXCEPTION_SORTS } from '@tracking/read-models';

/** Several filters together ask for what fulfils all of them. */
export class ListExceptionsDto extends PageDto {
  @SomeOf(EXCEPTION_STATUSES, {
    description: `One or more of ${EXCEPTION_STATUSES.join(', ')}, separated by commas.`,
    example: 'open,acknowledged',
  })
  status?: string;

  @SomeOf(EXCEPTION_TYPES, {
    description: `One or more of ${EXCEPTION_TYPES.join(', ')}, separated by commas.`,
    example: 'customs_hold,demurrage_risk',
  })
  type?: string;

  @SomeOf(SEVERITIES, {
    description: `One or more of ${SEVERITIES.join(', ')}, separated by commas.`,
    example: 'high,critical',
  })
  severity?: string;

  @QueryId('shp', { description: 'Those of this shipment.' })
  shipment_id?: string;

  @QueryText({ description: 'Those with exactly this assignee.', example: 'ann@example.com' })
  assignee?: string;

  @Flag({ description: 'True: those of nobody. False: those that have an assignee.' })
  unassigned?: string;

  @QueryTime({ description: 'Those opened then or later.', example: '2026-11-01T00:00:00Z' })
  opened_from?: string;

  @QueryTime({ description: 'Those opened then or earlier.', example: '2026-11-30T23:59:59Z' })
  opened_to?: string;

  @QueryOneOf(EXCEPTION_SORTS, {
    description: '-opened_at (the newest first) by default; -severity: the gravest first, of these the oldest.',
    example: '-severity',
  })
  sort?: string;
}
