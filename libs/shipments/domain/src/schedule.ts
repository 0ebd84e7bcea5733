import { getMilestoneRules } from '@tracking/contracts';
import type { Leg, LegFields, MilestoneRule, TimeOrDay, TimeRule, Timestamp } from '@tracking/contracts';
import {
  PastEstimateLookup,
  DepartureOrArrivalEstimates,
  isAtPortsOrUnknownPlace,
  isEstimatedArrival,
  isEstimatedDeparture,
  isEstimateReportedAfterEvent,
  dropOtherArrivalEstimates,
  getTimeOfEstimate,
  type RuleListener,
} from './estimates.ts';
import type { EventRevisionsOfLegTimes } from './events/event-data.ts';
import { getTimePrecision, moveStatedDayToPortZone, toScheduledTimes, convertStatedDateToTime } from './local-time.ts';
import type { UtcTimeWithLocalDay } from './local-time.ts';
import { isDeparture } from './milestone-meaning.ts';
import { compareReportsOfMilestone } from './reports.ts';
import { combineLegFieldsAndTimes, type ShipmentRoute } from './route.ts';
import { getTimeWhenClientGaveValue, getOccurredAt } from './state.ts';
import type { ClientScheduleValues, ValueSetByClient, TimelineEntry } from './state.ts';
import type { TimelineAnalysis } from './timeline-analysis.ts';

/** Revisions that are lower than the revisions of all events. */
const REVISIONS_BEFORE_ALL_EVENTS: EventRevisionsOfLegTimes = { etd: -1, eta: -1 };

/** A time of the shipment, with the rule and the milestone that set it. */
export interface TimeWithDecidingRule extends UtcTimeWithLocalDay {
  readonly rule: TimeRule;
  readonly milestone: TimelineEntry | null;
  /** The estimate that set an expected time, even if an actual time is known; null if the client set it. */
  readonly estimate: TimelineEntry | null;
}

export interface DecidedScheduleTimes {
  readonly etd: TimeWithDecidingRule;
  readonly eta: TimeWithDecidingRule;
  readonly atd: TimeWithDecidingRule;
  readonly ata: TimeWithDecidingRule;
  readonly legs: readonly Leg[];
}

/** Receives, for an estimate, the rule that applied to it and the name of the time, such as `etd` or `legs[0].eta`. */
export type EstimateListener = (estimate: TimelineEntry, time: string, rule: MilestoneRule) => void;

/** Inputs of the decision about the times of a shipment. */
interface ScheduleDecisionInputs {
  readonly schedule: ClientScheduleValues;
  readonly containers: readonly string[];
  /** Returns true if an arrival of the analysis is the arrival at the destination. */
  readonly countsAsArrival: (entry: TimelineEntry) => boolean;
}

/**
 * Decides the estimated and actual times of the shipment and its legs. Values of clients and estimates are statements;
 * of those given before the actual time, the one reported last wins. If the client sets no time for the shipment, the
 * time of its first or last leg counts.
 * @param onEstimate for explanations: receives the rule that applied to each estimate
 */
