import type { UseFormReturnType } from '@mantine/form';
import type { BodyOf, Shipment } from '@tracking/client';
import type { LoadType, Mode } from '../../values/codes.ts';
import { toTimeOrDate } from '../../values/places.ts';
import { type PlainFieldName, createRecordOfPlainShipmentFields } from '../plain-fields.ts';

/**
 * Values of one leg in the shipment form. An empty string stands for an unknown value. `etd` and `eta` are times in UTC,
 * or dates of whole days.
 */
export interface LegValues {
  readonly mode: Mode | null;
  readonly carrier_scac: string;
  readonly vessel: string;
  readonly voyage: string;
  readonly origin_port: string | null;
  readonly destination_port: string | null;
  readonly etd: string | null;
  readonly eta: string | null;
}
interface PartyValues {
  readonly name: string;
  readonly external_id: string;
}
export interface NameValuePair {
  readonly name: string;
  readonly value: string;
}
/** Values of all fields of the shipment form. */
export interface ShipmentFormValues extends Readonly<Record<PlainFieldName, string>> {
  readonly external_id: string;
  readonly mode: Mode | null;
  readonly load_type: LoadType | null;
  readonly container_numbers: readonly string[];
  readonly carrier_scac: string;
  readonly origin_port: string | null;
  readonly destination_port: string | null;
  readonly etd: string | null;
  readonly eta: string | null;
  readonly shipper: PartyValues;
  readonly consignee: PartyValues;
  readonly references: readonly { readonly type: string; readonly value: string }[];
  readonly metadata: readonly NameValuePair[];
  readonly legs: readonly LegValues[];
}
export type ShipmentForm = UseFormReturnType<ShipmentFormValues>;
export type ShipmentField = keyof ShipmentFormValues;
export type ShipmentBody = BodyOf<'upsertShipment'>;
export type ShipmentPatch = BodyOf<'changeShipment'>;

const EMPTY_PARTY_VALUES: PartyValues = { name: '', external_id: '' };
export const EMPTY_LEG_VALUES: LegValues = {
  mode: null,
  carrier_scac: '',
  vessel: '',
  voyage: '',
  origin_port: null,
  destination_port: null,
  etd: null,
  eta: null,
};
export const EMPTY_SHIPMENT_VALUES: ShipmentFormValues = {
  external_id: '',
  mode: null,
  load_type: null,
  ...createRecordOfPlainShipmentFields(() => ''),
  container_numbers: [],
  carrier_scac: '',
  origin_port: null,
  destination_port: null,
  etd: null,
  eta: null,
  shipper: EMPTY_PARTY_VALUES,
  consignee: EMPTY_PARTY_VALUES,
  references: [],
  metadata: [],
  legs: [],
};
export const SHIPMENT_FIELD_NAMES = Object.keys(EMPTY_SHIPMENT_VALUES) as readonly ShipmentField[];

/** Labels of the shipment's fields, for the form and its error messages. */
export const SHIPMENT_FIELD_LABELS: Readonly<Record<ShipmentField, string>> = {
  external_id: 'Your reference',
  mode: 'Mode',
  load_type: 'Load type',
  ...createRecordOfPlainShipmentFields((_name, { label }) => label),
  container_numbers: 'Containers',
  carrier_scac: 'Carrier',
  origin_port: 'Origin',
  destination_port: 'Destination',
  etd: 'Departure (ETD)',
  eta: 'Arrival (ETA)',
  shipper: 'Shipper',
  consignee: 'Consignee',
  references: 'References',
  metadata: 'Custom fields',
  legs: 'Legs',
};

