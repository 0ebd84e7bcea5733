import {
  type ExceptionSettings,
  type Leg,
  type Timestamp,
  parseMilestoneCode,
  getMilestoneRules,
  chooseLatestTime,
} from '@tracking/contracts';
import { findLatestMilestoneTime } from '../container-progress.ts';
import type { StatusSubject } from '../derive.ts';
import { getTimeZoneOfPort, getBoundsOfLocalDay, restoreScheduleTimesWithZones } from '../local-time.ts';
import {
  TIME_BEFORE_ALL_TIMESTAMPS,
  STATUS_RANKS,
  chooseEarlierTimelineEntry,
  isOnwardMovement,
  chooseLaterEntry,
} from '../milestone-summary.ts';
import { type ShipmentRoute, isPlaceOnTheWay } from '../route.ts';
import { type TimelineEntry, compareMilestones, getOccurredAt } from '../state.ts';
import { findFirstMatchingEntryIndex } from '../timeline.ts';
import {
  type CurrentOrFutureProblem,
  applyRuleToEachSubject,
  addHoursToTimestamp,
  computeTimeWhenLate,
  getNextMillisecond,
  getRuleHours,
  type ExceptionRuleFacts,
} from './rule.ts';
import {
  type ProblemSolvingMilestones,
  canShipSailOnWithoutGoods,
  describeResolutionByFieldChange,
  describeResolutionByCorrectionOf,
  describeResolutionByMilestone,
  hasLeftTerminal,
  isDelivered,
  isContainerReturned,
  listRemedyMilestones,
  describeResolutionByEmptyReturn,
  listResolvingStatusMilestones,
} from './remedies.ts';

/** Hours that goods may stay at a stop if no ETD of the next leg is known. */
const MAX_HOURS_AT_STOP = 10 * 24;

/**
 * Opens `missed_connection` if a container was not loaded again at its last stop: no milestone of loading or a later
 * step is dated at or after the stop. Without a discharge, the ship may only be late, so the rule waits 10 days after the
 * arrival.
 */
export const missedConnectionRule = applyRuleToEachSubject(({ summaries, progress }, { derived }, settings) => {
  const stop = summaries.map(({ stops }) => stops.at(-1)).reduce(chooseLaterEntry, undefined);
  const onward = findLatestMilestoneTime(summaries, 'onward');
  if (stop === undefined || stop.milestone.occurred_at <= onward || isDelivered(progress)) return undefined;
  const { record, analysis } = derived;
  const { location } = stop.milestone;
  const arrived_at = findArrivalTimeAtLastContainerStop(stop, summaries, onward, analysis.route);
  const next = findNextLeg(record.legs, analysis.route.locate(location).key);
  const next_etd = next?.leg.etd ?? null;
  const isDischarged = summaries.some(({ stops }) => stops.some((each) => isDischargeSince(each, arrived_at)));
  const since = `At ${location ?? 'a port on the way'} since ${arrived_at}, and not loaded`;
  return {
    milestone: stop,
    detail:
      next_etd === null
        ? `${since} again.`
        : `${since} for the next leg, whose ETD is ${describeEtd(next?.leg, analysis.route)}.`,
    opens_at: chooseLatestTime(
      next_etd === null || !isDischarged ? addHoursToTimestamp(arrived_at, MAX_HOURS_AT_STOP) : '',
      computeMissedConnectionTime(next?.leg, getRuleHours(settings, record)),
    ),
    metrics: { location, arrived_at, next_etd },
    resolvedBy: () => [
      describeResolutionByLoading(stop, summaries, analysis.route),
      ...(next === undefined ? [] : [describeResolutionByFieldChange(`legs[${next.index}].etd`)]),
      describeResolutionByCorrectionOf(stop),
    ],
  };
});

/** Returns the time from which a connection is missed; empty if the ETD of the leg is not known. */
function computeMissedConnectionTime(leg: Leg | undefined, hours: number): Timestamp {
  return leg?.etd == null ? '' : addHoursToTimestamp(computeTimeWhenLate(leg.etd, leg.etd_precision), hours);
}

/** Returns the ETD of a leg for texts: a time, or a date. */
function describeEtd(leg: Leg | undefined, { findZone }: ShipmentRoute): string | null {
  if (leg === undefined) return null;
  const { value, day } = restoreScheduleTimesWithZones(leg, findZone).etd;
  return day ?? value;
}

/** Returns the time when the container arrived at its last stop. */
function findArrivalTimeAtLastContainerStop(
  stop: TimelineEntry,
  summaries: StatusSubject['summaries'],
  onward: Timestamp,
  { locate }: ShipmentRoute,
): Timestamp {
  const place = locate(stop.milestone.location).key;
  const arrivals = summaries.map(({ stops }) => {
    const first = findFirstMatchingEntryIndex(stops, ({ occurred_at }) => occurred_at > onward);
    for (let at = first; at < stops.length; at++) {
      if (locate(stops[at]?.milestone.location ?? null).key === place) return stops[at];
    }
    return undefined;
  });
  return (arrivals.reduce(chooseEarlierTimelineEntry, undefined) ?? stop).milestone.occurred_at;
}

