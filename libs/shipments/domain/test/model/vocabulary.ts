import { MILESTONE_CATALOG } from '@tracking/contracts';

export const codes = MILESTONE_CATALOG.map(({ code }) => code);
/** Codes that several rules use. They appear more often than the others. */
export const DEPARTURES = [
  'vessel_departed',
  'rail_departed',
  'flight_departed',
  'transshipment_departed',
  'picked_up',
];
export const ARRIVALS = [
  'vessel_arrived',
  'flight_arrived',
  'rail_arrived',
  'rail_unloaded',
  'arrived_at_destination',
  'discharged',
];
export const PICK_UPS = ['available_for_pickup', 'unavailable_for_pickup', 'gated_out', 'out_for_delivery'];
export const ENDS = ['delivered', 'cargo_stripped', 'empty_returned', 'booking_confirmed', 'booking_cancelled'];
export const FREQUENT_CODES = [...DEPARTURES, ...ARRIVALS, ...PICK_UPS, ...ENDS, 'customs_hold'];
export const CUSTOMS = [
  'customs_hold',
  'customs_inspection',
  'export_customs_cleared',
  'import_customs_cleared',
  'delivery_attempted',
];
export const ESTIMATED_CODES = [...ARRIVALS, 'delivered', ...DEPARTURES];
/**
 * Locations: ports of the routes, others of the same country and of another, airports, an unknown one, free text, null.
 */
export const LOCATIONS = [
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
