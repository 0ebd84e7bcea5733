import {
  type Environment,
  type EtaOrigin,
  type HistoryChanges,
  type ShipmentRecord,
  type TimeOrDay,
  type TimePrecision,
  addMissingShipmentFields,
} from '@tracking/contracts';
import {
  applyChangesToShipment,
  applyLastMilestoneChanges,
  isSameJson,
  rememberFieldsOfRemovedContainers,
} from '../changes.ts';
import { createClientScheduleFromFirstUpsert, NO_ORIGINAL_ETA, applyFieldsToClientSchedule } from '../state.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type {
  Changes,
  GivenPorts,
  ChangedLastMilestoneSummaries,
  LastUpsertValues,
  EventRevisionsOfLegTimes,
  ScheduleFields,
} from './event-data.ts';

/** The first event of a shipment. It contains the new shipment with its derived fields. */
export interface ShipmentCreatedEvent {
  readonly type: 'shipment.created.v1';
  readonly data: {
    readonly workspace_id: string;
    readonly environment: Environment;
    readonly shipment: ShipmentRecord;
    readonly sent: LastUpsertValues;
  };
}

export const shipmentCreatedEventDescriptor: StoredEventDescriptor<ShipmentCreatedEvent> = {
  type: 'shipment.created.v1',
  begin: ({ workspace_id, environment, shipment, sent }, revision) => ({
    workspace_id,
    environment,
    record: addMissingShipmentFields(shipment),
    schedule: createClientScheduleFromFirstUpsert(sent, revision),
    sent,
    ports: null,
    originalEta: NO_ORIGINAL_ETA,
    cancelled: null,
    removedContainers: new Map(),
    timeline: [],
    droppedEstimates: new Map(),
    exceptions: [],
    documents: [],
    endedConditions: new Set(),
    acknowledgementNotes: new Map(),
    lastNewsAt: null,
    nextCheckAt: null,
    commands: [],
  }),
  createHistoryNote: ({ shipment }) => ({
    type: 'shipment.created',
    changes: listInitialFieldValuesAsChanges(shipment),
  }),
  announce: () => ({ type: 'shipment.created', data: (shipment) => ({ shipment }) }),
};

/** Fields that every new shipment has. They are omitted from the history entry. */
const ALWAYS_SET_FIELDS: ReadonlySet<string> = new Set(['id', 'status', 'created_at', 'updated_at', 'version']);

/** Returns the fields that are set on a new shipment, except those that every shipment has. */
function listInitialFieldValuesAsChanges(shipment: ShipmentRecord): HistoryChanges {
  const given = Object.entries(shipment).filter(
    ([field, value]) => !ALWAYS_SET_FIELDS.has(field) && !isDefaultOrEmptyFieldValue(value),
  );
  return Object.fromEntries(given.map(([field, to]) => [field, { from: null, to }]));
}

const DEFAULT_TIME_PRECISION: TimePrecision = 'time';

