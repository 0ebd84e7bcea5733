import {
  EMPTY_SHIPMENT_FIELDS,
  type FieldError,
  type Places,
  type ShipmentFields,
  type ShipmentRecord,
  type Warning,
} from '@tracking/contracts';
import { changesBetween, lastBetween, movesNothing, same } from '../changes.ts';
import { type CheckedShipment, checkShipmentFields, etaBeforeEtd } from '../check-shipment.ts';
import { refuseIfAny, whileCancelled } from '../decision.ts';
import { derive } from '../derive.ts';
import type { GivenPorts, LastSent, ScheduleFields } from '../events/event-data.ts';
import type { ShipmentPortsGiven } from '../events/shipment-ports-given.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcile } from '../exceptions/reconcile.ts';
import { portsOf } from '../route.ts';
import { type ShipmentState, scheduleOf, setSchedule } from '../state.ts';
import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';

/** Creates a shipment, or changes the one with this `external_id`. */
export interface UpsertShipment extends CommandContext {
  readonly type: 'UpsertShipment';
  /** `shp_<token>`, derived from (workspace, environment, external_id), or from the command id without one. */
  readonly shipment_id: string;
  /** Absent fields keep their value, null clears. Of the right types, and in the form that `checkShipmentFields` answers. */
  readonly fields: Partial<ShipmentFields>;
}

