import { ApiSchema } from '@nestjs/swagger';
import { CLASSIFIERS, MILESTONE_SOURCES, REASON_CODES } from '@tracking/contracts';
import { OneOf, Text, Timestamp, TimeZone } from '@tracking/http';
import { MilestoneCode } from './milestone-code.ts';

/** What may be left out of a milestone. */
class MilestoneDetailsDto {
  @OneOf(REASON_CODES, { description: 'Why it is posted.', example: 'carrier_feed_unavailable' })
  reason_code?: string | null;

  @Text({ description: 'Free text; a UN/LOCODE is recognised.', example: 'CNSHA' })
  location?: string | null;

  @OneOf(CLASSIFIERS, { description: '`actual` unless said otherwise.', example: 'actual' })
  classifier?: string | null;

  @Text({ description: 'Your own reference: the same one again corrects that milestone.', example: 'EVT-9981' })
  external_id?: string | null;

  @Text({ description: 'A container of the shipment; without one it counts for all.', example: 'CSQU3054383' })
  container_number?: string | null;

  @Text({ description: 'Name of the vessel.', example: 'Maersk Honam' })
  vessel?: string | null;

  @Text({ description: 'Voyage, flight, train or trip number.', example: '412W' })
  voyage?: string | null;

  @Text({ description: 'A remark.' })
  note?: string | null;

  @TimeZone({ description: 'IANA time zone of the place, for display.', example: 'Asia/Shanghai' })
  timezone?: string | null;
}

const CODE = { description: 'Code of the catalog, see GET /v1/milestone_codes.', example: 'vessel_departed' } as const;
const OCCURRED_AT = { description: 'When it happened.', example: '2026-11-21T09:30:00+08:00' } as const;

@ApiSchema({ name: 'MilestoneFields' })
export class RecordMilestoneDto extends MilestoneDetailsDto {
  @MilestoneCode({ ...CODE, required: true })
  code!: string;

  @Timestamp({ ...OCCURRED_AT, required: true })
  occurred_at!: string;

  @OneOf(MILESTONE_SOURCES, { description: '`manual` unless the key may post for feeds.', example: 'manual' })
  source?: string | null;
}

/** A JSON merge patch: what is left out stays as it is. Who said so is no matter of correction. */
@ApiSchema({ name: 'MilestoneChanges' })
export class CorrectMilestoneDto extends MilestoneDetailsDto {
  @MilestoneCode({ ...CODE, kept: true })
  code?: string;

  @Timestamp({ ...OCCURRED_AT, kept: true })
  occurred_at?: string;
}
