export const TRANSPORT_MODES = ['ocean', 'air', 'road', 'rail', 'barge', 'courier', 'multimodal'] as const;
export type Mode = (typeof TRANSPORT_MODES)[number];
/** Other names of a {@link Mode} that requests may use. Responses contain the mode. */
export const MODE_ALIASES: Readonly<Record<string, Mode>> = { sea: 'ocean', vessel: 'ocean', truck: 'road' };

export const CARGO_LOAD_TYPES = ['fcl', 'lcl', 'ftl', 'ltl', 'air_loose', 'bulk'] as const;
export type LoadType = (typeof CARGO_LOAD_TYPES)[number];

/** Incoterms 2020, and DAT of Incoterms 2010. */
export const INCOTERMS = ['EXW', 'FCA', 'CPT', 'CIP', 'DAP', 'DPU', 'DDP', 'FAS', 'FOB', 'CFR', 'CIF', 'DAT'] as const;
export type Incoterm = (typeof INCOTERMS)[number];

/** Statuses in ascending rank. The last three are terminal. */
export const SHIPMENT_STATUSES = [
  'pending',
  'booked',
  'at_origin',
  'in_transit',
  'arrived',
  'available_for_pickup',
  'out_for_delivery',
  'delivered',
  'completed',
  'returned',
  'cancelled',
] as const;
export type ShipmentStatus = (typeof SHIPMENT_STATUSES)[number];

/** Environments of a workspace. Live and test share only users and settings. */
export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** A time as RFC 3339 in UTC with milliseconds and `Z`. */
export type Timestamp = string;

/** A {@link Timestamp}, or a date such as `2026-12-09`: that whole local day at the place. */
export type TimeOrDay = string;

/** Precision of a time. The time of a `day` is the last millisecond of that local day at the place. */
export const TIME_PRECISIONS = ['time', 'day'] as const;
export type TimePrecision = (typeof TIME_PRECISIONS)[number];

/** Returns the latest of the times; `''` if no time is given. */
export function chooseLatestTime(...times: readonly Timestamp[]): Timestamp {
  return times.reduce((latest, time) => (time > latest ? time : latest), '');
}

export interface Party {
  readonly name: string | null;
  readonly external_id: string | null;
}
export interface Reference {
  readonly type: string;
  readonly value: string;
}

/** A leg of a shipment, as clients send it. */
export interface LegFields {
  readonly mode: Mode | null;
  readonly carrier_scac: string | null;
  readonly vessel: string | null;
  readonly voyage: string | null;
  readonly origin_port: string | null;
  readonly destination_port: string | null;
  readonly etd: TimeOrDay | null;
  readonly eta: TimeOrDay | null;
}
/** Precisions of expected times; `time` if there is no time. */
export interface EtdAndEtaPrecisions {
  readonly etd_precision: TimePrecision;
  readonly eta_precision: TimePrecision;
}
/** A leg of a shipment in responses, with its actual times. `etd` and `eta` are times in UTC. */
export interface Leg extends LegFields, EtdAndEtaPrecisions {
  readonly atd: Timestamp | null;
  readonly ata: Timestamp | null;
}

/** Short form of the latest actual milestone of a shipment or container. */
export interface LastMilestoneSummary {
  readonly id: string;
  readonly code: string;
  readonly label: string;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
}

export interface Container {
  readonly number: string;
  readonly valid_check_digit: boolean | null;
  readonly size_type: string | null;
  readonly seal_number: string | null;
  readonly status: ShipmentStatus;
  readonly status_milestone_id: string | null;
  readonly last_milestone: LastMilestoneSummary | null;
  readonly discharged_at: Timestamp | null;
  readonly available_at: Timestamp | null;
  readonly gated_out_at: Timestamp | null;
  readonly delivered_at: Timestamp | null;
  readonly empty_returned_at: Timestamp | null;
  /** Date in the time zone of the place, `YYYY-MM-DD`. */
  readonly last_free_day: string | null;
  readonly empty_return_by: string | null;
}

/** Shipment fields that a client sets, normalized; `null` or `[]` if empty. */
export interface ClientShipmentFields {
  readonly external_id: string | null;
  readonly mode: Mode | null;
  readonly load_type: LoadType | null;
  readonly house_bill: string | null;
  readonly master_bill: string | null;
  readonly booking_number: string | null;
  readonly container_numbers: readonly string[];
  readonly carrier_scac: string | null;
  readonly origin_port: string | null;
  readonly destination_port: string | null;
  readonly etd: TimeOrDay | null;
  readonly eta: TimeOrDay | null;
  readonly shipper: Party | null;
  readonly consignee: Party | null;
  readonly references: readonly Reference[];
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly legs: readonly LegFields[];
  readonly incoterm: Incoterm | null;
}

/**
 * Fields of a shipment without data. Its field order is that of stored events; code that lists the fields uses this
 * order.
 */
export const EMPTY_SHIPMENT_FIELDS: ClientShipmentFields = {
  external_id: null,
  mode: null,
  load_type: null,
  house_bill: null,
  master_bill: null,
  booking_number: null,
  container_numbers: [],
  carrier_scac: null,
  origin_port: null,
  destination_port: null,
  etd: null,
  eta: null,
  shipper: null,
  consignee: null,
  references: [],
  metadata: null,
  legs: [],
  incoterm: null,
};
export const SHIPMENT_FIELD_NAMES = Object.keys(EMPTY_SHIPMENT_FIELDS) as readonly (keyof ClientShipmentFields)[];

