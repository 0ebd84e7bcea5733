import { type MilestoneRules, type Timestamp, findMilestoneRules } from '@tracking/contracts';
import { type MilestoneMeaning, isDeparture, findMeaning, findIgnoringRule } from './milestone-meaning.ts';
import type { Route } from './route.ts';
import type { TimelineEntry } from './state.ts';
import { TIME_BEFORE_ALL, MilestoneSummary } from './milestone-summary.ts';

/**
 * Analysis of a timeline in one pass. All derived fields of a shipment are computed from the analysis. Its lists are in
 * timeline order.
 */
export interface TimelineAnalysis {
  readonly route: Route;
  /** Summary of the actual milestones that name no container. */
  readonly unnamed: MilestoneSummary;
  /** Summaries of actual milestones by container. They include only containers of the shipment. */
  readonly named: ReadonlyMap<string, MilestoneSummary>;
  /** Actual departures and arrivals of the shipment at any place. */
  readonly departures: readonly TimelineEntry[];
  readonly arrivals: readonly TimelineEntry[];
  /** Actual arrivals of legs: arrivals of the shipment, and arrivals on the way. */
  readonly legArrivals: readonly TimelineEntry[];
  /** Actual departures of legs: departures of the shipment, and pick-ups, which are departures by road only. */
  readonly legDepartures: readonly TimelineEntry[];
  /** Actual `booking_cancelled` milestones that no `booking_confirmed` with a later date revokes. */
  readonly cancellations: readonly TimelineEntry[];
  /** Estimates that are not superseded. */
  readonly estimates: readonly TimelineEntry[];
  readonly last: TimelineEntry | undefined;
}

/**
 * Analyses a timeline.
 * @param timeline entries in timeline order
 */
export function analyseTimeline(
  timeline: readonly TimelineEntry[],
  route: Route,
  containers: readonly string[],
): TimelineAnalysis {
  const present = new Set(containers);
  const analysis = new TimelineAnalyser(route);
  for (const entry of timeline) {
    if (findIgnoringRule(entry.milestone, present) !== undefined) continue;
    if (entry.milestone.classifier === 'actual') analysis.addActual(entry);
    else analysis.estimates.push(entry);
  }
  return analysis;
}

/** The analysis while it passes over the timeline. */
class TimelineAnalyser implements TimelineAnalysis {
  readonly unnamed = new MilestoneSummary();
  readonly named = new Map<string, MilestoneSummary>();
  readonly departures: TimelineEntry[] = [];
  readonly arrivals: TimelineEntry[] = [];
  readonly legArrivals: TimelineEntry[] = [];
  readonly legDepartures: TimelineEntry[] = [];
  readonly estimates: TimelineEntry[] = [];
  last: TimelineEntry | undefined;
  private readonly cancelled: TimelineEntry[] = [];
  private confirmed: Timestamp = TIME_BEFORE_ALL;

  constructor(readonly route: Route) {}

  get cancellations(): readonly TimelineEntry[] {
    return this.cancelled.filter(({ milestone }) => milestone.occurred_at >= this.confirmed);
  }

  addActual(entry: TimelineEntry): void {
    const { code, container_number, occurred_at } = entry.milestone;
    const rules = findMilestoneRules(code);
    const meaning = findMeaning(entry, rules, this.route);
    this.last = entry;
    this.getSummary(container_number).add(entry, rules, meaning, this.route);
    if (meaning.status === 'cancelled') this.cancelled.push(entry);
    if (rules.takes_back === 'cancellation') this.confirmed = occurred_at;
    if (rules.departure !== undefined && meaning.rule !== 'sailing_on') this.addDeparture(entry, rules);
    this.addArrival(entry, rules, meaning);
  }

  private getSummary(container: string | null): MilestoneSummary {
    if (container === null) return this.unnamed;
    const summary = this.named.get(container) ?? new MilestoneSummary();
    this.named.set(container, summary);
    return summary;
  }

  private addDeparture(entry: TimelineEntry, rules: MilestoneRules): void {
    this.legDepartures.push(entry);
    if (isDeparture(rules, this.route.mode)) this.departures.push(entry);
  }

  private addArrival(
    entry: TimelineEntry,
    { leg_arrival, takes_back }: MilestoneRules,
    meaning: MilestoneMeaning,
  ): void {
    const isOnTheWay = meaning.rule === 'arrival_on_the_way';
    const isArrival = meaning.status === 'arrived' && takes_back !== 'availability';
    if (isArrival || isOnTheWay || leg_arrival) this.legArrivals.push(entry);
    if (isArrival) this.arrivals.push(entry);
  }
}