export function decideShipmentAndLegTimes(
  analysis: TimelineAnalysis,
  { schedule, containers, countsAsArrival }: ScheduleDecisionInputs,
  onEstimate?: EstimateListener,
): DecidedScheduleTimes {
  const { route } = analysis;
  const listenerFor = (time: string): RuleListener | undefined =>
    onEstimate && ((entry, rule) => onEstimate(entry, time, rule));
  const atd = findActualDepartureTime(analysis);
  const arrived = analysis.arrivals.filter(countsAsArrival);
  const ata = chooseActualTime(arrived.find(createPortVisitPredicate(route.destination, route)), arrived[0]);
  const isForShipment = (entry: TimelineEntry) => isAtPortsOrUnknownPlace(entry, route, route.ends);
  const history = new PastEstimateLookup(analysis);
  const departures = new DepartureOrArrivalEstimates(
    (entry) => isEstimatedDeparture(entry, route),
    (estimates) => estimates,
  );
  const arrivals = new DepartureOrArrivalEstimates(
    (entry) => isEstimatedArrival(entry, route),
    (estimates) => dropOtherArrivalEstimates(estimates, isForShipment, listenerFor('eta')),
  );
  const choose = (
    kind: DepartureOrArrivalEstimates,
    matches: (entry: TimelineEntry) => boolean,
    { value, written }: ValueSetByClient<TimeOrDay | null>,
    { time, actual, port }: { readonly time: string; readonly actual: Timestamp | null; readonly port: string | null },
  ): TimeWithDecidingRule => {
    const listener = listenerFor(time);
    if (listener !== undefined) {
      const isTooLate = (entry: TimelineEntry) =>
        isEstimateReportedAfterEvent(entry, actual) && kind.includes(entry) && matches(entry);
      for (const entry of analysis.estimates.filter(isTooLate)) listener(entry, 'actual_time_known');
    }
    const counting = kind.selectEstimates(history.listEstimatesReportedUntil(actual)).filter(matches);
    const given = { value, written, at: getTimeWhenClientGaveValue(schedule, written) };
    return moveStatedDayToPortZone(chooseTimeFromNewestEstimates(counting, given, containers, listener), port, route);
  };
  const { value: sent, written: legsWritten } = schedule.legs;
  const visited = matchMilestonesToLegs(analysis, sent, { atd: atd.value, ata: ata.value }, arrived);
  const weighed = visited.map(({ leg, isOrigin, isDestination, actual }, index) => {
    const [isFirst, isLast] = [index === 0, index === sent.length - 1];
    const written = legsWritten[index] ?? REVISIONS_BEFORE_ALL_EVENTS;
    const isLeaving = (entry: TimelineEntry) =>
      isOrigin(entry) || (isFirst && isAtPortsOrUnknownPlace(entry, route, route.starts));
    const isReaching = (entry: TimelineEntry) => isDestination(entry) || (isLast && isForShipment(entry));
    const etd = choose(
      departures,
      isLeaving,
      { value: leg.etd, written: written.etd },
      { time: `legs[${index}].etd`, actual: actual.atd, port: leg.origin_port },
    );
    const eta = choose(
      arrivals,
      isReaching,
      { value: leg.eta, written: written.eta },
      { time: `legs[${index}].eta`, actual: actual.ata, port: leg.destination_port },
    );
    return { etd, eta, leg: combineLegFieldsAndTimes(leg, { ...toScheduledTimes(etd, eta), ...actual }) };
  });
  const isLeaving = (entry: TimelineEntry) => isAtPortsOrUnknownPlace(entry, route, route.starts);
  const etd = isTimeSetOnlyForLeg(schedule.etd, sent[0], 'etd')
    ? moveStatedDayToPortZone(deriveTimeFromLeg(weighed[0]?.etd), route.origin, route)
    : choose(departures, isLeaving, schedule.etd, { time: 'etd', actual: atd.value, port: route.origin });
  const eta =
    ata.value === null && isTimeSetOnlyForLeg(schedule.eta, sent.at(-1), 'eta')
      ? moveStatedDayToPortZone(deriveTimeFromLeg(weighed.at(-1)?.eta), route.destination, route)
      : choose(arrivals, isForShipment, ata.value === null ? schedule.eta : schedule.etaAtArrival, {
          time: 'eta',
          actual: ata.value,
          port: route.destination,
        });
  const times = {
    etd: etd.value,
    etd_precision: getTimePrecision(etd),
    eta: eta.value,
    eta_precision: getTimePrecision(eta),
    atd: atd.value,
    ata: ata.value,
  };
  const legs =
    sent.length > 0 ? weighed.map(({ leg }) => leg) : route.legs.map((leg) => combineLegFieldsAndTimes(leg, times));
  return { etd: attributeTimeToActual(etd, atd), eta: attributeTimeToActual(eta, ata), atd, ata, legs };
}

/** Returns true if the client set the time only for the leg. */
function isTimeSetOnlyForLeg(own: ValueSetByClient<TimeOrDay | null>, leg: LegFields | undefined, time: 'etd' | 'eta') {
  return own.value === null && leg !== undefined && leg[time] !== null;
}

