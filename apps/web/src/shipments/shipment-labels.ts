import type { Shipment } from '@tracking/client';

export type Status = Shipment['status'];

/** In the order in which they follow each other. */
export const STATUS_LABELS: Readonly<Record<Status, string>> = {
  pending: 'Pending',
  booked: 'Booked',
  at_origin: 'At origin',
  in_transit: 'In transit',
  arrived: 'Arrived',
  available_for_pickup: 'Available for pickup',
  out_for_delivery: 'Out for delivery',
  delivered: 'Delivered',
  completed: 'Completed',
  returned: 'Returned',
  cancelled: 'Cancelled',
};
export const STATUSES = Object.keys(STATUS_LABELS) as readonly Status[];
/** Neither on their way nor to be. */
export const ENDED: readonly Status[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** What a person calls it: their own reference where it has one. */
export function nameOf({ external_id, house_bill, booking_number, master_bill, id }: Shipment): string {
  return external_id ?? house_bill ?? booking_number ?? master_bill ?? id;
}
