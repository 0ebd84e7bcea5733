import {
  type MilestoneCodeTraits,
  SHIPMENT_STATUSES,
  type ShipmentStatus,
  type Timestamp,
  parseMilestoneCode,
} from '@tracking/contracts';
import { type MilestonesByKind, type SortedEntries, mergeInTimelineOrder } from './milestone-groups.ts';
import type { MilestoneKind } from './milestone-kind.ts';
import { isVesselDeparture } from './milestone-meaning.ts';
import type { DemotableKind } from './status-demotions.ts';
import type { ShipmentRoute } from './route.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';
import { findFirstMatchingEntryIndex } from './timeline.ts';

/** Values before and after every timestamp. Timestamps sort as strings. */
export const TIME_BEFORE_ALL_TIMESTAMPS: Timestamp = '';
export const TIME_AFTER_ALL_TIMESTAMPS: Timestamp = '~';

export const STATUS_RANKS = Object.fromEntries(SHIPMENT_STATUSES.map((status, rank) => [status, rank])) as Readonly<
  Record<ShipmentStatus, number>
>;

/** Catalog sequence from which a movement means that the goods are on their way. */
const LOADED_ON_VESSEL_SEQUENCE = parseMilestoneCode('loaded_on_vessel')?.sequence ?? 0;

/**
 * Returns true if a milestone with the code shows that the goods have left a place on the way where they had arrived.
 */
export function isOnwardMovement(sequence: number, rules: MilestoneCodeTraits, isDeparture: boolean): boolean {
  return rules.movement !== undefined && (sequence >= LOADED_ON_VESSEL_SEQUENCE || isDeparture);
}

const NO_TIMELINE_ENTRIES: SortedEntries = [];

/**
 * Summarizes the milestones of one container, or the milestones without a container. The two summaries together give
 * the progress of a container without reading the milestones again. This keeps shipments with 200 containers and
 * thousands of milestones fast.
 */
export class SummaryOfMilestones {
  /** Earliest milestone for each status that no other milestone can demote, by rank of the status. */
  readonly fixed: (TimelineEntry | undefined)[] = [];
  /** Milestones that other milestones can demote, by kind and sorted by time; absent if there is none. */
  readonly demotable: Partial<Record<DemotableKind, SortedEntries>> = {};
  /**
   * Departures, arrivals, loadings and discharges that are located elsewhere than at the destination. Each list is in
   * timeline order.
   */
  readonly elsewhere: SortedEntries[] = [];
  /**
   * Latest departure from each place: from unknown places, and without a destination from all places. The keys are those
   * of the places; undefined if there is none.
   */
  departedFrom: Map<string, Timestamp> | undefined;
  /** Latest departure from a missing or unknown place. */
  placelessDeparted = TIME_BEFORE_ALL_TIMESTAMPS;
  /** Earliest milestone that shows the goods at the destination, at its place. */
  atDestination: TimelineEntry | undefined;
  /** True if a vessel discharged the goods. */
  isDischarged = false;
  /** First and latest start of a return. */
  returnStarted = TIME_AFTER_ALL_TIMESTAMPS;
  returning = TIME_BEFORE_ALL_TIMESTAMPS;
  discharged = NO_TIMELINE_ENTRIES;
  /**
   * Discharges at ports on the way: ports from which the goods continue by land, and ports for which that is not known.
   */
  landed = NO_TIMELINE_ENTRIES;
  passed = NO_TIMELINE_ENTRIES;
  gatedOut = NO_TIMELINE_ENTRIES;
  /** Arrivals at places on the way, from which the goods continue. */
  stops = NO_TIMELINE_ENTRIES;
  /** Latest time of each kind of milestone. */
  departed = TIME_BEFORE_ALL_TIMESTAMPS;
  railDeparted = TIME_BEFORE_ALL_TIMESTAMPS;
  sailed = TIME_BEFORE_ALL_TIMESTAMPS;
  unavailable = TIME_BEFORE_ALL_TIMESTAMPS;
  /** Latest time of loading, departure or a later step. */
  onward = TIME_BEFORE_ALL_TIMESTAMPS;
  exportCleared = TIME_BEFORE_ALL_TIMESTAMPS;
  terminalReleased = TIME_BEFORE_ALL_TIMESTAMPS;
  freightReleased = TIME_BEFORE_ALL_TIMESTAMPS;
  /**
   * Latest time at which a container that left a terminal moved on: loaded, departed, or arrived at a place of the
   * shipment.
   */
  movedOn = TIME_BEFORE_ALL_TIMESTAMPS;
  /** Latest time of an import clearance, or of a step that requires the clearance. */
  importCleared = TIME_BEFORE_ALL_TIMESTAMPS;
  /** Last milestone that opens an exception, by type of the exception. */
  readonly opening: Record<string, TimelineEntry | undefined> = {};
  movement: TimelineEntry | undefined;
  /** Latest time at which the loaded container moved. */
  loadedMovement = TIME_BEFORE_ALL_TIMESTAMPS;
  last: TimelineEntry | undefined;
  /** Earliest milestone of each kind. */
  firstDeparted: TimelineEntry | undefined;
  /** Earliest milestone that shows that the goods have departed. */
  underWay: TimelineEntry | undefined;
  delivered: TimelineEntry | undefined;
  /** Earliest milestone that gives the status `delivered` or a later one. */
  deliveredOrLater: TimelineEntry | undefined;
  emptyReturned: TimelineEntry | undefined;
  /** Milestones that start free time, by place; the key of missing and unknown places is empty. */
  readonly freeTimeStarts: { readonly place: string; readonly entries: SortedEntries }[] = [];
  /** Latest milestone that ends free time, by place. */
  readonly freeTimeEnds = new Map<string, TimelineEntry>();
  ended: TimelineEntry | undefined;

