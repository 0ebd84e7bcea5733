import type { Shipment } from '@tracking/client';

export type Leg = Shipment['legs'][number];

/** When something is expected, or has happened. */
export interface Expected {
  readonly estimated: string | null;
  readonly actual: string | null;
}

/** A place where goods arrive, change or leave. */
export interface Stop {
  readonly place: string | null;
  /** Undefined where the journey begins. */
  readonly arrival: Expected | undefined;
  /** Undefined where it ends. */
  readonly departure: Expected | undefined;
  /** By which they go on. */
  readonly onward: Leg | undefined;
  /** Goods have left it, are there, or have not come yet. */
  readonly state: 'left' | 'here' | 'ahead';
}

type Where = Omit<Stop, 'state'>;

/** The places of a journey in order: where one leg ends and the next begins somewhere else, both. */
export function stopsOf(legs: readonly Leg[]): Stop[] {
  const stops = legs.flatMap((leg, index): Where[] => {
    const before = legs[index - 1];
    const departure = { estimated: leg.etd, actual: leg.atd };
    const isSame = before !== undefined && before.destination_port === leg.origin_port;
    const arrival = before && { estimated: before.eta, actual: before.ata };
    if (before === undefined || isSame) return [{ place: leg.origin_port, arrival, departure, onward: leg }];
    return [
      { place: before.destination_port, arrival, departure: undefined, onward: undefined },
      { place: leg.origin_port, arrival: undefined, departure, onward: leg },
    ];
  });
  const last = legs.at(-1);
  const end = last && {
    place: last.destination_port,
    arrival: { estimated: last.eta, actual: last.ata },
    departure: undefined,
    onward: undefined,
  };
  return withStates(end === undefined ? stops : [...stops, end]);
}

function withStates(stops: readonly Where[]): Stop[] {
  const isReached = ({ arrival, departure }: Where) => arrival?.actual != null || departure?.actual != null;
  const furthest = stops.findLastIndex(isReached);
  return stops.map((stop, index) => {
    if (index > furthest) return { ...stop, state: 'ahead' };
    return { ...stop, state: index < furthest || stop.departure?.actual != null ? 'left' : 'here' };
  });
}
