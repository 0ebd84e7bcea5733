import type { LegFields, LoadType, Mode, Places } from '@tracking/contracts';
import type { GivenPorts } from './events/event-data.ts';
import { findCountry, toComparablePlace } from './references.ts';

/** Route and mode of a shipment. The meaning of its milestones depends on them. */
export interface Route {
  readonly mode: Mode | null;
  readonly lcl: boolean;
  /** Legs as the client set them. Without legs, one leg from origin to destination; empty without any port. */
  readonly legs: readonly LegFields[];
  readonly origin: string | null;
  readonly destination: string | null;
  readonly destinationCountry: string | undefined;
  /** Ports where the shipment's departure or arrival can be: its own port, and the port of its first or last leg. */
  readonly starts: ReadonlySet<string | null>;
  readonly ends: ReadonlySet<string | null>;
  /** Destinations of all legs except the last. */
  readonly via: ReadonlySet<string | null>;
  /** Ports of the shipment and of all legs. */
  readonly ports: ReadonlySet<string | null>;
  readonly places: Places;
}

interface RoutedFields {
  readonly mode: Mode | null;
  readonly load_type: LoadType | null;
  readonly carrier_scac: string | null;
  readonly origin_port: string | null;
  readonly destination_port: string | null;
}

/** Returns the ports of a shipment: the ports that the client set, otherwise those of the first and last leg. */
export function resolvePorts(given: GivenPorts, legs: readonly LegFields[]): GivenPorts {
  return {
    origin_port: given.origin_port ?? legs[0]?.origin_port ?? null,
    destination_port: given.destination_port ?? legs.at(-1)?.destination_port ?? null,
  };
}

/**
 * Builds the route of a shipment.
 * @param legs legs as the client set them
 */
export function buildRoute(shipment: RoutedFields, legs: readonly LegFields[], places: Places): Route {
  const { origin_port: origin, destination_port: destination } = resolvePorts(shipment, legs);
  const ends = new Set([destination, legs.at(-1)?.destination_port ?? null]);
  const via = new Set(legs.slice(0, -1).map((leg) => leg.destination_port));
  via.delete(null);
  const ports = new Set([origin, destination, ...legs.flatMap((leg) => [leg.origin_port, leg.destination_port])]);
  return {
    mode: shipment.mode,
    lcl: shipment.load_type === 'lcl',
    legs: legs.length > 0 ? legs : createLegOfWholeJourney(shipment),
    origin,
    destination,
    destinationCountry: destination === null ? undefined : findCountry(destination, places),
    starts: new Set([origin, legs[0]?.origin_port ?? null]),
    ends,
    via,
    ports,
    places,
  };
}

function createLegOfWholeJourney(shipment: RoutedFields): readonly LegFields[] {
  const { mode, carrier_scac, origin_port, destination_port } = shipment;
  if (origin_port === null && destination_port === null) return [];
  return [{ mode, carrier_scac, vessel: null, voyage: null, origin_port, destination_port, etd: null, eta: null }];
}

/**
 * Returns true if a milestone's location is a known place, not absent or free text. A port of the route is known even
 * if no table contains it.
 */
export function isKnownPlace({ ports, places }: Route, location: string | null): location is string {
  return location !== null && (ports.has(toComparablePlace(location)) || findCountry(location, places) !== undefined);
}

/**
 * Returns true if an arrival at the location cannot be the shipment's arrival, because the location is a stop on the
 * way or in another country.
 */
export function isPlaceOnTheWay(route: Route, location: string | null): boolean {
  const place = toComparablePlace(location);
  if (location === null || route.ends.has(place)) return false;
  if (route.via.has(place)) return true;
  const country = route.destinationCountry === undefined ? undefined : findCountry(location, route.places);
  return country !== undefined && country !== route.destinationCountry;
}

/** Returns true if goods of the mode may travel by vessel. */
export function mayTravelByVessel(mode: Mode | null): boolean {
  return mode === null || mode === 'ocean' || mode === 'barge' || mode === 'multimodal';
}

/** Returns true if the location is a port on the way from which the goods continue by land or air. */
export function isLandingPort({ legs, mode }: Route, location: string | null): boolean {
  const place = toComparablePlace(location);
  const ended = legs.findLastIndex(({ destination_port }) => destination_port === place);
  const next = ended < 0 ? undefined : legs[ended + 1];
  return next !== undefined && !mayTravelByVessel(next.mode ?? mode);
}
