import type { PlaceLookup, ShipmentRecord, ShipmentStatus, Timestamp } from '@tracking/contracts';
import { checkMilestone, type MilestoneInput } from './check-milestone.ts';
import { listPortsOfShipment } from './commands/record-milestone.ts';
import { computeStartOfStatedTime, getTimeZoneOfPort, buildStatedTimeFromStoredTime } from './local-time.ts';
import { findTimelineEntryOrThrow, type ShipmentState } from './state.ts';
import { findDuplicateMilestone } from './timeline.ts';

/** Facts of a shipment that decide whether a milestone of its container belongs to it. */
export interface ContainerMatchCandidate {
  readonly status: ShipmentStatus;
  /** Time at which the shipment was completed or returned; null for every other shipment. */
  readonly ended_at: Timestamp | null;
  /** Departure of the shipment: `atd`, otherwise `etd` or the start of its day, otherwise `created_at`. */
  readonly from: Timestamp;
  /** 60 days after `eta`; null without an `eta`. */
  readonly until: Timestamp | null;
  /** True if the milestone repeats or corrects a milestone of the shipment. */
  readonly isKnown: boolean;
}

/** Statuses in which the container of a shipment can be on its next trip. */
const FINISHED_SHIPMENT_STATUSES: readonly ShipmentStatus[] = ['completed', 'returned'];

/** Days after the ETA during which milestones of the container still belong to an open shipment. */
const CONTAINER_MATCH_DAYS_AFTER_ETA = 60;
const DAY_MS = 24 * 60 * 60_000;

/** Returns the facts that decide whether the milestone belongs to the shipment. */
export function collectContainerMatchFacts(
  state: ShipmentState,
  input: MilestoneInput,
  places: PlaceLookup,
): ContainerMatchCandidate {
  const { record } = state;
  const { milestone } = checkMilestone(input, places, input.occurred_at, listPortsOfShipment(record));
  return {
    status: record.status,
    ended_at: FINISHED_SHIPMENT_STATUSES.includes(record.status) ? computeEndOfShipment(state) : null,
    from: record.atd ?? computeStartOfEtdDay(record, places) ?? record.created_at,
    until:
      record.eta === null
        ? null
        : new Date(Date.parse(record.eta) + CONTAINER_MATCH_DAYS_AFTER_ETA * DAY_MS).toISOString(),
    isKnown: findDuplicateMilestone(state, milestone) !== undefined,
  };
}

function computeStartOfEtdDay(
  { etd, etd_precision, origin_port }: ShipmentRecord,
  places: PlaceLookup,
): Timestamp | null {
  const zone = getTimeZoneOfPort(origin_port, places);
  return computeStartOfStatedTime(buildStatedTimeFromStoredTime(etd, etd_precision, zone), zone);
}

function computeEndOfShipment(state: ShipmentState): Timestamp {
  const { status_milestone_id, updated_at } = state.record;
  return status_milestone_id === null
    ? updated_at
    : findTimelineEntryOrThrow(state, status_milestone_id).milestone.occurred_at;
}

/**
 * Selects the shipment to which a milestone belongs that names only its container:
 * docs/reference/milestones.md#by-container.
 * @param candidates shipments with the container
 * @returns the matching shipment; several if the milestone is ambiguous; none if it belongs to no shipment
 */
export function selectShipmentsForContainerMilestone<Candidate extends ContainerMatchCandidate>(
  candidates: readonly Candidate[],
  occurred_at: Timestamp,
): readonly Candidate[] {
  const known = candidates.filter(({ isKnown }) => isKnown);
  if (known.length === 1) return known;
  return selectContainerMatchesByTime(known.length > 1 ? known : candidates, occurred_at);
}

function selectContainerMatchesByTime<Candidate extends ContainerMatchCandidate>(
  candidates: readonly Candidate[],
  occurred_at: Timestamp,
): readonly Candidate[] {
  const [finished] = candidates
    .filter(({ ended_at }) => ended_at !== null && occurred_at <= ended_at)
    .sort((a, b) => ((a.ended_at ?? '') < (b.ended_at ?? '') ? -1 : 1));
  if (finished !== undefined) return [finished];
  const open = candidates.filter(({ status, ended_at }) => ended_at === null && status !== 'cancelled');
  const spanning = open.filter(({ from, until }) => from <= occurred_at && (until === null || occurred_at <= until));
  return spanning.length === 1 ? spanning : open;
}
