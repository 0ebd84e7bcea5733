import type { TimeOrDay, Timestamp } from '@tracking/contracts';
import { findFirstDroppedReportStatedAfter } from './dropped-estimates.ts';
import { isAtPortsOrUnknownPlace, isEstimatedArrival, getTimeOfEstimate } from './estimates.ts';
import type { EstimateReport } from './events/event-data.ts';
import { compareReportTimes } from './reports.ts';
import type { ShipmentRoute } from './route.ts';
import {
  type DroppedReportSeries,
  getTimeWhenClientGaveValue,
  isClientValueGivenAfter,
  type ClientScheduleValues,
  type TimelineEntry,
} from './state.ts';

/** The parts of a shipment on which its original ETA depends. */
interface OriginalEtaInputs {
  readonly droppedReports: readonly DroppedReportSeries[];
  readonly schedule: ClientScheduleValues;
  readonly route: ShipmentRoute;
  readonly containers: readonly string[];
  /** Actual arrival; null if the shipment has not arrived. Estimates that were reported after it do not count. */
  readonly ata: Timestamp | null;
  /** Time from which reports count; empty if all count. */
  readonly since: Timestamp;
}

/**
 * Returns the ETA that was reported first, by the client or by an estimate of the arrival at the destination; null if
 * there is none. A day stays a date. Estimates count even if later ones replaced them.
 */
export function computeOriginalEta(
  timeline: readonly TimelineEntry[],
  { droppedReports, schedule, route, containers, ata, since }: OriginalEtaInputs,
): TimeOrDay | null {
  const given = getFirstEtaSetByClient(schedule, since);
  // The ETA of the request that created the shipment is the first one: no report can be earlier.
  if (given?.at === '') return given.value;
  const counts = (report: EstimateReport): boolean => {
    const { reported_at } = report;
    if (reported_at <= since || (ata !== null && reported_at > ata)) return false;
    const estimate = { milestone: report };
    return isEstimatedArrival(estimate, route) && isAtPortsOrUnknownPlace(estimate, route, route.ends);
  };
  let first: EstimateReport | undefined;
  const reports = listEstimateReports(timeline, containers);
  addFirstDroppedReports(reports, droppedReports, since);
  for (const report of reports) {
    if ((first === undefined || isEstimateReportedBeforeOther(report, first)) && counts(report)) first = report;
  }
  if (first === undefined || (given !== undefined && given.at <= first.reported_at)) return given?.value ?? null;
  return getTimeOrDayOfEstimate(first);
}

function getTimeOrDayOfEstimate(report: EstimateReport): TimeOrDay | null {
  const { value, day } = getTimeOfEstimate(report);
  return day ?? value;
}

/** Returns all reports of estimates, including former reports of milestones that have become actual. */
function listEstimateReports(timeline: readonly TimelineEntry[], containers: readonly string[]): EstimateReport[] {
  const reports: EstimateReport[] = [];
  for (const { milestone, formerReports } of timeline) {
    const isEstimate = milestone.classifier === 'estimated';
    if ((!isEstimate && formerReports.length === 0) || milestone.retracted_at !== null) continue;
    const { container_number } = milestone;
    if (container_number !== null && !containers.includes(container_number)) continue;
    if (isEstimate) reports.push(milestone);
    for (const report of formerReports) reports.push(report);
  }
  return reports;
}

/** Adds the first dropped report of each series since a time. */
function addFirstDroppedReports(
  reports: EstimateReport[],
  dropped: readonly DroppedReportSeries[],
  since: Timestamp,
): void {
  for (const series of dropped) {
    const first = findFirstDroppedReportStatedAfter(series, since);
    if (first !== undefined) reports.push(first);
  }
}

/** Returns the first ETA that the client gave since a time; undefined if it gave none. */
function getFirstEtaSetByClient(schedule: ClientScheduleValues, since: Timestamp) {
  const { firstEta } = schedule;
  if (firstEta === null || !isClientValueGivenAfter(schedule, firstEta.written, since)) return undefined;
  return { value: firstEta.value, at: getTimeWhenClientGaveValue(schedule, firstEta.written) };
}

/** Returns true if `a` was reported before `b`. If both have one time, the one that counted is before the other. */
function isEstimateReportedBeforeOther(a: EstimateReport, b: EstimateReport): boolean {
  if (a.reported_at !== b.reported_at) return a.reported_at < b.reported_at;
  return compareReportTimes(a, b) > 0;
}
