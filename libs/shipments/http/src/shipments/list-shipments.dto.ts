import { INCOTERMS, MODES, MODE_ALIASES, SHIPMENT_STATUSES } from '@tracking/contracts';
import {
  Flag,
  MAX_TEXT,
  PageDto,
  QueryList,
  QueryOneOf,
  QueryText,
  QueryTime,
  SomeOf,
  fault,
  field,
  idOf,
  text,
} from '@tracking/http';
import type { FieldCheck, FieldOptions } from '@tracking/http';
import { SHIPMENT_SORT_FIELDS, wordsOf } from '@tracking/read-models';

const MODE_VALUES = [...MODES, ...Object.keys(MODE_ALIASES)];
const SORTS = SHIPMENT_SORT_FIELDS.flatMap((name) => [name, `-${name}`]);
const MAX_WORDS = 10;
const MAX_IDS = 100;

const words: FieldCheck = (value, param) => {
  const faults = text(value, param);
  if (faults.length > 0) return faults;
  const count = new Set(wordsOf(String(value))).size;
  if (count === 0) return fault(param, 'invalid_value', 'Must hold a letter or a digit.');
  return count <= MAX_WORDS ? [] : fault(param, 'invalid_value', `Must have at most ${MAX_WORDS} different words.`);
};

const Words = (options: FieldOptions): PropertyDecorator =>
  field(words, { ...options, required: false }, { type: String, minLength: 1, maxLength: MAX_TEXT });

/** Several filters together ask for what fulfils all of them. */
export class ListShipmentsDto extends PageDto {
  @QueryList(idOf('shp'), MAX_IDS, { description: `Those with these ids: 1 to ${MAX_IDS}, separated by commas.` })
  id?: string;

  @SomeOf(SHIPMENT_STATUSES, {
    description: `One or more of ${SHIPMENT_STATUSES.join(', ')}, separated by commas.`,
    example: 'in_transit',
  })
  status?: string;

  @Flag({ description: 'True: those that are neither delivered or beyond, nor cancelled. False: the others.' })
  active?: string;

  @Flag({ description: 'Whether an exception is open or acknowledged.' })
  has_open_exceptions?: string;

  @QueryOneOf(MODE_VALUES, { description: 'Transport mode of the shipment.', example: 'ocean' })
  mode?: string;

  @QueryOneOf(INCOTERMS, { description: 'Those with this rule of Incoterms.', example: 'FOB' })
  incoterm?: string;

  @QueryText({ description: 'Only the shipment with this reference of yours.', example: 'TMS-2026-000181' })
  external_id?: string;

  @QueryText({ description: 'Those with this house bill.', example: 'HBL-77120' })
  house_bill?: string;

  @QueryText({ description: 'Those with this master bill or air waybill.', example: 'MAEU912345678' })
  master_bill?: string;

  @QueryText({ description: 'Those with this booking number.', example: 'BKG-55012' })
  booking_number?: string;

  @QueryText({ description: 'Those with a further reference of this value, of whatever type.', example: 'PO-88213' })
  reference?: string;

  @QueryText({ description: 'Those with this external_id of the shipper.', example: 'CUST-1042' })
  shipper?: string;

  @QueryText({ description: 'Those with this external_id of the consignee.', example: 'CUST-1042' })
  consignee?: string;

  @QueryText({ description: 'Those that have this container.', example: 'CSQU3054383' })
  container_number?: string;

  @QueryText({ description: 'Those of this carrier: SCAC or IATA code.', example: 'MAEU' })
  carrier_scac?: string;

  @QueryText({ description: 'Those from here: UN/LOCODE or IATA airport code.', example: 'CNSHA' })
  origin_port?: string;

  @QueryText({ description: 'Those to here: UN/LOCODE or IATA airport code.', example: 'NLRTM' })
  destination_port?: string;

  @QueryTime({ description: 'Those with an eta then or later.', example: '2026-12-01T00:00:00Z' })
  eta_from?: string;

  @QueryTime({ description: 'Those with an eta then or earlier.', example: '2026-12-31T23:59:59Z' })
  eta_to?: string;

  @QueryTime({ description: 'Those created then or later.', example: '2026-11-01T00:00:00Z' })
  created_from?: string;

  @QueryTime({ description: 'Those created then or earlier.', example: '2026-11-30T23:59:59Z' })
  created_to?: string;

  @QueryTime({ description: 'Those that changed then or later.', example: '2026-11-21T09:30:00Z' })
  updated_since?: string;

  @Words({
    description: `At most ${MAX_WORDS} words, each the beginning of a word in references, containers, names of parties or vessels.`,
    example: 'honam po-88',
  })
  q?: string;

  @QueryOneOf(SORTS, {
    description: 'What to sort by, with - descending; -created_at by default. Shipments without an eta come last.',
    example: '-updated_at',
  })
  sort?: string;
}
