import { type Leg, type LegFields, type ShipmentRecord, type Timestamp, milestoneRules } from '@tracking/contracts';
import { type Route, isPlace } from './route.ts';
import type { ClientSet, Schedule, TimelineEntry } from './state.ts';
import { isDeparture } from './milestone-meaning.ts';
import type { TimelineAnalysis } from './timeline-analysis.ts';

export type Times = Pick<ShipmentRecord, 'etd' | 'eta' | 'atd' | 'ata' | 'legs'>;

/**
 * Estimated and actual times of the shipment and of its legs. What the client sets and what estimates say are statements:
 * the newest that stands wins. Where the client gives the shipment no time itself, it is that of its first or last leg.
 * @param before the shipment before the command: what an actual time froze stays as it was
 * @param revision of the command's first event: what the client sets by it moves also a departure that has happened
 */
export function timesOf(
  analysis: TimelineAnalysis,
  schedule: Schedule,
  before: ShipmentRecord,
  revision: number,
): Times {
  const { route } = analysis;
  const containers = before.container_numbers;
  const atd = timeOf(analysis.departures.find(at(route.origin)) ?? analysis.departures[0]);
  const ata = arrivalOf(analysis);
  const departures = analysis.estimates.filter((entry) => isEstimatedDeparture(entry, route));
  const arrivals = preferDestination(
    analysis.estimates.filter((entry) => isEstimatedArrival(entry, route)),
    (entry) => isEnd(entry, route, route.ends),
  );
  const { value: sent, written } = schedule.legs;
  const legs = sent.map((leg, index): Leg => {
    const ends = { first: index === 0, last: index === sent.length - 1 };
    const actual = legActuals(analysis, leg, ends, { atd, ata });
    const present = before.legs[index] ?? leg;
    const leaving = (entry: TimelineEntry) =>
      at(leg.origin_port)(entry) || (ends.first && isEnd(entry, route, route.starts));
    const reaching = (entry: TimelineEntry) =>
      at(leg.destination_port)(entry) || (ends.last && isEnd(entry, route, route.ends));
    const etd = newest(departures.filter(leaving), { value: leg.etd, written }, containers);
    const eta = newest(arrivals.filter(reaching), { value: leg.eta, written }, containers);
    return {
      ...leg,
      etd: actual.atd !== null && written !== revision ? present.etd : etd,
      eta: actual.ata !== null && written !== revision ? present.eta : eta,
      ...actual,
    };
  });
  /** Expected at an end of the journey, and the event by which the client last said something of it. */
  const expected = (
    own: ClientSet<Timestamp | null>,
    ofLeg: { readonly sent: Timestamp | null | undefined; readonly now: Timestamp | null | undefined },
    estimates: readonly TimelineEntry[],
  ): ClientSet<Timestamp | null> =>
    own.value === null && ofLeg.sent != null
      ? { value: ofLeg.now ?? null, written: Math.max(own.written, written) }
      : { value: newest(estimates, own, containers), written: own.written };
  const departure = expected(
    schedule.etd,
    { sent: sent[0]?.etd, now: legs[0]?.etd },
    departures.filter((entry) => isEnd(entry, route, route.starts)),
  );
  const arrival = expected(
    schedule.eta,
    { sent: sent.at(-1)?.eta, now: legs.at(-1)?.eta },
    arrivals.filter((entry) => isEnd(entry, route, route.ends)),
  );
  const etd = atd !== null && departure.written !== revision ? before.etd : departure.value;
  const eta = ata !== null ? before.eta : arrival.value;
  const whole = route.legs.map((leg) => ({ ...leg, etd, eta, atd, ata }));
  return { etd, eta, atd, ata, legs: sent.length > 0 ? legs : whole };
}

function timeOf(entry: TimelineEntry | undefined): Timestamp | null {
  return entry?.milestone.occurred_at ?? null;
}

function at(port: string | null): (entry: TimelineEntry) => boolean {
  return ({ milestone }) => port !== null && milestone.location === port;
}

/** The earliest arrival at the destination, else the earliest after the last departure. */
function arrivalOf({ arrivals, departures, route }: TimelineAnalysis): Timestamp | null {
  const departed = timeOf(departures.at(-1)) ?? '';
  const arrived =
    arrivals.find(at(route.destination)) ?? arrivals.find(({ milestone }) => milestone.occurred_at >= departed);
  return timeOf(arrived);
}

