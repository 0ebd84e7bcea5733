import { INCOTERMS, SHIPMENT_STATUSES } from './shipment.ts';

/** Kinds of list filters. The kind decides how a value is written, checked and compared. */
export type ShipmentFilterKind =
  /** Filter by shipment ids, separated by commas. */
  | 'ids'
  /** Statuses, separated by commas. */
  | 'statuses'
  | 'flag'
  /** Transport modes, separated by commas. */
  | 'modes'
  /** One or more of the `values` of the filter, separated by commas. */
  | 'choices'
  /**
   * A reference number, compared without case, spaces and hyphens. Few shipments share one, and `q` also finds its words.
   */
  | 'reference'
  /** A container number: a reference in the form of ISO 6346, or of a unit load device. */
  | 'container'
  /** The client's code of a party. */
  | 'party'
  | 'carrier'
  | 'port'
  /** An inclusive bound of a time of the shipment. */
  | 'time'
  /** Beginnings of words. */
  | 'words';

export interface ShipmentFilterDefinition {
  readonly kind: ShipmentFilterKind;
  /** Description of the filter in the OpenAPI document. */
  readonly description: string;
  readonly example?: string;
  /** Label of the filter in the web application; null for a filter without an input field. */
  readonly label: string | null;
  /** Allowed values of a filter of kind `choices`. */
  readonly values?: readonly string[];
  /** Field that a time filter compares, and the bound that it sets. */
  readonly bounds?: readonly [field: 'created_at' | 'updated_at' | 'eta', side: 'from' | 'to'];
}

/** Maximum number of values in one filter. */
export const SHIPMENT_FILTER_LIMITS = { ids: 100, words: 10 } as const;

/**
 * All filters of the shipment list by query parameter, in the order of the API description. Query parameters, parsing,
 * search terms and the filters of the web application derive from this table.
 */
export const SHIPMENT_FILTERS = {
  id: {
    kind: 'ids',
    description: `Only shipments with one of these ids: 1 to ${SHIPMENT_FILTER_LIMITS.ids}, separated by commas.`,
    label: null,
  },
  status: {
    kind: 'statuses',
    description: `One or more of ${SHIPMENT_STATUSES.join(', ')}, separated by commas.`,
    example: 'in_transit',
    label: 'Status',
  },
  active: {
    kind: 'flag',
    description:
      'True: only shipments that are not delivered, completed, returned or cancelled. False: only shipments with one of these statuses.',
    label: 'Active',
  },
  has_open_exceptions: {
    kind: 'flag',
    description: 'True: only shipments with an open or acknowledged exception. False: only shipments without one.',
    label: 'Open exceptions',
  },
  mode: {
    kind: 'modes',
    description: 'Only shipments with one of these transport modes, separated by commas.',
    example: 'ocean',
    label: 'Mode',
  },
  incoterm: {
    kind: 'choices',
    values: INCOTERMS,
    description: 'Only shipments with one of these Incoterms rules, separated by commas.',
    example: 'FOB',
    label: 'Incoterm',
  },
  external_id: {
    kind: 'reference',
    description: 'Only shipments with this `external_id`, ignoring case, spaces and hyphens.',
    example: 'TMS-2026-000181',
    label: 'Your reference',
  },
  house_bill: {
    kind: 'reference',
    description: 'Only shipments with this house bill, ignoring case, spaces and hyphens.',
    example: 'HBL-77120',
    label: 'House bill',
  },
  master_bill: {
    kind: 'reference',
    description: 'Only shipments with this master bill or air waybill, ignoring case, spaces and hyphens.',
    example: 'MAEU912345678',
    label: 'Master bill',
  },
  booking_number: {
    kind: 'reference',
    description: 'Only shipments with this booking number, ignoring case, spaces and hyphens.',
    example: 'BKG-55012',
    label: 'Booking number',
  },
  reference: {
    kind: 'reference',
    description: 'Only shipments with this value in `references`, of any type, ignoring case, spaces and hyphens.',
    example: 'PO-88213',
    label: 'Additional reference',
  },
  shipper: {
    kind: 'party',
    description: 'Only shipments whose shipper has this external_id.',
    example: 'CUST-1042',
    label: 'Shipper',
  },
  consignee: {
    kind: 'party',
    description: 'Only shipments whose consignee has this external_id.',
    example: 'CUST-1042',
    label: 'Consignee',
  },
  container_number: {
    kind: 'container',
    description: 'Only shipments with this container.',
    example: 'CSQU3054383',
    label: 'Container',
  },
  carrier_scac: {
    kind: 'carrier',
    description: 'Only shipments of this carrier: SCAC or IATA code.',
    example: 'MAEU',
    label: 'Carrier',
  },
  origin_port: {
    kind: 'port',
    description: 'Only shipments from this port: UN/LOCODE or IATA airport code.',
    example: 'CNSHA',
    label: 'Origin',
  },
  destination_port: {
    kind: 'port',
    description: 'Only shipments to this port: UN/LOCODE or IATA airport code.',
    example: 'NLRTM',
    label: 'Destination',
  },
  eta_from: {
    kind: 'time',
    description: 'Only shipments whose eta is at or after this time.',
    example: '2026-12-01T00:00:00Z',
    label: 'ETA from',
    bounds: ['eta', 'from'],
  },
  eta_to: {
    kind: 'time',
    description: 'Only shipments whose eta is at or before this time.',
    example: '2026-12-31T23:59:59Z',
    label: 'ETA until',
    bounds: ['eta', 'to'],
  },
  created_from: {
    kind: 'time',
    description: 'Only shipments created at or after this time.',
    example: '2026-11-01T00:00:00Z',
    label: 'Created from',
    bounds: ['created_at', 'from'],
  },
  created_to: {
    kind: 'time',
    description: 'Only shipments created at or before this time.',
    example: '2026-11-30T23:59:59Z',
    label: 'Created until',
    bounds: ['created_at', 'to'],
  },
  updated_since: {
    kind: 'time',
    description: 'Only shipments changed at or after this time.',
    example: '2026-11-21T09:30:00Z',
    label: 'Updated since',
    bounds: ['updated_at', 'from'],
  },
  q: {
    kind: 'words',
    description: `At most ${SHIPMENT_FILTER_LIMITS.words} words. A shipment matches if each is the beginning of a word in its references, containers, parties or vessels. Hyphens do not matter, nor do spaces in references.`,
    example: 'honam po-88',
    label: 'Search',
  },
} as const satisfies Readonly<Record<string, ShipmentFilterDefinition>>;

export type ShipmentFilterName = keyof typeof SHIPMENT_FILTERS;
/** Names of the filters that have one of the given kinds. */
export type ShipmentFilterOf<Kind extends ShipmentFilterKind> = {
  [Name in ShipmentFilterName]: (typeof SHIPMENT_FILTERS)[Name]['kind'] extends Kind ? Name : never;
}[ShipmentFilterName];

/**
 * Returns the names of the filters of the given kinds: first by the order of the kinds, then by the order of {@link
 * SHIPMENT_FILTERS}.
 */
export function listFilterNamesOfFilterKinds<Kind extends ShipmentFilterKind>(
  ...kinds: readonly Kind[]
): readonly ShipmentFilterOf<Kind>[] {
  const names = Object.keys(SHIPMENT_FILTERS) as ShipmentFilterName[];
  return kinds.flatMap((kind) =>
    names.filter((name): name is ShipmentFilterOf<Kind> => SHIPMENT_FILTERS[name].kind === kind),
  );
}