/** Returns the expected time with the actual time as its reason, if that is known. */
function attributeTimeToActual(expected: TimeWithDecidingRule, actual: TimeWithDecidingRule): TimeWithDecidingRule {
  if (actual.value === null) return expected;
  return { ...expected, rule: 'actual_time_known', milestone: actual.milestone };
}

/** Returns the time of the shipment that follows from the time of a leg. */
function deriveTimeFromLeg(time: TimeWithDecidingRule | undefined): TimeWithDecidingRule {
  const estimate = time?.estimate ?? null;
  return { value: time?.value ?? null, day: time?.day ?? null, rule: 'of_leg', milestone: estimate, estimate };
}

/** Finds the earliest departure at the origin; if there is none, the earliest departure. */
function findActualDepartureTime({ departures, route }: TimelineAnalysis): TimeWithDecidingRule {
  return chooseActualTime(departures.find(createPortVisitPredicate(route.origin, route)), departures[0]);
}

function chooseActualTime(atPort: TimelineEntry | undefined, other: TimelineEntry | undefined): TimeWithDecidingRule {
  const entry = atPort ?? other;
  if (entry === undefined) return UNKNOWN_SCHEDULE_TIME;
  return {
    value: getOccurredAt(entry),
    day: null,
    rule: atPort === undefined ? 'earliest' : 'at_port',
    milestone: entry,
    estimate: null,
  };
}

const UNKNOWN_SCHEDULE_TIME: TimeWithDecidingRule = {
  value: null,
  day: null,
  rule: 'unknown',
  milestone: null,
  estimate: null,
};

/** A time that the client gave. */
interface ClientGivenTime extends ValueSetByClient<TimeOrDay | null> {
  /** Time when the client gave it; empty if the client created the shipment with it. */
  readonly at: Timestamp;
}

/** Returns true if the estimate was reported after the client gave its value. */
function isReportedAfterClientGaveTime({ milestone, written }: TimelineEntry, given: ClientGivenTime): boolean {
  return milestone.reported_at === given.at ? written > given.written : milestone.reported_at > given.at;
}

/**
 * Chooses the time from estimates that are newer than the client's value. For each container, takes the newest estimate
 * that names the container or none; the latest of these wins. Without such estimates, returns the client's value. Days
 * are not yet placed at the port.
 */
function chooseTimeFromNewestEstimates(
  estimates: readonly TimelineEntry[],
  given: ClientGivenTime,
  containers: readonly string[],
  onEstimate: RuleListener | undefined,
): TimeWithDecidingRule {
  let unnamed: TimelineEntry | undefined;
  const named = new Map<string, TimelineEntry>();
  for (const entry of estimates) {
    if (!isReportedAfterClientGaveTime(entry, given)) continue;
    const number = entry.milestone.container_number;
    if (number === null) unnamed = chooseNewerEstimate(unnamed, entry);
    else named.set(number, chooseNewerEstimate(named.get(number), entry));
  }
  const weighed =
    named.size === 0 ? [unnamed] : containers.map((number) => chooseNewerEntry(unnamed, named.get(number)));
  const chosen = weighed.reduce(chooseLaterEstimate, undefined);
  if (onEstimate !== undefined) {
    for (const entry of estimates) onEstimate(entry, findRuleApplyingToEstimate(entry, given, { weighed, chosen }));
  }
  if (chosen !== undefined)
    return { ...getTimeOfEstimate(chosen.milestone), rule: 'newest_estimate', milestone: chosen, estimate: chosen };
  if (given.value === null) return UNKNOWN_SCHEDULE_TIME;
  // The caller computes the end of the day, because it depends on the port.
  return { ...convertStatedDateToTime(given.value, null), rule: 'set_by_client', milestone: null, estimate: null };
}

function findRuleApplyingToEstimate(
  entry: TimelineEntry,
  given: ClientGivenTime,
  { weighed, chosen }: { readonly weighed: readonly unknown[]; readonly chosen: TimelineEntry | undefined },
): MilestoneRule {
  if (entry === chosen) return 'newest_estimate';
  if (!isReportedAfterClientGaveTime(entry, given)) return 'set_by_client';
  return weighed.includes(entry) ? 'later_estimate' : 'newer_estimate';
}

