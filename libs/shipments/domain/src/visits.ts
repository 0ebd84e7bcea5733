import type { Milestone } from '@tracking/contracts';
import {
  type ActualMilestonesByContainer,
  type KindFilter,
  type MilestonesByKind,
  selectMilestoneGroups,
  type SortedEntries,
} from './milestone-groups.ts';
import type { MilestoneKind } from './milestone-kind.ts';
import { compareReportsOfMilestone } from './reports.ts';
import type { TimelineEntry } from './state.ts';
import { findFirstMatchingEntryIndex } from './timeline.ts';

/**
 * Finds actual milestones that a later report of the same visit replaces. A feed without `external_id` reports a
 * changed time as another milestone. If the event happens once per visit, only the report that was stated last counts
 * for each visit, among the milestones with the same code, container, place and source. Milestones that other rules
 * exclude must not be among them, because they neither replace reports nor begin or end visits.
 */
export function findReplacedMilestoneReports({
  unnamed,
  named,
}: ActualMilestonesByContainer): ReadonlySet<TimelineEntry> {
  const replaced = new Set<TimelineEntry>();
  for (const own of named.values()) collectReportsReplacedInVisit(own, [own, unnamed], replaced);
  // Milestones without a container concern every container, so the departures and arrivals of all containers count.
  collectReportsReplacedInVisit(unnamed, [unnamed, ...named.values()], replaced);
  return replaced;
}

/** @param around milestones whose departures and arrivals begin and end visits */
function collectReportsReplacedInVisit(
  groups: MilestonesByKind,
  around: readonly MilestonesByKind[],
  replaced: Set<TimelineEntry>,
): void {
  for (const { kind, entries } of listRepeatedReports(groups)) {
    const limits = selectMilestoneGroups(around, createVisitEndFilter(kind));
    const lastReports = new Map<string, TimelineEntry>();
    for (const entry of entries) {
      const key = `${countPlaceVisitsEndedBefore(entry, kind, limits)} ${entry.milestone.source}`;
      const other = lastReports.get(key);
      const isLast = other === undefined || compareReportsOfMilestone(entry.milestone, other.milestone) > 0;
      if (isLast) lastReports.set(key, entry);
      if (other !== undefined) replaced.add(isLast ? other : entry);
    }
  }
}

/** Milestones with one code and place that may be reports of the same event. */
interface MilestonesPossiblyOfSameEvent {
  readonly kind: MilestoneKind;
  readonly entries: readonly TimelineEntry[];
}

function listRepeatedReports(groups: MilestonesByKind): readonly MilestonesPossiblyOfSameEvent[] {
  const repeated = findReportKeysOfSeveralMilestones(groups);
  if (repeated.size === 0) return [];
  const byKey = new Map<string, { readonly kind: MilestoneKind; readonly entries: TimelineEntry[] }>();
  for (const [kind, entries] of groups) {
    const { reportKey } = kind;
    if (reportKey === undefined || !repeated.has(reportKey)) continue;
    const reports = byKey.get(reportKey) ?? { kind, entries: [] };
    byKey.set(reportKey, reports);
    for (const entry of entries) if (canFeedRepeatMilestone(entry)) reports.entries.push(entry);
  }
  return [...byKey.values()].filter((reports) => reports.entries.length > 1);
}

const EMPTY_REPORT_KEY_SET: ReadonlySet<string> = new Set();

/** Returns the report keys that several milestones have. */
function findReportKeysOfSeveralMilestones(groups: MilestonesByKind): ReadonlySet<string> {
  if (!mayHaveRepeatedReportKeys(groups)) return EMPTY_REPORT_KEY_SET;
  const repeated = new Set<string>();
  const seen = new Set<string>();
  for (const [{ reportKey }, { length }] of groups) {
    if (reportKey === undefined) continue;
    if (length > 1 || seen.has(reportKey)) repeated.add(reportKey);
    seen.add(reportKey);
  }
  return repeated;
}

/**
 * Returns true unless each report key certainly belongs to only one milestone. Kinds whose places are named by their
 * codes have keys of their own; most shipments have only such kinds.
 */
function mayHaveRepeatedReportKeys(groups: MilestonesByKind): boolean {
  for (const [{ reportKey, isPlaceCode }, { length }] of groups)
    if (reportKey !== undefined && (length > 1 || !isPlaceCode)) return true;
  return false;
}

function canFeedRepeatMilestone({ milestone: { external_id, source } }: TimelineEntry): boolean {
  return external_id === null && source !== 'manual';
}

/**
 * Returns a filter for the milestones that end visits of the place: departures from there; for departures, arrivals and
 * loadings there, because another ship can leave with the goods. At a missing or unknown place, every departure or
 * arrival ends a visit, because it can be one at that place.
 */
function createVisitEndFilter({ isDeparture, located }: MilestoneKind): KindFilter {
  return (other) =>
    (isDeparture ? other.isArrivalOfVisit || other.rules.handling === 'loaded' : other.isDeparture) &&
    (!located.isKnown || other.located.key === located.key);
}

/**
 * Returns the number of visits that ended before the milestone. A departure follows an arrival at the same time.
 * @param limits milestones that end visits
 */
function countPlaceVisitsEndedBefore(
  { milestone: { occurred_at: time } }: TimelineEntry,
  { isDeparture }: MilestoneKind,
  limits: readonly SortedEntries[],
): number {
  const isLater = ({ occurred_at }: Milestone) => (isDeparture ? occurred_at > time : occurred_at >= time);
  return limits.reduce((count, entries) => count + findFirstMatchingEntryIndex(entries, isLater), 0);
}
