import {
  type Leg,
  type LegFields,
  type MilestoneRule,
  findMilestoneRules,
  type ShipmentRecord,
  type TimeRule,
  type Timestamp,
} from '@tracking/contracts';
import type { LegTimesWritten } from './events/event-data.ts';
import { isDeparture, isVesselSailingOn } from './milestone-meaning.ts';
import { toComparablePlace } from './references.ts';
import { isKnownPlace, type Route } from './route.ts';
import type { ClientValue, Schedule, TimelineEntry } from './state.ts';
import type { TimelineAnalysis } from './timeline-analysis.ts';

/** Revisions that are lower than the revisions of all events. */
const REVISIONS_BEFORE_ALL: LegTimesWritten = { etd: -1, eta: -1 };

/** A time of the shipment, with the rule and the milestone that set it. */
export interface DecidedTime {
  readonly value: Timestamp | null;
  readonly rule: TimeRule;
  readonly milestone: TimelineEntry | null;
}

export interface DecidedTimes {
  readonly etd: DecidedTime;
  readonly eta: DecidedTime;
  readonly atd: DecidedTime;
  readonly ata: DecidedTime;
  readonly legs: readonly Leg[];
}

/** Receives, for an estimate, the rule that applied to it and the name of the time, such as `etd` or `legs[0].eta`. */
export type EstimateListener = (estimate: TimelineEntry, time: string, rule: MilestoneRule) => void;
type RuleListener = (estimate: TimelineEntry, rule: MilestoneRule) => void;

/** Inputs of the decision about the times of a shipment. */
interface ScheduleBasis {
  readonly schedule: Schedule;
  /** The shipment before the command. Its legs are in schedule order, and frozen expected times are kept. */
  readonly before: ShipmentRecord;
  /** Revision of the first event of the command. The command itself may set the ETD even after the departure. */
  readonly revision: number;
  /** True if the command may set the ETA even after the arrival. */
  readonly movesEtaAfterArrival?: boolean | undefined;
}

/**
 * Decides the estimated and actual times of the shipment and its legs. Values of clients and estimates are statements;
 * the newest valid statement wins. If the client sets no time for the shipment, the time of its first or last leg
 * counts.
 * @param onEstimate for explanations: receives the rule that applied to each estimate
 */
