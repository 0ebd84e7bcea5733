import type { Shipment } from '@tracking/client';
import { createContext, useContext } from 'react';

export const ShipmentContext = createContext<Shipment | undefined>(undefined);

/** The shipment that the page is about, as it is now: changes that arrive are in it. */
export function useShipment(): Shipment {
  const shipment = useContext(ShipmentContext);
  if (shipment === undefined) throw new Error('this is no part of the page of a shipment');
  return shipment;
}

/** What people call it by. */
export function nameOf({ external_id, house_bill, container_numbers, id }: Shipment): string {
  return external_id ?? house_bill ?? container_numbers[0] ?? id;
}
