import type { FindZone, HistoryEntry } from './history-sentences.ts';
import { type ValueDifference, listDifferences } from './value-labels.ts';

/** Ports of a shipment. A whole day is a date at one of them. */
export interface RoutePorts {
  readonly origin_port: string | null;
  readonly destination_port: string | null;
  readonly legs: readonly Pick<RoutePorts, 'origin_port' | 'destination_port'>[];
}
const SHIPMENT_ROUTE_FIELD_NAMES = ['origin_port', 'destination_port', 'legs'] as const;

/** Ports of a shipment before and after a history entry. */
export type EntryPorts = Readonly<Record<'from' | 'to', RoutePorts>>;

/** Returns the ports before and after each history entry, newest first. @param current ports of the shipment now */
export function listPortsOfHistoryEntries(
  entries: readonly HistoryEntry[],
  current: RoutePorts,
): readonly EntryPorts[] {
  let later = current;
  return entries.map(({ changes }) => {
    const changed = SHIPMENT_ROUTE_FIELD_NAMES.filter((name) => changes[name] !== undefined);
    const replacePorts = (side: 'from' | 'to'): RoutePorts => ({
      ...later,
      ...Object.fromEntries(changed.map((name) => [name, changes[name]?.[side] ?? (name === 'legs' ? [] : null)])),
    });
    const ports = { from: replacePorts('from'), to: replacePorts('to') };
    later = ports.from;
    return ports;
  });
}

/** Returns the port whose calendar the expected time at this path follows. */
export function findPortOfTime(
  ports: RoutePorts,
  [first = '', position, ...fields]: readonly string[],
): string | null | undefined {
  const journey = first === 'legs' ? ports.legs[Number(position) - 1] : ports;
  return (fields.at(-1) ?? first) === 'etd' ? journey?.origin_port : journey?.destination_port;
}

/** Lists the ports of routes and of their legs, with duplicates. */
export function listRoutePorts(routes: readonly RoutePorts[]): readonly (string | null)[] {
  return routes
    .flatMap((route) => [route, ...route.legs])
    .flatMap(({ origin_port, destination_port }) => [origin_port, destination_port]);
}

type PlaceZones = ReadonlyMap<string, { readonly timezone: string | null }>;

/** Returns a function that finds the time zones of a shipment's expected times before and after a change. */
export function createPortZoneFinder(ports: EntryPorts | undefined, places: PlaceZones): FindZone {
  return (path, side) => ports && places.get(findPortOfTime(ports[side], path) ?? '')?.timezone;
}

/** Returns the ports of a resource if it is a shipment; undefined for a part of a shipment. */
export function getRoutePortsOfShipment(resource: object): RoutePorts | undefined {
  return 'legs' in resource && 'destination_port' in resource ? (resource as RoutePorts) : undefined;
}

/**
 * Lists the fields that differ between two states of a shipment or of one of its parts. The expected times of a shipment
 * are in the time zones of its ports, the time of a milestone is in the milestone's own time zone.
 */
export function listResourceDifferences<Resource extends object>(
  [seen, now]: readonly [seen: Resource, now: Resource],
  fields: readonly (keyof Resource & string)[],
  places: PlaceZones,
): readonly ValueDifference[] {
  const [from, to] = [getRoutePortsOfShipment(seen), getRoutePortsOfShipment(now)];
  const findZone = createPortZoneFinder(from && to && { from, to }, places);
  return fields
    .flatMap((field) => listDifferences(seen[field], now[field], [field]))
    .map((difference) => ({
      ...difference,
      zone: getTimeZoneOfResource(now) ?? findZone(difference.path, 'to'),
      fromZone: getTimeZoneOfResource(seen) ?? findZone(difference.path, 'from'),
    }));
}

function getTimeZoneOfResource(resource: object): string | undefined {
  const { timezone } = resource as { readonly timezone?: unknown };
  return typeof timezone === 'string' ? timezone : undefined;
}
