import type { MilestoneRule, Timestamp } from '@tracking/contracts';
import {
  type ActualMilestonesByContainer,
  type MilestonesByKind,
  selectMilestoneGroups,
  type SortedEntries,
} from './milestone-groups.ts';
import type { MilestoneKind } from './milestone-kind.ts';
import { isVesselDeparture } from './milestone-meaning.ts';
import {
  chooseEarlierTimelineEntry,
  TIME_AFTER_ALL_TIMESTAMPS,
  TIME_BEFORE_ALL_TIMESTAMPS,
} from './milestone-summary.ts';
import type { ShipmentRoute } from './route.ts';
import { compareMilestones, type TimelineEntry } from './state.ts';
import { findFirstMatchingEntryIndex } from './timeline.ts';
import { isEmptyReturn, type ExpectedJourneyTimes, ContainerTripSelector } from './trips.ts';
import { findReplacedMilestoneReports } from './visits.ts';

/** Milestones that do not count, each with the rule that excludes it. */
type ExcludedEntries = ReadonlyMap<TimelineEntry, MilestoneRule>;

/** Actual milestones that count for the shipment, and those that do not, each with the rule that excludes it. */
export interface CountingMilestones extends ActualMilestonesByContainer {
  /** Milestones that replace `unnamed` for containers for which some of its milestones do not count. */
  readonly unnamedFor: ReadonlyMap<string, MilestonesByKind>;
  /** Milestones that count for no container. */
  readonly excluded: ExcludedEntries;
  /** Milestones without a container that count for some containers, but not for this one. */
  readonly excludedByContainer: ReadonlyMap<string, ExcludedEntries>;
  /** Time of the return that ended the previous trip, by container. Milestones up to it belong to previous trips. */
  readonly previousTripEnds: ReadonlyMap<string, Timestamp>;
  /** Ids of the milestones that a later report of the same visit replaces. They are also in `excluded`. */
  readonly replacedIds: ReadonlySet<string>;
}

const NO_TIMELINE_ENTRIES: SortedEntries = [];
const NO_MILESTONE_IDS: ReadonlySet<string> = new Set();
const EMPTY_MAP = new Map<never, never>();

/**
 * Separates the actual milestones that count for the shipment from those that do not: those of other trips of a
 * container, late repetitions of a departure, reports that a later report of the same visit replaces, and departures of
 * ships that sail on after they discharged the container. The result depends only on the set of milestones.
 */
export function selectCountingMilestones(
  milestones: ActualMilestonesByContainer,
  route: ShipmentRoute,
  containers: readonly string[],
  times: ExpectedJourneyTimes,
): CountingMilestones {
  const { origin } = route;
  const found = new MilestoneTimesOfAllContainers(milestones, origin);
  const mayRepeat = origin !== null && found.departed > found.arrived;
  const maySailOn = found.sailed >= found.discharged;
  const isEachCounting = !mayRepeat && !maySailOn && !found.isEmptyReturned;
  if (isEachCounting && findReplacedMilestoneReports(milestones).size === 0) {
    const { unnamed, named } = milestones;
    return {
      unnamed,
      named,
      unnamedFor: EMPTY_MAP,
      excluded: EMPTY_MAP,
      excludedByContainer: EMPTY_MAP,
      previousTripEnds: EMPTY_MAP,
      replacedIds: NO_MILESTONE_IDS,
    };
  }
  const journey = new EffectiveMilestoneSelector(milestones, containers);
  if (found.isEmptyReturned) journey.excludeOtherTripsOfContainers(route, times);
  // A route that passes its origin again has further departures there.
  if (mayRepeat && !route.legs.slice(1).some(({ origin_port }) => origin_port === origin))
    journey.excludeMilestonesForEachContainer('late_repeat', (lane) => findLateRepeatedDepartures(lane, origin));
  journey.excludeReplacedReports();
  if (maySailOn) journey.excludeMilestonesForEachContainer('already_discharged', findDeparturesAfterDischarge);
  return journey;
}

/**
 * Times of milestones of all containers. They show which rules can apply, because most shipments have no milestones
 * that count for nothing.
 */
class MilestoneTimesOfAllContainers {
  /** Latest departure from the origin, and latest departure of a vessel. */
  departed = TIME_BEFORE_ALL_TIMESTAMPS;
  sailed = TIME_BEFORE_ALL_TIMESTAMPS;
  /** Earliest arrival elsewhere than at the origin, and earliest discharge. */
  arrived = TIME_AFTER_ALL_TIMESTAMPS;
  discharged = TIME_AFTER_ALL_TIMESTAMPS;
  isEmptyReturned = false;

  constructor({ unnamed, named }: ActualMilestonesByContainer, origin: string | null) {
    this.updateBoundsFromMilestones(unnamed, origin);
    for (const groups of named.values()) this.updateBoundsFromMilestones(groups, origin);
  }

