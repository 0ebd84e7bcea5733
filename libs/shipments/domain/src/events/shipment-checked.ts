import type { StoredEventDescriptor } from './descriptor.ts';

/** Its rules were checked and found nothing but another moment for the next check, which this carries. Announces nothing. */
export interface ShipmentChecked {
  readonly type: 'shipment.checked.v1';
  readonly data: Readonly<Record<never, never>>;
}

export const shipmentChecked: StoredEventDescriptor<ShipmentChecked> = { type: 'shipment.checked.v1' };
