import { SHIPMENT_FILTERS, type Shipment } from '@tracking/client';
import { type SelectChoice, toSelectOptions } from '../values/codes.ts';

/**
 * Display settings of a text or enum field of a shipment. The label of the field is the label of the list filter with
 * the same name.
 */
interface PlainFieldDisplaySettings {
  /** Shorter label of the field, for narrow columns. */
  readonly shortLabel?: string;
  /** Description of the field in the shipment form. */
  readonly description: string;
  /** Allowed values of the field. Undefined if any text is allowed. */
  readonly choices?: readonly SelectChoice[];
  /** List column of the field: its name in page URLs, and its minimum width in `rem`. */
  readonly column: { readonly name: string; readonly width: number };
  /** Column headers of imported files that are recognized for this field, in lower-case letters and digits. */
  readonly headers: readonly string[];
}

interface PlainFieldDefinition extends PlainFieldDisplaySettings {
  readonly label: string;
}

export type Incoterm = NonNullable<Shipment['incoterm']>;

const INCOTERM_LABELS: Readonly<Record<Incoterm, string>> = {
  EXW: 'EXW: ex works',
  FCA: 'FCA: free carrier',
  CPT: 'CPT: carriage paid to',
  CIP: 'CIP: carriage and insurance paid to',
  DAP: 'DAP: delivered at place',
  DPU: 'DPU: delivered at place unloaded',
  DDP: 'DDP: delivered duty paid',
  FAS: 'FAS: free alongside ship',
  FOB: 'FOB: free on board',
  CFR: 'CFR: cost and freight',
  CIF: 'CIF: cost, insurance and freight',
  DAT: 'DAT: delivered at terminal (2010)',
};

/**
 * Text and enum fields of a shipment in display order. Lists, filters, forms, imports and exports are derived from this
 * table.
 */
export const TEXT_AND_ENUM_SHIPMENT_FIELDS = {
  house_bill: {
    description: 'Bill of lading of the forwarder',
    column: { name: 'house_bill', width: 9 },
    headers: ['housebill', 'hbl', 'hblnumber', 'hawb', 'housebillnumber', 'housebilloflading'],
  },
  master_bill: {
    description: 'Bill of lading of the carrier, or air waybill',
    column: { name: 'master_bill', width: 9 },
    headers: [
      'masterbill',
      'mbl',
      'mblnumber',
      'mawb',
      'awb',
      'airwaybill',
      'masterbillnumber',
      'billoflading',
      'bl',
      'blnumber',
    ],
  },
  booking_number: {
    shortLabel: 'Booking',
    description: 'Confirmed by the carrier',
    column: { name: 'booking', width: 8 },
    headers: ['bookingnumber', 'booking', 'bookingno', 'bookingref', 'bookingreference'],
  },
  incoterm: {
    description: 'Division of costs and risks, by Incoterms 2020 or 2010',
    choices: toSelectOptions(INCOTERM_LABELS),
    column: { name: 'incoterm', width: 5 },
    headers: ['incoterm', 'incoterms', 'deliveryterms', 'termsofdelivery'],
  },
} as const satisfies {
  readonly [Name in keyof Shipment & keyof typeof SHIPMENT_FILTERS]?: PlainFieldDisplaySettings;
};

export type PlainFieldName = keyof typeof TEXT_AND_ENUM_SHIPMENT_FIELDS;
export type PlainColumnName = (typeof TEXT_AND_ENUM_SHIPMENT_FIELDS)[PlainFieldName]['column']['name'];
export const PLAIN_SHIPMENT_FIELD_NAMES = Object.keys(TEXT_AND_ENUM_SHIPMENT_FIELDS) as readonly PlainFieldName[];

export function getPlainFieldDefinition(name: PlainFieldName): PlainFieldDefinition {
  return { label: SHIPMENT_FILTERS[name].label, ...TEXT_AND_ENUM_SHIPMENT_FIELDS[name] };
}

/** Builds an object with one property for each text or enum field of a shipment. */
export function createRecordOfPlainShipmentFields<T>(
  of: (name: PlainFieldName, field: PlainFieldDefinition) => T,
): Record<PlainFieldName, T> {
  const entries = PLAIN_SHIPMENT_FIELD_NAMES.map((name) => [name, of(name, getPlainFieldDefinition(name))] as const);
  return Object.fromEntries(entries) as Record<PlainFieldName, T>;
}

/** Values of the text and enum fields of a shipment, by field name. */
export type PlainValues = { readonly [Name in PlainFieldName]?: NonNullable<Shipment[Name]> | undefined };

/** Parses one text for each text or enum field of a shipment. A text that is not an allowed value is left out. */
export function parsePlainFields(textOf: (name: PlainFieldName) => string | undefined): PlainValues {
  const valueOf = (name: PlainFieldName, text: string | undefined) => text && parsePlainShipmentFieldText(name, text);
  return createRecordOfPlainShipmentFields((name) => valueOf(name, textOf(name))) as PlainValues;
}

/** Parses a text as the value of a field. Returns undefined if the value is not allowed. */
export function parsePlainShipmentFieldText(name: PlainFieldName, text: string): string | undefined {
  const { choices } = getPlainFieldDefinition(name);
  if (choices === undefined) return text;
  return choices.find(({ value }) => value.toLowerCase() === text.trim().toLowerCase())?.value;
}