/** Adds the missing fields, with empty values, to a record that was stored before these fields existed. */
export function addMissingShipmentFields<T extends Partial<ClientShipmentFields>>(some: T): T & ClientShipmentFields {
  const missing = SHIPMENT_FIELD_NAMES.filter((field) => some[field] === undefined);
  if (missing.length === 0) return some as T & ClientShipmentFields;
  return {
    ...(some as T & ClientShipmentFields),
    ...Object.fromEntries(missing.map((field) => [field, EMPTY_SHIPMENT_FIELDS[field]])),
  };
}

type StoredLeg = Omit<Leg, keyof EtdAndEtaPrecisions> & Partial<EtdAndEtaPrecisions>;

/** Adds the precisions to legs that were stored before days were known. */
export function addMissingLegPrecisions(legs: readonly StoredLeg[]): readonly Leg[] {
  if (legs.every((leg) => leg.eta_precision !== undefined)) return legs as readonly Leg[];
  return legs.map((leg) => ({ ...leg, etd_precision: 'time', eta_precision: 'time', ...leg }));
}

/** A shipment as all responses contain it. Only the HTTP layer adds `url`. `etd` and `eta` are times in UTC. */
export interface ShipmentRecord extends Omit<ClientShipmentFields, 'legs'>, EtdAndEtaPrecisions {
  readonly id: string;
  readonly status: ShipmentStatus;
  /** Id of the milestone that set the status; null for `pending`, or if a client cancelled the shipment. */
  readonly status_milestone_id: string | null;
  readonly legs: readonly Leg[];
  readonly containers: readonly Container[];
  readonly atd: Timestamp | null;
  readonly ata: Timestamp | null;
  readonly original_eta: Timestamp | null;
  readonly original_eta_precision: TimePrecision;
  readonly last_milestone: LastMilestoneSummary | null;
  readonly open_exceptions_count: number;
  readonly documents_count: number;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  /**
   * Revision of the shipment's last event plus one. Every change increases it, even a change of data that the record
   * does not contain.
   */
  readonly version: number;
}
/** A shipment as the public API and event snapshots contain it. */
export interface Shipment extends ShipmentRecord {
  /** Address of the shipment in the web application, `{app_url}/shipments/<id>`. */
  readonly url: string;
}

export const MILESTONE_CLASSIFIER_VALUES = ['actual', 'estimated', 'planned'] as const;
export type Classifier = (typeof MILESTONE_CLASSIFIER_VALUES)[number];

export const MILESTONE_SOURCES = [
  'manual',
  'carrier',
  'terminal',
  'rail',
  'ais',
  'edi',
  'customs',
  'iot',
  'partner',
  'system',
] as const;
export type MilestoneSource = (typeof MILESTONE_SOURCES)[number];

/** The person or system that performed an action. Every read adds the current name. */
export interface Actor {
  readonly type: 'user' | 'service_account' | 'system';
  readonly id: string;
}

/**
 * Details of a milestone that stored milestones of earlier versions lack. Null if the client did not send them, except
 * the precision.
 */
export interface MilestoneDetailValues {
  /** `day` if the client sent a date as the time of an expected milestone. */
  readonly occurred_at_precision: TimePrecision;
  /** Coordinates of the goods in degrees, WGS 84. Either both are null, or none. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** Name or code of the terminal or facility at the location. */
  readonly terminal: string | null;
  /** IMO number of the vessel: seven digits with the check digit. */
  readonly imo: string | null;
  /** Number of pieces that the milestone concerns. */
  readonly pieces: number | null;
  /** Measured temperature of the goods in degrees Celsius. */
  readonly temperature_celsius: number | null;
}

export const EMPTY_MILESTONE_DETAILS: MilestoneDetailValues = {
  occurred_at_precision: 'time',
  latitude: null,
  longitude: null,
  terminal: null,
  imo: null,
  pieces: null,
  temperature_celsius: null,
};
const MILESTONE_DETAIL_FIELD_NAMES = Object.keys(EMPTY_MILESTONE_DETAILS) as readonly (keyof MilestoneDetailValues)[];

/** Adds the missing details, without data, to a milestone that was stored before these fields existed. */
export function addMissingMilestoneDetails<T extends Partial<MilestoneDetailValues>>(
  milestone: T,
): T & MilestoneDetailValues {
  if (MILESTONE_DETAIL_FIELD_NAMES.every((field) => milestone[field] !== undefined))
    return milestone as T & MilestoneDetailValues;
  return { ...milestone, ...EMPTY_MILESTONE_DETAILS, ...milestone };
}

/** A milestone, as all responses contain it. */
export interface Milestone extends MilestoneDetailValues {
  readonly id: string;
  readonly shipment_id: string;
  readonly code: string;
  readonly label: string;
  /** Sequence number of the milestone code in the catalog. */
  readonly sequence: number;
  readonly classifier: Classifier;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
  /**
   * IANA time zone of the place: the zone that the client sent, otherwise the zone of the location, otherwise null. A
   * milestone with the precision `day` is that day in this zone; without a zone, in UTC−12.
   */
  readonly timezone: string | null;
  readonly source: MilestoneSource;
  readonly reason_code: string | null;
  readonly external_id: string | null;
  readonly container_number: string | null;
  readonly vessel: string | null;
  readonly voyage: string | null;
  readonly note: string | null;
  /** Time when the source stated the milestone; if the client does not send it, the time of recording or correcting. */
  readonly reported_at: Timestamp;
  readonly recorded_at: Timestamp;
  readonly recorded_by: Actor;
  readonly retracted_at: Timestamp | null;
  /**
   * Time when a report that the source stated later replaced this one; null if none did. Reports of the same thing have
   * the same code, container, location and source; actual ones also belong to the same visit.
   */
  readonly superseded_at: Timestamp | null;
  /** Revision of the milestone: 1 when recorded, plus 1 for each correction. */
  readonly revision: number;
}
