import { ApiSchema } from '@nestjs/swagger';
import { LOAD_TYPES, MODES, MODE_ALIASES } from '@tracking/contracts';
import { Nested, NestedList, OneOf, Text, TextList, TextMap, Timestamp } from '@tracking/http';
import { SHIPMENT_LIMITS } from '@tracking/shipments';

const MODE_VALUES = [...MODES, ...Object.keys(MODE_ALIASES)];
/** More than a shipment may have, since those listed twice are kept once; but not so many that looking costs much. */
const MAX_LISTED_CONTAINERS = 1_000;

@ApiSchema({ name: 'PartyFields' })
export class PartyDto {
  @Text({ description: 'Name of the party.', example: 'Acme Electronics Ltd' })
  name?: string | null;

  @Text({ description: 'Your own reference of the party.', example: 'CUST-1042' })
  external_id?: string | null;
}

@ApiSchema({ name: 'Reference' })
export class ReferenceDto {
  @Text({ description: 'What kind of reference it is.', example: 'purchase_order', required: true })
  type!: string;

  @Text({ description: 'The reference.', example: 'PO-88213', required: true })
  value!: string;
}

/** How goods go from one place to another: in all, and on one leg. */
class JourneyDto {
  @Text({ description: 'Carrier: SCAC, or the two-character IATA code for air and courier.', example: 'MAEU' })
  carrier_scac?: string | null;

  @Text({ description: 'UN/LOCODE, or IATA airport code where the mode allows it.', example: 'CNSHA' })
  origin_port?: string | null;

  @Text({ description: 'UN/LOCODE, or IATA airport code where the mode allows it.', example: 'NLRTM' })
  destination_port?: string | null;

  @Timestamp({ description: 'Estimated departure.', example: '2026-11-21T09:30:00Z' })
  etd?: string | null;

  @Timestamp({ description: 'Estimated arrival.', example: '2026-12-19T18:00:00Z' })
  eta?: string | null;
}

@ApiSchema({ name: 'LegFields' })
export class LegDto extends JourneyDto {
  @OneOf(MODE_VALUES, { description: 'Transport mode of the leg.', example: 'ocean' })
  mode?: string | null;

  @Text({ description: 'Name of the vessel.', example: 'Maersk Honam' })
  vessel?: string | null;

  @Text({ description: 'Voyage, flight, train or trip number.', example: '412W' })
  voyage?: string | null;
}

/**
 * At least one of `external_id`, `house_bill` and `container_numbers` is needed. On an existing shipment omitted fields
 * keep their value, null clears, arrays and objects replace.
 */
@ApiSchema({ name: 'ShipmentFields' })
export class UpsertShipmentDto extends JourneyDto {
  @Text({
    description: 'Your own reference, unique per workspace and environment: the same one again updates that shipment.',
    example: 'TMS-2026-000181',
  })
  external_id?: string | null;

  @OneOf(MODE_VALUES, { description: 'Transport mode; `sea`, `vessel` and `truck` are normalised.', example: 'ocean' })
  mode?: string | null;

  @OneOf(LOAD_TYPES, { description: 'How the cargo is loaded.', example: 'fcl' })
  load_type?: string | null;

  @Text({ description: 'House bill reference.', example: 'HBL-77120' })
  house_bill?: string | null;

  @Text({ description: 'Master bill or air waybill.', example: 'MAEU912345678' })
  master_bill?: string | null;

  @Text({ description: 'Booking number of the carrier.', example: 'BKG-55012' })
  booking_number?: string | null;

  @TextList(MAX_LISTED_CONTAINERS, {
    description: 'Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones.',
    example: ['CSQU3054383'],
  })
  container_numbers?: string[] | null;

  @Nested(PartyDto, { description: 'Who ships.' })
  shipper?: PartyDto | null;

  @Nested(PartyDto, { description: 'Who receives.' })
  consignee?: PartyDto | null;

  @NestedList(ReferenceDto, SHIPMENT_LIMITS.references, { description: 'Further references.' })
  references?: ReferenceDto[] | null;

  @TextMap(SHIPMENT_LIMITS.metadata, { description: 'Your own strings by name.', example: { cost_centre: '4711' } })
  metadata?: Record<string, string> | null;

  @NestedList(LegDto, SHIPMENT_LIMITS.legs, {
    description:
      'The legs in order; without any, one leg from origin to destination. Ports and times that the shipment is not given itself are those of the first and the last one.',
  })
  legs?: LegDto[] | null;
}
