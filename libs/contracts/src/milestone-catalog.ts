import { MODES, type Mode, type ShipmentStatus } from './shipment.ts';

/** An entry of the canonical milestone catalog, as `GET /v1/milestone_codes` returns it. */
export interface MilestoneCode {
  readonly code: string;
  readonly label: string;
  readonly description: string;
  /** Position of the code in the usual course of a shipment. Milestones with equal times are sorted by it. */
  readonly sequence: number;
  /**
   * Modes for which the code is usual. Other modes are accepted with a warning; `multimodal` accepts every code without
   * a warning.
   */
  readonly modes: readonly Mode[];
  /**
   * Status that an actual milestone gives the shipment; null if it does not affect the status. `picked_up` counts as
   * `in_transit` by road and courier.
   */
  readonly status: ShipmentStatus | null;
  /** Type of exception that an actual milestone with this code opens. */
  readonly opens_exception: string | null;
  /**
   * DCSA Track & Trace event code. Several catalog codes may have the same DCSA code; transport phase and empty
   * indicator distinguish them.
   */
  readonly dcsa: string | null;
  /** X12 315 status code (element 157). */
  readonly x12_315: string | null;
  /** X12 214 status code (element 1650). */
  readonly x12_214: string | null;
  /** UN/ECE Recommendation 24 status code. */
  readonly rec24: string | null;
}

/**
 * Properties of a milestone code for rules about shipments: docs/reference/shipments.md, docs/reference/exceptions.md.
 */
export interface MilestoneRules extends Pick<MilestoneCode, 'status' | 'opens_exception'> {
  /** Statuses by mode, for modes in which `status` does not apply. */
  readonly status_by_mode: Readonly<Partial<Record<Mode, ShipmentStatus>>> | undefined;
  /** Status that replaces `status` for part loads (`lcl`). */
  readonly status_lcl: ShipmentStatus | null | undefined;
  /** Kind of departure that the code means. A pick-up is a departure by road and courier only. */
  readonly departure: 'vessel' | 'flight' | 'rail' | 'transshipment' | 'pick_up' | undefined;
  /** True for an arrival or unloading at a place where the goods change vessels. */
  readonly transshipment_stop: true | undefined;
  /** True for an arrival that can belong only to a leg, not to the shipment. */
  readonly leg_arrival: true | undefined;
  /** Modes of shipments or legs in which an estimate with this code is an estimate of the arrival. */
  readonly estimates_arrival: 'any_mode' | readonly Mode[] | undefined;
  /**
   * True for the arrival at the destination itself. Once such an estimate exists, estimates with other codes do not set
   * the ETA.
   */
  readonly at_destination: true | undefined;
  /** Movement of goods or containers that the code reports: before the delivery, or with and after the delivery. */
  readonly movement: 'journey' | 'delivery' | undefined;
  /** Customs clearance that the milestone proves: its own clearance, or one that must have preceded it. */
  readonly clears: 'export' | 'import' | undefined;
  /** Effect of earlier milestones that a later milestone with this code revokes. */
  readonly takes_back: 'cancellation' | 'availability' | undefined;
  /** Time of the container that a milestone with this code sets. */
  readonly container_time: 'discharged_at' | 'gated_out_at' | 'delivered_at' | 'empty_returned_at' | undefined;
  /** True if the goods no longer move after a milestone with this code. */
  readonly ends: true | undefined;
}

const ROAD_AND_COURIER_MODES = ['road', 'courier'] as const;

const MODES_BY_LETTER: Readonly<Record<string, readonly Mode[]>> = {
  O: ['ocean'],
  A: ['air', 'courier'],
  R: ['rail'],
  T: ['road', 'courier'],
  B: ['barge'],
  '*': MODES,
};

/** Returns the modes of the given letters and `multimodal`, in the order of {@link MODES}. */
function parseModeLetters(letters: string): readonly Mode[] {
  const named = new Set<Mode>(['multimodal', ...letters.split(' ').flatMap((letter) => MODES_BY_LETTER[letter] ?? [])]);
  return MODES.filter((mode) => named.has(mode));
}

type CatalogRow = readonly [
  sequence: number,
  code: string,
  modes: string,
  status: ShipmentStatus | null,
  dcsa: string,
  x12_315: string,
  x12_214: string,
  rec24: string,
  label: string,
  description: string,
  rules?: Partial<Omit<MilestoneRules, 'status'>>,
];

