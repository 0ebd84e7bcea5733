import type { Timestamp } from '@tracking/contracts';
import { selectCountingMilestones, type CountingMilestones } from './journey.ts';
import { type ActualMilestonesByContainer, MilestonesByKind, type SortedEntries } from './milestone-groups.ts';
import { MilestoneKindFinder, type MilestoneKind } from './milestone-kind.ts';
import { findIgnoringRule } from './milestone-meaning.ts';
import type { ShipmentRoute } from './route.ts';
import type { DroppedReportSeries, ShipmentState, TimelineEntry } from './state.ts';
import { chooseLaterEntry, TIME_BEFORE_ALL_TIMESTAMPS, SummaryOfMilestones } from './milestone-summary.ts';
import type { ExpectedJourneyTimes } from './trips.ts';

/**
 * Analysis of a timeline in one pass. All derived fields of a shipment are computed from the analysis. Its lists are in
 * timeline order.
 */
export interface TimelineAnalysis {
  readonly route: ShipmentRoute;
  /** Summary of the actual milestones that name no container. */
  readonly unnamed: SummaryOfMilestones;
  /** Summaries of actual milestones by container. They include only containers of the shipment. */
  readonly named: ReadonlyMap<string, SummaryOfMilestones>;
  /** Summaries that replace `unnamed` for containers for which some of its milestones do not count. */
  readonly unnamedFor: ReadonlyMap<string, SummaryOfMilestones>;
  /** Time before which a finished trip of a container does not belong to the shipment. */
  readonly departsFrom: Timestamp;
  /** Actual milestones that count for the shipment, and those that do not, each with the rule that excludes it. */
  readonly journey: CountingMilestones;
  /** Actual departures of the shipment at any place. */
  readonly departures: readonly TimelineEntry[];
  /** Actual arrivals at the destination, and at missing or unknown places. */
  readonly arrivals: readonly TimelineEntry[];
  /** Actual arrivals of legs: arrivals at all places. */
  readonly legArrivals: readonly TimelineEntry[];
  /** Actual departures of legs: departures of the shipment, and pick-ups, which are departures by road only. */
  readonly legDepartures: readonly TimelineEntry[];
  /** Actual `booking_cancelled` milestones that no `booking_confirmed` with a later date revokes. */
  readonly cancellations: readonly TimelineEntry[];
  /** Estimates that are not superseded. */
  readonly estimates: readonly TimelineEntry[];
  /** Estimates that a later report replaced. They count if that report was stated after the actual time. */
  readonly replacedEstimates: readonly TimelineEntry[];
  /** Reports of estimates that are no longer on the timeline, without those of containers that were removed. */
  readonly droppedReports: readonly DroppedReportSeries[];
  readonly last: TimelineEntry | undefined;
}

/** Analyses a timeline, whose entries are in timeline order. */
export function groupTimelineMilestonesForRules(
  { timeline, droppedEstimates }: Pick<ShipmentState, 'timeline' | 'droppedEstimates'>,
  route: ShipmentRoute,
  containers: readonly string[],
  times: ExpectedJourneyTimes,
): TimelineAnalysis {
  const present = new Set(containers);
  const classifier = new MilestoneKindFinder(route);
  const sorter = new MilestoneListsForRulesBuilder();
  for (const entry of timeline) {
    const rule = findIgnoringRule(entry.milestone, present);
    if (rule === 'newer_estimate') sorter.replacedEstimates.push(entry);
    if (rule !== undefined) continue;
    if (entry.milestone.classifier === 'actual') sorter.addActualMilestone(entry, classifier.findMilestoneKind(entry));
    else sorter.estimates.push(entry);
  }
  const journey = selectCountingMilestones(sorter, route, containers, times);
  return summariseCountingMilestones(
    sorter,
    journey,
    { route, droppedReports: listDroppedReports(droppedEstimates, present) },
    times,
  );
}

const NO_DROPPED_REPORTS: readonly DroppedReportSeries[] = [];

function listDroppedReports(
  dropped: ShipmentState['droppedEstimates'],
  containers: ReadonlySet<string>,
): readonly DroppedReportSeries[] {
  if (dropped.size === 0) return NO_DROPPED_REPORTS;
  return [...dropped.values()].filter(({ sample }) => findIgnoringRule(sample, containers) === 'newer_estimate');
}

