import { FOREIGN_CODES, MILESTONE_STANDARDS, type MilestoneStandard } from './foreign-codes.ts';
import { type Classifier, TRANSPORT_MODES, type Mode, type ShipmentStatus } from './shipment.ts';

/** An entry of the canonical milestone catalog, as `GET /v1/milestone_codes` returns it. */
export interface MilestoneCatalogEntry {
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
  /** True if the event happens once while the goods are at a place. Only the last report of such an event counts. */
  readonly once_per_visit: boolean;
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
  /** All codes of each standard that can mean this code, including the codes above. */
  readonly standards: Readonly<Record<MilestoneStandard, readonly string[]>>;
}

/** Properties of a milestone code for the rules in docs/reference/shipments.md and docs/reference/exceptions.md. */
export interface MilestoneCodeTraits extends Pick<
  MilestoneCatalogEntry,
  'status' | 'opens_exception' | 'once_per_visit'
> {
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
  /**
   * Release that the milestone proves: by customs, its own or one that must have preceded it, by the terminal, or by the
   * carrier.
   */
  readonly clears: 'export' | 'import' | 'terminal' | 'freight' | undefined;
  /** Effect of earlier milestones that a later milestone with this code revokes. */
  readonly takes_back: 'cancellation' | 'availability' | 'delivery_run' | undefined;
  /** Loading onto a vessel, or discharge from it. */
  readonly handling: 'loaded' | 'discharged' | undefined;
  /** The milestone starts or ends the free time at its place, after which the terminal charges demurrage. */
  readonly free_time: 'starts' | 'ends' | undefined;
  /** Time of the container that a milestone with this code sets. */
  readonly container_time: 'discharged_at' | 'gated_out_at' | 'delivered_at' | 'empty_returned_at' | undefined;
  /** True if the goods no longer move after a milestone with this code. */
  readonly ends: true | undefined;
}

const ROAD_AND_COURIER_MODES = ['road', 'courier'] as const;

const MODES_BY_LETTER: Readonly<Record<string, readonly Mode[]>> = {
  O: ['ocean'],
  A: ['air', 'courier'],
  F: ['air'],
  R: ['rail'],
  T: ['road', 'courier'],
  B: ['barge'],
  '*': TRANSPORT_MODES,
};

/** Returns the modes of the given letters and `multimodal`, in the order of {@link TRANSPORT_MODES}. */
function parseTransportModesOfMilestoneCode(letters: string): readonly Mode[] {
  const named = new Set<Mode>(['multimodal', ...letters.split(' ').flatMap((letter) => MODES_BY_LETTER[letter] ?? [])]);
  return TRANSPORT_MODES.filter((mode) => named.has(mode));
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
  rules?: Partial<Omit<MilestoneCodeTraits, 'status'>>,
];

