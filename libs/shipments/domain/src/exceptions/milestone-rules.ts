import { type Timestamp, getMilestoneRules } from '@tracking/contracts';
import { findLatestMilestoneTime } from '../container-progress.ts';
import type { StatusSubject } from '../derive.ts';
import { computeStartOfStatedTime, buildStatedTimeFromStoredTime } from '../local-time.ts';
import { isVesselSailingOnWithoutGoods } from '../milestone-meaning.ts';
import { STATUS_RANKS, chooseEarlierTimelineEntry, chooseLaterEntry } from '../milestone-summary.ts';
import type { TimelineEntry } from '../state.ts';
import {
  describeResolutionByCorrectionOf,
  describeResolutionByMilestone,
  RESOLVED_BY_SHIPMENT_REOPENING_CONDITIONS,
  canShipSailOnWithoutGoods,
  isContainerDeliveryAttempted,
  isDelivered,
  listRemedyMilestones,
  type ProblemSolvingMilestones,
  listCodesRevokingCancellations,
} from './remedies.ts';
import { type FindFindings, type CurrentOrFutureProblem, applyRuleToEachSubject } from './rule.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * Returns a function that applies a rule, for each container, to the first milestone that opens exceptions of the type.
 * A milestone without a container belongs to the shipment, and counts while it applies to any container. Once the empty
 * container was returned, later milestones that name it belong to its next trip, so no milestone is explained as a
 * resolution.
 */
function applyRuleToOpeningMilestones(type: string, rule: OpeningMilestoneRule): FindFindings {
  return ({ derived: { subjects, analysis, record } }) => {
    const find = (
      milestone: TimelineEntry | undefined,
      among: readonly StatusSubject[],
    ): readonly CurrentOrFutureProblem[] => {
      if (milestone === undefined) return [];
      const zone = analysis.route.findZone(record.origin_port);
      const stated = buildStatedTimeFromStoredTime(record.etd, record.etd_precision, zone);
      const earliestEtd = computeStartOfStatedTime(stated, zone);
      const wrongs = among.flatMap((subject) => rule(milestone, subject, earliestEtd) ?? []);
      const [wrong] = wrongs;
      if (wrong === undefined) return [];
      const { container_number } = milestone.milestone;
      const resolvedBy = () => {
        const correction = describeResolutionByCorrectionOf(milestone);
        if (record.containers.some((each) => each.number === container_number && each.empty_returned_at !== null))
          return [correction];
        return [describeResolutionByMilestone(listRemedyMilestones(wrongs, analysis.route)), correction];
      };
      return [{ container_number, milestone, detail: wrong.detail, resolvedBy }];
    };
    const named = subjects.flatMap((subject) =>
      find(analysis.named.get(subject.container_number ?? '')?.opening[type], [subject]),
    );
    return [...find(analysis.unnamed.opening[type], subjects), ...named];
  };
}

/**
 * Returns the problem that a milestone shows, with the milestones that would solve it; undefined if there is no
 * problem.
 * @param earliestEtd the ETD; the start of its day if it is a day, because the goods may depart at any time of the day
 */
type OpeningMilestoneRule = (
  entry: TimelineEntry,
  subject: StatusSubject,
  earliestEtd: Timestamp | null,
) => MilestoneProblem | undefined;
interface MilestoneProblem extends ProblemSolvingMilestones {
  readonly detail: string;
}

export const customsHoldRule = applyRuleToOpeningMilestones('customs_hold', detectUnclearedHold);
export const terminalHoldRule = applyRuleToOpeningMilestones(
  'terminal_hold',
  createCargoHoldRule('terminal', 'terminalReleased'),
);
export const freightHoldRule = applyRuleToOpeningMilestones(
  'freight_hold',
  createCargoHoldRule('freight', 'freightReleased'),
);
export const deliveryFailedRule = applyRuleToOpeningMilestones('delivery_failed', detectUnresolvedDeliveryAttempt);
export const returnToSenderRule = applyRuleToOpeningMilestones('return_to_sender', detectUnfinishedReturnToShipper);

/**
 * Returns a hold or inspection without a clearance dated at or after it. Before the first departure, an export
 * clearance or a departure ends the hold; after that, an import clearance does. Feeds skip steps, so without a
 * departure any later milestone counts as one. If the ETD is known, an import clearance counts only from the ETD on.
 */
function detectUnclearedHold(
  { milestone }: TimelineEntry,
  subject: StatusSubject,
  etd: Timestamp | null,
): MilestoneProblem | undefined {
  const { summaries, progress } = subject;
  const since = milestone.occurred_at;
  const left = summaries.map(({ firstDeparted }) => firstDeparted).reduce(chooseEarlierTimelineEntry, undefined);
  const departed = left ?? summaries.map(({ underWay }) => underWay).reduce(chooseEarlierTimelineEntry, undefined);
  const mayBeAtOrigin = departed === undefined && !isContainerDeliveryAttempted(subject) && etd !== null && etd > since;
  const cleared = findLatestMilestoneTime(summaries, 'importCleared') >= (mayBeAtOrigin ? etd : since);
  const hasLeft =
    departed === undefined
      ? findLatestMilestoneTime(summaries, 'exportCleared') >= since
      : since <= departed.milestone.occurred_at;
  if (cleared || hasLeft || isDelivered(progress)) return undefined;
  return {
    detail: `${milestone.label} since ${since}.`,
    from: since,
    isMilestone: ({ rules, rank, isDeparture }) =>
      (rules.clears === 'import' && (!mayBeAtOrigin || rules.opens_exception === 'delivery_failed')) ||
      rank >= STATUS_RANKS.available_for_pickup ||
      (!canShipSailOnWithoutGoods(summaries, rules) &&
        ((left === undefined && isDeparture) || (departed === undefined && rank >= STATUS_RANKS.in_transit))) ||
      (departed === undefined && rules.clears === 'export'),
  };
}