/**
 * Returns the leg that departs from the place. If no leg ends at the place, returns the first leg that has not
 * departed, except the first leg of all.
 */
function findNextLeg(legs: readonly Leg[], place: string) {
  const ended = place === '' ? -1 : legs.findLastIndex(({ destination_port }) => destination_port === place);
  const index = ended >= 0 ? ended + 1 : legs.findIndex(({ atd }, at) => at > 0 && atd === null);
  const leg = legs[index];
  return leg && { leg, index };
}

function isDischargeSince({ milestone: { code, occurred_at } }: TimelineEntry, since: Timestamp): boolean {
  return occurred_at >= since && getMilestoneRules(code).handling === 'discharged';
}

function describeResolutionByLoading(stop: TimelineEntry, summaries: StatusSubject['summaries'], route: ShipmentRoute) {
  const isMilestone: ProblemSolvingMilestones['isMilestone'] = ({ sequence, rules, isDeparture }) => {
    // A ship that departs after the discharge does not have the container, unless the container was loaded again.
    const sailsOn = canShipSailOnWithoutGoods(summaries, rules);
    return rules.transshipment_stop !== true && !sailsOn && isOnwardMovement(sequence, rules, isDeparture);
  };
  return describeResolutionByMilestone(
    listRemedyMilestones([{ from: stop.milestone.occurred_at, isMilestone }], route),
  );
}

/** Distance from the destination above which a container that leaves a terminal abroad is off its route. */
const MIN_OFF_ROUTE_KM_FROM_DESTINATION = 1_500;

/**
 * Opens `off_route` if a container left a terminal in another country, far from the destination and at no place of the
 * shipment, and has not moved on since.
 */
export const offRouteRule = applyRuleToEachSubject(({ summaries }, { derived }) => {
  const { route } = derived.analysis;
  const out = summaries.map(({ gatedOut }) => gatedOut.at(-1)).reduce(chooseLaterEntry, undefined);
  if (out === undefined || findLatestMilestoneTime(summaries, 'movedOn') >= out.milestone.occurred_at) return undefined;
  const { location, occurred_at } = out.milestone;
  const { isOfShipment, kmFromDestination } = route.locate(location);
  if (isOfShipment || !isPlaceOnTheWay(route, location)) return undefined;
  if (kmFromDestination === null || kmFromDestination <= MIN_OFF_ROUTE_KM_FROM_DESTINATION) return undefined;
  const isMilestone: ProblemSolvingMilestones['isMilestone'] = ({ rules }) => {
    const departs = rules.departure !== undefined && rules.departure !== 'pick_up';
    return rules.handling === 'loaded' || (departs && !canShipSailOnWithoutGoods(summaries, rules));
  };
  return {
    milestone: out,
    detail: `Left the terminal at ${location ?? 'an unknown place'} at ${occurred_at}, far from the destination.`,
    metrics: { location, km_from_destination: Math.round(kmFromDestination) },
    resolvedBy: () => [
      describeResolutionByMilestone(listRemedyMilestones([{ from: occurred_at, isMilestone }], route)),
      describeResolutionByFieldChange('destination_port', 'legs'),
      describeResolutionByCorrectionOf(out),
    ],
  };
});

/**
 * Opens `demurrage_risk` while free time of the container runs at a place. The terminal charges a fee after the last
 * free day. If free time runs at several places, the one that started first has the nearest deadline.
 */
export const demurrageRiskRule = applyRuleToEachSubject((subject, facts, settings) => {
  const { record, analysis } = facts.derived;
  if (analysis.route.lcl || hasLeftTerminal(subject)) return undefined;
  const { container, progress, summaries } = subject;
  const available = isContainerInModeWithGateOut(subject, record.mode)
    ? progress.reached[STATUS_RANKS.available_for_pickup]
    : undefined;
  const discharged = findMilestoneStartingFreeTime(summaries, available, analysis.route);
  const last_free_day = container?.last_free_day ?? null;
  const when = computeFeeRiskTimes(last_free_day, discharged, facts, settings);
  if (when === undefined) return undefined;
  const { movedBeforeArrival, returning, availableAgain } = progress.points;
  const railDeparted = findLatestMilestoneTime(summaries, 'railDeparted');
  const left = chooseLatestTime(railDeparted, movedBeforeArrival, getNextMillisecond(returning), availableAgain);
  return {
    ...when,
    detail:
      last_free_day === null
        ? `At the terminal since ${discharged?.milestone.occurred_at}, and no last free day is known.`
        : `The last free day is ${last_free_day}, and no gate-out is known.`,
    metrics: {
      last_free_day,
      discharged_at: getOccurredAt(discharged),
      location: discharged?.milestone.location ?? null,
    },
    resolvedBy: () => [
      listResolvingStatusMilestones(
        'out_for_delivery',
        left === TIME_BEFORE_ALL_TIMESTAMPS ? null : left,
        analysis.route,
      ),
      ...(container === undefined ? [] : [describeResolutionByFieldChange('last_free_day')]),
      ...describeResolutionByCorrection(when.milestone),
    ],
  };
});

