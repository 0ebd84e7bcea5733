import type { Leg, LegFields, LoadType, Mode, PlaceLookup } from '@tracking/contracts';
import type { GivenPorts } from './events/event-data.ts';
import { getTimeZoneOfPort } from './local-time.ts';
import { type MilestonePlace, type SharedLocationCacheSize, MilestoneLocationToPlaceResolver } from './locations.ts';

/** Route and mode of a shipment. The meaning of its milestones depends on them. */
export interface ShipmentRoute {
  readonly mode: Mode | null;
  readonly lcl: boolean;
  /** Legs as the client set them. Without legs, one leg from origin to destination; empty without any port. */
  readonly legs: readonly LegFields[];
  readonly origin: string | null;
  readonly destination: string | null;
  readonly destinationCountry: string | undefined;
  /** Ports where the shipment's departure can be: its origin, and the origin of its first leg. */
  readonly starts: ReadonlySet<string | null>;
  /** Ports where the shipment's arrival can be: its destination. */
  readonly ends: ReadonlySet<string | null>;
  /** Destinations of legs from which the goods continue. */
  readonly via: ReadonlySet<string | null>;
  /** Finds the place of a milestone. The keys of places of the shipment are their codes. */
  readonly locate: (location: string | null) => MilestonePlace;
  /** Returns the IANA time zone of a port; null if it is not known. */
  readonly findZone: (port: string | null) => string | null;
}

interface ShipmentFieldsDeterminingRoute {
  readonly mode: Mode | null;
  readonly load_type: LoadType | null;
  readonly carrier_scac: string | null;
  readonly origin_port: string | null;
  readonly destination_port: string | null;
}

/** Returns the ports of a shipment: the ports that the client set, otherwise those of the first and last leg. */
export function getPortsOfShipment(given: GivenPorts, legs: readonly LegFields[]): GivenPorts {
  return {
    origin_port: given.origin_port ?? legs[0]?.origin_port ?? null,
    destination_port: given.destination_port ?? legs.at(-1)?.destination_port ?? null,
  };
}

/** The parts of a route that only depend on the ports and modes, so that many shipments share them. */
type Lane = Omit<ShipmentRoute, 'legs'>;

/** The lanes that are kept for one table of places. */
interface TradeLaneCacheOfPlaces {
  readonly lanes: Map<string, Lane>;
  readonly locations: SharedLocationCacheSize;
}

/** Maximum number of lanes that are kept for one table of places, and of locations that all of them keep. */
const MAX_CACHED_LANES = 1_000;
const MAX_CACHED_LOCATIONS = 50_000;
const tradeLaneCachesByPlaceLookup = new WeakMap<PlaceLookup, TradeLaneCacheOfPlaces>();

/**
 * Builds the route of a shipment.
 * @param legs legs as the client set them
 */
export function buildRouteOfShipment(
  shipment: ShipmentFieldsDeterminingRoute,
  legs: readonly LegFields[],
  places: PlaceLookup,
): ShipmentRoute {
  const { mode, lcl, origin, destination, destinationCountry, starts, ends, via, locate, findZone } =
    getCachedOrNewTradeLane(shipment, legs, places);
  const all = legs.length > 0 ? legs : createSingleLegOfShipment(shipment);
  return { mode, lcl, legs: all, origin, destination, destinationCountry, starts, ends, via, locate, findZone };
}

/** Returns a lane that is kept, or creates it. */
function getCachedOrNewTradeLane(
  shipment: ShipmentFieldsDeterminingRoute,
  legs: readonly LegFields[],
  places: PlaceLookup,
): Lane {
  const { mode, load_type, origin_port, destination_port } = shipment;
  let key = `${mode}\n${load_type}\n${origin_port}\n${destination_port}`;
  for (const leg of legs) key += `\n${leg.mode}\n${leg.origin_port}\n${leg.destination_port}`;
  const { lanes, locations } = getTradeLaneCacheOfPlaceLookup(places);
  const kept = lanes.get(key);
  if (kept !== undefined) return kept;
  const lane = createTradeLane(shipment, legs, places, locations);
  lanes.set(key, lane);
  return lane;
}

