import type { Container, EtaOrigin, LastMilestone, Places, ShipmentRecord, ShipmentStatus } from '@tracking/contracts';
import {
  type ClientContainerFields,
  EMPTY_CLIENT_CONTAINER_FIELDS,
  isSameJson,
  type RemovedContainers,
} from './changes.ts';
import type { Changes } from './events/event-data.ts';
import type { ShipmentChanged } from './events/shipment-events.ts';
import { hasValidCheckDigit } from './references.ts';
import { buildRoute } from './route.ts';
import { type DecidedTimes, type EstimateListener, decideTimes } from './schedule.ts';
import {
  type ContainerProgress,
  type DecidedStatus,
  computeShipmentStatus,
  computeProgress,
} from './container-progress.ts';
import type { Schedule, TimelineEntry } from './state.ts';
import { STATUS_RANKS, type MilestoneSummary, chooseLaterEntry } from './milestone-summary.ts';
import { type TimelineAnalysis, analyseTimeline } from './timeline-analysis.ts';

/** Inputs from which the derived fields of a shipment are computed. */
interface DerivationInputs {
  /** The shipment before the command, with the values that the command sets. Schedule values are in `schedule`. */
  readonly record: ShipmentRecord;
  readonly schedule: Schedule;
  readonly timeline: readonly TimelineEntry[];
  /** Revision of the event with which the client cancelled the shipment; null if the client has not cancelled it. */
  readonly cancelled: number | null;
  /** Revision of the first event of the command. */
  readonly revision: number;
  readonly removedContainers: RemovedContainers;
  /** True if the command may set `eta` even after the arrival. Only a patch may do this. */
  readonly movesEtaAfterArrival?: boolean;
}

/** A container, or a shipment without containers, with the milestones that affect its status. */
export interface StatusSubject {
  readonly container_number: string | null;
  readonly summaries: readonly MilestoneSummary[];
  readonly progress: ContainerProgress;
}

/** The cancellation of a shipment. */
interface Cancellation {
  /** Revision of the first event that cancels the shipment. */
  readonly since: number;
  /** The milestone that cancels the shipment; null if only the client cancelled it. */
  readonly milestone: TimelineEntry | null;
}

export interface DerivedShipment {
  readonly record: ShipmentRecord;
  /** Status of the shipment, with the rule that decided it. */
  readonly status: DecidedStatus;
  readonly times: DecidedTimes;
  /** The cancellation; undefined if the shipment is not cancelled. */
  readonly cancellation: Cancellation | undefined;
  readonly subjects: readonly StatusSubject[];
  readonly analysis: TimelineAnalysis;
}

/**
 * Derives all fields of a shipment that depend on its milestones. The order in which the milestones arrived has no
 * effect.
 * @param onEstimate for explanations: receives the rule that applied to each estimate
 */
export function deriveShipment(
  basis: DerivationInputs,
  places: Places,
  onEstimate?: EstimateListener,
): DerivedShipment {
  const { record, schedule, timeline, cancelled, revision, movesEtaAfterArrival } = basis;
  const analysis = analyseTimeline(timeline, buildRoute(record, schedule.legs.value, places), record.container_numbers);
  const subjects = deriveStatusSubjects(analysis, record.container_numbers);
  const times = decideTimes(analysis, { schedule, before: record, revision, movesEtaAfterArrival }, onEstimate);
  const moved = computeShipmentStatus(subjects.map(({ progress }) => progress));
  const cancellation = findCancellation(analysis, cancelled, moved.status, record);
  const status = cancellation === undefined ? moved : deriveCancelledStatus(cancellation);
  return {
    record: {
      ...record,
      status: status.status,
      status_milestone_id: status.milestone?.milestone.id ?? null,
      etd: times.etd.value,
      eta: times.eta.value,
      atd: times.atd.value,
      ata: times.ata.value,
      legs: times.legs,
      original_eta: record.original_eta ?? times.eta.value,
      containers: deriveContainers(basis, subjects),
      last_milestone: toLastMilestone(analysis.last),
    },
    status,
    times,
    cancellation,
    subjects,
    analysis,
  };
}

/** Returns the event that announces derived changes. */
export function createChangedEvent(changes: Changes, derived: DerivedShipment): ShipmentChanged {
  const data = changes.eta === undefined ? { changes } : { changes, eta_set_by: deriveEtaOrigin(derived) };
  return { type: 'shipment.changed.v1', data };
}

function deriveEtaOrigin({ times: { eta } }: DerivedShipment): EtaOrigin {
  // After the arrival, only a client can change the ETA.
  const milestone = eta.rule === 'actual_time_known' ? undefined : eta.milestone?.milestone;
  if (milestone === undefined) return { source: 'client', milestone_id: null, reason_code: null };
  return { source: milestone.source, milestone_id: milestone.id, reason_code: milestone.reason_code };
}

function deriveCancelledStatus({ milestone }: Cancellation): DecidedStatus {
  const rule = milestone === null ? 'cancelled_by_client' : 'cancelled_by_milestone';
  return { status: 'cancelled', milestone, rule };
}

function deriveStatusSubjects(
  { unnamed, named }: TimelineAnalysis,
  containers: readonly string[],
): readonly StatusSubject[] {
  const general: StatusSubject = { container_number: null, summaries: [unnamed], progress: computeProgress([unnamed]) };
  if (containers.length === 0) return [general];
  return containers.map((container_number) => {
    const own = named.get(container_number);
    if (own === undefined) return { ...general, container_number };
    const summaries = [unnamed, own];
    return { container_number, summaries, progress: computeProgress(summaries) };
  });
}

/**
 * Finds the cancellation of a shipment. A client's cancellation holds until the client reopens the shipment. A
 * milestone's cancellation holds until it is revoked, even if more milestones arrive. It has no effect if the shipment
 * was delivered before.
 * @param status status according to all other milestones
 */
function findCancellation(
  { cancellations }: TimelineAnalysis,
  cancelled: number | null,
  status: ShipmentStatus,
  before: ShipmentRecord,
): Cancellation | undefined {
  const revisions = cancelled === null ? [] : [cancelled];
  const held = isCancelledByMilestone(before) || STATUS_RANKS[status] < STATUS_RANKS.delivered;
  const [first] = held ? cancellations : [];
  if (first !== undefined) revisions.push(...cancellations.map(({ recorded }) => recorded));
  return revisions.length === 0 ? undefined : { since: Math.min(...revisions), milestone: first ?? null };
}

/** Returns true if a milestone cancels the shipment. A client may have cancelled the shipment too. */
export function isCancelledByMilestone({ status, status_milestone_id }: ShipmentRecord): boolean {
  return status === 'cancelled' && status_milestone_id !== null;
}

function deriveContainers(
  { record, removedContainers }: DerivationInputs,
  subjects: readonly StatusSubject[],
): readonly Container[] {
  const present = new Map(record.containers.map((container) => [container.number, container]));
  return subjects.flatMap((subject) => {
    const { container_number: number } = subject;
    if (number === null) return [];
    const old = present.get(number);
    const container = deriveContainer(
      number,
      old ?? removedContainers.get(number) ?? EMPTY_CLIENT_CONTAINER_FIELDS,
      subject,
    );
    return [old !== undefined && isSameJson(old, container) ? old : container];
  });
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

function toLastMilestone(entry: TimelineEntry | undefined): LastMilestone | null {
  if (entry === undefined) return null;
  const { id, code, label, occurred_at, location } = entry.milestone;
  return { id, code, label, occurred_at, location };
}
