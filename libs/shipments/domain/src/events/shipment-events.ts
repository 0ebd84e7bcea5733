import {
  type Environment,
  type EtaSetBy,
  type HistoryChanges,
  type ShipmentRecord,
  withAllFields,
} from '@tracking/contracts';
import { applyChanges, applyLastMilestones, takenOffAfter } from '../changes.ts';
import { scheduleOf, setSchedule } from '../state.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { Changes, GivenPorts, LastMilestones, LastSent, LegTimesWritten, ScheduleFields } from './event-data.ts';

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
  historyNote: ({ shipment }) => ({ type: 'shipment.created', changes: givenIn(shipment) }),
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

/** What must be remembered of an upsert beside what it changed visibly. Announces nothing; `shipment.changed.v1` does. */
export interface ShipmentUpdated {
  readonly type: 'shipment.updated.v1';
  readonly data: {
    /** What the client set of the fields that estimates move too: estimates of before no longer count for them. */
    readonly fields: ScheduleFields;
    /** By leg: which events set its times; absent where this one sets all of them, or no legs. */
    readonly legs_written?: readonly LegTimesWritten[];
    readonly sent: LastSent;
    readonly last: LastMilestones;
  };
}

export const shipmentUpdated: StoredEventDescriptor<ShipmentUpdated> = {
  type: 'shipment.updated.v1',
  applyToRecord: (record, { last }) => applyLastMilestones(record, last),
  applyToState(draft, { fields, legs_written, sent }, revision) {
    draft.schedule = setSchedule(draft.schedule, fields, revision, legs_written);
    draft.sent = sent;
  },
};

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

/** Every client-visible difference of one command, set or derived. */
export interface ShipmentChanged {
  readonly type: 'shipment.changed.v1';
  readonly data: {
    readonly changes: Changes;
    /** The origin of a new `eta`; absent if the changes do not name `eta`. */
    readonly eta_set_by?: EtaSetBy;
  };
}

export const shipmentChanged: StoredEventDescriptor<ShipmentChanged> = {
  type: 'shipment.changed.v1',
  applyToRecord: (record, { changes }) => applyChanges(record, changes),
  applyToState(draft, { changes }) {
    draft.takenOff = takenOffAfter(draft.takenOff, changes);
  },
  isNews: ({ changes }) => changes.eta !== undefined,
  historyNote: ({ changes: { milestone: _, ...changes } }) =>
    Object.keys(changes).length === 0 ? undefined : { type: 'shipment.updated', changes },
  announce: ({ changes }) => ({ type: 'shipment.updated', data: (shipment) => ({ shipment, changes }) }),
};

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
  historyNote: () => ({ type: 'shipment.cancelled', changes: {} }),
};

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
  historyNote: () => ({ type: 'shipment.reopened', changes: {} }),
};

/** Its rules were checked and found nothing but another moment for the next check, which this carries. Announces nothing. */
export interface ShipmentChecked {
  readonly type: 'shipment.checked.v1';
  readonly data: Readonly<Record<never, never>>;
}

export const shipmentChecked: StoredEventDescriptor<ShipmentChecked> = { type: 'shipment.checked.v1' };
