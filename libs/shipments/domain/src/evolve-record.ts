import type { ShipmentRecord } from '@tracking/contracts';
import { type ShipmentEvent, descriptorOf } from './events/stored-events.ts';

/**
 * The shipment as answered, after one more event.
 * @throws Error when the first event is no creation: the stream is not whole
 */
export function evolveRecord(record: ShipmentRecord | undefined, event: ShipmentEvent): ShipmentRecord {
  const { type, data, revision, metadata } = event;
  const descriptor = descriptorOf(type);
  const before = descriptor.begin?.(data, revision).record ?? record;
  if (before === undefined) throw new Error(`${type} at revision ${revision} of no shipment`);
  const after = descriptor.applyToRecord?.(before, data) ?? before;
  return { ...after, updated_at: metadata.recorded_at, version: revision + 1 };
}

/**
 * How many ordinary shipments it weighs in memory, 1 at least. What clients fill as they like can be a thousand times that
 * of an ordinary one.
 */
export function weightOfRecord({ containers, legs, references, metadata }: ShipmentRecord): number {
  return Math.round(1 + containers.length / 2 + JSON.stringify([legs, references, metadata]).length / 1_000);
}