// prettier-ignore
const MILESTONE_CATALOG_ROWS: readonly CatalogRow[] = [
  [10, 'booking_confirmed', '*', 'booked', 'BKG CONF', 'BF', '', '6', 'Booking confirmed', 'The carrier confirmed the booking. A confirmation dated after a cancellation revokes the cancellation.', { takes_back: 'cancellation' }],
  [15, 'booking_cancelled', '*', 'cancelled', 'BKG CANC', 'CA', 'CA', '7', 'Booking cancelled', 'The booking was cancelled. The shipment is cancelled too, unless it is delivered.'],
  [20, 'empty_picked_up', 'O', 'at_origin', 'GTOT EMPTY', 'EE', '', '13', 'Empty picked up', 'The empty container left the depot for stuffing.', { movement: 'journey', once_per_visit: true }],
  [25, 'cargo_stuffed', 'O', 'at_origin', 'STUF', '', '', '93', 'Cargo stuffed', 'The cargo was loaded into the container.', { movement: 'journey', once_per_visit: true }],
  [30, 'picked_up', '*', 'at_origin', 'PICK', 'AF', 'AF', '13', 'Picked up', 'The carrier took the goods over from the shipper. By road and courier this is the departure.', { movement: 'journey', departure: 'pick_up', status_by_mode: { road: 'in_transit', courier: 'in_transit' }, once_per_visit: true }],
  [35, 'received_at_origin', '*', 'at_origin', '', '', '', '74', 'Received at origin', 'The goods were received at the terminal, warehouse or station of origin.', { movement: 'journey', once_per_visit: true }],
  [40, 'gated_in', 'O R B', 'at_origin', 'GTIN LADEN', 'I', '', '98', 'Gated in', 'The laden container passed the gate of the origin terminal.', { movement: 'journey', once_per_visit: true }],
  [45, 'export_customs_cleared', '*', null, 'CUSR EXPORT', 'CT', '', '9', 'Export customs cleared', 'Customs released the goods for export.', { clears: 'export' }],
  [50, 'loaded_on_vessel', 'O B', 'at_origin', 'LOAD', 'AE', '', '48', 'Loaded on vessel', 'The container was loaded aboard at the port of loading.', { movement: 'journey', handling: 'loaded', free_time: 'ends', once_per_visit: true }],
  [55, 'vessel_departed', 'O B', 'in_transit', 'DEPA', 'VD', '', '24', 'Vessel departed', 'The vessel left the port.', { movement: 'journey', departure: 'vessel', once_per_visit: true }],
  [60, 'flight_departed', 'A', 'in_transit', '', '', 'P1', '24', 'Flight departed', 'The flight left the airport.', { movement: 'journey', departure: 'flight', once_per_visit: true }],
  [65, 'rail_loaded', 'R O', null, 'LOAD rail', 'AL', '', '70', 'Loaded on rail', 'The container was loaded on a rail car.', { movement: 'journey', free_time: 'ends', once_per_visit: true }],
  [66, 'rail_departed', 'R O', 'in_transit', 'DEPA rail', 'RL', 'RL', '24', 'Train departed', 'The train left the station or ramp.', { movement: 'journey', departure: 'rail', free_time: 'ends', once_per_visit: true }],
  [70, 'transshipment_arrived', 'O', 'in_transit', 'ARRI TSP', 'VA', '', '1', 'Arrived at transshipment port', 'The vessel arrived at a port where the container changes vessels.', { movement: 'journey', transshipment_stop: true, leg_arrival: true, once_per_visit: true }],
  [71, 'transshipment_discharged', 'O', 'in_transit', 'DISC TSP', 'UV', '', '29', 'Discharged at transshipment port', 'The container was unloaded at a transshipment port.', { movement: 'journey', transshipment_stop: true, handling: 'discharged', once_per_visit: true }],
  [72, 'transshipment_loaded', 'O', 'in_transit', 'LOAD TSP', 'AE', '', '79', 'Loaded at transshipment port', 'The container was loaded on the next vessel.', { movement: 'journey', handling: 'loaded', free_time: 'ends', once_per_visit: true }],
  [73, 'transshipment_departed', 'O', 'in_transit', 'DEPA TSP', 'VD', '', '24', 'Departed transshipment port', 'The next vessel left the transshipment port.', { movement: 'journey', departure: 'transshipment', once_per_visit: true }],
  [80, 'border_crossed', 'T R', 'in_transit', 'CROS', '', '', '16', 'Border crossed', 'The goods crossed a border.', { movement: 'journey' }],
  [85, 'in_transit_checkpoint', '*', 'in_transit', '', '', 'X6', '31', 'In transit', 'The goods were seen on the way.', { movement: 'journey' }],
  [86, 'status_note', '*', null, '', '', '', '', 'Status note', 'A status of the carrier without a counterpart among the codes. It is not a movement.'],
  [90, 'vessel_arrived', 'O B', 'arrived', 'ARRI POD', 'VA', '', '1', 'Vessel arrived', 'The vessel arrived at the port of discharge.', { movement: 'journey', estimates_arrival: 'any_mode', once_per_visit: true }],
  [92, 'vessel_berthed', 'O B', 'arrived', '', '', '', '', 'Vessel berthed', 'The vessel is alongside at the port of discharge.', { movement: 'journey', once_per_visit: true }],
  [95, 'flight_arrived', 'A', 'arrived', '', '', 'X4', '1', 'Flight arrived', 'The flight landed at the airport of destination.', { movement: 'journey', estimates_arrival: 'any_mode', once_per_visit: true }],
  [100, 'discharged', 'O B', 'arrived', 'DISC POD', 'UV', '', '29', 'Discharged', 'The container was unloaded from the vessel at the port of discharge.', { movement: 'journey', container_time: 'discharged_at', handling: 'discharged', free_time: 'starts', once_per_visit: true }],
  [105, 'rail_arrived', 'R O', 'in_transit', 'ARRI rail', 'AR', 'AR', '1', 'Train arrived', 'The train arrived at the station or ramp.', { movement: 'journey', leg_arrival: true, estimates_arrival: ['rail'], once_per_visit: true }],
  [106, 'rail_unloaded', 'R O', 'arrived', 'DISC rail', 'UR', '', '26', 'Unloaded from rail', 'The container was taken off the rail car.', { movement: 'journey', estimates_arrival: ['rail'], free_time: 'starts', once_per_visit: true }],
  [110, 'arrived_at_destination', '*', 'arrived', 'ARRI', '', 'X4', '1', 'Arrived at destination', 'The goods arrived at their destination.', { movement: 'journey', estimates_arrival: 'any_mode', at_destination: true, once_per_visit: true }],
  [115, 'customs_hold', '*', null, 'CUC HOLD', 'PA', '', '', 'Customs hold', 'Customs holds the goods.', { opens_exception: 'customs_hold' }],
  [116, 'customs_inspection', '*', null, 'CUSI', 'PA', '', '', 'Customs inspection', 'Customs examines the goods.', { opens_exception: 'customs_hold' }],
  [117, 'terminal_hold', 'O R B', null, '', '', '', '', 'Terminal hold', 'The terminal holds the goods.', { opens_exception: 'terminal_hold' }],
  [118, 'terminal_released', 'O R B', null, '', '', '', '', 'Terminal released', 'The terminal released the goods.', { clears: 'terminal' }],
  [120, 'import_customs_cleared', '*', null, 'CUSR IMPORT', 'CT', '', '12', 'Import customs cleared', 'Customs released the goods for import.', { clears: 'import' }],
  [122, 'freight_hold', 'O F R', null, '', '', '', '', 'Freight hold', 'The carrier holds the goods until its charges are paid.', { opens_exception: 'freight_hold' }],
  [123, 'freight_released', 'O F R', null, '', '', '', '', 'Freight released', 'The charges are paid, and the carrier no longer holds the goods.', { clears: 'freight' }],
  [125, 'carrier_released', 'O', null, 'CRO RELS', 'CR', '', '78', 'Carrier released', 'The carrier released the container after its charges were settled.'],
  [128, 'arrival_notice_issued', 'O A', null, 'ARN ISSU', '', '', '45', 'Arrival notice issued', 'The carrier notified the consignee of the arrival.'],
  [130, 'available_for_pickup', '*', 'available_for_pickup', 'AVPU', 'AV', 'AV', '64', 'Available for pickup', 'The goods can be collected.', { movement: 'journey' }],
  [131, 'unavailable_for_pickup', '*', 'arrived', '', '', '', '', 'Unavailable for pickup', 'The goods can not, or no longer, be collected.', { movement: 'journey', takes_back: 'availability' }],
  [135, 'gated_out', 'O R B', 'out_for_delivery', 'GTOT LADEN', 'OA', '', '99', 'Gated out', 'The laden container left the terminal.', { movement: 'journey', status_lcl: 'in_transit', container_time: 'gated_out_at', free_time: 'ends', once_per_visit: true }],
  [140, 'out_for_delivery', '*', 'out_for_delivery', '', '', 'X6', '31', 'Out for delivery', 'The goods are on their way to the consignee.', { movement: 'journey' }],
  [145, 'delivery_attempted', '*', null, '', 'AH', 'AH', '23', 'Delivery attempted', 'A delivery was tried and failed.', { movement: 'delivery', opens_exception: 'delivery_failed', clears: 'import' }],
  [147, 'return_started', '*', 'in_transit', '', '', '', '', 'Return started', 'The goods are on their way back to the shipper. A delivery after it counts as the return.', { movement: 'journey', opens_exception: 'return_to_sender', takes_back: 'delivery_run', once_per_visit: true }],
  [150, 'delivered', '*', 'delivered', 'DROP LADEN', 'D', 'D1', '21', 'Delivered', 'The goods were handed over to the consignee.', { movement: 'delivery', ends: true, estimates_arrival: ROAD_AND_COURIER_MODES, container_time: 'delivered_at', once_per_visit: true }],
  [160, 'cargo_stripped', 'O', 'delivered', 'STRP', '', '', '28', 'Cargo stripped', 'The cargo was taken out of the container.', { movement: 'delivery', status_lcl: 'arrived', once_per_visit: true }],
  [170, 'empty_returned', 'O', 'completed', 'GTIN EMPTY', 'RD', '', '82', 'Empty returned', 'The empty container was given back to the carrier.', { movement: 'delivery', ends: true, status_lcl: null, container_time: 'empty_returned_at', once_per_visit: true }],
  [172, 'empty_loaded', 'O R B', null, '', '', '', '', 'Empty loaded', 'The empty container was loaded on a vessel, train or barge.', { once_per_visit: true }],
  [174, 'empty_discharged', 'O R B', null, '', '', '', '', 'Empty discharged', 'The empty container was unloaded from a vessel, train or barge.', { once_per_visit: true }],
  [180, 'returned_to_shipper', '*', 'returned', '', '3', 'A3', '80', 'Returned to shipper', 'The goods went back to the shipper.', { movement: 'delivery', ends: true, once_per_visit: true }],
];