/** Returns a rule about holds that only their release or the delivery ends. */
function createCargoHoldRule(
  clears: 'terminal' | 'freight',
  released: 'terminalReleased' | 'freightReleased',
): OpeningMilestoneRule {
  return ({ milestone }, { summaries, progress }) => {
    const since = milestone.occurred_at;
    if (findLatestMilestoneTime(summaries, released) >= since || isDelivered(progress)) return undefined;
    return {
      detail: `${milestone.label} since ${since}.`,
      from: since,
      isMilestone: ({ rules, rank }) => rules.clears === clears || rank >= STATUS_RANKS.delivered,
    };
  };
}

function detectUnfinishedReturnToShipper(
  { milestone }: TimelineEntry,
  { progress }: StatusSubject,
): MilestoneProblem | undefined {
  const since = milestone.occurred_at;
  if (STATUS_RANKS[progress.status] >= STATUS_RANKS.returned) return undefined;
  return {
    detail: `On the way back to the shipper since ${since}.`,
    from: since,
    isMilestone: ({ rank, rules }) => rank >= STATUS_RANKS.returned || rules.container_time === 'delivered_at',
  };
}

function detectUnresolvedDeliveryAttempt(
  { milestone }: TimelineEntry,
  { progress }: StatusSubject,
): MilestoneProblem | undefined {
  if (isDelivered(progress)) return undefined;
  const detail = `Delivery attempted at ${milestone.occurred_at}.`;
  return { detail, from: null, isMilestone: ({ rank }) => rank >= STATUS_RANKS.delivered };
}

/**
 * Opens `milestone_conflict` if the end of the journey is dated more than a day before a movement, or if a cancellation
 * came after delivery.
 */
export const milestoneConflictRule: FindFindings = (facts, settings) => {
  const findings = movementAfterEndExceptionRule(facts, settings);
  const { cancellations } = facts.derived.analysis;
  const cancellation = cancellations[0];
  if (cancellation === undefined || findings.some(({ container_number }) => container_number === null)) return findings;
  const detail = `Cancelled at ${cancellation.milestone.occurred_at}, but the shipment was delivered before.`;
  const resolvedBy = () => [
    describeResolutionByMilestone(listCodesRevokingCancellations(cancellations)),
    describeResolutionByCorrectionOf(...cancellations),
  ];
  return [...findings, { container_number: null, milestone: cancellation, detail, resolvedBy }];
};

const movementAfterEndExceptionRule = applyRuleToEachSubject(({ summaries }) => {
  const ended = summaries.map((summary) => summary.ended).reduce(chooseEarlierTimelineEntry, undefined);
  const moved = summaries.map((summary) => summary.movement).reduce(chooseLaterEntry, undefined);
  if (ended === undefined || moved === undefined) return undefined;
  const { milestone: end } = ended;
  const { milestone: movement } = moved;
  if (Date.parse(movement.occurred_at) - Date.parse(end.occurred_at) <= DAY_MS) return undefined;
  const detail = `${end.label} at ${end.occurred_at}, but ${movement.label} at ${movement.occurred_at}.`;
  return { milestone: ended, detail, resolvedBy: () => [describeResolutionByCorrectionOf(ended, moved)] };
});

/**
 * Opens `movement_after_cancel` if a movement was recorded after the cancellation, for a cancelled container or the
 * shipment. The dates of the milestones do not matter.
 */
export const movementAfterCancelRule: FindFindings = ({ derived, timeline }) => {
  const { analysis, record, cancellation } = derived;
  if (cancellation === undefined) return [];
  const found = new Map<string | null, TimelineEntry>();
  const present = new Set<string | null>([null, ...record.container_numbers]);
  for (const entry of timeline) {
    const { classifier, code, container_number, retracted_at } = entry.milestone;
    if (entry.recorded < cancellation.since || classifier !== 'actual' || retracted_at !== null) continue;
    if (
      getMilestoneRules(code).movement === undefined ||
      isVesselSailingOnWithoutGoods(entry, analysis.route) ||
      analysis.journey.excluded.has(entry) ||
      !present.has(container_number)
    )
      continue;
    const other = found.get(container_number);
    if (other === undefined || entry.recorded < other.recorded) found.set(container_number, entry);
  }
  return [...found].map(([container_number, milestone]) => ({
    container_number,
    milestone,
    detail: `${milestone.milestone.label} at ${milestone.milestone.occurred_at}, although the shipment is cancelled.`,
    resolvedBy: () => [RESOLVED_BY_SHIPMENT_REOPENING_CONDITIONS, describeResolutionByCorrectionOf(milestone)],
  }));
};

export const invalidContainerNumberRule: FindFindings = ({ derived }) =>
  derived.record.containers.flatMap((container) => {
    if (container.valid_check_digit !== false) return [];
    const detail = `${container.number} has a wrong check digit.`;
    return [{ container_number: container.number, milestone: null, detail, resolvedBy: () => [] }];
  });
