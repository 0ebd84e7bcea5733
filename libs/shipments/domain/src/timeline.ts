import type { Milestone, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import { isRepeatOfDroppedReport } from './dropped-estimates.ts';
import type { EstimateReport, Overridden } from './events/event-data.ts';
import {
  isFeedSource,
  isMilestoneCorrectedByPerson,
  getMilestoneAsLastSent,
  getOverriddenValuesAfterEvent,
} from './last-sent.ts';
import { compareReportTimes, isSameEventAndTime, listEstimatesOfSeries } from './reports.ts';
import { type ShipmentState, type TimelineEntry, compareMilestones } from './state.ts';

/** Changes that an event makes to the timeline. */
export interface TimelineChangesOfEvent {
  /** The new or changed milestone; null if the event only replaces or restores milestones. */
  readonly milestone: Milestone | null;
  readonly isNew: boolean;
  /** Ids of milestones whose `superseded_at` is set to `at`. */
  readonly superseded: readonly string[];
  /** Ids of milestones whose `superseded_at` is set to null. */
  readonly restored: readonly string[];
  /** Ids of superseded estimates that are removed; absent if there are none. */
  readonly dropped?: readonly string[] | undefined;
  readonly at: Timestamp;
  /** Values that a feed last sent and that values of a person override; absent if the event does not change them. */
  readonly overridden?: Overridden | undefined;
  /**
   * Report of the estimate that no longer counts, null if there is none; absent in events of releases that did not
   * compare reports, where each change of an estimate replaces a report.
   */
  readonly formerReport?: EstimateReport | null | undefined;
}

/** Inserts a milestone or moves a changed one, and marks the milestones that it replaces. Modifies the list. */
export function insertMilestone(timeline: TimelineEntry[], changes: TimelineChangesOfEvent, revision: number): void {
  const { superseded, restored, at, overridden } = changes;
  if (changes.milestone === null) {
    setSupersededAt(timeline, superseded, at);
    setSupersededAt(timeline, restored, null);
    return;
  }
  const { id } = changes.milestone;
  const place = changes.isNew ? -1 : timeline.findIndex((entry) => entry.milestone.id === id);
  const previous = timeline[place];
  if (place >= 0) timeline.splice(place, 1);
  setSupersededAt(timeline, superseded, at);
  setSupersededAt(timeline, restored, null);
  const milestone = addReportTimeToMilestone(changes.milestone, previous?.milestone, at);
  const becameActual = milestone.classifier === 'actual' && previous?.milestone.classifier !== 'actual';
  insertTimelineEntry(timeline, {
    milestone,
    recorded: previous === undefined || becameActual ? revision : previous.recorded,
    written:
      previous !== undefined && keepsStatedEventAndTime(previous.milestone, milestone) ? previous.written : revision,
    overridden: addReportTimeToOverriddenValues(getOverriddenValuesAfterEvent(previous, overridden), previous),
    formerReports:
      previous === undefined ? NO_FORMER_REPORTS : addFormerEstimateReport(previous, milestone, changes.formerReport),
  });
}

/**
 * Returns the milestone with the time of its report. Milestones of releases that did not store this time were reported
 * when they were recorded, or when their last statement was recorded.
 * @param previous the milestone before the event; undefined if it is new
 * @param at time of the event
 */
export function addReportTimeToMilestone(
  milestone: Milestone,
  previous: Milestone | undefined,
  at: Timestamp,
): Milestone {
  if ((milestone as Partial<Milestone>).reported_at !== undefined) return milestone;
  const isSame = previous !== undefined && keepsStatedEventAndTime(previous, milestone);
  return { ...milestone, reported_at: isSame ? previous.reported_at : at };
}

/**
 * Returns the overridden values of a feed with the time of their report. In events of releases that did not store this
 * time, they were reported when the milestone had last been stated before the person overrode them.
 */
function addReportTimeToOverriddenValues(overridden: Overridden, previous: TimelineEntry | undefined): Overridden {
  if (previous === undefined || !isMilestoneCorrectedByPerson({ overridden }) || overridden.reported_at !== undefined)
    return overridden;
  return { ...overridden, reported_at: previous.overridden.reported_at ?? previous.milestone.reported_at };
}

/**
 * Returns true if a change of a milestone keeps its classifier, time, place and source, so that the time at which these
 * values were first reported stays valid.
 */
function keepsStatedEventAndTime(previous: Milestone, milestone: Milestone): boolean {
  return isSameEventAndTime(previous, milestone) && !isEstimateCurrentAgain(previous, milestone);
}

/** Returns true if a superseded estimate becomes the current one. */
function isEstimateCurrentAgain(previous: Milestone, { superseded_at }: Milestone): boolean {
  return previous.superseded_at !== null && superseded_at === null;
}

const NO_FORMER_REPORTS: readonly EstimateReport[] = [];
/** Maximum number of former reports of an estimate that are kept in addition to the earliest one. */
const MAX_FORMER_REPORTS = 50;

function addFormerEstimateReport(
  { milestone: previous, formerReports }: TimelineEntry,
  milestone: Milestone,
  stored: EstimateReport | null | undefined,
): readonly EstimateReport[] {
  const isReplaced = previous.classifier === 'estimated' && !isSameEventAndTime(previous, milestone);
  const report = stored === undefined && isReplaced ? toEstimateReport(previous) : stored;
  return report == null ? formerReports : insertFormerReport(formerReports, report);
}

/** Returns the former reports of an estimate with one more, without those that are no longer kept. */
export function insertFormerReport(
  formerReports: readonly EstimateReport[],
  report: EstimateReport,
): readonly EstimateReport[] {
  const [earliest, ...others] = [...formerReports, report].sort(compareReportTimes);
  return earliest === undefined ? formerReports : [earliest, ...others.slice(-MAX_FORMER_REPORTS)];
}

/** Returns the fields of an estimate that are kept if its sender changes it. */
export function toEstimateReport(milestone: EstimateReport): EstimateReport {
  const { code, occurred_at, occurred_at_precision, reported_at, location, timezone = null } = milestone;
  const report = { code, occurred_at, reported_at, location };
  return occurred_at_precision === 'day' ? { ...report, occurred_at_precision, timezone } : report;
}

function setSupersededAt(timeline: TimelineEntry[], ids: readonly string[], superseded_at: Timestamp | null): void {
  if (ids.length === 0) return;
  const changed = new Set(ids);
  for (const [place, entry] of timeline.entries()) {
    if (changed.has(entry.milestone.id))
      timeline[place] = { ...entry, milestone: { ...entry.milestone, superseded_at } };
  }
}

/**
 * Inserts an entry in timeline order. Tries the end of the list first, because nearly all milestones arrive in order.
 */
function insertTimelineEntry(timeline: TimelineEntry[], entry: TimelineEntry): void {
  const isLater = (other: Milestone) => compareMilestones(other, entry.milestone) > 0;
  const last = timeline.at(-1);
  const place =
    last !== undefined && isLater(last.milestone) ? findFirstMatchingEntryIndex(timeline, isLater) : timeline.length;
  timeline.splice(place, 0, entry);
}

/**
 * Returns the index of the first entry of a sorted list for which `isLate` is true; the length of the list if there is
 * none.
 */
export function findFirstMatchingEntryIndex(
  entries: readonly TimelineEntry[],
  isLate: (milestone: Milestone) => boolean,
): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry === undefined || isLate(entry.milestone)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A recorded milestone that a posted milestone repeats. */
export interface RepeatedMilestone {
  readonly entry: TimelineEntry;
  /**
   * Kind of the repetition. `external_id`: the posted milestone may correct the recorded one. `content`: there is
   * nothing to correct. `overridden`: a feed repeats its last values, which a person has corrected or retracted since.
   * `dropped`: the posted estimate repeats one that is no longer on the timeline. The entry is the current estimate.
   */
  readonly by: 'external_id' | 'content' | 'overridden' | 'dropped';
}

/**
 * Finds the recorded milestone that a posted one repeats: the milestone with the same `external_id` and container,
 * otherwise a milestone with the same code, time, container, location and source, unless both have an `external_id`. An
 * actual milestone does not repeat an estimate of the same time, and a person's milestone does not repeat a retracted
 * one. A feed also repeats what it last sent. That match comes first if only people sent the milestone with the
 * `external_id`, because they may have replaced the feed's milestone with it.
 */
export function findDuplicateMilestone(
  { timeline, droppedEstimates }: Pick<ShipmentState, 'timeline' | 'droppedEstimates'>,
  input: MilestoneInput,
): RepeatedMilestone | undefined {
  const byId = findMilestoneByExternalId(timeline, input);
  if (byId !== undefined) {
    const isOfPeople = !isFeedSource(getMilestoneAsLastSent(byId).source);
    return (
      (isOfPeople ? findOverriddenMilestoneRepeatedByInput(timeline, input) : undefined) ?? {
        entry: byId,
        by: 'external_id',
      }
    );
  }
  const byContent = findMilestoneByContent(timeline, input);
  if (byContent !== undefined) return { entry: byContent, by: 'content' };
  return (
    findOverriddenMilestoneRepeatedByInput(timeline, input) ??
    findRepetitionOfDroppedEstimate(timeline, droppedEstimates, input)
  );
}

/** A person's estimate without `reported_at` does not repeat a dropped one, because people state what is true now. */
function findRepetitionOfDroppedEstimate(
  timeline: readonly TimelineEntry[],
  droppedEstimates: ShipmentState['droppedEstimates'],
  input: MilestoneInput,
): RepeatedMilestone | undefined {
  if (droppedEstimates.size === 0 || (!isFeedSource(input.source) && input.reported_at === null)) return undefined;
  if (!isRepeatOfDroppedReport(droppedEstimates, input)) return undefined;
  const entry = listEstimatesOfSeries(timeline, input).find(({ milestone }) => milestone.superseded_at === null);
  return entry && { entry, by: 'dropped' };
}

function findOverriddenMilestoneRepeatedByInput(
  timeline: readonly TimelineEntry[],
  input: MilestoneInput,
): RepeatedMilestone | undefined {
  if (!isFeedSource(input.source)) return undefined;
  const entry = timeline.find((each) => isFeedRepeatOfCorrectedMilestone(each, input));
  return entry && { entry, by: 'overridden' };
}

/**
 * Finds a milestone by `external_id` and container: the same id for several containers names several milestones. A
 * milestone that has the id now takes precedence over a milestone that a feed sent with it.
 */
function findMilestoneByExternalId(
  timeline: readonly TimelineEntry[],
  input: MilestoneInput,
): TimelineEntry | undefined {
  if (input.external_id === null) return undefined;
  let formerly: TimelineEntry | undefined;
  for (const entry of timeline) {
    if (entry.milestone.retracted_at !== null) continue;
    if (hasSameMilestoneExternalId(entry.milestone, input)) return entry;
    if (
      formerly === undefined &&
      isMilestoneCorrectedByPerson(entry) &&
      hasSameMilestoneExternalId(getMilestoneAsLastSent(entry), input)
    )
      formerly = entry;
  }
  return isFeedSource(input.source) ? formerly : undefined;
}

type ExternalId = Pick<MilestoneInput, 'external_id' | 'container_number'>;

/** Returns true if both milestones have the same `external_id` and container. */
export function hasSameMilestoneExternalId(a: ExternalId, b: ExternalId): boolean {
  return a.external_id === b.external_id && a.container_number === b.container_number;
}

/** Finds a milestone by its content. A current milestone takes precedence over a superseded one. */
function findMilestoneByContent(timeline: readonly TimelineEntry[], input: MilestoneInput): TimelineEntry | undefined {
  const { occurred_at } = input;
  let superseded: TimelineEntry | undefined;
  for (
    let place = findFirstMatchingEntryIndex(timeline, (milestone) => milestone.occurred_at >= occurred_at);
    ;
    place++
  ) {
    const entry = timeline[place];
    if (entry?.milestone.occurred_at !== occurred_at) return superseded;
    if (!isMilestoneRepeatedBy(entry.milestone, input)) continue;
    if (entry.milestone.superseded_at === null) return entry;
    superseded ??= entry;
  }
}

function isMilestoneRepeatedBy(milestone: Milestone, input: MilestoneInput): boolean {
  return (
    milestone.retracted_at === null &&
    (milestone.external_id === null || input.external_id === null) &&
    isSameEventAndTime(milestone, input) &&
    !isEstimateStatedAgain(milestone, input)
  );
}

/** Returns true if an estimate was stated again at another time. Such an estimate can replace estimates in between. */
function isEstimateStatedAgain(milestone: Milestone, { classifier, reported_at }: MilestoneInput): boolean {
  return classifier === 'estimated' && reported_at !== null && reported_at !== milestone.reported_at;
}

/**
 * Returns true if a feed repeats what it last sent for a milestone that a person has retracted or corrected since. The
 * `external_id` does not matter, because some feeds number their milestones again with each poll.
 */
export function isFeedRepeatOfCorrectedMilestone(entry: TimelineEntry, input: MilestoneInput): boolean {
  const { retracted_at } = entry.milestone;
  return (
    (retracted_at !== null || isMilestoneCorrectedByPerson(entry)) &&
    isSameEventAndTime(getMilestoneAsLastSent(entry), input)
  );
}
