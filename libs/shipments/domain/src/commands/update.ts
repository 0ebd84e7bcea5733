import type {
  FieldError,
  LegFields,
  ClientShipmentFields,
  ShipmentRecord,
  TimeOrDay,
  Warning,
} from '@tracking/contracts';
import { computeAnnouncedChanges, listChangesOfLastMilestone, hasNoLastMilestones } from '../changes.ts';
import { type ShipmentFieldsCheckResult, warnIfEtaBeforeEtd, checkShipmentFields } from '../check-shipment.ts';
import { createShipmentChangedEvent } from '../changed-event.ts';
import { deriveShipment, type DerivedShipment } from '../derive.ts';
import type { GivenPorts, LastUpsertValues, EventRevisionsOfLegTimes, ScheduleFields } from '../events/event-data.ts';
import type { ShipmentPortsGivenEvent } from '../events/shipment-events.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcileExceptions } from '../exceptions/reconcile.ts';
import { restoreScheduleTimesWithZones } from '../local-time.ts';
import { getPortsOfShipment } from '../route.ts';
import { applyFieldsToClientSchedule, type ShipmentState } from '../state.ts';
import {
  type CommandContext,
  type DecideContext,
  type Decision,
  throwIfInvalidFields,
  warnOfCancelledShipment,
} from './command.ts';

/** Changes of an existing shipment that a client sent. */
interface CheckedShipmentUpdateFromClient {
  readonly checked: ShipmentFieldsCheckResult;
  /** Checked schedule fields that are new statements of the client. */
  readonly times: ScheduleFields;
  /** Times and revisions that legs keep from the present legs; absent if all times of the legs are new statements. */
  readonly continued?: UpsertLegsWithKeptTimes;
  /** New values of the last upsert, with which the next upsert is compared. */
  readonly sent: LastUpsertValues;
  /** Original ETA that the client sets; null to set it to the ETA of the shipment, absent to change nothing. */
  readonly newOriginalEta?: TimeOrDay | null;
  /** True if the update changes `eta` even after the arrival. */
  readonly movesEtaAfterArrival?: boolean;
}

/** @throws DomainError with every invalid field in `details` */
export function decideShipmentUpdate(
  command: CommandContext,
  state: ShipmentState,
  context: DecideContext,
  { checked, times, continued, sent, newOriginalEta, movesEtaAfterArrival = false }: CheckedShipmentUpdateFromClient,
): Decision<{ readonly outcome: 'updated' | 'unchanged' }> {
  const before = state.record;
  const { etd: _etd, eta: _eta, legs: _legs, ...plain } = checked.fields;
  const revision = before.version;
  const legsWritten = continued?.written;
  const keepsEta = before.ata !== null && !movesEtaAfterArrival;
  const statement = { revision, at: command.at, keepsEta, originalEtaSince: state.originalEta.since };
  const schedule = applyFieldsToClientSchedule(state.schedule, times, statement, legsWritten);
  const given = { ...(state.ports ?? before), ...plain };
  const record: ShipmentRecord = { ...before, ...plain, ...getPortsOfShipment(given, schedule.legs.value) };
  throwIfInvalidFields([
    ...checked.errors,
    ...checkKeptFieldsAgainstNewMode(before, { ...record, ...given, legs: schedule.legs.value }, checked, context),
    ...checkExternalIdIsUnchanged(before, record),
    ...checkRequiredReference({ ...record, external_id: before.external_id }),
  ]);

  const { timeline } = state;
  const derived = deriveShipment({ ...state, record, schedule, newOriginalEta }, context.places);
  const last = listChangesOfLastMilestone(before, derived.record);
  const changes = computeAnnouncedChanges(before, derived.record);
  const events: ShipmentEventBody[] = [];
  const keptEta = getKeptOriginalEta(before, derived);
  if (Object.keys(times).length > 0 || !hasNoLastMilestones(last) || keptEta !== undefined) {
    const written = legsWritten && { legs_written: legsWritten };
    events.push({ type: 'shipment.updated.v1', data: { fields: times, ...written, sent, last, ...keptEta } });
  }
  events.push(...createPortsGivenEvent(state.ports, given, derived.record));
  if (changes !== undefined) events.push(createShipmentChangedEvent(changes, derived));
  const reconciled = reconcileExceptions(state, { derived, timeline, events }, { ...context, at: command.at });
  const warnings = [...createWarningsOfUpdate(checked, derived), ...warnOfCancelledShipment(before, derived.record)];
  return { outcome: reconciled.events.length === 0 ? 'unchanged' : 'updated', warnings, ...reconciled };
}

/** Returns the original ETA that the client set, if it stays only because the client set it. */
function getKeptOriginalEta(before: ShipmentRecord, { record, originalEta, setsOriginalEta }: DerivedShipment) {
  return setsOriginalEta && record.original_eta === before.original_eta ? { original_eta: originalEta } : undefined;
}

/** Returns the event that stores the ports that the client set; no event if they equal the stored or visible ports. */
export function createPortsGivenEvent(
  known: GivenPorts | null,
  given: GivenPorts,
  answered: GivenPorts,
): readonly ShipmentPortsGivenEvent[] {
  const { origin_port, destination_port } = given;
  const assumed = known ?? answered;
  if (assumed.origin_port === origin_port && assumed.destination_port === destination_port) return [];
  return [{ type: 'shipment.ports_given.v1', data: { origin_port, destination_port } }];
}

