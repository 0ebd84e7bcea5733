import {
  type Leg,
  type LegFields,
  type MilestoneRule,
  milestoneRules,
  type ShipmentRecord,
  type TimeRule,
  type Timestamp,
} from '@tracking/contracts';
import type { LegTimesWritten } from './events/event-data.ts';
import { isDeparture, isSailingOn } from './milestone-meaning.ts';
import { placeOf } from './references.ts';
import { isPlace, type Route } from './route.ts';
import type { ClientSet, Schedule, TimelineEntry } from './state.ts';
import type { TimelineAnalysis } from './timeline-analysis.ts';

/** Before every event. */
const NOT_WRITTEN: LegTimesWritten = { etd: -1, eta: -1 };

/** A time of the shipment, and what set it. */
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

/** Told what became of an estimate that was weighed for a time: `etd`, `legs[0].eta`. */
export type TellEstimate = (estimate: TimelineEntry, time: string, rule: MilestoneRule) => void;
type TellOfOne = (estimate: TimelineEntry, rule: MilestoneRule) => void;

/** What the schedule of a shipment is decided by. */
interface ScheduleBasis {
  readonly schedule: Schedule;
  /** The shipment before the command, its legs in the order of the schedule's: what an actual time froze stays as it was. */
  readonly before: ShipmentRecord;
  /** Of the command's first event: what the client sets by it moves also a departure that has happened. */
  readonly revision: number;
  /** Whether what the client sets by it moves also an arrival's time when it has happened. */
  readonly movesEtaAfterArrival?: boolean | undefined;
}

/**
 * Estimated and actual times of the shipment and of its legs. What the client sets and what estimates say are statements:
 * the newest that stands wins. Where the client gives the shipment no time itself, it is that of its first or last leg.
 * @param tell for who wants to know why
 */
export function timesOf(
  analysis: TimelineAnalysis,
  { schedule, before, revision, movesEtaAfterArrival }: ScheduleBasis,
  tell?: TellEstimate,
): DecidedTimes {
  const { route } = analysis;
  const containers = before.container_numbers;
  const tellOf = (time: string): TellOfOne | undefined => tell && ((entry, rule) => tell(entry, time, rule));
  const atd = departureOf(analysis);
  const ata = arrivalOf(analysis);
  const departures = analysis.estimates.filter((entry) => isEstimatedDeparture(entry, route));
  const arrivals = preferDestination(
    analysis.estimates.filter((entry) => isEstimatedArrival(entry, route)),
    (entry) => isEnd(entry, route, route.ends),
    tellOf('eta'),
  );
  const { value: sent, written: legsWritten } = schedule.legs;
  const visited = visitedLegs(analysis, sent, { atd: atd.value, ata: ata.value });
  const weighed = visited.map(({ leg, isOrigin, isDestination, actual }, index) => {
    const [isFirst, isLast] = [index === 0, index === sent.length - 1];
    const present = before.legs[index] ?? leg;
    const written = legsWritten[index] ?? NOT_WRITTEN;
    const leaving = departures.filter((entry) => isOrigin(entry) || (isFirst && isEnd(entry, route, route.starts)));
    const reaching = arrivals.filter((entry) => isDestination(entry) || (isLast && isEnd(entry, route, route.ends)));
    const tellEtd = tell && tellOf(`legs[${index}].etd`);
    const tellEta = tell && tellOf(`legs[${index}].eta`);
    const etd =
      actual.atd !== null && written.etd !== revision
        ? frozen(present.etd, leaving, tellEtd)
        : newest(leaving, { value: leg.etd, written: written.etd }, containers, tellEtd);
    const eta =
      actual.ata !== null && written.eta !== revision
        ? frozen(present.eta, reaching, tellEta)
        : newest(reaching, { value: leg.eta, written: written.eta }, containers, tellEta);
    return { etd, eta, leg: { ...leg, etd: etd.value, eta: eta.value, ...actual } };
  });
  const departure = statementOf(schedule.etd, sent[0], legsWritten[0], 'etd');
  const arrival = statementOf(schedule.eta, sent.at(-1), legsWritten.at(-1), 'eta');
  const leaving = departures.filter((entry) => isEnd(entry, route, route.starts));
  const reaching = arrivals.filter((entry) => isEnd(entry, route, route.ends));
  const etd =
    atd.value !== null && departure.written !== revision
      ? frozen(before.etd, leaving, tellOf('etd'), atd.milestone)
      : departure.isOfLeg
        ? ofLeg(weighed[0]?.etd)
        : newest(leaving, schedule.etd, containers, tellOf('etd'));
  const eta =
    ata.value !== null && !(movesEtaAfterArrival && arrival.written === revision)
      ? frozen(before.eta, reaching, tellOf('eta'), ata.milestone)
      : arrival.isOfLeg
        ? ofLeg(weighed.at(-1)?.eta)
        : newest(reaching, schedule.eta, containers, tellOf('eta'));
  const times = { etd: etd.value, eta: eta.value, atd: atd.value, ata: ata.value };
  const legs = sent.length > 0 ? weighed.map(({ leg }) => leg) : route.legs.map((leg) => ({ ...leg, ...times }));
  return { etd, eta, atd, ata, legs };
}

