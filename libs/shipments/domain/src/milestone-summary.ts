import {
  type MilestoneRules,
  SHIPMENT_STATUSES,
  type ShipmentStatus,
  type Timestamp,
  milestoneRules,
} from '@tracking/contracts';
import { type Route, isOnTheWay } from './route.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';
import { firstPlace } from './timeline.ts';

/** Before every timestamp; as strings they sort by time. */
export const NEVER: Timestamp = '';

export const RANK = Object.fromEntries(SHIPMENT_STATUSES.map((status, rank) => [status, rank])) as Readonly<
  Record<ShipmentStatus, number>
>;

/** What a milestone makes of the status: by the catalog, the mode and the load type. */
export function statusOf({ status, status_by_mode, status_lcl }: MilestoneRules, route: Route): ShipmentStatus | null {
  if (route.lcl && status_lcl !== undefined) return status_lcl;
  return (route.mode === null ? undefined : status_by_mode?.[route.mode]) ?? status;
}

/** Whether goods that go by the mode leave by it. */
export function isDeparture({ departure }: MilestoneRules, mode: Route['mode']): boolean {
  if (departure === 'pick_up') return mode === 'road' || mode === 'courier';
  return departure !== undefined;
}

/** The ship sailing on after it brought the goods: no departure of theirs. */
export function isSailingOn({ milestone: { code, location } }: TimelineEntry, route: Route): boolean {
  if (location === null || location !== route.destination || route.destination === route.origin) return false;
  return milestoneRules(code).departure === 'vessel';
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
  readonly arrived: TimelineEntry[] = [];
  readonly discharged: TimelineEntry[] = [];
  readonly available: TimelineEntry[] = [];
  readonly out: TimelineEntry[] = [];
  readonly gatedOut: TimelineEntry[] = [];
  /** The latest of their kind. */
  departed = NEVER;
  railDeparted = NEVER;
  unavailable = NEVER;
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
   * @param status its `statusOf`
   */
  add(entry: TimelineEntry, rules: MilestoneRules, status: ShipmentStatus | null, route: Route): void {
    this.last = entry;
    // It is only seen: the goods stayed behind.
    if (isSailingOn(entry, route)) return;
    const { occurred_at } = entry.milestone;
    // An arrival before a departure was none of the shipment's; a pick-up says nothing of that.
    if (rules.departure !== undefined && rules.departure !== 'pick_up') this.departed = occurred_at;
    if (rules.departure === 'rail') this.railDeparted = occurred_at;
    if (isDeparture(rules, route.mode)) this.firstDeparted ??= entry;
    if (rules.movement === 'journey') this.movement = entry;
    this.addStep(entry, rules, route);
    this.addStatus(entry, rules, status, route);
  }

  private addStep(entry: TimelineEntry, rules: MilestoneRules, route: Route): void {
    const { occurred_at } = entry.milestone;
    const { opens_exception, clears, takes_back, container_time, ends } = rules;
    if (opens_exception !== null) this.opening[opens_exception] = entry;
    if (clears === 'export') this.exportCleared = occurred_at;
    if (clears === 'import') this.importCleared = occurred_at;
    if (takes_back === 'availability') this.unavailable = occurred_at;
    if (ends) this.ended ??= entry;
    if (container_time !== undefined) this.addTime(container_time, entry, route);
  }

  private addTime(time: NonNullable<MilestoneRules['container_time']>, entry: TimelineEntry, route: Route): void {
    switch (time) {
      case 'discharged_at':
        if (!isOnTheWay(route, entry.milestone.location)) this.discharged.push(entry);
        break;
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

  private addStatus(entry: TimelineEntry, rules: MilestoneRules, status: ShipmentStatus | null, route: Route): void {
    if (status === null || status === 'cancelled') return;
    if (RANK[status] >= RANK.in_transit) this.underWay ??= entry;
    // Feeds skip steps: nobody hands out what customs hold.
    if (RANK[status] >= RANK.available_for_pickup) this.importCleared = entry.milestone.occurred_at;
    if (status === 'arrived') {
      const isArrival = rules.takes_back !== 'availability';
      if (isArrival && isOnTheWay(route, entry.milestone.location)) this.fix('in_transit', entry);
      else this.arrived.push(entry);
    } else if (status === 'available_for_pickup') this.available.push(entry);
    else if (status === 'out_for_delivery') this.out.push(entry);
    else this.fix(status, entry);
  }

  private fix(status: ShipmentStatus, entry: TimelineEntry): void {
    this.fixed[RANK[status]] ??= entry;
  }
}

/** The first entry not before a time, in a list sorted by time. */
export function firstFrom(entries: readonly TimelineEntry[], time: Timestamp): TimelineEntry | undefined {
  return entries[firstPlace(entries, ({ occurred_at }) => occurred_at >= time)];
}

/** The first entry after a time. */
export function firstAfter(entries: readonly TimelineEntry[], time: Timestamp): TimelineEntry | undefined {
  return entries[firstPlace(entries, ({ occurred_at }) => occurred_at > time)];
}

export function earlier(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareMilestones(a.milestone, b.milestone) <= 0 ? a : b;
}

export function later(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  return a !== undefined && a === earlier(a, b) ? (b ?? a) : (a ?? b);
}
