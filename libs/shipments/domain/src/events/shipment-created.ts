import { type Environment, type HistoryChanges, type ShipmentRecord, withAllFields } from '@tracking/contracts';
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
    documents: [],
    endedConditions: new Set(),
    acknowledgementNotes: new Map(),
    heardAt: null,
    nextCheckAt: null,
    commands: [],
  }),
  tell: ({ shipment }) => ({ type: 'shipment.created', changes: givenIn(shipment) }),
  announce: () => ({ type: 'shipment.created', data: (shipment) => ({ shipment }) }),
};

/** Fields of a new shipment that are there for every shipment. */
const OF_EVERY_SHIPMENT: ReadonlySet<string> = new Set(['id', 'status', 'created_at', 'updated_at', 'version']);

/** What it was created with: all that is neither empty nor derived. */
function givenIn(shipment: ShipmentRecord): HistoryChanges {
  const given = Object.entries(shipment).filter(([field, value]) => !OF_EVERY_SHIPMENT.has(field) && !isEmpty(value));
  return Object.fromEntries(given.map(([field, to]) => [field, { from: null, to }]));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === 0 || (typeof value === 'object' && Object.keys(value).length === 0);
}