export function decideTimes(
  analysis: TimelineAnalysis,
  { schedule, before, revision, movesEtaAfterArrival }: ScheduleBasis,
  onEstimate?: EstimateListener,
): DecidedTimes {
  const { route } = analysis;
  const containers = before.container_numbers;
  const listenerFor = (time: string): RuleListener | undefined =>
    onEstimate && ((entry, rule) => onEstimate(entry, time, rule));
  const atd = findDeparture(analysis);
  const ata = findArrival(analysis);
  const departures = analysis.estimates.filter((entry) => isEstimatedDeparture(entry, route));
  const arrivals = preferDestination(
    analysis.estimates.filter((entry) => isEstimatedArrival(entry, route)),
    (entry) => isAtPortOrUnknown(entry, route, route.ends),
    listenerFor('eta'),
  );
  const { value: sent, written: legsWritten } = schedule.legs;
  const visited = matchLegs(analysis, sent, { atd: atd.value, ata: ata.value });
  const weighed = visited.map(({ leg, isOrigin, isDestination, actual }, index) => {
    const [isFirst, isLast] = [index === 0, index === sent.length - 1];
    const present = before.legs[index] ?? leg;
    const written = legsWritten[index] ?? REVISIONS_BEFORE_ALL;
    const leaving = departures.filter(
      (entry) => isOrigin(entry) || (isFirst && isAtPortOrUnknown(entry, route, route.starts)),
    );
    const reaching = arrivals.filter(
      (entry) => isDestination(entry) || (isLast && isAtPortOrUnknown(entry, route, route.ends)),
    );
    const onEtdEstimate = onEstimate && listenerFor(`legs[${index}].etd`);
    const onEtaEstimate = onEstimate && listenerFor(`legs[${index}].eta`);
    const etd =
      actual.atd !== null && written.etd !== revision
        ? findFrozenTime(present.etd, leaving, onEtdEstimate)
        : chooseNewestTime(leaving, { value: leg.etd, written: written.etd }, containers, onEtdEstimate);
    const eta =
      actual.ata !== null && written.eta !== revision
        ? findFrozenTime(present.eta, reaching, onEtaEstimate)
        : chooseNewestTime(reaching, { value: leg.eta, written: written.eta }, containers, onEtaEstimate);
    return { etd, eta, leg: { ...leg, etd: etd.value, eta: eta.value, ...actual } };
  });
  const departure = findClientStatement(schedule.etd, sent[0], legsWritten[0], 'etd');
  const arrival = findClientStatement(schedule.eta, sent.at(-1), legsWritten.at(-1), 'eta');
  const leaving = departures.filter((entry) => isAtPortOrUnknown(entry, route, route.starts));
  const reaching = arrivals.filter((entry) => isAtPortOrUnknown(entry, route, route.ends));
  const etd =
    atd.value !== null && departure.written !== revision
      ? findFrozenTime(before.etd, leaving, listenerFor('etd'), atd.milestone)
      : departure.isOfLeg
        ? toTimeOfLeg(weighed[0]?.etd)
        : chooseNewestTime(leaving, schedule.etd, containers, listenerFor('etd'));
  const eta =
    ata.value !== null && !(movesEtaAfterArrival && arrival.written === revision)
      ? findFrozenTime(before.eta, reaching, listenerFor('eta'), ata.milestone)
      : arrival.isOfLeg
        ? toTimeOfLeg(weighed.at(-1)?.eta)
        : chooseNewestTime(reaching, schedule.eta, containers, listenerFor('eta'));
  const times = { etd: etd.value, eta: eta.value, atd: atd.value, ata: ata.value };
  const legs = sent.length > 0 ? weighed.map(({ leg }) => leg) : route.legs.map((leg) => ({ ...leg, ...times }));
  return { etd, eta, atd, ata, legs };
}

/** Returns the revision of the client's statement about a time, and whether the time is taken from a leg. */
function findClientStatement(
  own: ClientValue<Timestamp | null>,
  leg: LegFields | undefined,
  legWritten: LegTimesWritten | undefined,
  time: 'etd' | 'eta',
): { readonly isOfLeg: boolean; readonly written: number } {
  const isOfLeg = own.value === null && leg !== undefined && leg[time] !== null;
  return { isOfLeg, written: Math.max(own.written, isOfLeg && legWritten ? legWritten[time] : own.written) };
}

/** Returns the expected time that an actual time has frozen, so that estimates no longer change it. */
function findFrozenTime(
  value: Timestamp | null,
  estimates: readonly TimelineEntry[],
  onEstimate: RuleListener | undefined,
  milestone: TimelineEntry | null = null,
): DecidedTime {
  if (onEstimate !== undefined) for (const entry of estimates) onEstimate(entry, 'actual_time_known');
  return { value, rule: 'actual_time_known', milestone };
}

function toTimeOfLeg(time: DecidedTime | undefined): DecidedTime {
  return { value: time?.value ?? null, rule: 'of_leg', milestone: time?.milestone ?? null };
}

/** Finds the earliest departure at the origin; if there is none, the earliest departure. */
function findDeparture({ departures, route }: TimelineAnalysis): DecidedTime {
  return chooseActualTime(departures.find(createVisitFilterForPort(route.origin)), departures[0]);
}

/** Finds the earliest arrival at the destination; if there is none, the earliest arrival after the last departure. */
function findArrival({ arrivals, departures, route }: TimelineAnalysis): DecidedTime {
  const departed = timeOf(departures.at(-1)) ?? '';
  const atPort = arrivals.find(createVisitFilterForPort(route.destination));
  return chooseActualTime(atPort, atPort ?? arrivals.find(({ milestone }) => milestone.occurred_at >= departed));
}