interface UpsertResult {
  readonly outcome: 'created' | 'updated' | 'unchanged';
}
export interface UpsertShipmentAnswer extends UpsertResult {
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export type UpsertDecision = Decision<UpsertResult>;

export const upsertShipment: CommandHandler<UpsertShipment, UpsertResult, Omit<UpsertShipmentAnswer, 'warnings'>> = {
  create: createShipment,
  decide: updateShipment,
  resultOf: ([first]) => ({ outcome: first?.type === 'shipment.created.v1' ? 'created' : 'updated' }),
  answer: ({ outcome }, { record }) => ({ outcome, shipment: record }),
};

/** Everything visible stands in the first event; exceptions that open with the shipment follow it. */
function createShipment(command: UpsertShipment, context: DecideContext): UpsertDecision {
  const checked = checkFields(command, command.fields.mode ?? null, context.places);
  const fields = { ...EMPTY_SHIPMENT_FIELDS, ...checked.fields };
  refuseIfAny([...checked.errors, ...missingReference(fields)]);
  const { etd, eta, legs } = fields;
  const sent: LastSent = { etd, eta, legs };
  const record: ShipmentRecord = {
    id: command.shipment_id,
    ...fields,
    ...portsOf(fields, legs),
    status: 'pending',
    status_milestone_id: null,
    legs: [],
    containers: [],
    atd: null,
    ata: null,
    original_eta: null,
    last_milestone: null,
    open_exceptions_count: 0,
    documents_count: 0,
    created_at: command.at,
    updated_at: command.at,
    version: 1,
  };
  const basis = { record, schedule: scheduleOf(sent, 0), timeline: [], cancelled: null, revision: 0 };
  const derived = derive(basis, context.places);
  const { workspace_id, environment } = command;
  const events: ShipmentEventBody[] = [
    { type: 'shipment.created.v1', data: { workspace_id, environment, shipment: derived.record, sent } },
    ...portsGiven(null, fields, derived.record),
    ...reconcile(undefined, derived, [], { ...context, at: command.at }),
  ];
  const warnings = warningsOf(checked, derived.record);
  return { outcome: 'created', events, warnings, nextCheckAt: null };
}

/**
 * Absent fields keep their value, null clears, arrays and objects are replaced whole. `etd`, `eta` and `legs` count only
 * where they differ from what was last sent: a nightly resend does not wipe out a newer estimate.
 */
function updateShipment(command: UpsertShipment, state: ShipmentState, context: DecideContext): UpsertDecision {
  const before = state.record;
  const mode = command.fields.mode === undefined ? before.mode : command.fields.mode;
  const checked = checkFields(command, mode, context.places);
  const { etd: _etd, eta: _eta, legs: _legs, ...plain } = checked.fields;
  const fields = newlySent(state.sent, checked.fields);
  const revision = before.version;
  const schedule = setSchedule(state.schedule, fields, revision);
  const given = { ...(state.ports ?? before), ...plain };
  const record: ShipmentRecord = { ...before, ...plain, ...portsOf(given, schedule.legs.value) };
  refuseIfAny([
    ...checked.errors,
    ...movedExternalId(before, record),
    ...missingReference({ ...record, external_id: before.external_id }),
  ]);

  const { timeline, cancelled } = state;
  const derived = derive({ record, schedule, timeline, cancelled, revision }, context.places);
  const last = lastBetween(before, derived.record);
  const changes = changesBetween(before, derived.record);
  const events: ShipmentEventBody[] = [];
  if (Object.keys(fields).length > 0 || !movesNothing(last)) {
    events.push({ type: 'shipment.updated.v1', data: { fields, sent: { ...state.sent, ...fields }, last } });
  }
  events.push(...portsGiven(state.ports, given, derived.record));
  if (changes !== undefined) events.push({ type: 'shipment.changed.v1', data: { changes } });
  events.push(...reconcile(state, derived, timeline, { ...context, at: command.at }));
  const warnings = [...warningsOf(checked, derived.record), ...whileCancelled(before, derived.record)];
  return { outcome: events.length === 0 ? 'unchanged' : 'updated', events, warnings, nextCheckAt: null };
}

function checkFields(
  { fields, strict }: UpsertShipment,
  mode: ShipmentFields['mode'],
  places: Places,
): CheckedShipment {
  return checkShipmentFields(fields, mode, places, strict);
}

/** Those that differ from what the last upsert sent. */
function newlySent(sent: LastSent, { etd, eta, legs }: ScheduleFields): ScheduleFields {
  return {
    ...(etd === undefined || etd === sent.etd ? {} : { etd }),
    ...(eta === undefined || eta === sent.eta ? {} : { eta }),
    ...(legs === undefined || same(legs, sent.legs) ? {} : { legs }),
  };
}

/** Remembers which ports were given, where that is not what is known or seen of them. */
function portsGiven(known: GivenPorts | null, given: GivenPorts, answered: GivenPorts): readonly ShipmentPortsGiven[] {
  const { origin_port, destination_port } = given;
  const assumed = known ?? answered;
  if (assumed.origin_port === origin_port && assumed.destination_port === destination_port) return [];
  return [{ type: 'shipment.ports_given.v1', data: { origin_port, destination_port } }];
}

/** It names the shipment for the client's system: it neither changes nor is set later. */
function movedExternalId(before: ShipmentRecord, after: ShipmentRecord): readonly FieldError[] {
  if (after.external_id === before.external_id) return [];
  const message = 'The external_id of a shipment is set when it is created, and never changes.';
  return [{ param: 'external_id', code: 'external_id_immutable', message }];
}

function missingReference(
  fields: Pick<ShipmentFields, 'external_id' | 'house_bill' | 'container_numbers'>,
): readonly FieldError[] {
  if (fields.external_id !== null || fields.house_bill !== null || fields.container_numbers.length > 0) return [];
  const message = 'A shipment needs at least one of external_id, house_bill and container_numbers.';
  return [{ param: 'external_id', code: 'reference_required', message }];
}

/** `eta` before `etd` as they are now, not only as sent. */
function warningsOf({ fields, warnings }: CheckedShipment, { etd, eta }: ShipmentRecord): readonly Warning[] {
  const others = warnings.filter(({ param }) => param !== 'eta');
  const isSet = fields.etd !== undefined || fields.eta !== undefined || fields.legs !== undefined;
  const order = isSet ? etaBeforeEtd('eta', etd, eta) : undefined;
  return order === undefined ? others : [...others, order];
}
