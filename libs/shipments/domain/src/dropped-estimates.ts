import type { Milestone, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import type { EstimateReport } from './events/event-data.ts';
import { isMilestoneCorrectedByPerson, NO_OVERRIDDEN_VALUES } from './last-sent.ts';
import { compareReportsOfMilestone, isSameEstimateSeries, listEstimatesOfSeries } from './reports.ts';
import { toComparablePlace } from './references.ts';
import type { DroppedReportSeries, ShipmentDraft, ShipmentState, TimelineEntry } from './state.ts';

/** Maximum number of superseded estimates of a series that are kept in addition to the earliest one. */
export const MAX_SUPERSEDED_ESTIMATES = 50;
/** Maximum number of superseded estimates of a shipment. If it is exceeded, the earliest reports are dropped. */
const MAX_SUPERSEDED_ESTIMATES_OF_SHIPMENT = 15_000;
/** Maximum number of estimates that one event drops, because events of former releases dropped none. */
const MAX_DROPPED_ESTIMATES_PER_EVENT = 100;
/** Maximum number of dropped reports of a shipment that are remembered. They take 480 kB. */
const MAX_REMEMBERED_DROPPED_REPORTS = 20_000;
/** Numbers in {@link DroppedReportSeries.times} for each report. */
const NUMERIC_VALUES_STORED_PER_REPORT = 3;
/** Id of a milestone that is no longer on the timeline, in entries that stand for dropped reports. */
export const EMPTY_ID_OF_DROPPED_MILESTONE = '';

/** The parts of a shipment from which estimates are dropped. */
type DropDraft = Pick<ShipmentDraft, 'timeline' | 'droppedEstimates'>;

/** Returns a copy of the dropped reports for a draft. */
export function copyDroppedEstimates(dropped: ShipmentState['droppedEstimates']): ShipmentDraft['droppedEstimates'] {
  const copy: ShipmentDraft['droppedEstimates'] = new Map();
  for (const [key, reports] of dropped) copy.set(key, { ...reports, times: reports.times.slice() });
  return copy;
}

/**
 * Returns the ids of superseded estimates that are no longer kept: of the series of a milestone, all but the earliest and
 * the newest ones. The kept estimates do not depend on the order in which the reports arrived.
 * @param milestone the milestone that a command records or changes
 * @param isNew true if the command records it. A milestone that a command corrects is kept.
 */
export function findSupersededEstimatesToDrop(
  timeline: readonly TimelineEntry[],
  milestone: Milestone,
  isNew: boolean,
): readonly string[] {
  if (milestone.classifier !== 'estimated' || milestone.retracted_at !== null) return [];
  const superseded = listEstimatesOfSeries(timeline, milestone).filter(
    (entry) => entry.milestone.superseded_at !== null,
  );
  const older = superseded.length > MAX_SUPERSEDED_ESTIMATES ? sortTimelineEntriesByReportOrder(superseded) : [];
  const ofSeries = older.slice(1, -MAX_SUPERSEDED_ESTIMATES).filter(canEstimateBeDropped);
  const candidates = ofSeries.length > 0 ? ofSeries : findSurplusSupersededEstimates(timeline);
  const ids = candidates.slice(0, MAX_DROPPED_ESTIMATES_PER_EVENT).map((entry) => entry.milestone.id);
  return isNew ? ids : ids.filter((id) => id !== milestone.id);
}

/** Returns the earliest reports of a shipment with too many superseded estimates. */
function findSurplusSupersededEstimates(timeline: readonly TimelineEntry[]): readonly TimelineEntry[] {
  if (timeline.length <= MAX_SUPERSEDED_ESTIMATES_OF_SHIPMENT) return [];
  const superseded = timeline.filter((entry) => isSupersededEstimate(entry.milestone) && canEstimateBeDropped(entry));
  return superseded.length > MAX_SUPERSEDED_ESTIMATES_OF_SHIPMENT ? sortTimelineEntriesByReportOrder(superseded) : [];
}

function sortTimelineEntriesByReportOrder(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  return entries.toSorted((a, b) => compareReportsOfMilestone(a.milestone, b.milestone));
}

/** Returns true for an estimate that a later report of its series replaced. */
export function isSupersededEstimate({ classifier, superseded_at }: Milestone): boolean {
  return classifier === 'estimated' && superseded_at !== null;
}

/**
 * Returns true if the estimate has an effect only through the times of its reports. An estimate that a person corrected
 * or retracted is kept, so that repetitions of the feed are recognized, and so is one that moved here from another place.
 */
function canEstimateBeDropped(entry: TimelineEntry): boolean {
  const { milestone, formerReports } = entry;
  if (milestone.retracted_at !== null || isMilestoneCorrectedByPerson(entry)) return false;
  return formerReports.every((report) => isSameEstimateSeries({ ...milestone, ...report }, milestone));
}

/**
 * Moves estimates from the timeline, which it modifies, to the dropped reports.
 * @returns the dropped reports, a copy if they change
 */
export function moveEstimatesToDroppedReports(
  timeline: TimelineEntry[],
  droppedEstimates: ShipmentState['droppedEstimates'],
  ids: readonly string[],
): ShipmentState['droppedEstimates'] {
  if (ids.length === 0) return droppedEstimates;
  const draft = { timeline, droppedEstimates: copyDroppedEstimates(droppedEstimates) };
  dropEstimatesFromTimeline(draft, ids);
  return draft.droppedEstimates;
}

/** Removes estimates from the timeline and remembers the times of their reports. Modifies the draft. */
export function dropEstimatesFromTimeline(draft: DropDraft, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const dropped = new Set(ids);
  let kept = 0;
  for (const entry of draft.timeline) {
    if (dropped.has(entry.milestone.id)) rememberDroppedReports(draft.droppedEstimates, entry);
    else draft.timeline[kept++] = entry;
  }
  draft.timeline.length = kept;
}

function rememberDroppedReports(
  dropped: DropDraft['droppedEstimates'],
  { milestone, formerReports, written }: TimelineEntry,
) {
  for (const report of [milestone, ...formerReports]) {
    const series = findOrAddEstimateSeries(dropped, milestone, report, written);
    series.lastWritten = Math.max(series.lastWritten, written);
    insertDroppedReport(series.times, report, written);
  }
  forgetDroppedReportsAboveLimit(dropped);
}

/** Returns the dropped reports of the series with the precision of the report, and for days with its time zone. */
function findOrAddEstimateSeries(
  dropped: DropDraft['droppedEstimates'],
  milestone: Milestone,
  report: EstimateReport,
  written: number,
) {
  const { code, container_number, source, location } = milestone;
  const isDay = report.occurred_at_precision === 'day';
  const zone = isDay ? [report.timezone ?? null] : [];
  const key = JSON.stringify([code, container_number, source, toComparablePlace(location), ...zone]);
  let series = dropped.get(key);
  if (series === undefined) {
    const sample: Milestone = {
      ...milestone,
      id: EMPTY_ID_OF_DROPPED_MILESTONE,
      occurred_at_precision: isDay ? 'day' : 'time',
      timezone: isDay ? (report.timezone ?? null) : milestone.timezone,
      external_id: null,
      reason_code: null,
      note: null,
    };
    series = { sample, times: [], forgottenUntil: -Infinity, lastWritten: written };
    dropped.set(key, series);
  }
  return series;
}

function insertDroppedReport(
  times: number[],
  report: Pick<EstimateReport, 'reported_at' | 'occurred_at'>,
  written: number,
) {
  const [reported, occurred] = [Date.parse(report.reported_at), Date.parse(report.occurred_at)];
  const place = findReportIndexOrInsertionPoint(times, reported, occurred);
  if (times[place] === reported && times[place + 1] === occurred) {
    times[place + 2] = Math.max(times[place + 2] ?? written, written);
    return;
  }
  if (place === times.length) times.push(reported, occurred, written);
  else times.splice(place, 0, reported, occurred, written);
}

/** Returns the index in `times` of a report; if it is absent, the index at which it belongs. */
function findReportIndexOrInsertionPoint(times: readonly number[], reported: number, occurred: number): number {
  return findFirstLateReportIndex(times, (r, o) => r > reported || (r === reported && o >= occurred));
}

/** Returns the index in `times` of the first report for which `isLate` is true; the length if there is none. */
function findFirstLateReportIndex(
  times: readonly number[],
  isLate: (reported: number, occurred: number) => boolean,
): number {
  let low = 0;
  let high = times.length / NUMERIC_VALUES_STORED_PER_REPORT;
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = middle * NUMERIC_VALUES_STORED_PER_REPORT;
    if (isLate(times[place] ?? NaN, times[place + 1] ?? NaN)) high = middle;
    else low = middle + 1;
  }
  return low * NUMERIC_VALUES_STORED_PER_REPORT;
}