/**
 * Returns the first milestone with which free time started that still runs: no later milestone ended it at the same
 * place, or at a missing or unknown place.
 * @param available milestone that shows that the container is at a terminal, if no discharge is known
 */
function findMilestoneStartingFreeTime(
  summaries: StatusSubject['summaries'],
  available: TimelineEntry | undefined,
  { locate }: ShipmentRoute,
): TimelineEntry | undefined {
  let first: TimelineEntry | undefined;
  for (const { freeTimeStarts } of summaries) {
    for (const { place, entries } of freeTimeStarts) {
      const entry = findFirstTimelineEntryAfter(entries, findFreeTimeEndMilestone(summaries, place));
      first = chooseEarlierTimelineEntry(first, entry);
    }
  }
  if (first !== undefined || available === undefined) return first;
  const { key, isKnown } = locate(available.milestone.location);
  return findFirstTimelineEntryAfter([available], findFreeTimeEndMilestone(summaries, isKnown ? key : ''));
}

/** Returns the latest milestone that ended free time at a place; with an empty place, at any place. */
function findFreeTimeEndMilestone(summaries: StatusSubject['summaries'], place: string): TimelineEntry | undefined {
  let latest: TimelineEntry | undefined;
  for (const { freeTimeEnds } of summaries) {
    for (const [other, end] of freeTimeEnds) {
      if (place === '' || other === '' || other === place) latest = chooseLaterEntry(latest, end);
    }
  }
  return latest;
}

/** Returns the first entry of a sorted list that comes after the given one on the timeline. */
function findFirstTimelineEntryAfter(
  entries: readonly TimelineEntry[],
  end: TimelineEntry | undefined,
): TimelineEntry | undefined {
  if (end === undefined) return entries[0];
  return entries[findFirstMatchingEntryIndex(entries, (milestone) => compareMilestones(milestone, end.milestone) > 0)];
}

/**
 * Opens `detention_risk` until the container is returned to the carrier. The carrier charges a fee after the due day.
 */
export const detentionRiskRule = applyRuleToEachSubject((subject, facts, settings) => {
  const { record, analysis } = facts.derived;
  const { container, progress } = subject;
  if (analysis.route.lcl || isContainerReturned(progress)) return undefined;
  const left =
    progress.gateOut ??
    (isContainerInModeWithGateOut(subject, record.mode)
      ? progress.reached
          .slice(STATUS_RANKS.out_for_delivery)
          .reduce<TimelineEntry | undefined>(chooseEarlierTimelineEntry, undefined)
      : undefined);
  const empty_return_by = container?.empty_return_by ?? null;
  const when = computeFeeRiskTimes(empty_return_by, left, facts, settings);
  if (when === undefined) return undefined;
  return {
    ...when,
    detail:
      empty_return_by === null
        ? `Out since ${left?.milestone.occurred_at}, and no return of the empty container is known.`
        : `To be returned empty by ${empty_return_by}, and no return is known.`,
    metrics: { empty_return_by, gated_out_at: getOccurredAt(left) },
    resolvedBy: () => [
      listResolvingStatusMilestones('completed', null, analysis.route),
      ...describeResolutionByEmptyReturn(subject, facts.derived),
      ...(container === undefined ? [] : [describeResolutionByFieldChange('empty_return_by')]),
      ...describeResolutionByCorrection(when.milestone),
    ],
  };
});

/**
 * Returns the times at which a fee is at risk. With a due day, the risk starts some hours before the day and is
 * critical from the end of the day. Without a due day, it starts some hours after the milestone.
 */
function computeFeeRiskTimes(
  day: string | null,
  since: TimelineEntry | undefined,
  { derived, places }: ExceptionRuleFacts,
  settings: ExceptionSettings,
): (Pick<CurrentOrFutureProblem, 'milestone' | 'due_at' | 'worsens'> & { readonly opens_at: Timestamp }) | undefined {
  const { record } = derived;
  if (day !== null) {
    const { from, until } = getBoundsOfLocalDay(day, getTimeZoneOfPort(record.destination_port, places) ?? 'UTC');
    const opens_at = addHoursToTimestamp(from, -(settings.before_hours ?? 0));
    return { milestone: null, opens_at, due_at: from, worsens: { at: until, severity: 'critical' } };
  }
  if (since === undefined) return undefined;
  const opens_at = addHoursToTimestamp(since.milestone.occurred_at, getRuleHours(settings, record));
  return { milestone: since, opens_at };
}

/** Returns true if a terminal hands out the container, so that later milestones show that it left the terminal. */
function isContainerInModeWithGateOut({ container_number }: StatusSubject, mode: ShipmentRoute['mode']): boolean {
  return container_number !== null && (mode === null || MODES_WITH_GATED_OUT.includes(mode));
}
const MODES_WITH_GATED_OUT = parseMilestoneCode('gated_out')?.modes ?? [];

function describeResolutionByCorrection(entry: TimelineEntry | null) {
  return entry === null ? [] : [describeResolutionByCorrectionOf(entry)];
}
