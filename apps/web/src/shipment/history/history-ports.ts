import type { HistoryEntry } from './history-sentences.ts';

/** Ports of a shipment. A whole day is a date at one of them. */
export interface RoutePorts {
  readonly origin_port: string | null;
  readonly destination_port: string | null;
  readonly legs: readonly Pick<RoutePorts, 'origin_port' | 'destination_port'>[];
}
const ROUTE_FIELDS = ['origin_port', 'destination_port', 'legs'] as const;

/** Ports of a shipment before and after a history entry. */
export type EntryPorts = Readonly<Record<'from' | 'to', RoutePorts>>;

/** Returns the ports before and after each history entry, newest first. @param current ports of the shipment now */
export function listEntryPorts(entries: readonly HistoryEntry[], current: RoutePorts): readonly EntryPorts[] {
  let later = current;
  return entries.map(({ changes }) => {
    const changed = ROUTE_FIELDS.filter((name) => changes[name] !== undefined);
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