/** Returns the kept lanes; none if they have become too many. */
function getTradeLaneCacheOfPlaceLookup(places: PlaceLookup): TradeLaneCacheOfPlaces {
  let kept = tradeLaneCachesByPlaceLookup.get(places);
  if (kept === undefined || kept.lanes.size >= MAX_CACHED_LANES || kept.locations.count > MAX_CACHED_LOCATIONS) {
    kept = { lanes: new Map(), locations: { count: 0 } };
    tradeLaneCachesByPlaceLookup.set(places, kept);
  }
  return kept;
}

function createTradeLane(
  shipment: ShipmentFieldsDeterminingRoute,
  legs: readonly LegFields[],
  places: PlaceLookup,
  locations: SharedLocationCacheSize,
): Lane {
  const { origin_port: origin, destination_port: destination } = getPortsOfShipment(shipment, legs);
  const via = new Set(legs.map((leg) => leg.destination_port));
  via.delete(null);
  via.delete(destination);
  const all = [origin, destination, ...legs.flatMap((leg) => [leg.origin_port, leg.destination_port])];
  const ports = [...new Set(all.filter((port) => port !== null))];
  const locator = new MilestoneLocationToPlaceResolver(ports, destination, places, locations);
  const locate = (location: string | null) => locator.findPlaceOfLocation(location);
  return {
    mode: shipment.mode,
    lcl: shipment.load_type === 'lcl',
    origin,
    destination,
    destinationCountry: destination === null ? undefined : locate(destination).country,
    starts: new Set([origin, legs[0]?.origin_port ?? null]),
    ends: new Set([destination]),
    via,
    locate,
    findZone: (port) => getTimeZoneOfPort(port, places),
  };
}

function createSingleLegOfShipment(shipment: ShipmentFieldsDeterminingRoute): readonly LegFields[] {
  const { mode, carrier_scac, origin_port, destination_port } = shipment;
  if (origin_port === null && destination_port === null) return [];
  return [{ mode, carrier_scac, vessel: null, voyage: null, origin_port, destination_port, etd: null, eta: null }];
}

/** Returns a leg with times. It names each field, because copies of objects are slow. */
export function combineLegFieldsAndTimes(leg: LegFields, times: Omit<Leg, LegField> & ScheduledTimes): Leg {
  const { mode, carrier_scac, vessel, voyage, origin_port, destination_port } = leg;
  const { etd, etd_precision, eta, eta_precision, atd, ata } = times;
  return {
    mode,
    carrier_scac,
    vessel,
    voyage,
    origin_port,
    destination_port,
    etd,
    etd_precision,
    eta,
    eta_precision,
    atd,
    ata,
  };
}
type LegField = keyof LegFields;
type ScheduledTimes = Pick<Leg, 'etd' | 'eta'>;

/**
 * Returns true if an arrival at the location is at a stop on the way, or in another country than the destination. The
 * goods continue from there.
 */
export function isPlaceOnTheWay(route: ShipmentRoute, location: string | null): boolean {
  const { key, country } = route.locate(location);
  if (route.ends.has(key)) return false;
  if (route.via.has(key)) return true;
  return route.destinationCountry !== undefined && country !== undefined && country !== route.destinationCountry;
}

/**
 * Returns true if the legs say that the goods continue by vessel from the location, so that it is not handed out there.
 */
export function isTransshipmentPort({ legs, locate }: ShipmentRoute, location: string | null): boolean {
  const place = locate(location).key;
  const ended = legs.findLastIndex(({ destination_port }) => destination_port === place);
  const mode = ended < 0 ? undefined : legs[ended + 1]?.mode;
  return mode === 'ocean' || mode === 'barge';
}

/** Returns true if goods of the mode may travel by vessel. */
export function mayTravelByVessel(mode: Mode | null): boolean {
  return mode === null || mode === 'ocean' || mode === 'barge' || mode === 'multimodal';
}

/** Returns true if the location is a port on the way from which the goods continue by land or air. */
export function isPortOfChangeToLand({ legs, mode, locate }: ShipmentRoute, location: string | null): boolean {
  const place = locate(location).key;
  const ended = legs.findLastIndex(({ destination_port }) => destination_port === place);
  const next = ended < 0 ? undefined : legs[ended + 1];
  return next !== undefined && !mayTravelByVessel(next.mode ?? mode);
}
