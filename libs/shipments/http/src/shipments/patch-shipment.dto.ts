import { ApiSchema } from '@nestjs/swagger';
import { TextMapPatch, Timestamp } from '@tracking/http';
import { UpsertShipmentDto } from './upsert-shipment.dto.ts';

/** More names than a shipment may have, since some of them may be removed by the same patch. */
const MAX_PATCHED_STRINGS = 1_000;

/**
 * A JSON merge patch (RFC 7396): what is left out stays, null clears, the members of `shipper`, `consignee` and `metadata`
 * are merged one by one, arrays are replaced. `etd`, `eta` and `legs` are set also where they are what was sent before.
 */
@ApiSchema({ name: 'ShipmentPatch' })
export class PatchShipmentDto extends UpsertShipmentDto {
  @Timestamp({
    description: 'The first estimated arrival known; null: the present one.',
    example: '2026-12-19T18:00:00Z',
  })
  original_eta?: string | null;
}

const isMerged = TextMapPatch(MAX_PATCHED_STRINGS, {
  description: 'Your own strings by name; null removes one.',
  example: { cost_centre: '4711', old: null },
});
isMerged(PatchShipmentDto.prototype, 'metadata');