/** What the client says of a time: whether a leg says it, where it was not given for the shipment itself; by which event. */
function statementOf(
  own: ClientSet<Timestamp | null>,
  leg: LegFields | undefined,
  legWritten: LegTimesWritten | undefined,
  time: 'etd' | 'eta',
): { readonly isOfLeg: boolean; readonly written: number } {
  const isOfLeg = own.value === null && leg !== undefined && leg[time] !== null;
  return { isOfLeg, written: Math.max(own.written, isOfLeg && legWritten ? legWritten[time] : own.written) };
}

/** It happened: estimates no longer move what was expected. */
function frozen(
  value: Timestamp | null,
  estimates: readonly TimelineEntry[],
  tell: TellOfOne | undefined,
  milestone: TimelineEntry | null = null,
): DecidedTime {
  if (tell !== undefined) for (const entry of estimates) tell(entry, 'actual_time_known');
  return { value, rule: 'actual_time_known', milestone };
}

function ofLeg(time: DecidedTime | undefined): DecidedTime {
  return { value: time?.value ?? null, rule: 'of_leg', milestone: time?.milestone ?? null };
}

/** The earliest departure at the origin, else the earliest. */
function departureOf({ departures, route }: TimelineAnalysis): DecidedTime {
  return actualTime(departures.find(isAt(route.origin)), departures[0]);
}

/** The earliest arrival at the destination, else the earliest after the last departure. */
function arrivalOf({ arrivals, departures, route }: TimelineAnalysis): DecidedTime {
  const departed = timeOf(departures.at(-1)) ?? '';
  const atPort = arrivals.find(isAt(route.destination));
  return actualTime(atPort, atPort ?? arrivals.find(({ milestone }) => milestone.occurred_at >= departed));
}

function actualTime(atPort: TimelineEntry | undefined, other: TimelineEntry | undefined): DecidedTime {
  const entry = atPort ?? other;
  if (entry === undefined) return UNKNOWN;
  return { value: timeOf(entry), rule: atPort === undefined ? 'earliest' : 'at_port', milestone: entry };
}

const UNKNOWN: DecidedTime = { value: null, rule: 'unknown', milestone: null };

export function isEstimatedArrival({ milestone }: TimelineEntry, route: Route): boolean {
  const { estimates_arrival } = milestoneRules(milestone.code);
  if (estimates_arrival === undefined || estimates_arrival === 'any_mode') return estimates_arrival !== undefined;
  const place = placeOf(milestone.location);
  const leg = route.legs.find((each) => each.destination_port === place) ?? route.legs.at(-1);
  return estimates_arrival.some((mode) => mode === route.mode || mode === leg?.mode);
}

export function isEstimatedDeparture(entry: TimelineEntry, route: Route): boolean {
  if (isSailingOn(entry, route)) return false;
  const { milestone } = entry;
  const place = placeOf(milestone.location);
  const leg = route.legs.find((each) => each.origin_port === place) ?? route.legs[0];
  const rules = milestoneRules(milestone.code);
  return isDeparture(rules, route.mode) || isDeparture(rules, leg?.mode ?? null);
}

/** Located at one of the ports, or nowhere that could be told from them. */
function isEnd({ milestone }: TimelineEntry, route: Route, ports: ReadonlySet<string | null>): boolean {
  return ports.has(placeOf(milestone.location)) || !isPlace(route, milestone.location);
}

/** Once the arrival at the destination itself is estimated, other estimates no longer speak for it. */
function preferDestination(
  estimates: readonly TimelineEntry[],
  isForShipment: (entry: TimelineEntry) => boolean,
  tell: TellOfOne | undefined,
): readonly TimelineEntry[] {
  const isDestination = (entry: TimelineEntry) => milestoneRules(entry.milestone.code).at_destination === true;
  if (!estimates.some((entry) => isDestination(entry) && isForShipment(entry))) return estimates;
  return estimates.filter((entry) => {
    const speaks = isDestination(entry) || !isForShipment(entry);
    if (!speaks) tell?.(entry, 'destination_estimated');
    return speaks;
  });
}

/**
 * What the newest estimates since the client's own say: for each container the newest that names it or none, and of these
 * the latest. The client's own where there is none.
 */