/** If too many reports are remembered, forgets the older half of the longest series, except its first report. */
function forgetDroppedReportsAboveLimit(dropped: DropDraft['droppedEstimates']): void {
  let count = 0;
  let longest: ReturnType<DropDraft['droppedEstimates']['get']>;
  for (const series of dropped.values()) {
    count += series.times.length / NUMERIC_VALUES_STORED_PER_REPORT;
    if (longest === undefined || series.times.length > longest.times.length) longest = series;
  }
  if (count <= MAX_REMEMBERED_DROPPED_REPORTS || longest === undefined) return;
  const older =
    Math.ceil(longest.times.length / NUMERIC_VALUES_STORED_PER_REPORT / 2) * NUMERIC_VALUES_STORED_PER_REPORT;
  const forgotten = longest.times.splice(NUMERIC_VALUES_STORED_PER_REPORT, older);
  longest.forgottenUntil = Math.max(
    longest.forgottenUntil,
    forgotten.at(-NUMERIC_VALUES_STORED_PER_REPORT) ?? -Infinity,
  );
}

/**
 * Returns true if the posted estimate repeats a dropped report: one with the same time, stated at the same time or at no
 * given time. A report from the time of forgotten ones counts as one of them.
 */
export function isRepeatOfDroppedReport(dropped: ShipmentState['droppedEstimates'], input: MilestoneInput): boolean {
  if (input.classifier !== 'estimated') return false;
  const occurred = Date.parse(input.occurred_at);
  const reported = input.reported_at === null ? undefined : Date.parse(input.reported_at);
  for (const { sample, times, forgottenUntil } of dropped.values()) {
    if (!isSameEstimateSeries(sample, input)) continue;
    if (reported !== undefined && reported <= forgottenUntil && reported > (times[0] ?? Infinity)) return true;
    const isSamePrecision = sample.occurred_at_precision === input.occurred_at_precision;
    if (isSamePrecision && containsReportAtTimes(times, reported, occurred)) return true;
  }
  return false;
}

