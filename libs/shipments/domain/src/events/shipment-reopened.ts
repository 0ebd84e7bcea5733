import type { StoredEventDescriptor } from './descriptor.ts';

/** The client took its cancellation back. Announces nothing: what comes of it stands in the `shipment.changed.v1` behind it. */
export interface ShipmentReopened {
  readonly type: 'shipment.reopened.v1';
  readonly data: Readonly<Record<string, never>>;
}

export const shipmentReopened: StoredEventDescriptor<ShipmentReopened> = {
  type: 'shipment.reopened.v1',
  applyToState(draft) {
    draft.cancelled = null;
  },
  tell: () => ({ type: 'shipment.reopened', changes: {} }),
};
