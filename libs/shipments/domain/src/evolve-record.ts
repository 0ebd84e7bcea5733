import type { ShipmentRecord } from '@tracking/contracts';
import { type ShipmentEvent, descriptorOf } from './events/stored-events.ts';

/**
 * The shipment as answered, after one more event.
 * @throws Error when the first event is no creation: the stream is not whole
 */
export function evolveRecord(record: ShipmentRecord | undefined, event: ShipmentEvent): ShipmentRecord {
  const { type, data, revision } = event;
  const before = descriptorOf(type).begin?.(data, revision).record ?? record;
  if (before === undefined) throw beginsNoShipment(event);
  return recordAfter(before, event);
}

/** @param before of an event that begins a stream: the record as it begins */
export function recordAfter(before: ShipmentRecord, event: ShipmentEvent): ShipmentRecord {
  const { type, data, revision, metadata } = event;
  const after = descriptorOf(type).applyToRecord?.(before, data) ?? before;
  // Clocks of several machines differ: what is known by a time was not unknown later.
  const { recorded_at } = metadata;
  const updated_at = recorded_at > before.updated_at ? recorded_at : before.updated_at;
  return { ...after, updated_at, version: revision + 1 };
}

export function beginsNoShipment({ type, revision }: ShipmentEvent): Error {
  return new Error(`${type} at revision ${revision} of no shipment`);
}

/**
 * How many ordinary shipments it weighs in memory, 1 at least. What clients fill as they like can be a thousand times that
 * of an ordinary one.
 */
export function weightOfRecord({ containers, legs, references, metadata }: ShipmentRecord): number {
  return Math.round(1 + containers.length / 2 + JSON.stringify([legs, references, metadata]).length / 1_000);
}
