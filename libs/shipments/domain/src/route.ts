import type { LegFields, LoadType, Mode, Places } from '@tracking/contracts';
import type { GivenPorts } from './events/event-data.ts';
import { countryOf, placeOf } from './references.ts';

/** Where a shipment goes and how: what the meaning of its milestones depends on. */
export interface Route {
  readonly mode: Mode | null;
  readonly lcl: boolean;
  /** The legs as clients set them, else the one from origin to destination; empty without any port. */
  readonly legs: readonly LegFields[];
  readonly origin: string | null;
  readonly destination: string | null;
  readonly destinationCountry: string | undefined;
  /** Ports where the shipment's own departure or arrival may be: its port, and that of the first or last leg. */
  readonly starts: ReadonlySet<string | null>;
  readonly ends: ReadonlySet<string | null>;
  /** Destinations of the legs that are not the last. */
  readonly via: ReadonlySet<string | null>;
  /** Those of the shipment and of every leg. */
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

/** The ports of a shipment: those given, else where its legs begin and end. */
export function portsOf(given: GivenPorts, legs: readonly LegFields[]): GivenPorts {
  return {
    origin_port: given.origin_port ?? legs[0]?.origin_port ?? null,
    destination_port: given.destination_port ?? legs.at(-1)?.destination_port ?? null,
  };
}

/** @param legs as the client set them */
export function routeOf(shipment: RoutedFields, legs: readonly LegFields[], places: Places): Route {
  const { origin_port: origin, destination_port: destination } = portsOf(shipment, legs);
  const ends = new Set([destination, legs.at(-1)?.destination_port ?? null]);
  const via = new Set(legs.slice(0, -1).map((leg) => leg.destination_port));
  via.delete(null);
  const ports = new Set([origin, destination, ...legs.flatMap((leg) => [leg.origin_port, leg.destination_port])]);
  return {
    mode: shipment.mode,
    lcl: shipment.load_type === 'lcl',
    legs: legs.length > 0 ? legs : legOfWholeJourney(shipment),
    origin,
    destination,
    destinationCountry: destination === null ? undefined : countryOf(destination, places),
    starts: new Set([origin, legs[0]?.origin_port ?? null]),
    ends,
    via,
    ports,
    places,
  };
}

function legOfWholeJourney(shipment: RoutedFields): readonly LegFields[] {
  const { mode, carrier_scac, origin_port, destination_port } = shipment;
  if (origin_port === null && destination_port === null) return [];
  return [{ mode, carrier_scac, vessel: null, voyage: null, origin_port, destination_port, etd: null, eta: null }];
}

/**
 * Whether a milestone's location is a place that can be told from others: neither absent nor free text. A port of the
 * route is one also where no table knows it.
 */
export function isPlace({ ports, places }: Route, location: string | null): location is string {
  return location !== null && (ports.has(placeOf(location)) || countryOf(location, places) !== undefined);
}

/** Whether an arrival there is known not to be the shipment's: a stop on the way, or another country. */
export function isOnTheWay(route: Route, location: string | null): boolean {
  const place = placeOf(location);
  if (location === null || route.ends.has(place)) return false;
  if (route.via.has(place)) return true;
  const country = route.destinationCountry === undefined ? undefined : countryOf(location, route.places);
  return country !== undefined && country !== route.destinationCountry;
}

/** Whether goods of the mode may go by vessel. */
export function mayGoByWater(mode: Mode | null): boolean {
  return mode === null || mode === 'ocean' || mode === 'barge' || mode === 'multimodal';
}

/** Whether it is a port on the way that the goods are known to leave by land or air. */
export function isLanding({ legs, mode }: Route, location: string | null): boolean {
  const place = placeOf(location);
  const ended = legs.findLastIndex(({ destination_port }) => destination_port === place);
  const next = ended < 0 ? undefined : legs[ended + 1];
  return next !== undefined && !mayGoByWater(next.mode ?? mode);
}
