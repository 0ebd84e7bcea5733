import type { StoredEventDescriptor } from './descriptor.ts';

/** The client cancelled the shipment. Announces nothing: what comes of it stands in the `shipment.changed.v1` behind it. */
export interface ShipmentCancelled {
  readonly type: 'shipment.cancelled.v1';
  readonly data: Readonly<Record<string, never>>;
}

export const shipmentCancelled: StoredEventDescriptor<ShipmentCancelled> = {
  type: 'shipment.cancelled.v1',
  applyToState(draft, _data, revision) {
    draft.cancelled = revision;
  },
  tell: () => ({ type: 'shipment.cancelled', changes: {} }),
};