function chooseLaterEstimate(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return b.milestone.occurred_at > a.milestone.occurred_at ? b : a;
}

function chooseNewerEntry(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  return b === undefined ? a : chooseNewerEstimate(a, b);
}

function chooseNewerEstimate(a: TimelineEntry | undefined, b: TimelineEntry): TimelineEntry {
  return a !== undefined && compareReportsOfMilestone(a.milestone, b.milestone) > 0 ? a : b;
}

type IsVisit = (entry: TimelineEntry) => boolean;
type Actual = Pick<Leg, 'atd' | 'ata'>;

/** A leg with the milestones at its ports that belong to it, and its actual times. */
interface LegWithPortMilestones {
  readonly leg: LegFields;
  readonly isOrigin: IsVisit;
  readonly isDestination: IsVisit;
  readonly actual: Actual;
}

function createPortVisitPredicate(port: string | null, route: ShipmentRoute): IsVisit {
  return ({ milestone }) => port !== null && route.locate(milestone.location).key === port;
}

/** Matches milestones to legs. @param shipment actual times of the shipment */
function matchMilestonesToLegs(
  analysis: TimelineAnalysis,
  legs: readonly LegFields[],
  shipment: Actual,
  arrived: readonly TimelineEntry[],
): readonly LegWithPortMilestones[] {
  const visited: LegWithPortMilestones[] = [];
  for (const [index, leg] of legs.entries()) {
    const before = visited.at(-1)?.actual;
    const createFilter = (port: 'origin_port' | 'destination_port') =>
      createLegMilestoneFilter(legs, index, createPortVisitPredicate(leg[port], analysis.route), { port, before });
    const [isOrigin, isDestination] = [createFilter('origin_port'), createFilter('destination_port')];
    const ends = { isFirst: index === 0, isLast: index === legs.length - 1 };
    const own = computeActualTimesOfLeg(analysis, { leg, isOrigin, isDestination }, { ...ends, arrived });
    // A single leg is the whole journey, but if its mode differs, its departure may be another milestone.
    const actual = legs.length === 1 ? { ...shipment, atd: shipment.atd ?? own.atd } : own;
    visited.push({ leg, isOrigin, isDestination, actual });
  }
  return visited;
}

/**
 * Returns a filter for milestones at one of the leg's ports that belong to the leg. If an earlier leg has the same
 * port, only milestones since the arrival of the previous leg belong to it; without an arrival, since its departure.
 */
function createLegMilestoneFilter(
  legs: readonly LegFields[],
  index: number,
  isThere: IsVisit,
  { port, before }: { readonly port: 'origin_port' | 'destination_port'; readonly before: Actual | undefined },
): IsVisit {
  const own = legs[index]?.[port] ?? null;
  if (!legs.slice(0, index).some((leg) => leg[port] === own)) return isThere;
  const since = before?.ata ?? before?.atd ?? null;
  return (entry) => since !== null && entry.milestone.occurred_at >= since && isThere(entry);
}

/**
 * Returns the actual times of a leg from milestones at its ports. Milestones without a place count for the first
 * departure and the last arrival.
 */
function computeActualTimesOfLeg(
  { legDepartures, legArrivals, departures, route }: TimelineAnalysis,
  { leg, isOrigin, isDestination }: Omit<LegWithPortMilestones, 'actual'>,
  ends: { readonly isFirst: boolean; readonly isLast: boolean; readonly arrived: readonly TimelineEntry[] },
): Actual {
  const mode = leg.mode ?? route.mode;
  const isPlaceless = ({ milestone }: TimelineEntry) => !route.locate(milestone.location).isKnown;
  const departed = legDepartures.find(
    (entry) => isOrigin(entry) && isDeparture(getMilestoneRules(entry.milestone.code), mode),
  );
  const arrived = legArrivals.find(isDestination);
  return {
    atd: getOccurredAt(departed ?? (ends.isFirst ? departures.find(isPlaceless) : undefined)),
    ata: getOccurredAt(arrived ?? (ends.isLast ? ends.arrived.find(isPlaceless) : undefined)),
  };
}
