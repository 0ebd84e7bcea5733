import {
  type DocumentType,
  MILESTONE_CATALOG,
  type MilestoneCodeTraits,
  getMilestoneRules,
  chooseLatestTime,
  type ExceptionResolutionConditions,
  type ShipmentStatus,
  type Timestamp,
} from '@tracking/contracts';
import { type ComputedContainerProgress, findLatestMilestoneTime } from '../container-progress.ts';
import type { DerivedShipment, StatusSubject } from '../derive.ts';
import { getStatusEffectOfMilestoneCode, isDeparture, isVesselDeparture } from '../milestone-meaning.ts';
import { STATUS_RANKS, TIME_BEFORE_ALL_TIMESTAMPS } from '../milestone-summary.ts';
import type { ShipmentRoute } from '../route.ts';
import type { TimelineEntry } from '../state.ts';

/** Milestones that would solve a problem of one container. */
export interface ProblemSolvingMilestones {
  /** Earliest date of a milestone that solves the problem; null for any date. */
  readonly from: Timestamp | null;
  readonly isMilestone: (code: MilestoneCodeOnRoute) => boolean;
}

/** A catalog code with its meaning on a route. */
interface MilestoneCodeOnRoute {
  readonly sequence: number;
  readonly rules: MilestoneCodeTraits;
  /** Rank of the status that a milestone with the code gives; -1 if it does not affect the status. */
  readonly rank: number;
  readonly isDeparture: boolean;
}

type Milestones = Pick<ExceptionResolutionConditions, 'codes' | 'occurred_from'>;

/** Milestones that solve the problems of several containers together. */
export function listRemedyMilestones(remedies: readonly ProblemSolvingMilestones[], route: ShipmentRoute): Milestones {
  const codes = MILESTONE_CATALOG.filter(({ code, sequence }) => {
    const rules = getMilestoneRules(code);
    const { status } = getStatusEffectOfMilestoneCode(rules, route);
    // The return of an empty container counts only together with certain other milestones of the container.
    if (status === 'cancelled' || rules.container_time === 'empty_returned_at') return false;
    const rank = status === null ? -1 : STATUS_RANKS[status];
    const onRoute = { sequence, rules, rank, isDeparture: isDeparture(rules, route.mode) };
    return remedies.every(({ isMilestone }) => isMilestone(onRoute));
  });
  return { codes: codes.map(({ code }) => code), occurred_from: remedies[0]?.from ?? null };
}

/**
 * Returns the milestones that complete a step: milestones with its status or a later one. Before delivery, a delivery
 * attempt also completes the step.
 * @param summaries milestones of the goods, if a departure completes the step
 */
export function listResolvingStatusMilestones(
  status: ShipmentStatus,
  from: Timestamp | null,
  route: ShipmentRoute,
  summaries: StatusSubject['summaries'] = [],
): ExceptionResolutionConditions {
  const isMilestone = ({ rank, rules }: MilestoneCodeOnRoute) =>
    (rank >= STATUS_RANKS[status] && !canShipSailOnWithoutGoods(summaries, rules)) ||
    (rules.opens_exception === 'delivery_failed' && STATUS_RANKS[status] < STATUS_RANKS.delivered);
  return describeResolutionByMilestone(listRemedyMilestones([{ from, isMilestone }], route));
}

/**
 * Returns the return of the empty container as the step that ends the trip; nothing if it would not count, because no
 * milestone shows that the loaded container moved.
 */
export function describeResolutionByEmptyReturn(
  { summaries }: StatusSubject,
  { analysis: { route, departsFrom } }: DerivedShipment,
): readonly ExceptionResolutionConditions[] {
  const moved = findLatestMilestoneTime(summaries, 'loadedMovement');
  if (moved === TIME_BEFORE_ALL_TIMESTAMPS || route.lcl) return [];
  const codes = MILESTONE_CATALOG.map(({ code }) => code).filter(
    (code) => getMilestoneRules(code).container_time === 'empty_returned_at',
  );
  return [describeResolutionByMilestone({ codes, occurred_from: chooseLatestTime(moved, departsFrom) })];
}

/** Returns true if a departure with the rules can be that of a ship that sails on without the goods. */
export function canShipSailOnWithoutGoods(summaries: StatusSubject['summaries'], rules: MilestoneCodeTraits): boolean {
  return isVesselDeparture(rules) && summaries.some(({ isDischarged }) => isDischarged);
}

