import type {
  Container,
  LastMilestoneSummary,
  PlaceLookup,
  ShipmentRecord,
  ShipmentStatus,
  TimeOrDay,
} from '@tracking/contracts';
import {
  type ClientContainerFields,
  EMPTY_CLIENT_CONTAINER_FIELDS,
  isSameJson,
  type RemovedContainers,
} from './changes.ts';
import { computeOriginalEta } from './original-eta.ts';
import {
  computeStartOfStatedTime,
  getTimePrecision,
  isDateWithoutTime,
  moveStatedDayToPortZone,
  convertStatedDateToTime,
} from './local-time.ts';
import { hasValidCheckDigit } from './references.ts';
import { buildRouteOfShipment, type ShipmentRoute } from './route.ts';
import { type DecidedScheduleTimes, type EstimateListener, decideShipmentAndLegTimes } from './schedule.ts';
import {
  type ComputedContainerProgress,
  type DecidedStatus,
  computeShipmentStatus,
  computeContainerProgress,
} from './container-progress.ts';
import type { OriginalEtaSetByClient, ClientScheduleValues, ShipmentState, TimelineEntry } from './state.ts';
import { isDepartedAtTimeOfArrival } from './status-demotions.ts';
import { STATUS_RANKS, type SummaryOfMilestones, chooseLaterEntry } from './milestone-summary.ts';
import { type TimelineAnalysis, groupTimelineMilestonesForRules } from './timeline-analysis.ts';
import type { ExpectedJourneyTimes } from './trips.ts';

/** Inputs from which the derived fields of a shipment are computed. */
interface ShipmentDerivationInputs {
  /** The shipment before the command, with the values that the command sets. Schedule values are in `schedule`. */
  readonly record: ShipmentRecord;
  readonly schedule: ClientScheduleValues;
  readonly timeline: readonly TimelineEntry[];
  readonly droppedEstimates: ShipmentState['droppedEstimates'];
  /** Revision of the event with which the client cancelled the shipment; null if the client has not cancelled it. */
  readonly cancelled: number | null;
  readonly removedContainers: RemovedContainers;
  readonly originalEta: OriginalEtaSetByClient;
  /** Original ETA that the command sets; null to set it to the ETA of the shipment, absent to change nothing. */
  readonly newOriginalEta?: TimeOrDay | null | undefined;
}

/** A container, or a shipment without containers, with the milestones that affect its status. */
export interface StatusSubject {
  readonly container_number: string | null;
  readonly summaries: readonly SummaryOfMilestones[];
  readonly progress: ComputedContainerProgress;
}

/** The cancellation of a shipment. */
interface ShipmentCancellation {
  /** Revision of the first event that cancels the shipment. */
  readonly since: number;
  /** The milestone that cancels the shipment; null if only a cancel request did. */
  readonly milestone: TimelineEntry | null;
}

export interface DerivedShipment {
  readonly record: ShipmentRecord;
  /** Status of the shipment, with the rule that decided it. */
  readonly status: DecidedStatus;
  readonly times: DecidedScheduleTimes;
  /** The original ETA. A day stays a date. */
  readonly originalEta: TimeOrDay | null;
  /** True if the command sets another original ETA than the earliest that was reported. */
  readonly setsOriginalEta: boolean;
  /** The cancellation; undefined if the shipment is not cancelled. */
  readonly cancellation: ShipmentCancellation | undefined;
  readonly subjects: readonly StatusSubject[];
  readonly analysis: TimelineAnalysis;
}

/**
 * Derives all fields of a shipment that depend on its milestones. The order in which the milestones arrived has no
 * effect.
 * @param onEstimate for explanations: receives the rule that applied to each estimate
 */