/** @param reported time when the report was stated; undefined for any time */
function containsReportAtTimes(times: readonly number[], reported: number | undefined, occurred: number): boolean {
  if (reported !== undefined) {
    const place = findReportIndexOrInsertionPoint(times, reported, occurred);
    return times[place] === reported && times[place + 1] === occurred;
  }
  for (let place = 0; place < times.length; place += NUMERIC_VALUES_STORED_PER_REPORT)
    if (times[place + 1] === occurred) return true;
  return false;
}

/**
 * Returns estimates that stand for the dropped reports that had been stated until a time. A report is omitted if a later
 * report of its series has the same or a later `occurred_at`, because it cannot count.
 */
export function listDroppedEstimateReportsUntil(
  series: readonly DroppedReportSeries[],
  time: Timestamp,
): readonly TimelineEntry[] {
  if (series.length === 0) return [];
  const until = Date.parse(time);
  const found: TimelineEntry[] = [];
  for (const { sample, times } of series) {
    let latest = -Infinity;
    for (
      let place = findFirstLateReportIndex(times, (r) => r > until) - NUMERIC_VALUES_STORED_PER_REPORT;
      place >= 0;
      place -= NUMERIC_VALUES_STORED_PER_REPORT
    ) {
      const occurred = times[place + 1] ?? -Infinity;
      // Reports of one time can differ in whether they were recorded after the value of the client.
      if (occurred <= latest && times[place] !== times[place + NUMERIC_VALUES_STORED_PER_REPORT]) continue;
      latest = Math.max(latest, occurred);
      found.push(createTimelineEntryOfReport(sample, decodeDroppedEstimateTimes(times, place), times[place + 2] ?? 0));
    }
  }
  return found;
}

function createTimelineEntryOfReport(sample: Milestone, report: Times, written: number): TimelineEntry {
  const milestone = { ...sample, ...report };
  return { milestone, recorded: written, written, overridden: NO_OVERRIDDEN_VALUES, formerReports: [] };
}

/** Returns the dropped report of a series that was stated first after a time; undefined if there is none. */
export function findFirstDroppedReportStatedAfter(
  { sample, times }: DroppedReportSeries,
  since: Timestamp,
): EstimateReport | undefined {
  const after = since === '' ? -Infinity : Date.parse(since);
  let place = findFirstLateReportIndex(times, (reported) => reported > after);
  if (place >= times.length) return undefined;
  // If several reports were stated at the same time, the last one counts.
  while (times[place + NUMERIC_VALUES_STORED_PER_REPORT] === times[place]) place += NUMERIC_VALUES_STORED_PER_REPORT;
  return { ...sample, ...decodeDroppedEstimateTimes(times, place) };
}

type Times = Pick<EstimateReport, 'reported_at' | 'occurred_at'>;

function decodeDroppedEstimateTimes(times: readonly number[], place: number): Times {
  const [reported = 0, occurred = 0] = times.slice(place, place + 2);
  return { reported_at: new Date(reported).toISOString(), occurred_at: new Date(occurred).toISOString() };
}