function chooseActualTime(atPort: TimelineEntry | undefined, other: TimelineEntry | undefined): DecidedTime {
  const entry = atPort ?? other;
  if (entry === undefined) return UNKNOWN_TIME;
  return { value: timeOf(entry), rule: atPort === undefined ? 'earliest' : 'at_port', milestone: entry };
}

const UNKNOWN_TIME: DecidedTime = { value: null, rule: 'unknown', milestone: null };

export function isEstimatedArrival({ milestone }: TimelineEntry, route: Route): boolean {
  const { estimates_arrival } = findMilestoneRules(milestone.code);
  if (estimates_arrival === undefined || estimates_arrival === 'any_mode') return estimates_arrival !== undefined;
  const place = toComparablePlace(milestone.location);
  const leg = route.legs.find((each) => each.destination_port === place) ?? route.legs.at(-1);
  return estimates_arrival.some((mode) => mode === route.mode || mode === leg?.mode);
}

export function isEstimatedDeparture(entry: TimelineEntry, route: Route): boolean {
  if (isVesselSailingOn(entry, route)) return false;
  const { milestone } = entry;
  const place = toComparablePlace(milestone.location);
  const leg = route.legs.find((each) => each.origin_port === place) ?? route.legs[0];
  const rules = findMilestoneRules(milestone.code);
  return isDeparture(rules, route.mode) || isDeparture(rules, leg?.mode ?? null);
}

/** Returns true if the milestone is at one of the ports, or has no known place. */
function isAtPortOrUnknown({ milestone }: TimelineEntry, route: Route, ports: ReadonlySet<string | null>): boolean {
  return ports.has(toComparablePlace(milestone.location)) || !isKnownPlace(route, milestone.location);
}

/** Drops all other arrival estimates if an estimate for the arrival at the destination exists. */
function preferDestination(
  estimates: readonly TimelineEntry[],
  isForShipment: (entry: TimelineEntry) => boolean,
  onEstimate: RuleListener | undefined,
): readonly TimelineEntry[] {
  const isDestination = (entry: TimelineEntry) => findMilestoneRules(entry.milestone.code).at_destination === true;
  if (!estimates.some((entry) => isDestination(entry) && isForShipment(entry))) return estimates;
  return estimates.filter((entry) => {
    const counts = isDestination(entry) || !isForShipment(entry);
    if (!counts) onEstimate?.(entry, 'destination_estimated');
    return counts;
  });
}

/**
 * Chooses the time from estimates that are newer than the client's value. For each container, takes the newest estimate
 * that names the container or none; the latest of these wins. Without such estimates, returns the client's value.
 */
function chooseNewestTime(
  estimates: readonly TimelineEntry[],
  set: ClientValue<Timestamp | null>,
  containers: readonly string[],
  onEstimate: RuleListener | undefined,
): DecidedTime {
  let unnamed: TimelineEntry | undefined;
  const named = new Map<string, TimelineEntry>();
  for (const entry of estimates) {
    if (entry.written <= set.written) continue;
    const number = entry.milestone.container_number;
    if (number === null) unnamed = chooseNewer(unnamed, entry);
    else named.set(number, chooseNewer(named.get(number), entry));
  }
  const weighed =
    named.size === 0 ? [unnamed] : containers.map((number) => chooseNewerEntry(unnamed, named.get(number)));
  const chosen = weighed.reduce(chooseLaterTime, undefined);
  if (onEstimate !== undefined) {
    for (const entry of estimates) onEstimate(entry, findEstimateRule(entry, set.written, { weighed, chosen }));
  }
  if (chosen !== undefined) return { value: timeOf(chosen), rule: 'newest_estimate', milestone: chosen };
  return set.value === null ? UNKNOWN_TIME : { value: set.value, rule: 'set_by_client', milestone: null };
}

