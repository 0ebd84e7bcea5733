import { chooseLatestTime, type Milestone, type Timestamp } from '@tracking/contracts';
import { isSameJson } from '../changes.ts';
import type { MilestoneInput } from '../check-milestone.ts';
import type { EstimateReport, ChangedLastMilestoneSummaries, Overridden } from '../events/event-data.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import {
  isFeedSource,
  isSameMilestoneContent,
  type MilestoneContent,
  getMilestoneAsLastSent,
  type SentMilestone,
} from '../last-sent.ts';
import { compareReportTimes, isSameEventAndTime } from '../reports.ts';
import type { TimelineEntry } from '../state.ts';
import { insertFormerReport, type RepeatedMilestone, toEstimateReport } from '../timeline.ts';

const NO_LAST_MILESTONE_CHANGES: ChangedLastMilestoneSummaries = { containers: [] };

/**
 * Returns true if the source stated the recorded milestone after the posted one. Reports of a feed are compared with
 * its last report, not with corrections by a person.
 */
export function isOutdatedReport({ entry, by }: RepeatedMilestone, input: MilestoneInput): boolean {
  const { reported_at } = input;
  if (by === 'dropped') return true;
  if (reported_at === null || by === 'overridden') return false;
  const last = isFeedSource(input.source) ? getMilestoneAsLastSent(entry) : entry.milestone;
  return compareReportTimes({ ...input, reported_at }, last) < 0;
}

/** Returns the time of the report of a milestone that was sent again. */
export function computeReportTime(
  { entry, by }: RepeatedMilestone,
  sent: { readonly input: MilestoneInput; readonly content: MilestoneContent; readonly isCurrentAgain: boolean },
  at: Timestamp,
): Timestamp {
  const { milestone: previous } = entry;
  const { reported_at } = sent.input;
  if (sent.isCurrentAgain) return chooseLatestTime(at, previous.reported_at);
  const isSame = isSameEventAndTime(previous, sent.content);
  if (by === 'overridden' || (isSame && reported_at === null)) return previous.reported_at;
  if (isSame) return chooseLatestTime(reported_at ?? '', previous.reported_at);
  return reported_at ?? chooseLatestTime(at, previous.reported_at);
}

/**
 * Returns the report of an estimate that another report replaces; null if its report stays. An estimate that is stated
 * again later was known since its first report.
 */
export function getReplacedEstimateReport(previous: Milestone, next: SentMilestone): EstimateReport | null {
  const isReplaced = previous.reported_at !== next.reported_at || !isSameEventAndTime(previous, next);
  return previous.classifier === 'estimated' && isReplaced ? toEstimateReport(previous) : null;
}

/** Returns the event that stores an outdated report of an estimate as a former report. */
export function createEventsOfFormerEstimate(
  { entry: { milestone: previous, overridden, formerReports }, by }: RepeatedMilestone,
  { reported_at, ...content }: MilestoneInput,
): readonly ShipmentEventBody[] {
  if (content.classifier !== 'estimated' || reported_at === null || by === 'dropped') return [];
  const report = toEstimateReport({ ...content, reported_at });
  // The same list results if the report was among those that are no longer kept.
  const isKnown = formerReports.some((former) => isSameJson(former, report));
  if (isKnown || isSameJson(insertFormerReport(formerReports, report), formerReports)) return [];
  const data = { milestone: previous, previous, supersedes: [], restores: [], last: NO_LAST_MILESTONE_CHANGES };
  return [{ type: 'milestone.corrected.v1', data: { ...data, overridden, former_report: report } }];
}

/** Returns the event that stores a repeated milestone. The event is not a correction and is not announced. */
export function createRepeatedMilestoneEvent(
  entry: TimelineEntry,
  overridden: Overridden,
): readonly ShipmentEventBody[] {
  const { milestone } = entry;
  const last = getMilestoneAsLastSent(entry);
  const isSame = isSameMilestoneContent(last, getMilestoneAsLastSent({ milestone, overridden }));
  if (isSame && overridden.reported_at === entry.overridden.reported_at) return [];
  const data = {
    milestone,
    previous: milestone,
    supersedes: [],
    restores: [],
    last: NO_LAST_MILESTONE_CHANGES,
    overridden,
  };
  return [{ type: 'milestone.corrected.v1', data: { ...data, former_report: null } }];
}
