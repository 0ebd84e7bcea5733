import { chooseLatestTime, type MilestoneRule, type ShipmentStatus, type Timestamp } from '@tracking/contracts';
import {
  type ActualMilestoneWithKind,
  type KindFilter,
  type MilestonesByKind,
  selectMilestoneGroups,
  type SortedEntries,
} from './milestone-groups.ts';
import type { MilestoneKind } from './milestone-kind.ts';
import { TIME_AFTER_ALL_TIMESTAMPS, TIME_BEFORE_ALL_TIMESTAMPS } from './milestone-summary.ts';
import type { ShipmentRoute } from './route.ts';
import type { TimelineEntry } from './state.ts';
import { findFirstMatchingEntryIndex } from './timeline.ts';

/** Fields of the shipment that decide which trip of a container belongs to it. */
export interface ExpectedJourneyTimes {
  /** Expected departure as the client gave it; the start of the day if it is a day. */
  readonly etd: Timestamp | null;
  /** The expected departure; the end of the day if it is a day. */
  readonly etdEnd: Timestamp | null;
  readonly created_at: Timestamp;
}

/** Returns true if milestones of the kind report the return of the empty container. */
export function isEmptyReturn({ rules }: MilestoneKind): boolean {
  return rules.container_time === 'empty_returned_at';
}

/** A trip of a container: its milestones up to the return of the empty container. */
interface ContainerTrip {
  readonly entries: ActualMilestoneWithKind[];
  /** Time of the last return of the empty container; undefined if the container was not returned. */
  ended: Timestamp | undefined;
  isLoaded: boolean;
}

/** Cuts the milestones of a container into trips, and selects the trip that belongs to the shipment. */
export class ContainerTripSelector {
  private readonly unnamedMovements: readonly SortedEntries[];

  /**
   * @param own milestones of the container
   * @param unnamed milestones that name no container
   */
  constructor(
    private readonly own: MilestonesByKind,
    private readonly unnamed: MilestonesByKind,
    private readonly route: ShipmentRoute,
    private readonly times: ExpectedJourneyTimes,
  ) {
    this.unnamedMovements = selectMilestoneGroups([unnamed], ({ isLoadedMovement }) => isLoadedMovement);
  }

  /**
   * Excludes the milestones of other trips, and those of a container that was returned without having been used.
   * @returns the end of the previous trip; undefined if there is none
   */
  excludeMilestonesOfOtherTrips(excluded: Map<TimelineEntry, MilestoneRule>): Timestamp | undefined {
    if (this.isSingleTrip()) return undefined;
    const trips = this.splitIntoTrips();
    const chosen = this.findIndexOfCountingTrip(trips);
    if (chosen === undefined) return excludeMilestonesUntilLastReturn(trips, excluded);
    let previousEnd: Timestamp | undefined;
    for (const [index, { entries, ended }] of trips.entries()) {
      if (index === chosen) continue;
      if (index < chosen) previousEnd = ended;
      for (const { entry } of entries) excluded.set(entry, index < chosen ? 'previous_trip' : 'next_trip');
    }
    for (const entry of this.findPickUpsReturnedEmpty(trips[chosen]?.entries ?? []))
      excluded.set(entry, 'container_not_used');
    return previousEnd;
  }

  /**
   * Returns true if the container was loaded, then returned at the end, and not before the shipment's time. Such a
   * container needs no cutting. Returns false if that is not certain.
   */
  private isSingleTrip(): boolean {
    const returned = findEarliestTimeOfKind(this.own, isEmptyReturn);
    const returnedAgain = findLatestMilestoneTime(this.own, isEmptyReturn);
    const pickedUp = findLatestMilestoneTime(this.own, ({ code }) => code === 'empty_picked_up');
    const loaded = findLatestMilestoneTime(this.own, ({ isLoadedMovement }) => isLoadedMovement);
    if (pickedUp >= loaded || loaded >= returned) return false;
    if (findLatestMilestoneTime(this.own, (kind) => !isEmptyReturn(kind)) > returned) return false;
    const { etd, created_at } = this.times;
    return returnedAgain >= (etd ?? created_at) && !this.hasLoadedMovementBetween(returned, returnedAgain);
  }

  /**
   * Returns the milestones of the trip after which the empty container was returned without a loaded movement. Several
   * reports of one pick-up count alike, so that their order does not matter.
   */
  private findPickUpsReturnedEmpty(entries: readonly ActualMilestoneWithKind[]): SortedEntries {
    const unused: TimelineEntry[] = [];
    let pickUps: TimelineEntry[] = [];
    for (const { entry, kind } of entries) {
      const { occurred_at } = entry.milestone;
      const since = pickUps[0]?.milestone.occurred_at;
      if (kind.code === 'empty_picked_up') pickUps = since === occurred_at ? [...pickUps, entry] : [entry];
      else if (kind.isLoadedMovement) pickUps = [];
      else if (since !== undefined && isEmptyReturn(kind)) {
        if (!this.hasLoadedMovementBetween(since, occurred_at)) unused.push(...pickUps, entry);
        pickUps = [];
      }
    }
    return unused;
  }

