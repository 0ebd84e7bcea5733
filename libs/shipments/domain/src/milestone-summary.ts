import {
  type MilestoneRules,
  SHIPMENT_STATUSES,
  type ShipmentStatus,
  type Timestamp,
  findMilestoneCode,
} from '@tracking/contracts';
import { type LosableStatus, type MilestoneMeaning, isDeparture, isStopOnTheWay } from './milestone-meaning.ts';
import { type Route, isLandingPort } from './route.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';
import { findFirstIndex } from './timeline.ts';

/** A value before every timestamp. Timestamps sort as strings. */
export const TIME_BEFORE_ALL: Timestamp = '';

export const STATUS_RANKS = Object.fromEntries(SHIPMENT_STATUSES.map((status, rank) => [status, rank])) as Readonly<
  Record<ShipmentStatus, number>
>;

/** Catalog sequence from which a movement means that the goods are on their way. */
const LOADED_SEQUENCE = findMilestoneCode('loaded_on_vessel')?.sequence ?? 0;

/**
 * Returns true if a milestone with the code shows that the goods have left a place on the way where they had arrived.
 */
export function isOnwardMovement(sequence: number, rules: MilestoneRules, mode: Route['mode']): boolean {
  return rules.movement !== undefined && (sequence >= LOADED_SEQUENCE || isDeparture(rules, mode));
}

/**
 * Summarizes the milestones of one container, or the milestones without a container, in timeline order. The two
 * summaries together give the progress of a container without reading the milestones again. This keeps shipments with
 * 200 containers and thousands of milestones fast.
 */
export class MilestoneSummary {
  /** Earliest milestone for each status that no other milestone can demote, by rank of the status. */
  readonly fixed: (TimelineEntry | undefined)[] = [];
  /** Milestones that later milestones can demote, by status and sorted by time. */
  readonly losable: Readonly<Record<LosableStatus, TimelineEntry[]>> = {
    arrived: [],
    available_for_pickup: [],
    out_for_delivery: [],
  };
  readonly discharged: TimelineEntry[] = [];
  /**
   * Discharges at ports on the way: ports from which the goods continue by land, and ports for which that is not known.
   */
  readonly landed: TimelineEntry[] = [];
  readonly passed: TimelineEntry[] = [];
  readonly gatedOut: TimelineEntry[] = [];
  /** Arrivals at places on the way, from which the goods continue. */
  readonly stops: TimelineEntry[] = [];
  /** Latest time of each kind of milestone. */
  departed = TIME_BEFORE_ALL;
  railDeparted = TIME_BEFORE_ALL;
  sailed = TIME_BEFORE_ALL;
  unavailable = TIME_BEFORE_ALL;
  /** Latest time of loading, departure or a later step. */
  onward = TIME_BEFORE_ALL;
  exportCleared = TIME_BEFORE_ALL;
  /** Latest time of an import clearance, or of a step that requires the clearance. */
  importCleared = TIME_BEFORE_ALL;
  /** Last milestone that opens an exception, by type of the exception. */
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
   * Adds the next milestone of the timeline.
   * @param entry actual milestone that is not ignored; not earlier on the timeline than the previous one
   * @param rules rules of its code
   * @param meaning its effect without other milestones
   */
  add(entry: TimelineEntry, rules: MilestoneRules, meaning: MilestoneMeaning, route: Route): void {
    this.last = entry;
    if (meaning.rule === 'sailing_on') return;
    const { occurred_at } = entry.milestone;
    // An arrival before a departure was not the shipment's arrival. A pick-up does not count as such a departure.
    if (rules.departure !== undefined && rules.departure !== 'pick_up') this.departed = occurred_at;
    if (rules.departure === 'rail') this.railDeparted = occurred_at;
    if (rules.departure === 'vessel' || rules.departure === 'transshipment') this.sailed = occurred_at;
    if (isDeparture(rules, route.mode)) this.firstDeparted ??= entry;
    if (rules.movement === 'journey') this.movement = entry;
    if (isStopOnTheWay(entry.milestone, rules, meaning, route)) this.stops.push(entry);
    else if (isOnwardMovement(entry.milestone.sequence, rules, route.mode)) this.onward = occurred_at;
    this.addStep(entry, rules, meaning, route);
    this.addStatus(entry, meaning.status);
  }

  private addStep(entry: TimelineEntry, rules: MilestoneRules, meaning: MilestoneMeaning, route: Route): void {
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

  private addDischarge(entry: TimelineEntry, { rule }: MilestoneMeaning, route: Route): void {
    if (rule !== 'arrival_on_the_way') this.discharged.push(entry);
    else if (isLandingPort(route, entry.milestone.location)) this.landed.push(entry);
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
    if (STATUS_RANKS[status] >= STATUS_RANKS.in_transit) this.underWay ??= entry;
    // Feeds skip steps, so goods that are available for pickup must have been cleared.
    if (STATUS_RANKS[status] >= STATUS_RANKS.available_for_pickup) this.importCleared = entry.milestone.occurred_at;
    const losable = (this.losable as Readonly<Partial<Record<ShipmentStatus, TimelineEntry[]>>>)[status];
    if (losable === undefined) this.fixed[STATUS_RANKS[status]] ??= entry;
    else losable.push(entry);
  }
}

/** Returns the first entry at or after a time, from a list sorted by time. */
export function findFirstNotBefore(entries: readonly TimelineEntry[], time: Timestamp): TimelineEntry | undefined {
  // This check is the fast path, because most lists of most shipments are empty.
  if (entries.length === 0) return undefined;
  return entries[findFirstIndex(entries, ({ occurred_at }) => occurred_at >= time)];
}

export function chooseEarlierEntry(
  a: TimelineEntry | undefined,
  b: TimelineEntry | undefined,
): TimelineEntry | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareMilestones(a.milestone, b.milestone) <= 0 ? a : b;
}

export function chooseLaterEntry(
  a: TimelineEntry | undefined,
  b: TimelineEntry | undefined,
): TimelineEntry | undefined {
  return a !== undefined && a === chooseEarlierEntry(a, b) ? (b ?? a) : (a ?? b);
}
