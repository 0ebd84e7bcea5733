import { type MilestoneRules, type Timestamp, milestoneRules } from '@tracking/contracts';
import { type Route, isOnTheWay } from './route.ts';
import type { TimelineEntry } from './state.ts';
import { NEVER, MilestoneSummary, isDeparture, isSailingOn, statusOf } from './milestone-summary.ts';

/** The timeline, gone through once: everything derived about a shipment is told from this. In the timeline's order. */
export interface TimelineAnalysis {
  readonly route: Route;
  /** Actual milestones that name no container. */
  readonly unnamed: MilestoneSummary;
  /** Actual milestones by the container they name; only the shipment's containers. */
  readonly named: ReadonlyMap<string, MilestoneSummary>;
  /** Actual departures and arrivals of the shipment, wherever. */
  readonly departures: readonly TimelineEntry[];
  readonly arrivals: readonly TimelineEntry[];
  /** Actual arrivals of a leg: those, and the ones on the way. */
  readonly legArrivals: readonly TimelineEntry[];
  /** Actual departures of a leg: those, and pick-ups, that depart only by road. */
  readonly legDepartures: readonly TimelineEntry[];
  /** Actual `booking_cancelled` that no later-dated `booking_confirmed` takes back. */
  readonly cancellations: readonly TimelineEntry[];
  /** Current estimates. */
  readonly estimates: readonly TimelineEntry[];
  readonly last: TimelineEntry | undefined;
}

/**
 * Retracted milestones count for nothing, nor do those that name a container which is not on the shipment.
 * @param timeline in its order
 */
export function analyseTimeline(
  timeline: readonly TimelineEntry[],
  route: Route,
  containers: readonly string[],
): TimelineAnalysis {
  const present = new Set(containers);
  const analysis = new AnalysisInProgress(route);
  for (const entry of timeline) {
    const { classifier, container_number, retracted_at, superseded_at } = entry.milestone;
    if (retracted_at !== null || (container_number !== null && !present.has(container_number))) continue;
    if (classifier === 'estimated' && superseded_at === null) analysis.estimates.push(entry);
    if (classifier === 'actual') analysis.addActual(entry);
  }
  return analysis;
}

/** The analysis while the timeline is gone through. */
class AnalysisInProgress implements TimelineAnalysis {
  readonly unnamed = new MilestoneSummary();
  readonly named = new Map<string, MilestoneSummary>();
  readonly departures: TimelineEntry[] = [];
  readonly arrivals: TimelineEntry[] = [];
  readonly legArrivals: TimelineEntry[] = [];
  readonly legDepartures: TimelineEntry[] = [];
  readonly estimates: TimelineEntry[] = [];
  last: TimelineEntry | undefined;
  private readonly cancelled: TimelineEntry[] = [];
  private confirmed: Timestamp = NEVER;

  constructor(readonly route: Route) {}

  get cancellations(): readonly TimelineEntry[] {
    return this.cancelled.filter(({ milestone }) => milestone.occurred_at >= this.confirmed);
  }

  addActual(entry: TimelineEntry): void {
    const { code, container_number, occurred_at } = entry.milestone;
    const rules = milestoneRules(code);
    const status = statusOf(rules, this.route);
    this.last = entry;
    this.summaryOf(container_number).add(entry, rules, status, this.route);
    if (status === 'cancelled') this.cancelled.push(entry);
    if (rules.takes_back === 'cancellation') this.confirmed = occurred_at;
    if (rules.departure !== undefined) this.addDeparture(entry, rules);
    this.addArrival(entry, rules, status === 'arrived' && rules.takes_back !== 'availability');
  }

  private summaryOf(container: string | null): MilestoneSummary {
    if (container === null) return this.unnamed;
    const summary = this.named.get(container) ?? new MilestoneSummary();
    this.named.set(container, summary);
    return summary;
  }

  private addDeparture(entry: TimelineEntry, rules: MilestoneRules): void {
    if (isSailingOn(entry, this.route)) return;
    this.legDepartures.push(entry);
    if (isDeparture(rules, this.route.mode)) this.departures.push(entry);
  }

  private addArrival(entry: TimelineEntry, { leg_arrival }: MilestoneRules, isArrival: boolean): void {
    if (isArrival || leg_arrival) this.legArrivals.push(entry);
    if (isArrival && !isOnTheWay(this.route, entry.milestone.location)) this.arrivals.push(entry);
  }
}
