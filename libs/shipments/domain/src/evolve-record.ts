import type { Container, LastMilestone, ShipmentRecord } from '@tracking/contracts';
import type { Change, Changes, ContainerChange, LastMilestones, ShipmentEvent } from './events.ts';

/**
 * The shipment as answered, after one more event. Copies what the event says and derives nothing, so that later code
 * never changes what was announced.
 * @throws Error when the first event is no creation: the stream is not whole
 */
export function evolveRecord(record: ShipmentRecord | undefined, event: ShipmentEvent): ShipmentRecord {
  const stamp = { updated_at: event.metadata.recorded_at, version: event.revision + 1 };
  if (event.type === 'shipment.created.v1') return { ...event.data.shipment, ...stamp };
  if (record === undefined) throw new Error(`${event.type} at revision ${event.revision} of no shipment`);
  switch (event.type) {
    case 'shipment.changed.v1':
      return { ...applyChanges(record, event.data.changes), ...stamp };
    case 'shipment.updated.v1':
    case 'milestone.recorded.v1':
    case 'milestone.corrected.v1':
      return { ...applyLast(record, event.data.last), ...stamp };
    case 'shipment.ports_given.v1':
    case 'shipment.cancelled.v1':
    case 'shipment.reopened.v1':
      return { ...record, ...stamp };
    case 'exception.opened.v1':
    case 'exception.resolved.v1':
      return { ...record, open_exceptions_count: event.data.open_exceptions_count, ...stamp };
  }
}

function applyChanges(record: ShipmentRecord, changes: Changes): ShipmentRecord {
  // `milestone` tells of a correction; the shipment has no such field.
  const { containers, milestone: _, ...fields } = changes;
  const moved = Object.entries(fields as Record<string, Change<unknown>>).map(([field, { to }]) => [field, to]);
  const after: ShipmentRecord = { ...record, ...(Object.fromEntries(moved) as Partial<ShipmentRecord>) };
  if (containers === undefined && changes.container_numbers === undefined) return after;
  return { ...after, containers: applyContainers(after, containers?.to ?? []) };
}

/** In the order of the shipment's `container_numbers`. */
function applyContainers(record: ShipmentRecord, changed: readonly ContainerChange[]): Container[] {
  const present = new Map(record.containers.map((container) => [container.number, container]));
  const moved = new Map(changed.map((container) => [container.number, container]));
  return record.container_numbers.map((number) => ({ ...present.get(number), ...moved.get(number) }) as Container);
}

function applyLast(record: ShipmentRecord, last: LastMilestones): ShipmentRecord {
  const moved = new Map<string, LastMilestone | null>();
  for (const group of last.containers) for (const number of group.numbers) moved.set(number, group.last);
  return {
    ...record,
    last_milestone: last.shipment === undefined ? record.last_milestone : last.shipment,
    containers:
      moved.size === 0
        ? record.containers
        : record.containers.map((container) => {
            const milestone = moved.get(container.number);
            return milestone === undefined ? container : { ...container, last_milestone: milestone };
          }),
  };
}

/**
 * How many ordinary shipments it weighs in memory, 1 at least. What clients fill as they like can be a thousand times that
 * of an ordinary one.
 */
export function weightOfRecord({ containers, legs, references, metadata }: ShipmentRecord): number {
  return 1 + containers.length / 2 + JSON.stringify([legs, references, metadata]).length / 1_000;
}
