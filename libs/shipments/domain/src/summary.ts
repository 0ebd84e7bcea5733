import { SHIPMENT_STATUSES, type ShipmentStatus, type Timestamp, findMilestoneCode } from '@tracking/contracts';
import { type Route, isOnTheWay } from './route.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';
import { firstPlace } from './timeline.ts';

/** Before every timestamp; as strings they sort by time. */
export const NEVER: Timestamp = '';

export const RANK = Object.fromEntries(SHIPMENT_STATUSES.map((status, rank) => [status, rank])) as Readonly<
  Record<ShipmentStatus, number>
>;

/** `*_departed`: what was an arrival before one was none of the shipment's. */
const DEPARTED: ReadonlySet<string> = new Set([
  'vessel_departed',
  'flight_departed',
  'rail_departed',
  'transshipment_departed',
]);

/** What a milestone makes of the status: by the catalog, the mode and the load type. */
export function statusOf(code: string, route: Route): ShipmentStatus | null {
  if (code === 'picked_up') return route.mode === 'road' || route.mode === 'courier' ? 'in_transit' : 'at_origin';
  if (route.lcl && code === 'gated_out') return 'in_transit';
  if (route.lcl && code === 'cargo_stripped') return 'arrived';
  if (route.lcl && code === 'empty_returned') return null;
  return findMilestoneCode(code)?.status ?? null;
}

/** Departures are the `*_departed`, and by road and courier the pick-up. */
export function isDeparture(code: string, mode: Route['mode']): boolean {
  return DEPARTED.has(code) || (code === 'picked_up' && (mode === 'road' || mode === 'courier'));
}

/** The ship sailing on after it brought the goods: no departure of theirs. */
export function isSailingOn({ milestone }: TimelineEntry, route: Route): boolean {
  return (
    milestone.code === 'vessel_departed' &&
    milestone.location !== null &&
    milestone.location === route.destination &&
    route.destination !== route.origin
  );
}

/** Codes by which goods or containers were seen to move, before and at the end of the journey. */
export function isMovement(sequence: number): boolean {
  return (sequence >= 20 && sequence <= 40) || (sequence >= 50 && sequence <= 110) || sequence >= 130;
}

/**
 * What one container's milestones say, or those that name none; filled in the order of the timeline. Two of them together
 * tell the standing of a container without looking at the milestones again, which is what makes two hundred containers
 * with thousands of milestones cheap.
 */
export class Summary {
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
  hold: TimelineEntry | undefined;
  attempted: TimelineEntry | undefined;
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
   * @param status its `statusOf`
   */
  add(entry: TimelineEntry, status: ShipmentStatus | null, route: Route): void {
    this.last = entry;
    // It is only seen: the goods stayed behind.
    if (isSailingOn(entry, route)) return;
    const { code, occurred_at, sequence } = entry.milestone;
    if (DEPARTED.has(code)) {
      this.departed = occurred_at;
      if (code === 'rail_departed') this.railDeparted = occurred_at;
    }
    if (isDeparture(code, route.mode)) this.firstDeparted ??= entry;
    if (isMovement(sequence) && sequence <= 140) this.movement = entry;
    this.addStep(entry, code, route);
    this.addStatus(entry, status, route);
  }

  private addStep(entry: TimelineEntry, code: string, route: Route): void {
    const { occurred_at } = entry.milestone;
    switch (code) {
      case 'customs_hold':
      case 'customs_inspection':
        this.hold = entry;
        break;
      case 'export_customs_cleared':
        this.exportCleared = occurred_at;
        break;
      case 'import_customs_cleared':
        this.importCleared = occurred_at;
        break;
      case 'gated_out':
        this.gatedOut.push(entry);
        break;
      case 'unavailable_for_pickup':
        this.unavailable = occurred_at;
        break;
      case 'discharged':
        if (!isOnTheWay(route, entry.milestone.location)) this.discharged.push(entry);
        break;
      case 'delivery_attempted':
        this.attempted = entry;
        break;
      case 'delivered':
        this.delivered ??= entry;
        this.ended ??= entry;
        break;
      case 'empty_returned':
        this.emptyReturned ??= entry;
        this.ended ??= entry;
        break;
      case 'returned_to_shipper':
        this.ended ??= entry;
        break;
    }
  }

  private addStatus(entry: TimelineEntry, status: ShipmentStatus | null, route: Route): void {
    const { code, location } = entry.milestone;
    if (status === null || status === 'cancelled') return;
    if (RANK[status] >= RANK.in_transit) this.underWay ??= entry;
    // Feeds skip steps: nobody hands out what customs hold.
    if (RANK[status] >= RANK.available_for_pickup) this.importCleared = entry.milestone.occurred_at;
    if (status === 'arrived') {
      if (code !== 'unavailable_for_pickup' && isOnTheWay(route, location)) this.fix('in_transit', entry);
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