  /** @param groups actual milestones that are not ignored */
  constructor(groups: MilestonesByKind, destination: ShipmentRoute['destination']) {
    for (const [kind, entries] of groups) this.addMilestonesOfKind(kind, entries, destination);
  }

  private addMilestonesOfKind(
    kind: MilestoneKind,
    entries: SortedEntries,
    destination: ShipmentRoute['destination'],
  ): void {
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined) return;
    this.last = chooseLaterEntry(this.last, last);
    const { rules, meaning } = kind;
    if (meaning.rule === 'sailing_on') return;
    const latest = last.milestone.occurred_at;
    this.updateDepartureTimes(kind, first, latest, destination);
    if (rules.movement === 'journey') this.movement = chooseLaterEntry(this.movement, last);
    if (kind.isLoadedMovement) this.loadedMovement = chooseLaterTime(this.loadedMovement, latest);
    if (rules.handling === 'discharged') this.isDischarged = true;
    if (destination !== null) this.recordPlaceOfGoods(kind, entries, destination);
    if (kind.isStop) this.stops = mergeInTimelineOrder(this.stops, entries);
    else if (isOnwardMovement(first.milestone.sequence, rules, kind.isDeparture))
      this.onward = chooseLaterTime(this.onward, latest);
    this.recordExceptionEffectsOfMilestones(kind, first, last);
    this.addTimesOfContainer(kind, entries, first);
    if (kind.freeTime !== undefined) this.addFreeTimeMilestonesToSummary(kind, entries, last);
    this.addStatusMilestonesToSummary(kind, entries, first, latest);
  }

  private updateDepartureTimes(
    { rules, isDeparture, located }: MilestoneKind,
    first: TimelineEntry,
    latest: Timestamp,
    destination: ShipmentRoute['destination'],
  ): void {
    if (isDeparture) this.firstDeparted = chooseEarlierTimelineEntry(this.firstDeparted, first);
    // An arrival before a departure was not the shipment's arrival. A pick-up does not count as such a departure.
    const { departure } = rules;
    if (departure === undefined || departure === 'pick_up') return;
    this.departed = chooseLaterTime(this.departed, latest);
    if (destination === null) this.addDepartedPlace(located.key, latest);
    if (departure === 'rail') this.railDeparted = chooseLaterTime(this.railDeparted, latest);
    if (isVesselDeparture(rules)) this.sailed = chooseLaterTime(this.sailed, latest);
  }

  private addDepartedPlace(place: string, latest: Timestamp): void {
    this.departedFrom ??= new Map();
    this.departedFrom.set(place, chooseLaterTime(this.departedFrom.get(place) ?? TIME_BEFORE_ALL_TIMESTAMPS, latest));
  }

  /** Notes where the goods were, which decides the effect of milestones at missing and unknown places. */
  private recordPlaceOfGoods(kind: MilestoneKind, entries: SortedEntries, destination: string): void {
    const { located, isMovementOfGoods } = kind;
    if (located.key === destination) {
      const showsArrival = kind.isArrival || kind.meaning.status === 'available_for_pickup';
      if (showsArrival) this.atDestination = chooseEarlierTimelineEntry(this.atDestination, entries[0]);
    } else if (located.isKnown) {
      if (isMovementOfGoods) this.elsewhere.push(entries);
    } else if (kind.isDeparture) {
      const latest = entries.at(-1)?.milestone.occurred_at ?? TIME_BEFORE_ALL_TIMESTAMPS;
      this.placelessDeparted = chooseLaterTime(this.placelessDeparted, latest);
      this.addDepartedPlace(located.key, latest);
    }
  }

  /** Notes the effects on exceptions, and the effects of earlier milestones that the group revokes. */
  private recordExceptionEffectsOfMilestones(
    { rules, isMoveOn }: MilestoneKind,
    first: TimelineEntry,
    last: TimelineEntry,
  ): void {
    const latest = last.milestone.occurred_at;
    const { opens_exception, clears, takes_back, ends } = rules;
    if (isMoveOn) this.movedOn = chooseLaterTime(this.movedOn, latest);
    if (clears !== undefined) {
      const time = RELEASE_TIME_FIELD_BY_KIND[clears];
      this[time] = chooseLaterTime(this[time], latest);
    }
    if (opens_exception !== null) this.opening[opens_exception] = chooseLaterEntry(this.opening[opens_exception], last);
    if (takes_back === 'availability') this.unavailable = chooseLaterTime(this.unavailable, latest);
    if (takes_back === 'delivery_run') {
      this.returning = chooseLaterTime(this.returning, latest);
      const { occurred_at } = first.milestone;
      if (occurred_at < this.returnStarted) this.returnStarted = occurred_at;
    }
    if (ends) this.ended = chooseEarlierTimelineEntry(this.ended, first);
  }

  private addFreeTimeMilestonesToSummary(
    { freeTime, located }: MilestoneKind,
    entries: SortedEntries,
    last: TimelineEntry,
  ): void {
    const place = located.isKnown ? located.key : '';
    if (freeTime === 'starts') this.freeTimeStarts.push({ place, entries });
    else this.freeTimeEnds.set(place, chooseLaterEntry(this.freeTimeEnds.get(place), last) ?? last);
  }

  private addTimesOfContainer({ rules, discharge }: MilestoneKind, entries: SortedEntries, first: TimelineEntry): void {
    if (discharge !== undefined) this[discharge] = mergeInTimelineOrder(this[discharge], entries);
    else if (rules.container_time === 'gated_out_at') this.gatedOut = mergeInTimelineOrder(this.gatedOut, entries);
    else if (rules.container_time === 'delivered_at')
      this.delivered = chooseEarlierTimelineEntry(this.delivered, first);
    else if (rules.container_time === 'empty_returned_at')
      this.emptyReturned = chooseEarlierTimelineEntry(this.emptyReturned, first);
  }

  private addStatusMilestonesToSummary(
    { meaning: { status, demotable } }: MilestoneKind,
    entries: SortedEntries,
    first: TimelineEntry,
    latest: Timestamp,
  ): void {
    if (status === null || status === 'cancelled') return;
    const rank = STATUS_RANKS[status];
    if (rank >= STATUS_RANKS.in_transit) this.underWay = chooseEarlierTimelineEntry(this.underWay, first);
    if (rank >= STATUS_RANKS.delivered)
      this.deliveredOrLater = chooseEarlierTimelineEntry(this.deliveredOrLater, first);
    // Feeds skip steps, so goods that are available for pickup must have been cleared.
    if (rank >= STATUS_RANKS.available_for_pickup && demotable !== 'out_at_origin')
      this.importCleared = chooseLaterTime(this.importCleared, latest);
    if (demotable === undefined) this.fixed[rank] = chooseEarlierTimelineEntry(this.fixed[rank], first);
    else this.demotable[demotable] = mergeInTimelineOrder(this.demotable[demotable] ?? NO_TIMELINE_ENTRIES, entries);
  }
}

/** Times of the summary that releases set. */
const RELEASE_TIME_FIELD_BY_KIND = {
  export: 'exportCleared',
  import: 'importCleared',
  terminal: 'terminalReleased',
  freight: 'freightReleased',
} as const satisfies Readonly<Record<NonNullable<MilestoneCodeTraits['clears']>, keyof SummaryOfMilestones>>;

export function chooseLaterTime(a: Timestamp, b: Timestamp): Timestamp {
  return b > a ? b : a;
}

/** Returns the first entry at or after a time, from a list sorted by time. */
export function findFirstEntryAtOrAfter(entries: readonly TimelineEntry[], time: Timestamp): TimelineEntry | undefined {
  // This check is the fast path, because most lists of most shipments are empty.
  if (entries.length === 0) return undefined;
  return entries[findFirstMatchingEntryIndex(entries, ({ occurred_at }) => occurred_at >= time)];
}

export function chooseEarlierTimelineEntry(
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
  if (a === undefined || b === undefined) return a ?? b;
  return compareMilestones(a.milestone, b.milestone) > 0 ? a : b;
}