  private updateBoundsFromMilestones(groups: MilestonesByKind, origin: string | null): void {
    for (const [kind, entries] of groups) {
      const [first, last] = [entries[0], entries.at(-1)];
      if (first === undefined || last === undefined) continue;
      if (isEmptyReturn(kind)) this.isEmptyReturned = true;
      this.updateLatestDepartureTimes(kind, last.milestone.occurred_at, origin);
      this.updateEarliestArrivalTimes(kind, first.milestone.occurred_at, origin);
    }
  }

  private updateLatestDepartureTimes(kind: MilestoneKind, last: Timestamp, origin: string | null): void {
    if (isVesselDeparture(kind.rules) && last > this.sailed) this.sailed = last;
    if (isDepartureFromPlace(origin, kind) && last > this.departed) this.departed = last;
  }

  private updateEarliestArrivalTimes(kind: MilestoneKind, first: Timestamp, origin: string | null): void {
    if (kind.rules.handling === 'discharged' && first < this.discharged) this.discharged = first;
    if (isArrivalElsewhere(origin, kind) && first < this.arrived) this.arrived = first;
  }
}

function isDepartureFromPlace(origin: string | null, { isDeparture, located }: MilestoneKind): boolean {
  return isDeparture && located.key === origin;
}

function isArrivalElsewhere(origin: string | null, { isArrivalOrStop, located }: MilestoneKind): boolean {
  return isArrivalOrStop && located.isKnown && located.key !== origin;
}

/** The milestones of containers for which the same milestones count: of one that is named, or of all others. */
interface ContainersWithSameMilestones {
  readonly containers: readonly string[];
  /** Milestones that count for the containers: those that name the container, and those that name none. */
  readonly groups: readonly MilestonesByKind[];
}

/** The journey while the rules are applied. Each rule sees the milestones that the rules before left. */
class EffectiveMilestoneSelector implements CountingMilestones {
  unnamed: MilestonesByKind;
  readonly named: Map<string, MilestonesByKind>;
  readonly unnamedFor = new Map<string, MilestonesByKind>();
  readonly excluded = new Map<TimelineEntry, MilestoneRule>();
  readonly excludedByContainer = new Map<string, Map<TimelineEntry, MilestoneRule>>();
  readonly previousTripEnds = new Map<string, Timestamp>();
  readonly replacedIds = new Set<string>();

  constructor(
    { unnamed, named }: ActualMilestonesByContainer,
    private readonly containers: readonly string[],
  ) {
    this.unnamed = unnamed;
    this.named = new Map(named);
  }

  /** Excludes the milestones of other trips of the containers. */
  excludeOtherTripsOfContainers(route: ShipmentRoute, times: ExpectedJourneyTimes): void {
    for (const [container, own] of this.named) {
      if (!own.hasMilestoneOfKind(isEmptyReturn)) continue;
      const known = this.excluded.size;
      const ended = new ContainerTripSelector(own, this.unnamed, route, times).excludeMilestonesOfOtherTrips(
        this.excluded,
      );
      if (ended !== undefined) this.previousTripEnds.set(container, ended);
      if (this.excluded.size > known) this.named.set(container, own.copyGroupsExcludingMilestones(this.excluded));
    }
  }

  /**
   * Excludes milestones, container by container. A milestone without a container counts for nothing if it counts for no
   * container.
   * @param find returns the milestones of a lane to exclude
   */
  excludeMilestonesForEachContainer(
    rule: MilestoneRule,
    find: (lane: readonly MilestonesByKind[]) => SortedEntries,
  ): void {
    const lanes = [...this.listContainersWithSameMilestones()];
    const found = lanes.map((lane) => ({ lane, entries: find(lane.groups) }));
    const counts = new Map<TimelineEntry, number>();
    for (const { entries } of found) for (const entry of entries) counts.set(entry, (counts.get(entry) ?? 0) + 1);
    if (counts.size === 0) return;
    const everywhere = new Set<TimelineEntry>();
    for (const [entry, count] of counts)
      if (entry.milestone.container_number !== null || count === lanes.length) everywhere.add(entry);
    for (const entry of everywhere) this.excluded.set(entry, rule);
    this.unnamed = this.unnamed.copyGroupsExcludingMilestones(everywhere);
    for (const { lane, entries } of found) this.excludeMilestonesOfContainers(lane, entries, everywhere, rule);
  }

  /** Excludes reports that a later report of the same visit replaces. */
  excludeReplacedReports(): void {
    const replaced = findReplacedMilestoneReports(this);
    if (replaced.size === 0) return;
    for (const entry of replaced) {
      this.excluded.set(entry, 'newer_report');
      this.replacedIds.add(entry.milestone.id);
    }
    this.unnamed = this.unnamed.copyGroupsExcludingMilestones(replaced);
    for (const [container, groups] of this.named)
      this.named.set(container, groups.copyGroupsExcludingMilestones(replaced));
    for (const [container, groups] of this.unnamedFor)
      this.unnamedFor.set(container, groups.copyGroupsExcludingMilestones(replaced));
  }

