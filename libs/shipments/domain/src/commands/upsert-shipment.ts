import {
  EMPTY_SHIPMENT_FIELDS,
  type PlaceLookup,
  type ClientShipmentFields,
  type ShipmentRecord,
  type Warning,
} from '@tracking/contracts';
import { isSameJson } from '../changes.ts';
import { type ShipmentFieldsCheckResult, checkShipmentFields } from '../check-shipment.ts';
import {
  type CommandContext,
  type CommandHandler,
  type DecideContext,
  type Decision,
  throwIfInvalidFields,
} from './command.ts';
import { deriveShipment } from '../derive.ts';
import type { LastUpsertValues, ScheduleFields } from '../events/event-data.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcileExceptions } from '../exceptions/reconcile.ts';
import {
  keepTimesOfRepeatedLegs,
  decideShipmentUpdate,
  checkRequiredReference,
  createPortsGivenEvent,
  createWarningsOfUpdate,
} from './update.ts';
import { getPortsOfShipment } from '../route.ts';
import { type ShipmentState, createClientScheduleFromFirstUpsert, NO_ORIGINAL_ETA } from '../state.ts';

/** Creates a shipment, or changes the shipment with this `external_id`. */
export interface UpsertShipment extends CommandContext {
  readonly type: 'UpsertShipment';
  /**
   * Id `shp_<token>`. It is derived from workspace, environment and external_id; without an external_id, from the
   * command id.
   */
  readonly shipment_id: string;
  /**
   * Fields with correct types, in the form that `checkShipmentFields` returns. Absent fields keep their value, null
   * clears.
   */
  readonly fields: Partial<ClientShipmentFields>;
}

interface UpsertShipmentResult {
  readonly outcome: 'created' | 'updated' | 'unchanged';
}
export interface UpsertShipmentAnswer extends UpsertShipmentResult {
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export type UpsertDecision = Decision<UpsertShipmentResult>;

export const upsertShipmentHandler: CommandHandler<
  UpsertShipment,
  UpsertShipmentResult,
  Omit<UpsertShipmentAnswer, 'warnings'>
> = {
  create: createShipment,
  decideCommandOnExistingShipment: decideUpsertOfExistingShipment,
  rebuildResultFromEvents: ([first]) => ({ outcome: first?.type === 'shipment.created.v1' ? 'created' : 'updated' }),
  buildAnswerFromResult: ({ outcome }, { record }) => ({ outcome, shipment: record }),
};

/**
 * Creates a shipment. The first event contains everything that clients see. Events of exceptions that open with the
 * shipment follow.
 */
function createShipment(command: UpsertShipment, context: DecideContext): UpsertDecision {
  const checked = checkFieldsOfUpsert(command, command.fields.mode ?? null, context.places);
  const fields = { ...EMPTY_SHIPMENT_FIELDS, ...checked.fields };
  throwIfInvalidFields([...checked.errors, ...checkRequiredReference(fields)]);
  const { etd, eta, legs } = fields;
  const sent: LastUpsertValues = { etd, eta, legs };
  const record: ShipmentRecord = {
    id: command.shipment_id,
    ...fields,
    ...getPortsOfShipment(fields, legs),
    status: 'pending',
    status_milestone_id: null,
    legs: [],
    containers: [],
    etd_precision: 'time',
    eta_precision: 'time',
    atd: null,
    ata: null,
    original_eta: null,
    original_eta_precision: 'time',
    last_milestone: null,
    open_exceptions_count: 0,
    documents_count: 0,
    created_at: command.at,
    updated_at: command.at,
    version: 1,
  };
  const schedule = createClientScheduleFromFirstUpsert(sent, 0);
  const basis = {
    record,
    schedule,
    timeline: [],
    droppedEstimates: new Map<string, never>(),
    cancelled: null,
    originalEta: NO_ORIGINAL_ETA,
    removedContainers: new Map<string, never>(),
  };
  const derived = deriveShipment(basis, context.places);
  const { workspace_id, environment } = command;
  const events: ShipmentEventBody[] = [
    { type: 'shipment.created.v1', data: { workspace_id, environment, shipment: derived.record, sent } },
    ...createPortsGivenEvent(null, fields, derived.record),
  ];
  const reconciled = reconcileExceptions(undefined, { derived, timeline: [], events }, { ...context, at: command.at });
  return { outcome: 'created', warnings: createWarningsOfUpdate(checked, derived), ...reconciled };
}

/**
 * Changes a shipment. Absent fields keep their value, null clears, arrays and objects are replaced as a whole. `etd`,
 * `eta`, `legs` and the times of legs count only if they differ from the last sent values, so that a nightly upsert
 * with the same values does not undo a newer estimate.
 */
function decideUpsertOfExistingShipment(
  command: UpsertShipment,
  state: ShipmentState,
  context: DecideContext,
): UpsertDecision {
  const mode = command.fields.mode === undefined ? state.record.mode : command.fields.mode;
  const checked = checkFieldsOfUpsert(command, mode, context.places);
  const newly = pickChangedScheduleFields(state.sent, checked.fields);
  const sent = { ...state.sent, ...newly };
  if (newly.legs === undefined) return decideShipmentUpdate(command, state, context, { checked, times: newly, sent });
  const continued = keepTimesOfRepeatedLegs(newly.legs, state, state.record.version);
  const times = { ...newly, legs: continued.legs };
  return decideShipmentUpdate(command, state, context, { checked, times, continued, sent });
}

function checkFieldsOfUpsert(
  { fields, strict }: UpsertShipment,
  mode: ClientShipmentFields['mode'],
  places: PlaceLookup,
): ShipmentFieldsCheckResult {
  return checkShipmentFields(fields, mode, places, strict);
}

/** Returns the schedule fields that differ from the last upsert. */
function pickChangedScheduleFields(sent: LastUpsertValues, { etd, eta, legs }: ScheduleFields): ScheduleFields {
  return {
    ...(etd === undefined || etd === sent.etd ? {} : { etd }),
    ...(eta === undefined || eta === sent.eta ? {} : { eta }),
    ...(legs === undefined || isSameJson(legs, sent.legs) ? {} : { legs }),
  };
}