export function deriveShipment(
  basis: ShipmentDerivationInputs,
  places: PlaceLookup,
  onEstimate?: EstimateListener,
): DerivedShipment {
  const { record, schedule, timeline, droppedEstimates, cancelled, originalEta, newOriginalEta } = basis;
  const containers = record.container_numbers;
  const route = buildRouteOfShipment(record, schedule.legs.value, places);
  const journeyTimes = computeShipmentJourneyTimes(schedule, route, record);
  const analysis = groupTimelineMilestonesForRules({ timeline, droppedEstimates }, route, containers, journeyTimes);
  const subjects = computeProgressPerContainer(analysis, containers);
  const countsAsArrival = (entry: TimelineEntry) => isDestinationArrivalForContainers(entry, subjects, analysis);
  const times = decideShipmentAndLegTimes(analysis, { schedule, containers, countsAsArrival }, onEstimate);
  const firstEta =
    originalEta.value ??
    computeOriginalEta(timeline, {
      droppedReports: analysis.droppedReports,
      schedule,
      route,
      containers,
      ata: times.ata.value,
      since: originalEta.since,
    });
  const original = newOriginalEta === undefined ? firstEta : (newOriginalEta ?? times.eta.day ?? times.eta.value);
  const original_eta = moveStatedDayToPortZone(convertStatedDateToTime(original, null), route.destination, route);
  const moved = computeShipmentStatus(subjects.map(({ progress }) => progress));
  const cancellation = findCancellationOfShipment(analysis, cancelled, moved.status, record);
  const status = cancellation === undefined ? moved : createCancelledStatusWithRule(cancellation);
  return {
    record: {
      ...record,
      status: status.status,
      status_milestone_id: status.milestone?.milestone.id ?? null,
      etd: times.etd.value,
      etd_precision: getTimePrecision(times.etd),
      eta: times.eta.value,
      eta_precision: getTimePrecision(times.eta),
      atd: times.atd.value,
      ata: times.ata.value,
      legs: times.legs,
      original_eta: original_eta.value,
      original_eta_precision: getTimePrecision(original_eta),
      containers: deriveContainers(basis, subjects),
      last_milestone: toLastMilestone(analysis.last),
    },
    status,
    times,
    originalEta: original,
    setsOriginalEta: original !== firstEta,
    cancellation,
    subjects,
    analysis,
  };
}

/** Returns the times that decide which trip of a container belongs to the shipment. */
function computeShipmentJourneyTimes(
  { etd, legs }: ClientScheduleValues,
  { origin, findZone }: ShipmentRoute,
  { created_at }: ShipmentRecord,
): ExpectedJourneyTimes {
  const [first] = legs.value;
  const [given, port] = etd.value === null ? [first?.etd ?? null, first?.origin_port ?? null] : [etd.value, origin];
  if (given === null || !isDateWithoutTime(given)) return { etd: given, etdEnd: given, created_at };
  const zone = findZone(port);
  const stated = convertStatedDateToTime(given, zone);
  return { etd: computeStartOfStatedTime(stated, zone), etdEnd: stated.value, created_at };
}

function createCancelledStatusWithRule({ milestone }: ShipmentCancellation): DecidedStatus {
  const rule = milestone === null ? 'cancelled_by_client' : 'cancelled_by_milestone';
  return { status: 'cancelled', milestone, rule };
}

/** Returns the progress of each container; of the shipment as a whole if it has no containers. */
function computeProgressPerContainer(
  { unnamed, named, unnamedFor, route }: TimelineAnalysis,
  containers: readonly string[],
): readonly StatusSubject[] {
  let general: ComputedContainerProgress | undefined;
  const getGeneral = () => (general ??= computeContainerProgress([unnamed], route));
  if (containers.length === 0) return [{ container_number: null, summaries: [unnamed], progress: getGeneral() }];
  return containers.map((container_number) => {
    const own = named.get(container_number);
    const others = unnamedFor.get(container_number) ?? unnamed;
    if (own === undefined && others === unnamed)
      return { container_number, summaries: [unnamed], progress: getGeneral() };
    const summaries = own === undefined ? [others] : others.last === undefined ? [own] : [others, own];
    return { container_number, summaries, progress: computeContainerProgress(summaries, route) };
  });
}

/**
 * Returns true if an arrival at the destination or at an unknown place is the arrival at the destination, for each
 * container that it concerns.
 */
