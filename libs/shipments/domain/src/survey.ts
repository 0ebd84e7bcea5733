import type { Timestamp } from '@tracking/contracts';
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

/** Arrivals that are never the shipment's, but may be a leg's. */
const ON_THE_WAY: ReadonlySet<string> = new Set(['transshipment_arrived', 'rail_arrived']);

/**
 * Retracted milestones count for nothing, nor do those that name a container which is not on the shipment.
 * @param timeline in its order
 */
export function survey(timeline: readonly TimelineEntry[], route: Route, containers: readonly string[]): Survey {
  const present = new Set(containers);
  const unnamed = new Summary();
  const named = new Map<string, Summary>();
  const departures: TimelineEntry[] = [];
  const arrivals: TimelineEntry[] = [];
  const legArrivals: TimelineEntry[] = [];
  const legDepartures: TimelineEntry[] = [];
  const cancelled: TimelineEntry[] = [];
  const estimates: TimelineEntry[] = [];
  let confirmed: Timestamp = NEVER;
  let last: TimelineEntry | undefined;
  for (const entry of timeline) {
    const { classifier, code, container_number, location, occurred_at, retracted_at, superseded_at } = entry.milestone;
    if (retracted_at !== null || (container_number !== null && !present.has(container_number))) continue;
    if (classifier === 'estimated' && superseded_at === null) estimates.push(entry);
    if (classifier !== 'actual') continue;
    last = entry;
    let summary = unnamed;
    if (container_number !== null) {
      const own = named.get(container_number);
      summary = own ?? new Summary();
      if (own === undefined) named.set(container_number, summary);
    }
    const status = statusOf(code, route);
    summary.add(entry, status, route);
    if (code === 'booking_cancelled') cancelled.push(entry);
    if (code === 'booking_confirmed') confirmed = occurred_at;
    if (isDeparture(code, 'road') && !isSailingOn(entry, route)) {
      legDepartures.push(entry);
      if (isDeparture(code, route.mode)) departures.push(entry);
    }
    const isArrival = status === 'arrived' && code !== 'unavailable_for_pickup';
    if (isArrival || ON_THE_WAY.has(code)) legArrivals.push(entry);
    if (isArrival && !isOnTheWay(route, location)) arrivals.push(entry);
  }
  const cancellations = cancelled.filter(({ milestone }) => milestone.occurred_at >= confirmed);
  return {
    route,
    unnamed,
    named,
    departures,
    arrivals,
    legArrivals,
    legDepartures,
    cancellations,
    estimates,
    last,
  };
}