  /** Cuts after each return of the empty container that is followed by a later milestone. */
  private splitIntoTrips(): readonly ContainerTrip[] {
    const trips: ContainerTrip[] = [];
    let current: ContainerTrip | undefined;
    for (const each of this.own.listMilestonesInTimelineOrder()) {
      const { occurred_at } = each.entry.milestone;
      if (current === undefined || (current.ended !== undefined && occurred_at > current.ended)) {
        current = { entries: [], ended: undefined, isLoaded: false };
        trips.push(current);
      }
      current.entries.push(each);
      if (each.kind.isLoadedMovement) current.isLoaded = true;
      if (isEmptyReturn(each.kind)) current.ended = occurred_at;
    }
    return this.mergeTripsWithRepeatedReturns(trips);
  }

  /** A second return without a loaded movement in between belongs to the same trip. */
  private mergeTripsWithRepeatedReturns(trips: readonly ContainerTrip[]): readonly ContainerTrip[] {
    const merged: ContainerTrip[] = [];
    for (const trip of trips) {
      const last = merged.at(-1);
      const since = last?.ended ?? TIME_BEFORE_ALL_TIMESTAMPS;
      if (trip.ended !== undefined) trip.isLoaded ||= this.hasLoadedMovementBetween(since, trip.ended);
      if (last === undefined || trip.ended === undefined || trip.isLoaded) merged.push(trip);
      else {
        last.entries.push(...trip.entries);
        last.ended = trip.ended;
      }
    }
    return merged;
  }

  /** Returns true if a milestone without a container is a loaded movement in the span. */
  private hasLoadedMovementBetween(after: Timestamp, until: Timestamp): boolean {
    return this.unnamedMovements.some((group) => {
      const first = group[findFirstMatchingEntryIndex(group, ({ occurred_at }) => occurred_at > after)];
      return first !== undefined && first.milestone.occurred_at <= until;
    });
  }

  /** Returns the index of the trip that counts; undefined if none does. */
  private findIndexOfCountingTrip(trips: readonly ContainerTrip[]): number | undefined {
    const { etd, etdEnd, created_at } = this.times;
    const time = etd ?? created_at;
    let chosen: number | undefined;
    let least = Infinity;
    for (const [index, { entries, ended, isLoaded }] of trips.entries()) {
      const isOver = ended !== undefined && ended < time;
      if (!isLoaded || (isOver && (etd !== null || !this.hasTripLeftOriginOrReachedDestination(entries)))) continue;
      const began = entries[0]?.entry.milestone.occurred_at ?? time;
      const distance = computeDistanceFromTimeSpanMs({ from: time, until: etdEnd ?? created_at }, began, ended);
      if (distance <= least) [chosen, least] = [index, distance];
    }
    return chosen;
  }

  /** Returns true if the trip left the origin or reached the destination, as far as its places are known. */
  private hasTripLeftOriginOrReachedDestination(entries: readonly ActualMilestoneWithKind[]): boolean {
    const isShownBy = (kind: MilestoneKind) => isDepartureFromOriginOrArrivalAtDestination(kind, this.route);
    return entries.some(({ kind }) => isShownBy(kind)) || this.unnamed.hasMilestoneOfKind(isShownBy);
  }
}

function findEarliestTimeOfKind(groups: MilestonesByKind, matches: KindFilter): Timestamp {
  let earliest = TIME_AFTER_ALL_TIMESTAMPS;
  for (const [first] of selectMilestoneGroups([groups], matches))
    if (first !== undefined && first.milestone.occurred_at < earliest) earliest = first.milestone.occurred_at;
  return earliest;
}

function findLatestMilestoneTime(groups: MilestonesByKind, matches: KindFilter): Timestamp {
  return chooseLatestTime(
    ...selectMilestoneGroups([groups], matches).map((entries) => entries.at(-1)?.milestone.occurred_at ?? ''),
  );
}

/** Excludes everything up to the last return, because no trip counts. */
function excludeMilestonesUntilLastReturn(
  trips: readonly ContainerTrip[],
  excluded: Map<TimelineEntry, MilestoneRule>,
): Timestamp | undefined {
  const rule = trips.some(({ isLoaded }) => isLoaded) ? 'previous_trip' : 'container_not_used';
  const finished = trips.filter(({ ended }) => ended !== undefined);
  for (const { entries } of finished) for (const { entry } of entries) excluded.set(entry, rule);
  return finished.at(-1)?.ended;
}

/** Returns true if milestones of the kind show that the trip left the origin or reached the destination. */
function isDepartureFromOriginOrArrivalAtDestination(
  { rules: { status }, located: { key, isKnown }, isDeparture, isArrivalOrStop }: MilestoneKind,
  { origin, destination }: ShipmentRoute,
): boolean {
  if (isDeparture) return !isKnown || origin === null || key === origin;
  const isAtEnd = status !== null && DESTINATION_STATUSES.includes(status);
  return (isAtEnd || isArrivalOrStop) && (!isKnown || destination === null || key === destination);
}

/** Statuses of milestones that show where the trip ended. */
const DESTINATION_STATUSES: readonly ShipmentStatus[] = ['available_for_pickup', 'out_for_delivery', 'delivered'];

/** Returns the distance of a time or day from a span in milliseconds; 0 if they have an instant in common. */
function computeDistanceFromTimeSpanMs(
  time: { readonly from: Timestamp; readonly until: Timestamp },
  from: Timestamp,
  until: Timestamp | undefined,
): number {
  if (time.until < from) return Date.parse(from) - Date.parse(time.until);
  return until === undefined || time.from <= until ? 0 : Date.parse(time.from) - Date.parse(until);
}