function newest(
  estimates: readonly TimelineEntry[],
  set: ClientSet<Timestamp | null>,
  containers: readonly string[],
  tell: TellOfOne | undefined,
): DecidedTime {
  let unnamed: TimelineEntry | undefined;
  const named = new Map<string, TimelineEntry>();
  for (const entry of estimates) {
    if (entry.written <= set.written) continue;
    const number = entry.milestone.container_number;
    if (number === null) unnamed = newer(unnamed, entry);
    else named.set(number, newer(named.get(number), entry));
  }
  const weighed = named.size === 0 ? [unnamed] : containers.map((number) => newestOf(unnamed, named.get(number)));
  const chosen = weighed.reduce(laterTime, undefined);
  if (tell !== undefined) {
    for (const entry of estimates) tell(entry, ruleFor(entry, set.written, { weighed, chosen }));
  }
  if (chosen !== undefined) return { value: timeOf(chosen), rule: 'newest_estimate', milestone: chosen };
  return set.value === null ? UNKNOWN : { value: set.value, rule: 'set_by_client', milestone: null };
}

function ruleFor(
  entry: TimelineEntry,
  setAt: number,
  { weighed, chosen }: { readonly weighed: readonly unknown[]; readonly chosen: TimelineEntry | undefined },
): MilestoneRule {
  if (entry === chosen) return 'newest_estimate';
  if (entry.written <= setAt) return 'set_by_client';
  return weighed.includes(entry) ? 'later_estimate' : 'newer_estimate';
}

function laterTime(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return b.milestone.occurred_at > a.milestone.occurred_at ? b : a;
}

function newestOf(a: TimelineEntry | undefined, b: TimelineEntry | undefined): TimelineEntry | undefined {
  return b === undefined ? a : newer(a, b);
}

function newer(a: TimelineEntry | undefined, b: TimelineEntry): TimelineEntry {
  return a !== undefined && a.written > b.written ? a : b;
}

type IsVisit = (entry: TimelineEntry) => boolean;
type Actual = Pick<Leg, 'atd' | 'ata'>;

/** A leg, what is told of it at its ports, and when it departed and arrived. */
interface VisitedLeg {
  readonly leg: LegFields;
  readonly isOrigin: IsVisit;
  readonly isDestination: IsVisit;
  readonly actual: Actual;
}

function timeOf(entry: TimelineEntry | undefined): Timestamp | null {
  return entry?.milestone.occurred_at ?? null;
}

function isAt(port: string | null): IsVisit {
  return ({ milestone }) => port !== null && placeOf(milestone.location) === port;
}

/** @param shipment when that departed and arrived */
function visitedLegs(analysis: TimelineAnalysis, legs: readonly LegFields[], shipment: Actual): readonly VisitedLeg[] {
  const visited: VisitedLeg[] = [];
  for (const [index, leg] of legs.entries()) {
    const before = visited.at(-1)?.actual;
    const isOrigin = visitsOf(legs, index, 'origin_port', before);
    const isDestination = visitsOf(legs, index, 'destination_port', before);
    const ends = { isFirst: index === 0, isLast: index === legs.length - 1 };
    const own = actualOf(analysis, { leg, isOrigin, isDestination }, ends);
    // The only leg is the journey; of another mode than the shipment it may depart by what is no departure of that.
    const actual = legs.length === 1 ? { ...shipment, atd: shipment.atd ?? own.atd } : own;
    visited.push({ leg, isOrigin, isDestination, actual });
  }
  return visited;
}

/**
 * Which milestones at a leg's port are its own. Where an earlier leg has the port too, those since the leg before it
 * arrived, or at least departed: what came before is the earlier one's.
 */
function visitsOf(
  legs: readonly LegFields[],
  index: number,
  port: 'origin_port' | 'destination_port',
  before: Actual | undefined,
): IsVisit {
  const own = legs[index]?.[port] ?? null;
  const isThere = isAt(own);
  if (!legs.slice(0, index).some((leg) => leg[port] === own)) return isThere;
  const since = before?.ata ?? before?.atd ?? null;
  return (entry) => since !== null && entry.milestone.occurred_at >= since && isThere(entry);
}

/** Of those at its ports; the first leg departs and the last one arrives also where no place is told. */
function actualOf(
  { legDepartures, legArrivals, departures, arrivals, route }: TimelineAnalysis,
  { leg, isOrigin, isDestination }: Omit<VisitedLeg, 'actual'>,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): Actual {
  const mode = leg.mode ?? route.mode;
  const isPlaceless = ({ milestone }: TimelineEntry) => !isPlace(route, milestone.location);
  const departed = legDepartures.find(
    (entry) => isOrigin(entry) && isDeparture(milestoneRules(entry.milestone.code), mode),
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
