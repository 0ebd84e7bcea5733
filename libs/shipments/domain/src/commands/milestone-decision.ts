import type { Milestone, ShipmentRecord, Timestamp, Warning } from '@tracking/contracts';
import { computeAnnouncedChanges, listChangesOfLastMilestone } from '../changes.ts';
import { warnIfEtaBeforeEtd } from '../check-shipment.ts';
import { createShipmentChangedEvent } from '../changed-event.ts';
import { type DerivedShipment, deriveShipment } from '../derive.ts';
import type { EstimateReport, ChangedLastMilestoneSummaries, Overridden } from '../events/event-data.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcileExceptions } from '../exceptions/reconcile.ts';
import { findSupersededEstimatesToDrop, moveEstimatesToDroppedReports } from '../dropped-estimates.ts';
import { restoreScheduleTimesWithZones } from '../local-time.ts';
import { findEstimatesSupersededOrRestored } from '../reports.ts';
import type { ShipmentState } from '../state.ts';
import { insertMilestone } from '../timeline.ts';
import { type DecideContext, type Decision, warnOfCancelledShipment } from './command.ts';

/**
 * A milestone after a command. `previous` is undefined for a new milestone, and set for a corrected or retracted one.
 */
interface MilestoneAfterCommand {
  readonly previous: Milestone | undefined;
  readonly milestone: Milestone;
  readonly overridden: Overridden;
  /** Report of an estimate that its sender replaces by the milestone; null if there is none. */
  readonly formerReport: EstimateReport | null;
}

/** Events of a decision about a milestone. */
interface MilestoneDecisionEvents extends Pick<Decision, 'events' | 'nextCheckAt' | 'warnings'> {
  /** True if a later report replaces the milestone. */
  readonly isSuperseded: boolean;
  /** The milestone, if it is not kept because the source has stated many later estimates. */
  readonly droppedMilestone: Milestone | undefined;
}

/**
 * Decides the events of recording, correcting or retracting a milestone, including changes of the shipment and
 * exceptions.
 */
export function decideMilestone(
  at: Timestamp,
  state: ShipmentState,
  outcome: MilestoneAfterCommand,
  context: DecideContext,
): MilestoneDecisionEvents {
  const { previous, overridden, formerReport } = outcome;
  const before = state.record;
  const series = findEstimatesSupersededOrRestored(state.timeline, previous, outcome.milestone);
  const estimated = setOrClearSupersededTimeOfMilestone(outcome.milestone, series.isSuperseded, at);
  const timeline = state.timeline.slice();
  const { supersedes: superseded, restores: restored } = series;
  const changed = { isNew: previous === undefined, superseded, restored, at, overridden, formerReport };
  insertMilestone(timeline, { ...changed, milestone: estimated }, before.version);
  const dropped = findSupersededEstimatesToDrop(timeline, estimated, previous === undefined);
  const droppedEstimates = moveEstimatesToDroppedReports(timeline, state.droppedEstimates, dropped);
  const derived = deriveShipment({ ...state, timeline, droppedEstimates }, context.places);

  const isReplaced = derived.analysis.journey.replacedIds.has(estimated.id);
  const milestone =
    estimated.classifier === 'actual' ? setOrClearSupersededTimeOfMilestone(estimated, isReplaced, at) : estimated;
  const last = listChangesOfLastMilestone(before, derived.record);
  const events = [createMilestoneEvent({ ...outcome, milestone }, { ...series, last, dropped })];
  const changes = computeAnnouncedChanges(before, derived.record);
  if (previous?.classifier === 'actual' && milestone.revision !== previous.revision) {
    const to = milestone.retracted_at === null ? milestone : null;
    events.push(createShipmentChangedEvent({ ...changes, milestone: { from: previous, to } }, derived));
  } else if (changes !== undefined) {
    events.push(createShipmentChangedEvent(changes, derived));
  }
  const warnings = [...warnOfEtaBeforeEtd(before, derived), ...warnOfCancelledShipment(before, derived.record)];
  const isSuperseded = milestone.superseded_at !== null;
  const droppedMilestone = dropped.includes(milestone.id) ? milestone : undefined;
  return {
    warnings,
    isSuperseded,
    droppedMilestone,
    ...reconcileExceptions(state, { derived, timeline, events }, { ...context, at }),
  };
}

/** Returns the milestone with `superseded_at` set or cleared. A retracted milestone is returned unchanged. */
function setOrClearSupersededTimeOfMilestone(milestone: Milestone, isSuperseded: boolean, at: Timestamp): Milestone {
  const { superseded_at, retracted_at } = milestone;
  if (retracted_at !== null || (superseded_at !== null) === isSuperseded) return milestone;
  return { ...milestone, superseded_at: isSuperseded ? at : null };
}

/**
 * Returns at most one warning: an estimate moved `etd` or `eta` of the shipment or a leg so that `eta` is before `etd`.
 */
function warnOfEtaBeforeEtd(
  before: ShipmentRecord,
  { record, analysis: { route } }: DerivedShipment,
): readonly Warning[] {
  for (const [index, journey] of [record, ...record.legs].entries()) {
    const was = index === 0 ? before : before.legs[index - 1];
    if (was?.etd === journey.etd && was.eta === journey.eta) continue;
    const { etd, eta } = restoreScheduleTimesWithZones(journey, route.findZone);
    const crossed = warnIfEtaBeforeEtd(null, etd, eta);
    if (crossed !== undefined) return [crossed];
  }
  return [];
}

interface MilestoneEffectsOnTimeline {
  readonly supersedes: readonly string[];
  readonly restores: readonly string[];
  readonly last: ChangedLastMilestoneSummaries;
  /** Ids of superseded estimates that are no longer kept. */
  readonly dropped: readonly string[];
}

function createMilestoneEvent(
  { previous, milestone, overridden, formerReport: former_report }: MilestoneAfterCommand,
  { supersedes, restores, last, dropped }: MilestoneEffectsOnTimeline,
): ShipmentEventBody {
  const drops = dropped.length > 0 && { drops: dropped };
  if (previous === undefined) return { type: 'milestone.recorded.v1', data: { milestone, supersedes, last, ...drops } };
  if (milestone.retracted_at !== null) return { type: 'milestone.retracted.v1', data: { milestone, restores, last } };
  const data = { milestone, previous, supersedes, restores, last, overridden, former_report, ...drops };
  return { type: 'milestone.corrected.v1', data };
}