/** Sorts the milestones of a timeline into the lists that the rules need. */
class MilestoneListsForRulesBuilder implements ActualMilestonesByContainer {
  readonly unnamed = new MilestonesByKind();
  readonly named = new Map<string, MilestonesByKind>();
  readonly estimates: TimelineEntry[] = [];
  readonly replacedEstimates: TimelineEntry[] = [];
  readonly departures: TimelineEntry[] = [];
  readonly arrivals: TimelineEntry[] = [];
  readonly legArrivals: TimelineEntry[] = [];
  readonly legDepartures: TimelineEntry[] = [];
  readonly bookingsCancelled: TimelineEntry[] = [];
  readonly bookingsConfirmed: TimelineEntry[] = [];

  addActualMilestone(entry: TimelineEntry, kind: MilestoneKind): void {
    this.getOrCreateMilestoneGroupsOfContainer(entry.milestone.container_number).addMilestone(entry, kind);
    if (kind.isLegDeparture) {
      this.legDepartures.push(entry);
      if (kind.isDeparture) this.departures.push(entry);
    }
    const { status } = kind.meaning;
    if (kind.isLegArrival) {
      this.legArrivals.push(entry);
      if (kind.isArrival && status === 'arrived') this.arrivals.push(entry);
    }
    if (status === 'cancelled') this.bookingsCancelled.push(entry);
    if (kind.rules.takes_back === 'cancellation') this.bookingsConfirmed.push(entry);
  }

  private getOrCreateMilestoneGroupsOfContainer(container: string | null): MilestonesByKind {
    if (container === null) return this.unnamed;
    let groups = this.named.get(container);
    if (groups === undefined) {
      groups = new MilestonesByKind();
      this.named.set(container, groups);
    }
    return groups;
  }
}

/** Summary of no milestones, which shipments share whose milestones all name a container. Must not be modified. */
const EMPTY_MILESTONE_SUMMARY = new SummaryOfMilestones(new MilestonesByKind(), null);

function summariseCountingMilestones(
  sorted: MilestoneListsForRulesBuilder,
  journey: CountingMilestones,
  { route, droppedReports }: Pick<TimelineAnalysis, 'route' | 'droppedReports'>,
  { etd, created_at }: ExpectedJourneyTimes,
): TimelineAnalysis {
  const { excluded } = journey;
  const listCounting = (entries: SortedEntries) =>
    excluded.size === 0 ? entries : entries.filter((entry) => !excluded.has(entry));
  const confirmed = listCounting(sorted.bookingsConfirmed).at(-1)?.milestone.occurred_at ?? TIME_BEFORE_ALL_TIMESTAMPS;
  const cancelled = listCounting(sorted.bookingsCancelled);
  const unnamed = journey.unnamed.isEmpty
    ? EMPTY_MILESTONE_SUMMARY
    : new SummaryOfMilestones(journey.unnamed, route.destination);
  const named = new Map<string, SummaryOfMilestones>();
  let { last } = unnamed;
  for (const [container, groups] of journey.named) {
    if (groups.isEmpty) continue;
    const summary = new SummaryOfMilestones(groups, route.destination);
    named.set(container, summary);
    last = chooseLaterEntry(last, summary.last);
  }
  const unnamedFor = new Map<string, SummaryOfMilestones>();
  for (const [container, groups] of journey.unnamedFor)
    unnamedFor.set(container, new SummaryOfMilestones(groups, route.destination));
  return {
    route,
    unnamed,
    named,
    unnamedFor,
    departsFrom: etd ?? created_at,
    journey,
    departures: listCounting(sorted.departures),
    arrivals: listCounting(sorted.arrivals),
    legArrivals: listCounting(sorted.legArrivals),
    legDepartures: listCounting(sorted.legDepartures),
    cancellations: cancelled.filter(({ milestone }) => milestone.occurred_at >= confirmed),
    estimates: sorted.estimates,
    replacedEstimates: sorted.replacedEstimates,
    droppedReports,
    last,
  };
}
