import { MILESTONE_CATALOG } from '@tracking/contracts';

export const catalogMilestoneCodes = MILESTONE_CATALOG.map(({ code }) => code);
/** Codes that several rules use. They appear more often than the others. */
export const DEPARTURE_CODES = [
  'vessel_departed',
  'rail_departed',
  'flight_departed',
  'transshipment_departed',
  'picked_up',
];
export const ARRIVAL_CODES = [
  'vessel_arrived',
  'flight_arrived',
  'rail_arrived',
  'rail_unloaded',
  'arrived_at_destination',
  'discharged',
];
export const PICK_UP_CODES = ['available_for_pickup', 'unavailable_for_pickup', 'gated_out', 'out_for_delivery'];
export const CODES_THAT_END_TRIP = [
  'delivered',
  'cargo_stripped',
  'empty_returned',
  'booking_confirmed',
  'booking_cancelled',
];
export const FREQUENTLY_GENERATED_MILESTONE_CODES = [
  ...DEPARTURE_CODES,
  ...ARRIVAL_CODES,
  ...PICK_UP_CODES,
  ...CODES_THAT_END_TRIP,
  'customs_hold',
];
export const CUSTOMS_CODES = [
  'customs_hold',
  'customs_inspection',
  'export_customs_cleared',
  'import_customs_cleared',
  'delivery_attempted',
];
export const ESTIMATED_CODES = [...ARRIVAL_CODES, 'delivered', ...DEPARTURE_CODES];
/**
 * Locations: ports of the routes, others of the same country and of another, airports, an unknown one, free text, null.
 */
export const LOCATION_SAMPLES = [
  null,
  null,
  null,
  'CNSHA',
  'SGSIN',
  'USLAX',
  'USLAX',
  'USCHI',
  'DEHAM',
  'FRA',
  'LAX',
  'LON',
  'Pier 400',
];
