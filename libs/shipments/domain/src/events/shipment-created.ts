import { type Environment, type ShipmentRecord, withAllFields } from '@tracking/contracts';
import { scheduleOf } from '../state.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { LastSent } from './event-data.ts';

/** The first event: the shipment as created, derived fields included. */
export interface ShipmentCreated {
  readonly type: 'shipment.created.v1';
  readonly data: {
    readonly workspace_id: string;
    readonly environment: Environment;
    readonly shipment: ShipmentRecord;
    readonly sent: LastSent;
  };
}

export const shipmentCreated: StoredEventDescriptor<ShipmentCreated> = {
  type: 'shipment.created.v1',
  begin: ({ workspace_id, environment, shipment, sent }, revision) => ({
    workspace_id,
    environment,
    record: withAllFields(shipment),
    schedule: scheduleOf(sent, revision),
    sent,
    ports: null,
    cancelled: null,
    takenOff: new Map(),
    timeline: [],
    exceptions: [],
    commands: [],
  }),
  announce: () => ({ type: 'shipment.created', data: (shipment) => ({ shipment }) }),
};
