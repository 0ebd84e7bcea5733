import type { StoredEventDescriptor } from './descriptor.ts';
import type { GivenPorts } from './event-data.ts';

/**
 * Which ports the client gave itself, where that is not to be told from the shipment: those of its legs follow the legs.
 * Announces nothing.
 */
export interface ShipmentPortsGiven {
  readonly type: 'shipment.ports_given.v1';
  readonly data: GivenPorts;
}

export const shipmentPortsGiven: StoredEventDescriptor<ShipmentPortsGiven> = {
  type: 'shipment.ports_given.v1',
  applyToState(draft, ports) {
    draft.ports = ports;
  },
};
