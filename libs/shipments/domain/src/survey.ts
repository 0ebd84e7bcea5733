import { type MilestoneRules, type Timestamp, milestoneRules } from '@tracking/contracts';
import { type Route, isOnTheWay } from './route.ts';
import type { TimelineEntry } from './state.ts';
import { NEVER, Summary, isDeparture, isSailingOn, statusOf } from './summary.ts';

/** The timeline, gone through once: everything derived about a shipment is told from this. In the timeline's order. */
export interface Survey {
  readonly route: Route;
  /** Actual milestones that name no container. */
  readonly unnamed: Summary;
  /** Actual milestones by the container they name; only the shipment's containers. */
  readonly named: ReadonlyMap<string, Summary>;
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
export function survey(timeline: readonly TimelineEntry[], route: Route, containers: readonly string[]): Survey {
  const present = new Set(containers);
  const reading = new Reading(route);
  for (const entry of timeline) {
    const { classifier, container_number, retracted_at, superseded_at } = entry.milestone;
    if (retracted_at !== null || (container_number !== null && !present.has(container_number))) continue;
    if (classifier === 'estimated' && superseded_at === null) reading.estimates.push(entry);
    if (classifier === 'actual') reading.addActual(entry);
  }
  return reading;
}

/** A survey while the timeline is gone through. */
class Reading implements Survey {
  readonly unnamed = new Summary();
  readonly named = new Map<string, Summary>();
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

  private summaryOf(container: string | null): Summary {
    if (container === null) return this.unnamed;
    const summary = this.named.get(container) ?? new Summary();
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
