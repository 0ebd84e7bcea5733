import type { JsonObject } from '@tracking/contracts';
import type { FormerVersion } from './events/descriptor.ts';
import { type ShipmentEventBody, storedEvents } from './events/stored-events.ts';

/** A stored event that this version of the product does not know: written by a newer one, or no event of a shipment. */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  constructor(readonly type: string) {
    super(`no such event of a shipment: ${type}`);
  }
}

interface Versions {
  readonly type: string;
  readonly formerVersions?: readonly FormerVersion[];
}
interface StoredBody {
  readonly type: string;
  readonly data: JsonObject;
}

/** Brings stored events of any version to the newest one. */
export function upcasterOf(kinds: readonly Versions[]): (type: string, data: JsonObject) => StoredBody {
  const known = new Map<string, (data: JsonObject) => StoredBody>();
  for (const { type, formerVersions = [] } of kinds) {
    known.set(type, (data) => ({ type, data }));
    formerVersions.forEach((former, place) => {
      const steps = formerVersions.slice(place);
      known.set(former.type, (data) => ({ type, data: steps.reduce((older, { upcast }) => upcast(older), data) }));
    });
  }
  return (type, data) => {
    const upcast = known.get(type);
    if (upcast === undefined) throw new UnknownEventType(type);
    return upcast(data);
  };
}

const upcastStored = upcasterOf(storedEvents);

/**
 * A stored event in its newest version.
 * @throws UnknownEventType
 */
export function upcast(type: string, data: JsonObject): ShipmentEventBody {
  // What is stored under a wire name has the form of that event.
  return upcastStored(type, data) as unknown as ShipmentEventBody;
}

/** Wire names of all versions ever stored. */
export const storedEventTypes: readonly string[] = storedEvents.flatMap(({ type, formerVersions = [] }) => [
  ...formerVersions.map((former) => former.type),
  type,
]);
