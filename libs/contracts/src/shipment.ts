export const MODES = ['ocean', 'air', 'road', 'rail', 'barge', 'courier', 'multimodal'] as const;
export type Mode = (typeof MODES)[number];
/** Other names of a {@link Mode} that requests may use. Responses contain the mode. */
export const MODE_ALIASES: Readonly<Record<string, Mode>> = { sea: 'ocean', vessel: 'ocean', truck: 'road' };

export const LOAD_TYPES = ['fcl', 'lcl', 'ftl', 'ltl', 'air_loose', 'bulk'] as const;
export type LoadType = (typeof LOAD_TYPES)[number];

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

/** Returns the latest of the times; `''` if no time is given. */
export function latestTime(...times: readonly Timestamp[]): Timestamp {
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
  readonly etd: Timestamp | null;
  readonly eta: Timestamp | null;
}
/** A leg of a shipment in responses, with its actual times. */
export interface Leg extends LegFields {
  readonly atd: Timestamp | null;
  readonly ata: Timestamp | null;
}

/** Short form of the latest actual milestone of a shipment or container. */
export interface LastMilestone {
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
  readonly last_milestone: LastMilestone | null;
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
export interface ShipmentFields {
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
  readonly etd: Timestamp | null;
  readonly eta: Timestamp | null;
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
export const EMPTY_SHIPMENT_FIELDS: ShipmentFields = {
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
export const SHIPMENT_FIELDS = Object.keys(EMPTY_SHIPMENT_FIELDS) as readonly (keyof ShipmentFields)[];

/** Adds the missing fields, with empty values, to a record that was stored before these fields existed. */
export function addMissingFields<T extends Partial<ShipmentFields>>(some: T): T & ShipmentFields {
  const missing = SHIPMENT_FIELDS.filter((field) => some[field] === undefined);
  if (missing.length === 0) return some as T & ShipmentFields;
  return {
    ...(some as T & ShipmentFields),
    ...Object.fromEntries(missing.map((field) => [field, EMPTY_SHIPMENT_FIELDS[field]])),
  };
}

/** A shipment as all responses contain it. Only the HTTP layer adds `url`. */
export interface ShipmentRecord extends Omit<ShipmentFields, 'legs'> {
  readonly id: string;
  readonly status: ShipmentStatus;
  /** Id of the milestone that set the status; null for `pending`, or if a client cancelled the shipment. */
  readonly status_milestone_id: string | null;
  readonly legs: readonly Leg[];
  readonly containers: readonly Container[];
  readonly atd: Timestamp | null;
  readonly ata: Timestamp | null;
  readonly original_eta: Timestamp | null;
  readonly last_milestone: LastMilestone | null;
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

export const MILESTONE_CLASSIFIERS = ['actual', 'estimated', 'planned'] as const;
export type Classifier = (typeof MILESTONE_CLASSIFIERS)[number];

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

/** A milestone, as all responses contain it. */
export interface Milestone {
  readonly id: string;
  readonly shipment_id: string;
  readonly code: string;
  readonly label: string;
  /** Sequence number of the milestone code in the catalog. */
  readonly sequence: number;
  readonly classifier: Classifier;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
  /** IANA time zone for display: the zone that the client sent, otherwise the zone of the location, otherwise null. */
  readonly timezone: string | null;
  readonly source: MilestoneSource;
  readonly reason_code: string | null;
  readonly external_id: string | null;
  readonly container_number: string | null;
  readonly vessel: string | null;
  readonly voyage: string | null;
  readonly note: string | null;
  readonly recorded_at: Timestamp;
  readonly recorded_by: Actor;
  readonly retracted_at: Timestamp | null;
  /**
   * Time when a newer estimate replaced this one; null if none did. The newer estimate has the same code, container,
   * location and source.
   */
  readonly superseded_at: Timestamp | null;
  /** Revision of the milestone: 1 when recorded, plus 1 for each correction. */
  readonly revision: number;
}