export function toShipmentFormValues(shipment: Shipment): ShipmentFormValues {
  return {
    external_id: shipment.external_id ?? '',
    mode: shipment.mode,
    load_type: shipment.load_type,
    ...createRecordOfPlainShipmentFields((name) => shipment[name] ?? ''),
    container_numbers: shipment.container_numbers,
    carrier_scac: shipment.carrier_scac ?? '',
    origin_port: shipment.origin_port,
    destination_port: shipment.destination_port,
    ...toExpectedTimeFormValues(shipment),
    shipper: toPartyValues(shipment.shipper),
    consignee: toPartyValues(shipment.consignee),
    references: shipment.references.map(({ type, value }) => ({ type, value })),
    metadata: Object.entries(shipment.metadata ?? {}).map(([name, value]) => ({ name, value })),
    legs: shipment.legs.map((leg) => ({
      mode: leg.mode,
      carrier_scac: leg.carrier_scac ?? '',
      vessel: leg.vessel ?? '',
      voyage: leg.voyage ?? '',
      origin_port: leg.origin_port,
      destination_port: leg.destination_port,
      ...toExpectedTimeFormValues(leg),
    })),
  };
}

type Journey = Pick<Shipment, 'etd' | 'etd_precision' | 'eta' | 'eta_precision' | 'origin_port' | 'destination_port'>;

/** Converts expected times to values of the form. A whole day is a date. The places of the ports must be loaded. */
function toExpectedTimeFormValues(journey: Journey): Pick<LegValues, 'etd' | 'eta'> {
  return {
    etd: toTimeOrDate(journey.etd, journey.etd_precision, journey.origin_port),
    eta: toTimeOrDate(journey.eta, journey.eta_precision, journey.destination_port),
  };
}

function toPartyValues(party: Shipment['shipper']): PartyValues {
  return { name: party?.name ?? '', external_id: party?.external_id ?? '' };
}

/** Builds the request body from the values of the form. Empty fields are left out. */
export function toShipmentRequestBody(values: ShipmentFormValues): ShipmentBody {
  const all = Object.fromEntries(SHIPMENT_FIELD_NAMES.map((field) => [field, toApiValueOfFormField(values, field)]));
  const isFilled = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => isFilled(value)));
}

/** Converts the value of a form field to its API value. For an empty field, the result is null or an empty list. */
function toApiValueOfFormField(values: ShipmentFormValues, field: ShipmentField): unknown {
  const value = values[field];
  if (typeof value === 'string' || value === null) return trimOrNull(value);
  if (field === 'shipper' || field === 'consignee') return toApiParty(values[field]);
  if (field === 'metadata') {
    const named = values.metadata.map(({ name, value: text }) => [name.trim(), text] as const);
    return named.length === 0 ? null : Object.fromEntries(named);
  }
  if (field === 'legs') return values.legs.map(toApiLeg);
  if (field === 'references')
    return values.references.map(({ type, value: text }) => ({ type: type.trim(), value: text.trim() }));
  return value;
}

function trimOrNull(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text.trim();
}

function toApiParty({ name, external_id }: PartyValues) {
  const party = { name: trimOrNull(name), external_id: trimOrNull(external_id) };
  return party.name === null && party.external_id === null ? null : party;
}

function toApiLeg(leg: LegValues) {
  const { carrier_scac, vessel, voyage } = leg;
  return { ...leg, carrier_scac: trimOrNull(carrier_scac), vessel: trimOrNull(vessel), voyage: trimOrNull(voyage) };
}

/** Lists the fields whose API values differ between two states of the shipment form. */
export function listChangedFields(from: ShipmentFormValues, to: ShipmentFormValues): readonly ShipmentField[] {
  return SHIPMENT_FIELD_NAMES.filter(
    (field) => JSON.stringify(toApiValueOfFormField(from, field)) !== JSON.stringify(toApiValueOfFormField(to, field)),
  );
}

/**
 * Builds the JSON merge patch that changes one state of the form to another. A removed key of `metadata` becomes null.
 */
export function buildShipmentPatch(from: ShipmentFormValues, to: ShipmentFormValues): ShipmentPatch {
  return Object.fromEntries(
    listChangedFields(from, to).map((field) => {
      const value = toApiValueOfFormField(to, field);
      if (field !== 'metadata' || value === null) return [field, value];
      const gone = from.metadata.map(({ name }) => [name, null] as const);
      return [field, { ...Object.fromEntries(gone), ...value }];
    }),
  );
}
