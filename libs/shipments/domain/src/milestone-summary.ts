import {
  type MilestoneRules,
  SHIPMENT_STATUSES,
  type ShipmentStatus,
  type Timestamp,
  findMilestoneCode,
} from '@tracking/contracts';
import { type LosableStatus, type Meaning, isDeparture, isStop } from './milestone-meaning.ts';
import { type Route, isLanding } from './route.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';
import { findFirstIndex } from './timeline.ts';

/** A value before every timestamp. Timestamps sort as strings. */
export const NEVER: Timestamp = '';

export const RANK = Object.fromEntries(SHIPMENT_STATUSES.map((status, rank) => [status, rank])) as Readonly<
  Record<ShipmentStatus, number>
>;

/** Sequence in the catalog from which a movement means that the goods are on their way. */
const LOADED_SEQUENCE = findMilestoneCode('loaded_on_vessel')?.sequence ?? 0;

/**
 * Reports whether a milestone of the code shows that the goods have left the place where they had arrived on the way.
 */
export function isOnward(sequence: number, rules: MilestoneRules, mode: Route['mode']): boolean {
  return rules.movement !== undefined && (sequence >= LOADED_SEQUENCE || isDeparture(rules, mode));
}

/**
 * Summarises the milestones of one container, or those that name no container, in the order of the timeline. Both
 * summaries together give the progress of a container without reading the milestones again, which keeps 200 containers
 * with thousands of milestones fast.
 */
export class MilestoneSummary {
  /** Earliest milestone whose status no other milestone demotes, by rank. */
  readonly fixed: (TimelineEntry | undefined)[] = [];
  /** Milestones that later ones can demote, by status and sorted by time. */
  readonly losable: Readonly<Record<LosableStatus, TimelineEntry[]>> = {
    arrived: [],
    available_for_pickup: [],
    out_for_delivery: [],
  };
  readonly discharged: TimelineEntry[] = [];
  /** Discharges on the way, at ports from which the goods continue by land, and at ports where that is not known. */
  readonly landed: TimelineEntry[] = [];
  readonly passed: TimelineEntry[] = [];
  readonly gatedOut: TimelineEntry[] = [];
  /** Arrivals at places from which the goods continue. */
  readonly stops: TimelineEntry[] = [];
  /** Latest time of each kind. */
  departed = NEVER;
  railDeparted = NEVER;
  sailed = NEVER;
  unavailable = NEVER;
  /** Latest time of loading, departure or a later step. */
  onward = NEVER;
  exportCleared = NEVER;
  /** Latest time of import clearance, or of a step that requires it. */
  importCleared = NEVER;
  /** Last milestone that opens an exception, by its type. */
  readonly opening: Record<string, TimelineEntry | undefined> = {};
  movement: TimelineEntry | undefined;
  last: TimelineEntry | undefined;
  /** Earliest milestone of each kind. */
  firstDeparted: TimelineEntry | undefined;
  /** Earliest milestone that shows that the goods have departed. */
  underWay: TimelineEntry | undefined;
  delivered: TimelineEntry | undefined;
  emptyReturned: TimelineEntry | undefined;
  ended: TimelineEntry | undefined;

  /**
   * Adds the next milestone.
   * @param entry actual, not ignored, and not earlier on the timeline than those before it
   * @param rules rules of its code
   * @param meaning its own effect
   */
  add(entry: TimelineEntry, rules: MilestoneRules, meaning: Meaning, route: Route): void {
    this.last = entry;
    if (meaning.rule === 'sailing_on') return;
    const { occurred_at } = entry.milestone;
    // An arrival before a departure was not that of the shipment. A pick-up is not such a departure.
    if (rules.departure !== undefined && rules.departure !== 'pick_up') this.departed = occurred_at;
    if (rules.departure === 'rail') this.railDeparted = occurred_at;
    if (rules.departure === 'vessel' || rules.departure === 'transshipment') this.sailed = occurred_at;
    if (isDeparture(rules, route.mode)) this.firstDeparted ??= entry;
    if (rules.movement === 'journey') this.movement = entry;
    if (isStop(entry.milestone, rules, meaning, route)) this.stops.push(entry);
    else if (isOnward(entry.milestone.sequence, rules, route.mode)) this.onward = occurred_at;
    this.addStep(entry, rules, meaning, route);
    this.addStatus(entry, meaning.status);
  }

  private addStep(entry: TimelineEntry, rules: MilestoneRules, meaning: Meaning, route: Route): void {
    const { occurred_at } = entry.milestone;
    const { opens_exception, clears, takes_back, container_time, ends } = rules;
    if (opens_exception !== null) this.opening[opens_exception] = entry;
    if (clears === 'export') this.exportCleared = occurred_at;
    if (clears === 'import') this.importCleared = occurred_at;
    if (takes_back === 'availability') this.unavailable = occurred_at;
    if (ends) this.ended ??= entry;
    if (container_time === 'discharged_at') this.addDischarge(entry, meaning, route);
    else if (container_time !== undefined) this.addTime(container_time, entry);
  }

  private addDischarge(entry: TimelineEntry, { rule }: Meaning, route: Route): void {
    if (rule !== 'arrival_on_the_way') this.discharged.push(entry);
    else if (isLanding(route, entry.milestone.location)) this.landed.push(entry);
    else this.passed.push(entry);
  }

  private addTime(
    time: Exclude<MilestoneRules['container_time'], 'discharged_at' | undefined>,
    entry: TimelineEntry,
  ): void {
    switch (time) {
      case 'gated_out_at':
        this.gatedOut.push(entry);
        break;
      case 'delivered_at':
        this.delivered ??= entry;
        break;
      case 'empty_returned_at':
        this.emptyReturned ??= entry;
        break;
    }
  }

  private addStatus(entry: TimelineEntry, status: ShipmentStatus | null): void {
    if (status === null || status === 'cancelled') return;
    if (RANK[status] >= RANK.in_transit) this.underWay ??= entry;
    // Feeds skip steps: goods that are available for pickup must have been cleared.
    if (RANK[status] >= RANK.available_for_pickup) this.importCleared = entry.milestone.occurred_at;
    const losable = (this.losable as Readonly<Partial<Record<ShipmentStatus, TimelineEntry[]>>>)[status];
    if (losable === undefined) this.fixed[RANK[status]] ??= entry;
    else losable.push(entry);
  }
}

/** Returns the first entry at or after a time, from a list sorted by time. */
export function firstNotBefore(entries: readonly TimelineEntry[], time: Timestamp): TimelineEntry | undefined {
  // Fast path: for most shipments, most lists are empty.
  if (entries.length === 0) return undefined;
  return entries[findFirstIndex(entries, ({ occurred_at }) => occurred_at >= time)];
}

export function earlier(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareMilestones(a.milestone, b.milestone) <= 0 ? a : b;
}

export function later(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  return a !== undefined && a === earlier(a, b) ? (b ?? a) : (a ?? b);
}