/** The milestone catalog, sorted by sequence. Codes are never renamed or reused. */
export const MILESTONE_CATALOG: readonly MilestoneCatalogEntry[] = MILESTONE_CATALOG_ROWS.map(
  ([sequence, code, modes, status, dcsa, x12_315, x12_214, rec24, label, description, rules]) => ({
    code,
    label,
    description,
    sequence,
    modes: parseTransportModesOfMilestoneCode(modes),
    status,
    opens_exception: rules?.opens_exception ?? null,
    once_per_visit: rules?.once_per_visit ?? false,
    dcsa: dcsa || null,
    x12_315: x12_315 || null,
    x12_214: x12_214 || null,
    rec24: rec24 || null,
    standards: listStandardCodesOfMilestone(code, { dcsa, x12_315, x12_214, iftsta: rec24, iata_fsu: '' }),
  }),
);

/** Returns the codes of each standard that can mean a catalog code. */
function listStandardCodesOfMilestone(code: string, main: Readonly<Record<MilestoneStandard, string>>) {
  const list = (standard: MilestoneStandard) => {
    const more = FOREIGN_CODES[standard].filter(([, codes]) => codes.split(' ').includes(code));
    return [...new Set([...(main[standard] === '' ? [] : [main[standard]]), ...more.map(([foreign]) => foreign)])];
  };
  return {
    dcsa: list('dcsa'),
    x12_315: list('x12_315'),
    x12_214: list('x12_214'),
    iftsta: list('iftsta'),
    iata_fsu: list('iata_fsu'),
  };
}