// prettier-ignore
const CATALOG_ROWS: readonly CatalogRow[] = [
  [10, 'booking_confirmed', '*', 'booked', 'BKG CONF', 'BF', '', '6', 'Booking confirmed', 'The carrier confirmed the booking. A confirmation dated after a cancellation revokes the cancellation.', { takes_back: 'cancellation' }],
  [15, 'booking_cancelled', '*', 'cancelled', 'BKG CANC', 'CA', 'CA', '7', 'Booking cancelled', 'The booking was cancelled. The shipment is cancelled too, unless it is delivered.'],
  [20, 'empty_picked_up', 'O', 'at_origin', 'GTOT EMPTY', 'EE', '', '13', 'Empty picked up', 'The empty container left the depot for stuffing.', { movement: 'journey' }],
  [25, 'cargo_stuffed', 'O', 'at_origin', 'STUF', '', '', '93', 'Cargo stuffed', 'The cargo was loaded into the container.', { movement: 'journey' }],
  [30, 'picked_up', '*', 'at_origin', 'PICK', 'AF', 'AF', '13', 'Picked up', 'The carrier took the goods over from the shipper. By road and courier this is the departure.', { movement: 'journey', departure: 'pick_up', status_by_mode: { road: 'in_transit', courier: 'in_transit' } }],
  [35, 'received_at_origin', '*', 'at_origin', '', '', '', '74', 'Received at origin', 'The goods were received at the terminal, warehouse or station of origin.', { movement: 'journey' }],
  [40, 'gated_in', 'O R B', 'at_origin', 'GTIN LADEN', 'I', '', '98', 'Gated in', 'The laden container passed the gate of the origin terminal.', { movement: 'journey' }],
  [45, 'export_customs_cleared', '*', null, 'CUSR EXPORT', 'CT', '', '9', 'Export customs cleared', 'Customs released the goods for export.', { clears: 'export' }],
  [50, 'loaded_on_vessel', 'O B', 'at_origin', 'LOAD', 'AE', '', '48', 'Loaded on vessel', 'The container was loaded aboard at the port of loading.', { movement: 'journey' }],
  [55, 'vessel_departed', 'O B', 'in_transit', 'DEPA', 'VD', '', '24', 'Vessel departed', 'The vessel left the port.', { movement: 'journey', departure: 'vessel' }],
  [60, 'flight_departed', 'A', 'in_transit', '', '', 'P1', '24', 'Flight departed', 'The flight left the airport.', { movement: 'journey', departure: 'flight' }],
  [65, 'rail_loaded', 'R O', null, 'LOAD rail', 'AL', '', '70', 'Loaded on rail', 'The container was loaded on a rail car.', { movement: 'journey' }],
  [66, 'rail_departed', 'R O', 'in_transit', 'DEPA rail', 'RL', 'RL', '24', 'Train departed', 'The train left the station or ramp.', { movement: 'journey', departure: 'rail' }],
  [70, 'transshipment_arrived', 'O', 'in_transit', 'ARRI TSP', 'VA', '', '1', 'Arrived at transshipment port', 'The vessel arrived at a port where the container changes vessels.', { movement: 'journey', transshipment_stop: true, leg_arrival: true }],
  [71, 'transshipment_discharged', 'O', 'in_transit', 'DISC TSP', 'UV', '', '29', 'Discharged at transshipment port', 'The container was unloaded at a transshipment port.', { movement: 'journey', transshipment_stop: true }],
  [72, 'transshipment_loaded', 'O', 'in_transit', 'LOAD TSP', 'AE', '', '79', 'Loaded at transshipment port', 'The container was loaded on the next vessel.', { movement: 'journey' }],
  [73, 'transshipment_departed', 'O', 'in_transit', 'DEPA TSP', 'VD', '', '24', 'Departed transshipment port', 'The next vessel left the transshipment port.', { movement: 'journey', departure: 'transshipment' }],
  [80, 'border_crossed', 'T R', 'in_transit', 'CROS', '', '', '16', 'Border crossed', 'The goods crossed a border.', { movement: 'journey' }],
  [85, 'in_transit_checkpoint', '*', 'in_transit', '', '', 'X6', '31', 'In transit', 'The goods were seen on the way.', { movement: 'journey' }],
  [90, 'vessel_arrived', 'O B', 'arrived', 'ARRI POD', 'VA', '', '1', 'Vessel arrived', 'The vessel arrived at the port of discharge.', { movement: 'journey', estimates_arrival: 'any_mode' }],
  [92, 'vessel_berthed', 'O B', 'arrived', '', '', '', '', 'Vessel berthed', 'The vessel is alongside at the port of discharge.', { movement: 'journey' }],
  [95, 'flight_arrived', 'A', 'arrived', '', '', 'X4', '1', 'Flight arrived', 'The flight landed at the airport of destination.', { movement: 'journey', estimates_arrival: 'any_mode' }],
  [100, 'discharged', 'O B', 'arrived', 'DISC POD', 'UV', '', '29', 'Discharged', 'The container was unloaded from the vessel at the port of discharge.', { movement: 'journey', container_time: 'discharged_at' }],
  [105, 'rail_arrived', 'R O', 'in_transit', 'ARRI rail', 'AR', 'AR', '1', 'Train arrived', 'The train arrived at the station or ramp.', { movement: 'journey', leg_arrival: true, estimates_arrival: ['rail'] }],
  [106, 'rail_unloaded', 'R O', 'arrived', 'DISC rail', 'UR', '', '26', 'Unloaded from rail', 'The container was taken off the rail car.', { movement: 'journey', estimates_arrival: ['rail'] }],
  [110, 'arrived_at_destination', '*', 'arrived', 'ARRI', '', 'X4', '1', 'Arrived at destination', 'The goods arrived at their destination.', { movement: 'journey', estimates_arrival: 'any_mode', at_destination: true }],
  [115, 'customs_hold', '*', null, 'CUC HOLD', 'PA', '', '', 'Customs hold', 'Customs holds the goods.', { opens_exception: 'customs_hold' }],
  [116, 'customs_inspection', '*', null, 'CUSI', 'PA', '', '', 'Customs inspection', 'Customs examines the goods.', { opens_exception: 'customs_hold' }],
  [120, 'import_customs_cleared', '*', null, 'CUSR IMPORT', 'CT', '', '12', 'Import customs cleared', 'Customs released the goods for import.', { clears: 'import' }],
  [125, 'carrier_released', 'O', null, 'CRO RELS', 'CR', '', '78', 'Carrier released', 'The carrier released the container after its charges were settled.'],
  [128, 'arrival_notice_issued', 'O A', null, 'ARN ISSU', '', '', '45', 'Arrival notice issued', 'The carrier notified the consignee of the arrival.'],
  [130, 'available_for_pickup', '*', 'available_for_pickup', 'AVPU', 'AV', 'AV', '64', 'Available for pickup', 'The goods can be collected.', { movement: 'journey' }],
  [131, 'unavailable_for_pickup', '*', 'arrived', '', '', '', '', 'Unavailable for pickup', 'The goods can not, or no longer, be collected.', { movement: 'journey', takes_back: 'availability' }],
  [135, 'gated_out', 'O R B', 'out_for_delivery', 'GTOT LADEN', 'OA', '', '99', 'Gated out', 'The laden container left the terminal.', { movement: 'journey', status_lcl: 'in_transit', container_time: 'gated_out_at' }],
  [140, 'out_for_delivery', '*', 'out_for_delivery', '', '', 'X6', '31', 'Out for delivery', 'The goods are on their way to the consignee.', { movement: 'journey' }],
  [145, 'delivery_attempted', '*', null, '', 'AH', 'AH', '23', 'Delivery attempted', 'A delivery was tried and failed.', { movement: 'delivery', opens_exception: 'delivery_failed', clears: 'import' }],
  [150, 'delivered', '*', 'delivered', 'DROP LADEN', 'D', 'D1', '21', 'Delivered', 'The goods were handed over to the consignee.', { movement: 'delivery', ends: true, estimates_arrival: ROAD_AND_COURIER_MODES, container_time: 'delivered_at' }],
  [160, 'cargo_stripped', 'O', 'delivered', 'STRP', '', '', '28', 'Cargo stripped', 'The cargo was taken out of the container.', { movement: 'delivery', status_lcl: 'arrived' }],
  [170, 'empty_returned', 'O', 'completed', 'GTIN EMPTY', 'RD', '', '82', 'Empty returned', 'The empty container was given back to the carrier.', { movement: 'delivery', ends: true, status_lcl: null, container_time: 'empty_returned_at' }],
  [180, 'returned_to_shipper', '*', 'returned', '', '3', 'A3', '80', 'Returned to shipper', 'The goods went back to the shipper.', { movement: 'delivery', ends: true }],
];