  private excludeMilestonesOfContainers(
    { containers }: ContainersWithSameMilestones,
    entries: SortedEntries,
    everywhere: ReadonlySet<TimelineEntry>,
    rule: MilestoneRule,
  ): void {
    const ofContainer = entries.filter((entry) => !everywhere.has(entry));
    for (const container of containers) {
      const own = this.named.get(container);
      if (own !== undefined && entries.length > 0)
        this.named.set(container, own.copyGroupsExcludingMilestones(everywhere));
      const unnamed = this.unnamedFor.get(container);
      if (ofContainer.length === 0) {
        if (unnamed !== undefined) this.unnamedFor.set(container, unnamed.copyGroupsExcludingMilestones(everywhere));
        continue;
      }
      const excluded = this.excludedByContainer.get(container) ?? new Map<TimelineEntry, MilestoneRule>();
      for (const entry of ofContainer) excluded.set(entry, rule);
      this.excludedByContainer.set(container, excluded);
      this.unnamedFor.set(container, this.unnamed.copyGroupsExcludingMilestones(excluded));
    }
  }

  private *listContainersWithSameMilestones(): Iterable<ContainersWithSameMilestones> {
    const others: string[] = [];
    for (const container of this.containers) {
      const own = this.named.get(container);
      if (own === undefined) others.push(container);
      else yield { containers: [container], groups: [own, this.unnamedFor.get(container) ?? this.unnamed] };
    }
    if (others.length === 0 && this.containers.length > 0) return;
    const [first = ''] = others;
    yield { containers: others, groups: [this.unnamedFor.get(first) ?? this.unnamed] };
  }
}

/**
 * Returns departures at the origin that are dated after an earlier departure there and a later arrival elsewhere. Feeds
 * send such repetitions with another date.
 */
function findLateRepeatedDepartures(lane: readonly MilestonesByKind[], origin: string): SortedEntries {
  const departures = selectMilestoneGroups(lane, (kind) => isDepartureFromPlace(origin, kind));
  const departed = departures.map(([first]) => first).reduce(chooseEarlierTimelineEntry, undefined);
  if (departed === undefined) return NO_TIMELINE_ENTRIES;
  let arrived = TIME_AFTER_ALL_TIMESTAMPS;
  const arrivals = selectMilestoneGroups(lane, (kind) => isArrivalElsewhere(origin, kind));
  for (const group of arrivals) {
    const first = findFirstMatchingEntryIndex(
      group,
      (milestone) => compareMilestones(milestone, departed.milestone) > 0,
    );
    const time = group[first]?.milestone.occurred_at ?? TIME_AFTER_ALL_TIMESTAMPS;
    if (time < arrived) arrived = time;
  }
  return departures.flatMap((group) =>
    group.slice(findFirstMatchingEntryIndex(group, ({ occurred_at }) => occurred_at > arrived)),
  );
}

/** Returns departures of vessels after the container was discharged and before it was loaded again. */
function findDeparturesAfterDischarge(lane: readonly MilestonesByKind[]): SortedEntries {
  const discharges = selectMilestoneGroups(lane, ({ rules }) => rules.handling === 'discharged');
  if (discharges.length === 0) return NO_TIMELINE_ENTRIES;
  const loadings = selectMilestoneGroups(lane, ({ rules }) => rules.handling === 'loaded');
  const sailings = selectMilestoneGroups(lane, ({ rules }) => isVesselDeparture(rules));
  const found: TimelineEntry[] = [];
  let until = TIME_BEFORE_ALL_TIMESTAMPS;
  while (until < TIME_AFTER_ALL_TIMESTAMPS) {
    const after = until;
    const discharged = findFirstTimeLateEnough(discharges, (time) => time > after);
    until = findFirstTimeLateEnough(loadings, (time) => time >= discharged);
    // Milestones at the same time have this order: discharge, loading, departure.
    for (const group of sailings) found.push(...selectMilestonesBetween(group, discharged, until));
  }
  return found;
}

/** Returns the earliest time that is late enough; `TIME_AFTER_ALL_TIMESTAMPS` if there is none. */
function findFirstTimeLateEnough(groups: readonly SortedEntries[], isLate: (time: Timestamp) => boolean): Timestamp {
  let earliest = TIME_AFTER_ALL_TIMESTAMPS;
  for (const group of groups) {
    const time =
      group[findFirstMatchingEntryIndex(group, ({ occurred_at }) => isLate(occurred_at))]?.milestone.occurred_at;
    if (time !== undefined && time < earliest) earliest = time;
  }
  return earliest;
}

/** Returns the milestones from a time until before another time. */
function selectMilestonesBetween(group: SortedEntries, from: Timestamp, until: Timestamp): SortedEntries {
  const first = findFirstMatchingEntryIndex(group, ({ occurred_at }) => occurred_at >= from);
  return group.slice(
    first,
    findFirstMatchingEntryIndex(group, ({ occurred_at }) => occurred_at >= until),
  );
}