/**
 * Returns the codes of the milestones that would revoke the cancellations, which are confirmations, and the earliest
 * time of such a milestone: after the last cancellation.
 */
export function listCodesRevokingCancellations(cancellations: readonly TimelineEntry[]): Milestones {
  const codes = MILESTONE_CATALOG.map(({ code }) => code).filter(
    (code) => getMilestoneRules(code).takes_back === 'cancellation',
  );
  const last = Math.max(...cancellations.map(({ milestone }) => Date.parse(milestone.occurred_at)));
  return { codes, occurred_from: new Date(last + 1).toISOString() };
}

export function describeResolutionByMilestone(milestones: Milestones): ExceptionResolutionConditions {
  return { ...NO_RESOLUTION_CONDITIONS, by: 'milestone', ...milestones };
}

/** Returns a resolution by correcting or retracting one of the milestones. */
export function describeResolutionByCorrectionOf(...entries: readonly TimelineEntry[]): ExceptionResolutionConditions {
  return { ...NO_RESOLUTION_CONDITIONS, by: 'correction', milestone_ids: entries.map(({ milestone }) => milestone.id) };
}

/** Returns a resolution by changing one of the given fields of the shipment or container. */
export function describeResolutionByFieldChange(...fields: readonly string[]): ExceptionResolutionConditions {
  return { ...NO_RESOLUTION_CONDITIONS, by: 'field_changed', fields };
}

/** Returns a resolution by documents, one of each type. */
export function createResolutionConditionsByDocuments(
  by: 'document_uploaded' | 'document_approved',
  types: readonly DocumentType[],
): ExceptionResolutionConditions {
  return { ...NO_RESOLUTION_CONDITIONS, by, document_types: types };
}

const NO_RESOLUTION_CONDITIONS = { codes: [], occurred_from: null, milestone_ids: [], fields: [], document_types: [] };
/** Conditions: a new milestone of any classifier, or a changed ETA, resolves the exception. */
export const NEW_INFORMATION_RESOLUTION_CONDITIONS: ExceptionResolutionConditions = {
  ...NO_RESOLUTION_CONDITIONS,
  by: 'news',
};
export const RESOLVED_BY_SHIPMENT_REOPENING_CONDITIONS: ExceptionResolutionConditions = {
  ...NO_RESOLUTION_CONDITIONS,
  by: 'cancellation_taken_back',
};
export const RESOLUTION_BY_REMOVING_CONTAINER: ExceptionResolutionConditions = {
  ...NO_RESOLUTION_CONDITIONS,
  by: 'container_taken_off',
};

// Feeds skip steps, so a milestone with the step's status or a later one completes a step.
// A delivery attempt also completes a step, although it does not affect the status.

/** Returns true if the goods of any container have departed. */
export function hasDeparted({ record, subjects }: DerivedShipment): boolean {
  return STATUS_RANKS[record.status] >= STATUS_RANKS.in_transit || subjects.some(isContainerDeliveryAttempted);
}

/** Returns true if the goods of any container have arrived, even if they have moved on since. */
export function hasArrived({ record, subjects }: DerivedShipment): boolean {
  return (
    record.ata !== null ||
    STATUS_RANKS[record.status] >= STATUS_RANKS.arrived ||
    subjects.some(isContainerDeliveryAttempted)
  );
}

/** Returns true if the container has left the terminal. */
export function hasLeftTerminal(subject: StatusSubject): boolean {
  return (
    STATUS_RANKS[subject.progress.status] >= STATUS_RANKS.out_for_delivery || isContainerDeliveryAttempted(subject)
  );
}

export function isDelivered({ status }: Pick<ComputedContainerProgress, 'status'>): boolean {
  return STATUS_RANKS[status] >= STATUS_RANKS.delivered;
}

/** Returns true if the container was returned, empty or with the goods. */
export function isContainerReturned({ status }: Pick<ComputedContainerProgress, 'status'>): boolean {
  return STATUS_RANKS[status] >= STATUS_RANKS.completed;
}

/** Returns true if delivery of the container was attempted. */
export function isContainerDeliveryAttempted({ summaries }: StatusSubject): boolean {
  return summaries.some(({ opening }) => opening['delivery_failed'] !== undefined);
}