/** The milestone catalog, sorted by sequence. Codes are never renamed or reused. */
export const MILESTONE_CATALOG: readonly MilestoneCode[] = CATALOG_ROWS.map(
  ([sequence, code, modes, status, dcsa, x12_315, x12_214, rec24, label, description, rules]) => ({
    code,
    label,
    description,
    sequence,
    modes: parseModeLetters(modes),
    status,
    opens_exception: rules?.opens_exception ?? null,
    dcsa: dcsa || null,
    x12_315: x12_315 || null,
    x12_214: x12_214 || null,
    rec24: rec24 || null,
  }),
);

export const MILESTONE_CODES: readonly string[] = MILESTONE_CATALOG.map(({ code }) => code);

const MILESTONE_CODES_BY_CODE: ReadonlyMap<string, MilestoneCode> = new Map(
  MILESTONE_CATALOG.map((entry) => [entry.code, entry]),
);

export function findMilestoneCode(code: string): MilestoneCode | undefined {
  return MILESTONE_CODES_BY_CODE.get(code);
}

const NO_MILESTONE_RULES: MilestoneRules = {
  status: null,
  opens_exception: null,
  status_by_mode: undefined,
  status_lcl: undefined,
  departure: undefined,
  transshipment_stop: undefined,
  leg_arrival: undefined,
  estimates_arrival: undefined,
  at_destination: undefined,
  movement: undefined,
  clears: undefined,
  takes_back: undefined,
  container_time: undefined,
  ends: undefined,
};
// All rule objects have the same shape, because every write reads the rules of all milestones of a timeline.
const MILESTONE_RULES_BY_CODE: ReadonlyMap<string, MilestoneRules> = new Map(
  CATALOG_ROWS.map(([, code, , status, , , , , , , rules]) => [code, { ...NO_MILESTONE_RULES, ...rules, status }]),
);