export const MILESTONE_CODES: readonly string[] = MILESTONE_CATALOG.map(({ code }) => code);

const MILESTONE_CODES_BY_CODE: ReadonlyMap<string, MilestoneCatalogEntry> = new Map(
  MILESTONE_CATALOG.map((entry) => [entry.code, entry]),
);

export function parseMilestoneCode(code: string): MilestoneCatalogEntry | undefined {
  return MILESTONE_CODES_BY_CODE.get(code);
}

const NO_MILESTONE_RULES: MilestoneCodeTraits = {
  status: null,
  opens_exception: null,
  once_per_visit: false,
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
  handling: undefined,
  free_time: undefined,
  container_time: undefined,
  ends: undefined,
};
// All rule objects have the same shape, because every write reads the rules of all milestones of a timeline.
const MILESTONE_RULES_BY_CODE: ReadonlyMap<string, MilestoneCodeTraits> = new Map(
  MILESTONE_CATALOG_ROWS.map(([, code, , status, , , , , , , rules]) => [
    code,
    { ...NO_MILESTONE_RULES, ...rules, status },
  ]),
);

/** Returns the rules of a code; empty rules for an unknown code. */
export function getMilestoneRules(code: string): MilestoneCodeTraits {
  return MILESTONE_RULES_BY_CODE.get(code) ?? NO_MILESTONE_RULES;
}

/** Catalog codes that a code of another standard can mean. */
export interface ForeignMilestoneCode {
  /** The standard that defines the code. */
  readonly standard: string;
  readonly codes: readonly string[];
  /** Classifier of the milestone; null if the code has none of its own. */
  readonly classifier: Classifier | null;
}

/**
 * Converts a code of another standard to catalog codes, for each standard that has the code. Ignores case. A DCSA event
 * code without indicator, such as `GTIN`, matches every indicator.
 */
export function convertForeignMilestoneCode(text: string): readonly ForeignMilestoneCode[] {
  const wanted = text.trim().toUpperCase().split(/\s+/).join(' ');
  if (wanted === '') return [];
  const isMeant = (foreign: string) => `${foreign.toUpperCase()} `.startsWith(`${wanted} `);
  return IDS_OF_MILESTONE_STANDARDS.flatMap((standard) => {
    const found = MILESTONE_CATALOG.filter(({ standards }) => standards[standard].some(isMeant));
    if (found.length === 0) return [];
    const classifier = FOREIGN_CODES[standard].find(([foreign]) => isMeant(foreign))?.[2] ?? null;
    return [{ standard: MILESTONE_STANDARDS[standard], codes: found.map(({ code }) => code), classifier }];
  });
}

const IDS_OF_MILESTONE_STANDARDS = Object.keys(MILESTONE_STANDARDS) as readonly MilestoneStandard[];

/** Reason codes of milestones, grouped by cause. They are a short form of the SMDG delay codes. */
export const MILESTONE_REASON_CODES = [
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
