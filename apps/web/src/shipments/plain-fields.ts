import { SHIPMENT_FILTERS, type Shipment } from '@tracking/client';
import { optionsOf } from '../values/codes.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The appearance of a field that holds one text, or one of a few values. Its label is that of the filter of its name. */
interface PlainFieldRow {
  /** The label where space is scarce. */
  readonly shortLabel?: string;
  /** Explains the field in the form. */
  readonly description: string;
  /** The values, if only some are possible. */
  readonly choices?: readonly Choice[];
  /** The column of lists: its name in addresses, and its narrowest width in rem. */
  readonly column: { readonly name: string; readonly width: number };
  /** Headers of the field in imported files, in small letters and digits alone. */
  readonly headers: readonly string[];
}

interface PlainField extends PlainFieldRow {
  readonly label: string;
}

type Incoterm = NonNullable<Shipment['incoterm']>;

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

/** Plain fields in the order in which pages show them. Lists, filters, forms, imports and exports derive from it. */
export const PLAIN_FIELDS = {
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
    choices: optionsOf(INCOTERM_LABELS),
    column: { name: 'incoterm', width: 5 },
    headers: ['incoterm', 'incoterms', 'deliveryterms', 'termsofdelivery'],
  },
} as const satisfies {
  readonly [Name in keyof Shipment & keyof typeof SHIPMENT_FILTERS]?: PlainFieldRow;
};

export type PlainFieldName = keyof typeof PLAIN_FIELDS;
export type PlainColumnName = (typeof PLAIN_FIELDS)[PlainFieldName]['column']['name'];
export const PLAIN_FIELD_NAMES = Object.keys(PLAIN_FIELDS) as readonly PlainFieldName[];

export function plainField(name: PlainFieldName): PlainField {
  return { label: SHIPMENT_FILTERS[name].label, ...PLAIN_FIELDS[name] };
}

/** One property for each plain field, in their order. */
export function eachPlainField<T>(of: (name: PlainFieldName, field: PlainField) => T): Record<PlainFieldName, T> {
  const entries = PLAIN_FIELD_NAMES.map((name) => [name, of(name, plainField(name))] as const);
  return Object.fromEntries(entries) as Record<PlainFieldName, T>;
}

/** Values of plain fields by name. */
export type PlainValues = { readonly [Name in PlainFieldName]?: NonNullable<Shipment[Name]> | undefined };

/** The values that a text for each field stands for, as far as the fields have such values. */
export function plainValues(textOf: (name: PlainFieldName) => string | undefined): PlainValues {
  const valueOf = (name: PlainFieldName, text: string | undefined) => text && plainValue(name, text);
  return eachPlainField((name) => valueOf(name, textOf(name))) as PlainValues;
}

/** A text as a value of the field; undefined if the field does not have such a value. */
export function plainValue(name: PlainFieldName, text: string): string | undefined {
  const { choices } = plainField(name);
  if (choices === undefined) return text;
  return choices.find(({ value }) => value.toLowerCase() === text.trim().toLowerCase())?.value;
}
