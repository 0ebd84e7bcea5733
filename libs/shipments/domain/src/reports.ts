import type { Milestone } from '@tracking/contracts';
import type { MilestoneContent } from './last-sent.ts';
import { toComparablePlace } from './references.ts';
import type { TimelineEntry } from './state.ts';

type Report = Pick<Milestone, 'reported_at' | 'occurred_at' | 'id'> &
  Partial<Pick<Milestone, 'occurred_at_precision' | 'location'>>;

/**
 * Compares two reports of the same thing: positive if `a` counts instead of `b`. The report that was stated last counts;
 * of reports stated at the same time, the one with the later time, and of a time and the end of a day, the time; then the
 * one whose place is written as the later text. The order of recording decides only between equal reports.
 */
export function compareReportsOfMilestone(a: Report, b: Report): number {
  const byTime = compareReportTimes(a, b);
  if (byTime !== 0 || a.id === b.id) return byTime;
  const [place, otherPlace] = [a.location ?? '', b.location ?? ''];
  if (place !== otherPlace) return place > otherPlace ? 1 : -1;
  return a.id > b.id ? 1 : -1;
}

/** Compares two reports as {@link compareReportsOfMilestone}; 0 if they state the same time at the same time. */
export function compareReportTimes(a: Omit<Report, 'id' | 'location'>, b: Omit<Report, 'id' | 'location'>): number {
  if (a.reported_at !== b.reported_at) return a.reported_at > b.reported_at ? 1 : -1;
  if (a.occurred_at !== b.occurred_at) return a.occurred_at > b.occurred_at ? 1 : -1;
  return Number(b.occurred_at_precision === 'day') - Number(a.occurred_at_precision === 'day');
}

/** Fields that the reports of one series have in common. */
export type Series = Pick<Milestone, 'code' | 'container_number' | 'location' | 'source'>;
type Statement = Series & Pick<MilestoneContent, 'classifier' | 'occurred_at' | 'occurred_at_precision'>;

/**
 * Returns true if both milestones state the same event at the same time. Other fields, such as the note, do not matter.
 */
export function isSameEventAndTime(a: Statement, b: Statement): boolean {
  return (
    a.classifier === b.classifier &&
    a.occurred_at === b.occurred_at &&
    a.occurred_at_precision === b.occurred_at_precision &&
    isSameEstimateSeries(a, b)
  );
}

/** Returns true if reports of the milestones belong to one series, if both are estimates. */
export function isSameEstimateSeries(a: Series, b: Series): boolean {
  return hasSameCodeContainerAndSource(a, b) && isSamePlaceText(a.location, b.location);
}

function hasSameCodeContainerAndSource(a: Series, b: Series): boolean {
  return a.code === b.code && a.container_number === b.container_number && a.source === b.source;
}

function isSamePlaceText(a: string | null, b: string | null): boolean {
  return a === b || toComparablePlace(a) === toComparablePlace(b);
}

/** Changes of the estimates of a series. */
interface EstimateSeriesChanges {
  /** Ids of current estimates that a later report replaces. */
  readonly supersedes: readonly string[];
  /** Ids of replaced estimates that are current again. */
  readonly restores: readonly string[];
  /** True if a later report replaces the milestone itself. */
  readonly isSuperseded: boolean;
}

/**
 * Finds the changes of the estimates of the series to which a milestone belongs or belonged. The estimate that was
 * reported last is current, in whatever order the estimates arrive.
 * @param previous the milestone before the change; undefined if it is new
 */
export function findEstimatesSupersededOrRestored(
  timeline: readonly TimelineEntry[],
  previous: Milestone | undefined,
  milestone: Milestone,
): EstimateSeriesChanges {
  const isEstimate = milestone.classifier === 'estimated' && milestone.retracted_at === null;
  const changes = isEstimate ? computeEstimateSupersessionChanges(timeline, milestone) : NO_ESTIMATE_SERIES_CHANGES;
  const leavesSeries =
    previous?.classifier === 'estimated' && !(isEstimate && isSameEstimateSeries(previous, milestone));
  if (!leavesSeries) return changes;
  const restored = listRestoredReportIds(findLastReportedMilestone(listOtherEstimatesOfSeries(timeline, previous)));
  return { ...changes, restores: [...changes.restores, ...restored] };
}

const NO_ESTIMATE_SERIES_CHANGES: EstimateSeriesChanges = { supersedes: [], restores: [], isSuperseded: false };

function computeEstimateSupersessionChanges(
  timeline: readonly TimelineEntry[],
  estimate: Milestone,
): EstimateSeriesChanges {
  const others = listOtherEstimatesOfSeries(timeline, estimate);
  const last = findLastReportedMilestone([...others, estimate]);
  const replaced = others.filter((other) => other !== last && other.superseded_at === null);
  const isSuperseded = last !== estimate;
  return {
    supersedes: replaced.map(({ id }) => id),
    restores: isSuperseded ? listRestoredReportIds(last) : [],
    isSuperseded,
  };
}

/** Returns the id of the last report of a series if it was replaced until now. */
function listRestoredReportIds(last: Milestone | undefined): readonly string[] {
  return last === undefined || last.superseded_at === null ? [] : [last.id];
}

/** Returns the estimates of the series of a milestone, without the milestone itself. */
function listOtherEstimatesOfSeries(timeline: readonly TimelineEntry[], of: Milestone): readonly Milestone[] {
  return listEstimatesOfSeries(timeline, of).flatMap(({ milestone }) => (milestone.id === of.id ? [] : [milestone]));
}

/** Returns the estimates of the series of a milestone, in timeline order. */
export function listEstimatesOfSeries(timeline: readonly TimelineEntry[], of: Series): readonly TimelineEntry[] {
  const estimates: TimelineEntry[] = [];
  // A series can have thousands of estimates, but few spellings of their place.
  const places = new Map<string | null, boolean>();
  for (const entry of timeline) {
    const { milestone } = entry;
    const { classifier, retracted_at, location } = milestone;
    if (classifier !== 'estimated' || retracted_at !== null || !hasSameCodeContainerAndSource(milestone, of)) continue;
    const isSamePlace = places.get(location) ?? isSamePlaceText(location, of.location);
    places.set(location, isSamePlace);
    if (isSamePlace) estimates.push(entry);
  }
  return estimates;
}

function findLastReportedMilestone(milestones: readonly Milestone[]): Milestone | undefined {
  let last: Milestone | undefined;
  for (const each of milestones) if (last === undefined || compareReportsOfMilestone(each, last) > 0) last = each;
  return last;
}
