import type { FieldError, ShipmentFields, ShipmentRecord, Warning } from '@tracking/contracts';
import { changesBetween, lastBetween, movesNothing } from '../changes.ts';
import { type CheckedShipment, etaBeforeEtd } from '../check-shipment.ts';
import { refuseIfAny, whileCancelled } from '../decision.ts';
import { changedBy, derive } from '../derive.ts';
import type { GivenPorts, LastSent, ScheduleFields } from '../events/event-data.ts';
import type { ShipmentPortsGiven } from '../events/shipment-ports-given.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcile } from '../exceptions/reconcile.ts';
import type { ContinuedLegs } from '../leg-times.ts';
import { portsOf } from '../route.ts';
import { type ShipmentState, setSchedule } from '../state.ts';
import type { CommandContext, DecideContext, Decision } from './command.ts';

/** What a client sets on a shipment that is there. */
export interface Update {
  readonly checked: CheckedShipment;
  /** Those of the checked fields that count as new statements about times. */
  readonly times: ScheduleFields;
  /** How the legs among them continue the legs before; absent where all their times are new statements. */
  readonly continued?: ContinuedLegs;
  /** What the last upsert sent of them, from now on. */
  readonly sent: LastSent;
  /** What else it sets on the record. */
  readonly also?: Partial<Pick<ShipmentRecord, 'original_eta'>>;
  /** Whether it moves `eta` also after the arrival. */
  readonly movesEtaAfterArrival?: boolean;
}

/** @throws DomainError naming every faulty field */
export function decideUpdate(
  command: CommandContext,
  state: ShipmentState,
  context: DecideContext,
  { checked, times, continued, sent, also, movesEtaAfterArrival = false }: Update,
): Decision<{ readonly outcome: 'updated' | 'unchanged' }> {
  const before = state.record;
  const { etd: _etd, eta: _eta, legs: _legs, ...plain } = checked.fields;
  const revision = before.version;
  const legsWritten = continued?.written;
  const schedule = setSchedule(state.schedule, times, revision, legsWritten);
  const given = { ...(state.ports ?? before), ...plain };
  const legs = continued?.answered ?? before.legs;
  const record: ShipmentRecord = { ...before, ...plain, ...also, ...portsOf(given, schedule.legs.value), legs };
  refuseIfAny([
    ...checked.errors,
    ...movedExternalId(before, record),
    ...missingReference({ ...record, external_id: before.external_id }),
  ]);

  const { timeline } = state;
  const derived = derive({ ...state, record, schedule, revision, movesEtaAfterArrival }, context.places);
  const last = lastBetween(before, derived.record);
  const changes = changesBetween(before, derived.record);
  const events: ShipmentEventBody[] = [];
  if (Object.keys(times).length > 0 || !movesNothing(last)) {
    const data = { fields: times, ...(legsWritten && { legs_written: legsWritten }), sent, last };
    events.push({ type: 'shipment.updated.v1', data });
  }
  events.push(...portsGiven(state.ports, given, derived.record));
  if (changes !== undefined) events.push(changedBy(changes, derived));
  const reconciled = reconcile(state, { derived, timeline, events }, { ...context, at: command.at });
  const warnings = [...warningsOf(checked, derived.record), ...whileCancelled(before, derived.record)];
  return { outcome: reconciled.events.length === 0 ? 'unchanged' : 'updated', warnings, ...reconciled };
}

/** Remembers which ports were given, where that is not what is known or seen of them. */
export function portsGiven(
  known: GivenPorts | null,
  given: GivenPorts,
  answered: GivenPorts,
): readonly ShipmentPortsGiven[] {
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

export function missingReference(
  fields: Pick<ShipmentFields, 'external_id' | 'house_bill' | 'container_numbers'>,
): readonly FieldError[] {
  if (fields.external_id !== null || fields.house_bill !== null || fields.container_numbers.length > 0) return [];
  const message = 'A shipment needs at least one of external_id, house_bill and container_numbers.';
  return [{ param: 'external_id', code: 'reference_required', message }];
}

/** `eta` before `etd` as they are now, not only as sent. */
export function warningsOf({ fields, warnings }: CheckedShipment, { etd, eta }: ShipmentRecord): readonly Warning[] {
  const others = warnings.filter(({ param }) => param !== 'eta');
  const isSet = fields.etd !== undefined || fields.eta !== undefined || fields.legs !== undefined;
  const order = isSet ? etaBeforeEtd('eta', etd, eta) : undefined;
  return order === undefined ? others : [...others, order];
}