function findEstimateRule(
  entry: TimelineEntry,
  setAt: number,
  { weighed, chosen }: { readonly weighed: readonly unknown[]; readonly chosen: TimelineEntry | undefined },
): MilestoneRule {
  if (entry === chosen) return 'newest_estimate';
  if (entry.written <= setAt) return 'set_by_client';
  return weighed.includes(entry) ? 'later_estimate' : 'newer_estimate';
}

function chooseLaterTime(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return b.milestone.occurred_at > a.milestone.occurred_at ? b : a;
}

function chooseNewerEntry(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  return b === undefined ? a : chooseNewer(a, b);
}

function chooseNewer(a: TimelineEntry | undefined, b: TimelineEntry): TimelineEntry {
  return a !== undefined && a.written > b.written ? a : b;
}

type IsVisit = (entry: TimelineEntry) => boolean;
type Actual = Pick<Leg, 'atd' | 'ata'>;

/** A leg with the milestones at its ports that belong to it, and its actual times. */
interface VisitedLeg {
  readonly leg: LegFields;
  readonly isOrigin: IsVisit;
  readonly isDestination: IsVisit;
  readonly actual: Actual;
}

function timeOf(entry: TimelineEntry | undefined): Timestamp | null {
  return entry?.milestone.occurred_at ?? null;
}

function createVisitFilterForPort(port: string | null): IsVisit {
  return ({ milestone }) => port !== null && toComparablePlace(milestone.location) === port;
}

/** Matches milestones to legs. @param shipment actual times of the shipment */
function matchLegs(analysis: TimelineAnalysis, legs: readonly LegFields[], shipment: Actual): readonly VisitedLeg[] {
  const visited: VisitedLeg[] = [];
  for (const [index, leg] of legs.entries()) {
    const before = visited.at(-1)?.actual;
    const isOrigin = createVisitFilter(legs, index, 'origin_port', before);
    const isDestination = createVisitFilter(legs, index, 'destination_port', before);
    const ends = { isFirst: index === 0, isLast: index === legs.length - 1 };
    const own = findActualTimesOfLeg(analysis, { leg, isOrigin, isDestination }, ends);
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
function createVisitFilter(
  legs: readonly LegFields[],
  index: number,
  port: 'origin_port' | 'destination_port',
  before: Actual | undefined,
): IsVisit {
  const own = legs[index]?.[port] ?? null;
  const isThere = createVisitFilterForPort(own);
  if (!legs.slice(0, index).some((leg) => leg[port] === own)) return isThere;
  const since = before?.ata ?? before?.atd ?? null;
  return (entry) => since !== null && entry.milestone.occurred_at >= since && isThere(entry);
}

/**
 * Returns the actual times of a leg from milestones at its ports. Milestones without a place count for the first
 * departure and the last arrival.
 */
function findActualTimesOfLeg(
  { legDepartures, legArrivals, departures, arrivals, route }: TimelineAnalysis,
  { leg, isOrigin, isDestination }: Omit<VisitedLeg, 'actual'>,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): Actual {
  const mode = leg.mode ?? route.mode;
  const isPlaceless = ({ milestone }: TimelineEntry) => !isKnownPlace(route, milestone.location);
  const departed = legDepartures.find(
    (entry) => isOrigin(entry) && isDeparture(findMilestoneRules(entry.milestone.code), mode),
  );
  const arrived = legArrivals.find(isDestination);
  const lastDeparture = timeOf(departures.at(-1)) ?? '';
  const isAfterDepartures = ({ milestone }: TimelineEntry) => milestone.occurred_at >= lastDeparture;
  return {
    atd: timeOf(departed ?? (isFirst ? departures.find(isPlaceless) : undefined)),
    ata: timeOf(
      arrived ?? (isLast ? arrivals.find((entry) => isPlaceless(entry) && isAfterDepartures(entry)) : undefined),
    ),
  };
}
