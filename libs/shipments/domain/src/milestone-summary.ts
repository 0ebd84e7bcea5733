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

/** Before every timestamp; as strings they sort by time. */
export const NEVER: Timestamp = '';

export const RANK = Object.fromEntries(SHIPMENT_STATUSES.map((status, rank) => [status, rank])) as Readonly<
  Record<ShipmentStatus, number>
>;

/** Of the catalog: from there on what moves is on its way. */
const LOADED_SEQUENCE = findMilestoneCode('loaded_on_vessel')?.sequence ?? 0;

/** Whether what moved by a milestone of the code no longer is where it had arrived on the way. */
export function isOnward(sequence: number, rules: MilestoneRules, mode: Route['mode']): boolean {
  return rules.movement !== undefined && (sequence >= LOADED_SEQUENCE || isDeparture(rules, mode));
}

/**
 * What one container's milestones say, or those that name none; filled in the order of the timeline. Two of them together
 * tell the progress of a container without looking at the milestones again, which is what makes two hundred containers
 * with thousands of milestones cheap.
 */
export class MilestoneSummary {
  /** By rank: the earliest whose status depends on no other milestone. */
  readonly fixed: (TimelineEntry | undefined)[] = [];
  /** In order of time: what later milestones may take the rank from. */
  readonly losable: Readonly<Record<LosableStatus, TimelineEntry[]>> = {
    arrived: [],
    available_for_pickup: [],
    out_for_delivery: [],
  };
  readonly discharged: TimelineEntry[] = [];
  /** Discharges on the way: where the goods go on by land, and where that is not known. */
  readonly landed: TimelineEntry[] = [];
  readonly passed: TimelineEntry[] = [];
  readonly gatedOut: TimelineEntry[] = [];
  /** Arrivals where the goods go on from. */
  readonly stops: TimelineEntry[] = [];
  /** The latest of their kind. */
  departed = NEVER;
  railDeparted = NEVER;
  sailed = NEVER;
  unavailable = NEVER;
  /** Loaded, departed or further on. */
  onward = NEVER;
  exportCleared = NEVER;
  /** By import customs, or what cannot happen without them. */
  importCleared = NEVER;
  /** By the type of the exception that they open. */
  readonly opening: Record<string, TimelineEntry | undefined> = {};
  movement: TimelineEntry | undefined;
  last: TimelineEntry | undefined;
  /** The earliest of their kind. */
  firstDeparted: TimelineEntry | undefined;
  /** Whatever happens to goods after they departed. */
  underWay: TimelineEntry | undefined;
  delivered: TimelineEntry | undefined;
  emptyReturned: TimelineEntry | undefined;
  ended: TimelineEntry | undefined;

  /**
   * @param entry actual, counted, and no earlier on the timeline than those before it
   * @param rules of its code
   * @param meaning its own
   */
  add(entry: TimelineEntry, rules: MilestoneRules, meaning: Meaning, route: Route): void {
    this.last = entry;
    if (meaning.rule === 'sailing_on') return;
    const { occurred_at } = entry.milestone;
    // An arrival before a departure was none of the shipment's; a pick-up says nothing of that.
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
    // Feeds skip steps: nobody hands out what customs hold.
    if (RANK[status] >= RANK.available_for_pickup) this.importCleared = entry.milestone.occurred_at;
    const losable = (this.losable as Readonly<Partial<Record<ShipmentStatus, TimelineEntry[]>>>)[status];
    if (losable === undefined) this.fixed[RANK[status]] ??= entry;
    else losable.push(entry);
  }
}

/** The first entry not before a time, in a list sorted by time. */
export function firstNotBefore(entries: readonly TimelineEntry[], time: Timestamp): TimelineEntry | undefined {
  // Of most shipments there is none of most kinds.
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
