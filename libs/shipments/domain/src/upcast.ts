import type { JsonObject } from '@tracking/contracts';
import type { ShipmentEventBody, ShipmentEventType } from './events.ts';

/** Brings data of a stored version to the next one, under that one's wire name. */
type Upcaster = (data: JsonObject) => { readonly type: string; readonly data: JsonObject };

/** The newest version of each event. */
const NEWEST: Readonly<Record<ShipmentEventType, true>> = {
  'shipment.created.v1': true,
  'shipment.updated.v1': true,
  'shipment.ports_given.v1': true,
  'shipment.cancelled.v1': true,
  'shipment.reopened.v1': true,
  'shipment.changed.v1': true,
  'milestone.recorded.v1': true,
  'milestone.corrected.v1': true,
  'exception.opened.v1': true,
  'exception.resolved.v1': true,
};
/** By the wire name of a version that is written no more; every version ever stored stays readable. */
const UPCASTERS: ReadonlyMap<string, Upcaster> = new Map();

/** Wire names that are written. */
export const eventTypes = Object.keys(NEWEST) as readonly ShipmentEventType[];

/** A stored event that this version of the product does not know: written by a newer one, or no event of a shipment. */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  constructor(readonly type: string) {
    super(`no such event of a shipment: ${type}`);
  }
}

/**
 * A stored event in its newest version. Every reader of a stream passes through here.
 * @throws UnknownEventType
 */
export function upcast(type: string, data: JsonObject): ShipmentEventBody {
  let event = { type, data };
  for (let next = UPCASTERS.get(type); next !== undefined; next = UPCASTERS.get(event.type)) event = next(event.data);
  if (!Object.hasOwn(NEWEST, event.type)) throw new UnknownEventType(type);
  return event as unknown as ShipmentEventBody;
}