/** Fields whose values depend on the mode. */
const FIELDS_DEPENDING_ON_MODE = [
  'container_numbers',
  'carrier_scac',
  'origin_port',
  'destination_port',
  'legs',
] as const;

/**
 * Checks the fields that an update keeps against its new mode.
 * @param after the shipment after the update, with the ports and legs as the client set them
 */
function checkKeptFieldsAgainstNewMode(
  before: ShipmentRecord,
  after: Pick<ClientShipmentFields, 'mode' | (typeof FIELDS_DEPENDING_ON_MODE)[number]>,
  { fields }: ShipmentFieldsCheckResult,
  { places }: DecideContext,
): readonly FieldError[] {
  const { mode } = after;
  if (mode === before.mode) return [];
  const kept = FIELDS_DEPENDING_ON_MODE.filter((name) => fields[name] === undefined).map((name) => [name, after[name]]);
  const { errors } = checkShipmentFields(Object.fromEntries(kept) as Partial<ClientShipmentFields>, mode, places);
  const hint = `The present value is not allowed ${mode === null ? 'without a mode' : `for mode ${mode}`}: change it too.`;
  return errors.map((error) => ({ ...error, message: `${error.message} ${hint}` }));
}

/**
 * Checks the `external_id`. It identifies the shipment in the client's system, so it cannot be changed or set later.
 */
function checkExternalIdIsUnchanged(before: ShipmentRecord, after: ShipmentRecord): readonly FieldError[] {
  if (after.external_id === before.external_id) return [];
  const message = 'external_id can only be set when the shipment is created, and cannot be changed.';
  return [{ param: 'external_id', code: 'external_id_immutable', message }];
}

export function checkRequiredReference(
  fields: Pick<ClientShipmentFields, 'external_id' | 'house_bill' | 'container_numbers'>,
): readonly FieldError[] {
  if (fields.external_id !== null || fields.house_bill !== null || fields.container_numbers.length > 0) return [];
  const message = 'A shipment needs at least one of external_id, house_bill and container_numbers.';
  return [{ param: 'external_id', code: 'reference_required', message }];
}

/** Returns warnings of an update. Compares `eta` and `etd` after the update, not only the sent values. */
export function createWarningsOfUpdate(
  { fields, warnings }: ShipmentFieldsCheckResult,
  { record, analysis: { route } }: DerivedShipment,
): readonly Warning[] {
  const others = warnings.filter(({ param }) => param !== 'eta');
  const isSet = fields.etd !== undefined || fields.eta !== undefined || fields.legs !== undefined;
  const { etd, eta } = restoreScheduleTimesWithZones(record, route.findZone);
  const order = isSet ? warnIfEtaBeforeEtd('eta', etd, eta) : undefined;
  return order === undefined ? others : [...others, order];
}

/** Legs of an upsert, with the times that they keep from the present legs. */
interface UpsertLegsWithKeptTimes {
  /** Legs with the present times. Times that differ from the last upsert have the new values. */
  readonly legs: readonly LegFields[];
  /** Revisions of the events that set the times of the legs, by leg; absent if the upsert sets all times. */
  readonly written?: readonly EventRevisionsOfLegTimes[];
}

/**
 * Keeps the times of repeated legs from the present legs, so that they are not new statements.
 * @param revision revision of the upsert's first event
 */
export function keepTimesOfRepeatedLegs(
  sent: readonly LegFields[],
  { schedule, sent: lastSent }: Pick<ShipmentState, 'schedule' | 'sent'>,
  revision: number,
): UpsertLegsWithKeptTimes {
  const formerlySent = matchLegsToFormerLegs(sent, lastSent.legs);
  const present = matchLegsToFormerLegs(sent, schedule.legs.value);
  const continued = sent.map((leg, index) => {
    const place = present[index] ?? NOT_FOUND_INDEX;
    const [before, written] = [schedule.legs.value[place], schedule.legs.written[place]];
    const last = lastSent.legs[formerlySent[index] ?? NOT_FOUND_INDEX];
    const keeps = (time: 'etd' | 'eta') => before !== undefined && last !== undefined && last[time] === leg[time];
    const timeOf = (time: 'etd' | 'eta') => (keeps(time) ? (before?.[time] ?? null) : leg[time]);
    const writtenOf = (time: 'etd' | 'eta') => (keeps(time) && written !== undefined ? written[time] : revision);
    return {
      leg: { ...leg, etd: timeOf('etd'), eta: timeOf('eta') },
      written: { etd: writtenOf('etd'), eta: writtenOf('eta') },
    };
  });
  const written = continued.map((each) => each.written);
  const isAllNew = written.every(({ etd, eta }) => etd === revision && eta === revision);
  return {
    legs: continued.map(({ leg }) => leg),
    ...(!isAllNew && { written }),
  };
}

const NOT_FOUND_INDEX = -1;

/**
 * Returns for each leg the index of the former leg that it continues: the leg with the same ports, otherwise the leg at
 * the same index.
 */
function matchLegsToFormerLegs(
  legs: readonly LegFields[],
  former: readonly LegFields[],
): readonly (number | undefined)[] {
  const free = new Set(former.keys());
  const take = (place: number | undefined) => (place !== undefined && free.delete(place) ? place : undefined);
  const bySamePorts = legs.map((leg) => take([...free].find((place) => hasSameLegPorts(leg, former[place]))));
  return bySamePorts.map((found, index) => found ?? take(index));
}

function hasSameLegPorts(leg: LegFields, other: LegFields | undefined): boolean {
  return leg.origin_port === other?.origin_port && leg.destination_port === other.destination_port;
}