function isDestinationArrivalForContainers(
  arrival: TimelineEntry,
  subjects: readonly StatusSubject[],
  { route, departures }: TimelineAnalysis,
): boolean {
  const { container_number, occurred_at, location } = arrival.milestone;
  if (route.destination === null) return isArrivalAfterDepartures(arrival, departures, route);
  if (route.locate(location).isKnown) return true;
  return subjects.every(
    ({ container_number: number, progress: { points } }) =>
      (container_number !== null && container_number !== number) ||
      (occurred_at >= points.moved && !isDepartedAtTimeOfArrival(arrival, points, route)),
  );
}

/**
 * Returns true if no departure is later than the arrival. A departure from the same place at the same time is later.
 * @param departures in timeline order
 */
function isArrivalAfterDepartures(
  { milestone: { occurred_at, location } }: TimelineEntry,
  departures: readonly TimelineEntry[],
  { locate }: ShipmentRoute,
): boolean {
  const last = departures.at(-1);
  if (last === undefined || last.milestone.occurred_at < occurred_at) return true;
  if (last.milestone.occurred_at > occurred_at) return false;
  const { key } = locate(location);
  return (
    location === null ||
    !departures.some(({ milestone }) => milestone.occurred_at === occurred_at && locate(milestone.location).key === key)
  );
}

/**
 * Finds the cancellation of a shipment. A client's cancellation holds until the client reopens the shipment. A
 * milestone's cancellation holds until it is revoked, even if more milestones arrive. It has no effect if the shipment
 * was delivered before.
 * @param status status according to all other milestones
 */
function findCancellationOfShipment(
  { cancellations }: TimelineAnalysis,
  cancelled: number | null,
  status: ShipmentStatus,
  before: ShipmentRecord,
): ShipmentCancellation | undefined {
  const revisions = cancelled === null ? [] : [cancelled];
  const held = isShipmentCancelledByMilestone(before) || STATUS_RANKS[status] < STATUS_RANKS.delivered;
  const [first] = held ? cancellations : [];
  if (first !== undefined) revisions.push(...cancellations.map(({ recorded }) => recorded));
  return revisions.length === 0 ? undefined : { since: Math.min(...revisions), milestone: first ?? null };
}

/** Returns true if a milestone cancels the shipment. A client may have cancelled the shipment too. */
export function isShipmentCancelledByMilestone({ status, status_milestone_id }: ShipmentRecord): boolean {
  return status === 'cancelled' && status_milestone_id !== null;
}

function deriveContainers(
  { record, removedContainers }: ShipmentDerivationInputs,
  subjects: readonly StatusSubject[],
): readonly Container[] {
  const present = new Map<string, Container>();
  for (const container of record.containers) present.set(container.number, container);
  const derived: Container[] = [];
  for (const subject of subjects) {
    const { container_number: number } = subject;
    if (number === null) continue;
    const old = present.get(number);
    const container = deriveContainer(
      number,
      old ?? removedContainers.get(number) ?? EMPTY_CLIENT_CONTAINER_FIELDS,
      subject,
    );
    derived.push(old !== undefined && isSameJson(old, container) ? old : container);
  }
  return derived;
}

function deriveContainer(
  number: string,
  given: ClientContainerFields,
  { summaries, progress }: StatusSubject,
): Container {
  return {
    number,
    valid_check_digit: hasValidCheckDigit(number),
    size_type: given.size_type,
    seal_number: given.seal_number,
    status: progress.status,
    status_milestone_id: progress.milestone?.milestone.id ?? null,
    last_milestone: toLastMilestone(summaries.map(({ last }) => last).reduce(chooseLaterEntry, undefined)),
    ...progress.times,
    last_free_day: given.last_free_day,
    empty_return_by: given.empty_return_by,
  };
}

function toLastMilestone(entry: TimelineEntry | undefined): LastMilestoneSummary | null {
  if (entry === undefined) return null;
  const { id, code, label, occurred_at, location } = entry.milestone;
  return { id, code, label, occurred_at, location };
}