function isDefaultOrEmptyFieldValue(value: unknown): boolean {
  return (
    value === null ||
    value === 0 ||
    value === DEFAULT_TIME_PRECISION ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/**
 * Data of an update that later decisions need in addition to the visible changes. The event is not announced; the
 * `shipment.changed.v1` that follows is.
 */
export interface ShipmentUpdatedEvent {
  readonly type: 'shipment.updated.v1';
  readonly data: {
    /** Values that the client set for fields that estimates also set. They override earlier estimates. */
    readonly fields: ScheduleFields;
    /**
     * Revisions of the events that set the times of the legs, by leg; absent if this event sets all times, or sets no
     * legs.
     */
    readonly legs_written?: readonly EventRevisionsOfLegTimes[];
    readonly sent: LastUpsertValues;
    readonly last: ChangedLastMilestoneSummaries;
    /** Original ETA that the client set, if it equals the visible one, which would change otherwise. */
    readonly original_eta?: TimeOrDay | null;
  };
}

export const shipmentUpdatedEventDescriptor: StoredEventDescriptor<ShipmentUpdatedEvent> = {
  type: 'shipment.updated.v1',
  applyToRecord: (record, { last }) => applyLastMilestoneChanges(record, last),
  applyToState(draft, { fields, legs_written, sent, original_eta }, { revision, at }) {
    if (original_eta !== undefined) draft.originalEta = { value: original_eta, since: at };
    // A patch leaves the values of the last upsert as they are.
    const keepsEta = draft.record.ata !== null && !isSameJson(sent, draft.sent);
    const statement = { revision, at, keepsEta, originalEtaSince: draft.originalEta.since };
    draft.schedule = applyFieldsToClientSchedule(draft.schedule, fields, statement, legs_written);
    draft.sent = sent;
  },
};

/**
 * Ports that the client set for the shipment. They are stored because the shipment shows the ports of its legs instead.
 * The event is not announced.
 */
export interface ShipmentPortsGivenEvent {
  readonly type: 'shipment.ports_given.v1';
  readonly data: GivenPorts;
}

export const shipmentPortsGivenEventDescriptor: StoredEventDescriptor<ShipmentPortsGivenEvent> = {
  type: 'shipment.ports_given.v1',
  applyToState(draft, ports) {
    draft.ports = ports;
  },
};

/** All client-visible changes of one command, both set and derived. */
export interface ShipmentChangedEvent {
  readonly type: 'shipment.changed.v1';
  readonly data: {
    readonly changes: Changes;
    /** The origin of a new `eta`; absent if `eta` does not change. */
    readonly eta_set_by?: EtaOrigin;
    /** Origin of a new `original_eta`: set by the client, or the earliest report. Absent in events of former releases. */
    readonly original_eta_set_by?: 'client' | 'report';
    /** Date of a new `original_eta` that a client set as a day. */
    readonly original_eta_day?: string;
    /** Precision of a new `eta`, and its slip by local days; absent if neither the new nor the former ETA is a day. */
    readonly eta_by_day?: { readonly precision: TimePrecision; readonly slip_hours: number | null };
  };
}

export const shipmentChangedEventDescriptor: StoredEventDescriptor<ShipmentChangedEvent> = {
  type: 'shipment.changed.v1',
  applyToRecord: (record, { changes }) => applyChangesToShipment(record, changes),
  applyToState(draft, { changes, original_eta_set_by, original_eta_day }, { at }) {
    if (didClientSetOriginalEta(draft.record, changes, original_eta_set_by))
      draft.originalEta = { value: original_eta_day ?? changes.original_eta?.to ?? null, since: at };
    draft.removedContainers = rememberFieldsOfRemovedContainers(draft.removedContainers, changes);
  },
  isNews: ({ changes }) => changes.eta !== undefined,
  createHistoryNote: ({ changes: { milestone: _, ...changes } }) =>
    Object.keys(changes).length === 0 ? undefined : { type: 'shipment.updated', changes },
  announce: ({ changes }) => ({ type: 'shipment.updated', data: (shipment) => ({ shipment, changes }) }),
};

/**
 * Returns true if a client set the changed original ETA. Events of former releases do not contain this. There, the first
 * ETA became the original ETA, and only a client could set another value.
 */
function didClientSetOriginalEta(
  { eta }: ShipmentRecord,
  { original_eta: change }: Changes,
  setBy: 'client' | 'report' | undefined,
): boolean {
  if (change === undefined) return false;
  return setBy === undefined ? change.from !== null || change.to !== eta : setBy === 'client';
}

/**
 * The client cancelled the shipment. The event is not announced; the `shipment.changed.v1` that follows announces the
 * changes.
 */
export interface ShipmentCancelledEvent {
  readonly type: 'shipment.cancelled.v1';
  readonly data: Readonly<Record<string, never>>;
}

export const shipmentCancelledEventDescriptor: StoredEventDescriptor<ShipmentCancelledEvent> = {
  type: 'shipment.cancelled.v1',
  applyToState(draft, _data, { revision }) {
    draft.cancelled = revision;
  },
  createHistoryNote: () => ({ type: 'shipment.cancelled', changes: {} }),
};

/**
 * The client revoked its cancellation. The event is not announced; the `shipment.changed.v1` that follows announces the
 * changes.
 */
export interface ShipmentReopenedEvent {
  readonly type: 'shipment.reopened.v1';
  readonly data: Readonly<Record<string, never>>;
}

export const shipmentReopenedEventDescriptor: StoredEventDescriptor<ShipmentReopenedEvent> = {
  type: 'shipment.reopened.v1',
  applyToState(draft) {
    draft.cancelled = null;
  },
  createHistoryNote: () => ({ type: 'shipment.reopened', changes: {} }),
};

/**
 * A check of the rules changed only the time of the next check, which is in the metadata. The event is not announced.
 */
export interface ShipmentCheckedEvent {
  readonly type: 'shipment.checked.v1';
  readonly data: Readonly<Record<never, never>>;
}

export const shipmentCheckedEventDescriptor: StoredEventDescriptor<ShipmentCheckedEvent> = {
  type: 'shipment.checked.v1',
};