/** Returns the rules of a code; empty rules for an unknown code. */
export function findMilestoneRules(code: string): MilestoneRules {
  return MILESTONE_RULES_BY_CODE.get(code) ?? NO_MILESTONE_RULES;
}

/** Catalog codes that a code of another standard can mean. */
export interface ForeignMilestoneCode {
  /** The standard that defines the code. */
  readonly standard: string;
  readonly codes: readonly string[];
}

const MILESTONE_CODE_STANDARDS = [
  ['DCSA', 'dcsa'],
  ['X12 315', 'x12_315'],
  ['X12 214', 'x12_214'],
  ['UN/ECE Recommendation 24', 'rec24'],
] as const satisfies readonly (readonly [string, keyof MilestoneCode])[];

/**
 * Converts a code of DCSA, X12 or UN/ECE Recommendation 24 to catalog codes, for each standard that has the code.
 * Ignores case. A DCSA event code without indicator, such as `GTIN`, matches every indicator.
 */
export function convertMilestoneCode(text: string): readonly ForeignMilestoneCode[] {
  const wanted = text.trim().toUpperCase().split(/\s+/).join(' ');
  if (wanted === '') return [];
  return MILESTONE_CODE_STANDARDS.flatMap(([standard, column]) => {
    const found = MILESTONE_CATALOG.filter((entry) => {
      const foreign = entry[column]?.toUpperCase();
      return foreign === wanted || foreign?.startsWith(`${wanted} `);
    });
    return found.length === 0 ? [] : [{ standard, codes: found.map(({ code }) => code) }];
  });
}

/** Reason codes of milestones, grouped by cause. They are a short form of the SMDG delay codes. */
export const REASON_CODES = [
  // manual
  'carrier_feed_unavailable',
  'carrier_feed_delayed',
  'carrier_data_incorrect',
  'confirmed_by_carrier',
  'confirmed_by_agent',
  'document_evidence',
  'backfill',
  'manual_other',
  // carrier
  'vessel_mechanical',
  'route_deviation',
  'blank_sailing',
  'port_omitted',
  'rolled',
  'missed_connection',
  'carrier_other',
  // shore
  'port_congestion',
  'terminal_congestion',
  'labor_shortage',
  'equipment_shortage',
  'shore_other',
  // cargo
  'customs_exam',
  'customs_documents',
  'missing_documents',
  'misdeclared_weight',
  'dangerous_goods',
  'reefer_malfunction',
  'cargo_damage',
  'cargo_other',
  // party
  'shipper_not_ready',
  'consignee_unavailable',
  'delivery_refused',
  'appointment_missed',
  'payment_hold',
  'party_other',
  // external
  'weather',
  'strike',
  'holiday',
  'road_conditions',
  'border_delay',
  'force_majeure',
  'external_other',
] as const;
