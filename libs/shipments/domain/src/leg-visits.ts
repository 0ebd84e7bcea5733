import { type Leg, type LegFields, type Timestamp, milestoneRules } from '@tracking/contracts';
import { isDeparture } from './milestone-meaning.ts';
import { placeOf } from './references.ts';
import { isPlace } from './route.ts';
import type { TimelineEntry } from './state.ts';
import type { TimelineAnalysis } from './timeline-analysis.ts';

type IsVisit = (entry: TimelineEntry) => boolean;
type Actual = Pick<Leg, 'atd' | 'ata'>;

/** A leg, what is told of it at its ports, and when it departed and arrived. */
export interface VisitedLeg {
  readonly leg: LegFields;
  readonly isOrigin: IsVisit;
  readonly isDestination: IsVisit;
  readonly actual: Actual;
}

export function timeOf(entry: TimelineEntry | undefined): Timestamp | null {
  return entry?.milestone.occurred_at ?? null;
}

export function isAt(port: string | null): IsVisit {
  return ({ milestone }) => port !== null && placeOf(milestone.location) === port;
}

/** @param shipment when that departed and arrived */
export function visitedLegs(
  analysis: TimelineAnalysis,
  legs: readonly LegFields[],
  shipment: Actual,
): readonly VisitedLeg[] {
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