/** A leg's own: those at its ports; the first leg departs and the last one arrives also where no place is told. */
function legActuals(
  { legDepartures, legArrivals, departures, arrivals, route }: TimelineAnalysis,
  leg: LegFields,
  ends: { readonly first: boolean; readonly last: boolean },
  shipment: Pick<Leg, 'atd' | 'ata'>,
): Pick<Leg, 'atd' | 'ata'> {
  if (ends.first && ends.last) return shipment;
  const mode = leg.mode ?? route.mode;
  const placeless = ({ milestone }: TimelineEntry) => !isPlace(route, milestone.location);
  const departed = legDepartures.find(
    (entry) => at(leg.origin_port)(entry) && isDeparture(milestoneRules(entry.milestone.code), mode),
  );
  const arrived = legArrivals.find(at(leg.destination_port));
  const lastDeparture = timeOf(departures.at(-1)) ?? '';
  return {
    atd: timeOf(departed ?? (ends.first ? departures.find(placeless) : undefined)),
    ata: timeOf(
      arrived ??
        (ends.last
          ? arrivals.find((entry) => placeless(entry) && entry.milestone.occurred_at >= lastDeparture)
          : undefined),
    ),
  };
}

function isEstimatedArrival({ milestone }: TimelineEntry, route: Route): boolean {
  const { estimates_arrival } = milestoneRules(milestone.code);
  if (estimates_arrival === undefined || estimates_arrival === 'any_mode') return estimates_arrival !== undefined;
  const leg = route.legs.find((each) => each.destination_port === milestone.location) ?? route.legs.at(-1);
  return estimates_arrival.some((mode) => mode === route.mode || mode === leg?.mode);
}

function isEstimatedDeparture({ milestone }: TimelineEntry, route: Route): boolean {
  const leg = route.legs.find((each) => each.origin_port === milestone.location) ?? route.legs[0];
  const rules = milestoneRules(milestone.code);
  return isDeparture(rules, route.mode) || isDeparture(rules, leg?.mode ?? null);
}

/** Located at one of the ports, or nowhere that could be told from them. */
function isEnd({ milestone }: TimelineEntry, route: Route, ports: ReadonlySet<string | null>): boolean {
  return ports.has(milestone.location) || !isPlace(route, milestone.location);
}

/** Once the arrival at the destination itself is estimated, other estimates no longer speak for it. */
function preferDestination(
  estimates: readonly TimelineEntry[],
  isForShipment: (entry: TimelineEntry) => boolean,
): readonly TimelineEntry[] {
  const isDestination = (entry: TimelineEntry) => milestoneRules(entry.milestone.code).at_destination === true;
  if (!estimates.some((entry) => isDestination(entry) && isForShipment(entry))) return estimates;
  return estimates.filter((entry) => isDestination(entry) || !isForShipment(entry));
}

/**
 * What the newest estimates since the client's own say: for each container the newest that names it or none, and of these
 * the latest. The client's own where there is none.
 */
function newest(
  estimates: readonly TimelineEntry[],
  set: ClientSet<Timestamp | null>,
  containers: readonly string[],
): Timestamp | null {
  let unnamed: TimelineEntry | undefined;
  const named = new Map<string, TimelineEntry>();
  for (const entry of estimates) {
    if (entry.written <= set.written) continue;
    const number = entry.milestone.container_number;
    if (number === null) unnamed = newer(unnamed, entry);
    else named.set(number, newer(named.get(number), entry));
  }
  if (named.size === 0) return timeOf(unnamed) ?? set.value;
  const counted = containers.map((number) => {
    const own = named.get(number);
    return own === undefined ? unnamed : newer(unnamed, own);
  });
  return counted.reduce<Timestamp | null>((time, entry) => {
    const estimate = timeOf(entry);
    return estimate !== null && (time === null || estimate > time) ? estimate : time;
  }, null);
}

function newer(a: TimelineEntry | undefined, b: TimelineEntry): TimelineEntry {
  return a !== undefined && a.written > b.written ? a : b;
}
